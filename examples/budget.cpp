// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A budget refuses a request that would pass it. The refusal says who holds
// what, and changes nothing, so the program can go on another way.
#include <cstdio>
#include <string>

#include "neap/neap.hpp"

namespace {

using neap::Tensor;

// Bytes that a budget counts: held by the domain, and the process's own.
neap::Bytes counted() {
  const neap::memory::Stats now = neap::memory::domain().stats();
  return now.held + now.external;
}

void print(const neap::OutOfMemory& error) {
  const neap::OutOfMemory::Details& details = error.details();
  std::printf("refused:   %s\n", error.what());
  std::printf("requested  %s\n", neap::format_bytes(details.requested).c_str());
  std::printf("live       %s\n", neap::format_bytes(details.live).c_str());
  for (const auto& holder : details.holders) {
    if (holder.bytes > 0) {
      const std::string category(name_of(holder.category));
      std::printf("holder     %s of '%s': %s\n", category.c_str(),
                  holder.owner.data(),
                  neap::format_bytes(holder.bytes).c_str());
    }
  }
}

// Three values of 4 MiB where there is room for two and a half.
bool is_refused(const Tensor& x) {
  try {
    const Tensor doubled = x * 2.0;
    const Tensor y = exp(doubled);
  } catch (const neap::OutOfMemory& error) {
    print(error);
    return true;
  }
  return false;
}

// Given a temporary, exp writes over it: two values are enough.
bool is_granted(const Tensor& x) {
  const Tensor y = exp(x * 2.0);
  return y.at({0, 0}) == 1.0;
}

bool run() {
  const Tensor x = neap::zeros({1024, 1024});
  const Tensor warm = exp(neap::zeros({1}) * 2.0);  // threads start here
  const neap::Budget budget(counted() + 6 * neap::kMiB);
  const bool is_refused_first = is_refused(x);
  const bool is_granted_then = is_granted(x);
  std::printf("granted:   the same numbers, one value less in memory\n");
  return is_refused_first && is_granted_then;
}

}  // namespace

int main() {
  const bool is_right = run();
  const neap::Bytes live = neap::memory::domain().stats().live;
  std::printf("live at exit: %s\n", neap::format_bytes(live).c_str());
  return is_right && live == 0 ? 0 : 1;
}
