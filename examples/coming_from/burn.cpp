// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The programs of docs/coming-from/burn.md.
#include <cstdio>
#include <vector>

#include "neap/neap.hpp"

namespace {

using neap::Tensor;

// Gradients in a container of their own, and in the leaves.
bool two_ways() {
  const Tensor x = requires_grad_(neap::from_values({1, 2}, {2}));
  const Tensor w = requires_grad_(neap::from_values({3, 4}, {2}));
  auto gradients = grad(sum(x * w), {x, w});
  const Tensor& dw = gradients[1];
  backward(sum(x * w));
  return dw.at({1}) == 2 && w.grad().at({1}) == 2;
}

// A loop that only runs forward keeps nothing.
bool forward_only() {
  const Tensor w = requires_grad_(neap::ones({100}));
  const neap::Bytes before = neap::memory::domain().stats().live;
  for (int i = 0; i < 1000; ++i) {
    const Tensor score = sum(tanh(w * 2.0));
  }
  return neap::memory::domain().stats().live == before;
}

// A graph that a backward has consumed is refused by the next one, undamaged.
bool used_up() {
  const Tensor x = requires_grad_(neap::ones({1}));
  const Tensor shared = exp(x);
  const Tensor first = square(shared);
  const Tensor second = tanh(shared);
  backward(first);
  try {
    backward(second);
  } catch (const neap::GraphError& error) {
    std::printf("%s\n", error.what());
    return true;
  }
  return false;
}

bool kept() {
  const Tensor x = requires_grad_(neap::ones({1}));
  const Tensor shared = exp(x);
  const Tensor first = square(shared);
  const Tensor second = tanh(shared);
  backward(first, {.retain_graph = true});
  backward(second);
  return x.grad().defined();
}

bool run() {
  return two_ways() && forward_only() && used_up() && kept();
}

}  // namespace

int main() {
  const bool is_right = run();
  const neap::Bytes live = neap::memory::domain().stats().live;
  std::printf("live at exit: %s\n", neap::format_bytes(live).c_str());
  return is_right && live == 0 ? 0 : 1;
}
