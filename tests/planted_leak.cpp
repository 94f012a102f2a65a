// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A program that, told to, leaks one tensor, and then prints the library's own
// report on what was not given back. planted_leak_test.py runs it, and looks
// whether LeakSanitizer and valgrind say the same.
#include <cstdio>
#include <cstring>

#include "neap/report/leaks.hpp"
#include "neap/tensor/create.hpp"

namespace neap::tests {
namespace {

// Not inlined, so that no pointer to the tensor stays on main's stack.
[[gnu::noinline]] void leak_one() {
  memory::Domain& door = memory::domain();
  const memory::ContextGuard guard([&](memory::Context& c) {
    c.category = memory::Category::kParameters;
    c.owner = door.owner("planted.weight");
  });
  auto* leaked = new Tensor;
  *leaked = zeros({10, 100});  // planted
}

[[gnu::noinline]] void leak_nothing() {
  const Tensor kept = zeros({10, 100});
}

}  // namespace
}  // namespace neap::tests

int main(int argc, char** argv) {
  const neap::report::Baseline baseline;
  neap::tests::leak_nothing();
  if (argc > 1 && std::strcmp(argv[1], "leak") == 0) {
    neap::tests::leak_one();
  }
  std::fputs(baseline.format().c_str(), stdout);
  return 0;
}
