// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The programs of docs/coming-from/torchsharp.md.
#include <cstdio>
#include <vector>

#include "neap/neap.hpp"

namespace {

using neap::Scope;
using neap::Tensor;
using neap::memory::reset_scope_stats;
using neap::memory::scope_stats;

neap::Bytes live() {
  return neap::memory::domain().stats().live;
}

// Nothing is named, nothing is disposed of: every temporary goes by itself.
bool count_right() {
  const Tensor predicted = neap::rand({64, 10});
  const Tensor labels = neap::randint(0, 10, {64});
  const neap::Bytes before = live();
  double total = 0.0;
  total += sum(eq(argmax(predicted, 1), labels)).item();
  return total >= 0 && live() == before;
}

Tensor in_one_dimension(const Tensor& input) {
  if (input.rank() == 1) {
    return input;  // as good as input.alias()
  }
  return reshape(input, {-1});
}

// A function whose tensors all go at its end, but for the result.
Tensor distance(const Tensor& a, const Tensor& b) {
  Scope scope("distance");
  const Tensor difference = a - b;
  const Tensor squares = square(difference);
  const Tensor result = sqrt(sum(squares, {1}));
  return scope.keep(result);
}

bool revoked() {
  std::vector<Tensor> history;  // a list that somebody forgot
  {
    Scope scope("step");
    history.push_back(neap::ones({1000}));
  }
  try {
    history[0].item();
  } catch (const neap::UseAfterRelease& error) {
    std::printf("%s\n", error.what());
    return !history[0].defined();
  }
  return false;
}

bool move_and_detach() {
  Scope outer("outer");
  Tensor moved;
  Tensor detached;
  {
    Scope inner("inner");
    moved = neap::ones({3});
    detached = neap::ones({3});
    const Tensor gone = neap::ones({3});
    inner.move_to_outer(moved);
    inner.detach(detached);
  }
  const bool is_kept = moved.defined() && detached.defined();
  outer.release_all_but(moved);  // detached is no member
  outer.release(moved);
  return is_kept && !moved.defined() && detached.defined();
}

bool statistics() {
  reset_scope_stats();
  {
    Scope scope("step");
    const Tensor x = neap::ones({3});
    const Tensor y = x + 1.0;
  }
  std::printf("%s\n", scope_stats().format().c_str());
  return scope_stats().growth() == 0;
}

bool run() {
  const Tensor x = neap::ones({4, 3});
  const bool is_flat = in_one_dimension(x).is_alias_of(x);
  const Tensor d = distance(x, x * 3.0);
  return count_right() && is_flat && d.size(0) == 4 && revoked() &&
         move_and_detach() && statistics() && neap::memory::trim() >= 0;
}

}  // namespace

int main() {
  const bool is_right = run();
  const neap::Bytes left = live();
  std::printf("live at exit: %s\n", neap::format_bytes(left).c_str());
  return is_right && left == 0 ? 0 : 1;
}
