// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A compiled step whose arena is memory of the program's own: how much it needs
// is asked first, and nothing else is taken for values while it runs.
#include <cstddef>
#include <cstdio>
#include <vector>

#include "neap/neap.hpp"

namespace {

using neap::Tensor;
using neap::tensor::Spec;

bool run() {
  const Tensor w = neap::randn({64, 64});
  const auto plain = [&](const Tensor& x) {
    return sum(tanh(matmul(tanh(matmul(x, w)), w)), {1});
  };
  const auto lowered = neap::lower(plain, {Spec{neap::f32, {32, 64}}});
  const neap::Bytes needed = lowered.plan.arena_bytes();
  std::printf("needed  %s\n", neap::format_bytes(needed).c_str());

  // 64 more, so that it may begin anywhere.
  std::vector<std::byte> block(static_cast<std::size_t>(needed) + 64);
  auto step = neap::compile(plain, {.memory = block});
  const Tensor x = neap::randn({32, 64});
  const Tensor y = step(x);
  const auto* at = reinterpret_cast<const std::byte*>(y.values<float>().data());
  const bool is_inside = at >= block.data() && at < block.data() + block.size();
  std::printf("the result lies %s it\n", is_inside ? "in" : "outside of");

  bool is_refused = false;
  try {
    step(neap::randn({64, 64}));
  } catch (const neap::PlanError& error) {
    std::printf("%s\n", error.what());
    is_refused = true;
  }
  return is_inside && is_refused;
}

}  // namespace

int main() {
  const bool is_right = run();
  const neap::Bytes live = neap::memory::domain().stats().live;
  std::printf("live at exit: %s\n", neap::format_bytes(live).c_str());
  return is_right && live == 0 ? 0 : 1;
}
