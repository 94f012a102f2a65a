// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// When memory goes: what a backward uses up, what is released on purpose, and
// what a scope gives back.
#include <cstdio>
#include <vector>

#include "neap/neap.hpp"

namespace {

using neap::Tensor;

neap::Bytes live() {
  return neap::memory::domain().stats().live;
}

// A backward gives back what the graph kept for it, while it runs.
bool used_up() {
  const Tensor x = requires_grad_(neap::ones({1000}));
  const Tensor hidden = tanh(x);
  const Tensor loss = sum(square(hidden));
  const Tensor other = sum(exp(hidden));
  backward(loss);
  try {
    backward(other);  // `hidden` is used up; so is all computed from it
  } catch (const neap::GraphError& error) {
    std::printf("%s\n", error.what());
    return true;
  }
  return false;
}

// Values that only `loss` needs are freed; those that `other` needs stay.
bool released() {
  const Tensor x = requires_grad_(neap::ones({1000}));
  const Tensor hidden = tanh(x);
  const Tensor other = sum(hidden);
  const neap::Bytes before = live();
  const Tensor loss = sum(exp(exp(hidden)));
  const neap::Bytes with_loss = live();
  neap::graph::release(loss);
  std::printf("%s before, %s with the loss, %s after\n",
              neap::format_bytes(before).c_str(),
              neap::format_bytes(with_loss).c_str(),
              neap::format_bytes(live()).c_str());
  backward(other);
  return loss.item() > 0;
}

// Everything made inside goes at the end, wherever its handle went, but for
// what is kept.
bool in_a_scope() {
  std::vector<Tensor> history;
  Tensor kept;
  {
    neap::Scope scope("step");
    const Tensor x = neap::ones({1000});
    history.push_back(x * 2.0);
    kept = scope.keep(sum(x));
  }
  return !history[0].defined() && kept.item() == 1000;
}

}  // namespace

int main() {
  const bool is_right = used_up() && released() && in_a_scope();
  const neap::Bytes left = live();
  std::printf("live at exit: %s\n", neap::format_bytes(left).c_str());
  return is_right && left == 0 ? 0 : 1;
}
