// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "neap/compile/passes.hpp"
#include "neap/compile/takeover.hpp"

namespace neap::compiler {

void take_over_inputs(Program& program) {
  const Dataflow flow(program);
  for (std::uint32_t i = 0; i < program.calls.size(); ++i) {
    const Call& call = program.calls[i];
    // Inputs that fit are of the output's size, all of them: any will do. One
    // is taken at once, by its last reader, so that nobody takes it again.
    for (std::uint32_t mask = takeover_mask(program, flow, call); mask != 0;
         mask &= mask - 1) {
      const auto k = static_cast<std::size_t>(std::countr_zero(mask));
      const ValueId id = program.in(call)[k].value;
      if (flow.readers(id).back() == i) {
        program[program.out(call)[0].value].over = id;
        break;
      }
    }
  }
}

}  // namespace neap::compiler
