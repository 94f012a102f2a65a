// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/optim/updates.hpp"

#include <algorithm>

#include "neap/base/ceil_div.hpp"
#include "neap/kernels/engine/strides.hpp"

namespace neap::kernels {
namespace {

constexpr std::int64_t kGrain = 16384;  // elements; a range of one thread
// Each member begins at a multiple in the run, so that a range that begins
// inside one begins at a cache line of it.
constexpr std::int64_t kLine = 64;  // elements

// The part of the run that is [begin, end).
void run_range(std::span<const UpdateMember> members, std::int64_t begin,
               std::int64_t end) noexcept {
  auto member = std::ranges::upper_bound(members, begin, std::ranges::less(),
                                         &UpdateMember::first);
  for (--member; member != members.end() && member->first < end; ++member) {
    Piece piece;
    piece.first = std::max<std::int64_t>(begin - member->first, 0);
    piece.count = std::min(end - member->first, member->count) - piece.first;
    if (piece.count <= 0) {
      continue;  // the range begins behind its last element
    }
    piece.attrs = member->attrs;
    for (std::size_t k = 0; k < kMaxOperands; ++k) {
      piece.data[k] = member->data[k] == nullptr
                          ? nullptr
                          : member->data[k] + piece.first * member->size;
    }
    member->function(piece);
  }
}

}  // namespace

bool member_of(const Kernel& kernel, const Args& args,
               UpdateMember& member) noexcept {
  if (kernel.piece == nullptr || args.in.size() + args.out.size() >
                                     static_cast<std::size_t>(kMaxOperands)) {
    return false;
  }
  const Strided& key = args.out[0];
  const auto is_dense = [&](const Strided& view) {
    return view.dtype == key.dtype && view.shape == key.shape &&
           strides_are_dense(view.shape, view.strides);
  };
  if (!std::ranges::all_of(args.in, is_dense) ||
      !std::ranges::all_of(args.out, is_dense)) {
    return false;
  }
  member = {.function = kernel.piece(args),
            .attrs = args.attrs,
            .size = size_of(key.dtype),
            .count = key.shape.element_count()};
  std::size_t operand = 0;
  for (const auto& views : {args.in, args.out}) {
    for (const Strided& view : views) {
      member.data[operand++] = view.data;
    }
  }
  return true;
}

void run_updates(std::span<UpdateMember> members,
                 threads::Executor& executor) noexcept {
  std::int64_t total = 0;
  for (UpdateMember& member : members) {
    member.first = total;
    total += base::ceil_div(member.count, kLine) * kLine;
  }
  threads::parallel_for(
      executor, total, kGrain,
      [members](std::int64_t begin, std::int64_t end) noexcept {
        run_range(members, begin, end);
      });
}

}  // namespace neap::kernels
