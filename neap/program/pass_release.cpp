// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "neap/program/dataflow.hpp"
#include "neap/program/order.hpp"
#include "neap/program/passes.hpp"
#include "neap/program/rewrite.hpp"

namespace neap::compiler {

void release_gradients(Program& program) {
  const Dataflow flow(program);
  const Lists before = dependences(program, flow);
  memory::Vector<std::uint32_t> order(program.calls.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto released = hoisted(order, before, [&](std::uint32_t i) {
    return program.calls[i].listener != nullptr;
  });
  if (released != order) {
    keep_calls(program, released);
  }
}

}  // namespace neap::compiler
