// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A program that, told to, leaks in one of several ways, and then prints the
// library's own report on what was not given back. planted_leak_test.py runs
// it, and looks whether LeakSanitizer and valgrind say the same.
//
// usage: neap_planted_leak [KIND [track]]
#include <cstdio>
#include <cstring>
#include <optional>
#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/graph/hooks.hpp"
#include "neap/ops/ops.hpp"
#include "neap/report/leaks.hpp"
#include "neap/tensor/create.hpp"

namespace neap::tests {
namespace {

// Nothing here is inlined, so that no pointer to a tensor stays on main's
// stack.

[[gnu::noinline]] void leak_tensor() {
  memory::Domain& door = memory::domain();
  const memory::ContextGuard guard([&](memory::Context& c) {
    c.category = memory::Category::kParameters;
    c.owner = door.owner("planted.weight");
  });
  auto* leaked = new Tensor;
  *leaked = zeros({10, 100});  // planted tensor
}

[[gnu::noinline]] void leak_vector() {
  auto* kept = new std::vector<Tensor>;
  for (int i = 0; i < 2; ++i) {
    kept->push_back(zeros({10, 50}));  // planted vector
  }
}

// The losses of some steps, and with each what its graph keeps.
[[gnu::noinline]] void leak_history() {
  auto* losses = new std::vector<Tensor>;
  const Tensor x = requires_grad_(zeros({10, 100}));
  const Tensor hidden = exp(x);  // planted history
  losses->push_back(sum(hidden));
}

// A closure that holds the tensor on whose graph it hangs.
[[gnu::noinline]] void leak_hook() {
  const Tensor x = requires_grad_(zeros({10, 100}));
  const Tensor y = exp(x);  // planted hook
  register_hook(y, [y](const Tensor& grad) { return grad * y; });
}

[[gnu::noinline]] void leak_gradients() {
  const Tensor x = requires_grad_(zeros({10, 100}));
  const Tensor y = exp(x);  // planted gradients
  auto* forgotten = new Tensor;
  *forgotten = grad(sum(y), {x})[0];
}

[[gnu::noinline]] void leak_scope() {
  Scope scope("step");
  auto* kept = new Tensor;
  *kept = scope.keep(zeros({10, 100}));  // planted scope
}

[[gnu::noinline]] void leak_nothing() {
  const Tensor x = requires_grad_(zeros({10, 100}));
  const Tensor y = exp(x);
  const HookHandle hook = register_hook(y, [](const Tensor&) {});
  backward(sum(y));
}

struct Kind {
  const char* name;
  void (*leak)();
};
constexpr Kind kKinds[] = {
    {"tensor", leak_tensor},       {"vector", leak_vector},
    {"history", leak_history},     {"hook", leak_hook},
    {"gradients", leak_gradients}, {"scope", leak_scope},
};

}  // namespace
}  // namespace neap::tests

int main(int argc, char** argv) {
  std::optional<neap::memory::TrackHandles> tracking;
  if (argc > 2) {
    tracking.emplace();
  }
  const neap::report::Baseline baseline;
  neap::tests::leak_nothing();
  for (const auto& kind : neap::tests::kKinds) {
    if (argc > 1 && std::strcmp(argv[1], kind.name) == 0) {
      kind.leak();
    }
  }
  std::fputs(neap::report::report_leaks(baseline).c_str(), stdout);
  return 0;
}
