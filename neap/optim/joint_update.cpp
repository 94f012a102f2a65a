// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/optim/joint_update.hpp"

#include <algorithm>
#include <functional>

namespace neap::optim {

void JointUpdate::reserve(std::size_t count) {
  members_.reserve(count);
  ranges_.reserve(2 * count);
}

bool JointUpdate::add(const kernels::Kernel& kernel,
                      const kernels::Args& args) noexcept {
  kernels::UpdateMember member;
  if (!kernels::member_of(kernel, args, member)) {
    return false;
  }
  members_.push_back(member);
  const std::byte* grad = args.in[0].data;
  const std::byte* parameter = args.out[0].data;
  ranges_.push_back({grad, grad + member.bytes(), false});
  ranges_.push_back({parameter, parameter + member.bytes(), true});
  return true;
}

// Whether no update writes what another one reads or writes. State is the
// optimizer's alone.
bool JointUpdate::are_apart() noexcept {
  std::ranges::sort(ranges_, std::less<>(), &Range::begin);
  const std::byte* written_to = nullptr;
  const std::byte* read_to = nullptr;
  for (const Range& range : ranges_) {
    const bool overlaps =
        std::less<>()(range.begin, written_to) ||
        (range.is_written && std::less<>()(range.begin, read_to));
    if (overlaps && range.begin != range.end) {
      return false;
    }
    const std::byte*& reached = range.is_written ? written_to : read_to;
    reached = std::max(reached, range.end, std::less<>());
  }
  return true;
}

void JointUpdate::run(threads::Executor& executor) noexcept {
  const std::span all(members_);
  if (are_apart()) {
    kernels::run_updates(all, executor);
  } else {
    for (std::size_t i = 0; i < all.size(); ++i) {
      kernels::run_updates(all.subspan(i, 1), executor);
    }
  }
  clear();
}

void JointUpdate::clear() noexcept {
  members_.clear();
  ranges_.clear();
}

}  // namespace neap::optim
