// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include "neap/program/passes.hpp"
#include "neap/program/takeover.hpp"

namespace neap::compiler {

namespace {

// Inputs that fit are of the output's size, all of them: any will do. One is
// taken at once, by its last reader, so that nobody takes it again.
void take_over(Program& program, const Dataflow& flow, std::uint32_t i,
               std::size_t k) {
  const Call& call = program.calls[i];
  const std::span<const Operand> out = program.out(call);
  for (std::uint32_t mask = takeover_mask(program, flow, call, k); mask != 0;
       mask &= mask - 1) {
    const auto from = static_cast<std::size_t>(std::countr_zero(mask));
    const ValueId id = program.in(call)[from].value;
    const bool is_free =
        std::ranges::none_of(out.first(k), [&](const Operand& before) {
          return program[before.value].over == id;
        });
    if (is_free && flow.readers(id).back() == i) {
      program[out[k].value].over = id;
      return;
    }
  }
}

}  // namespace

void take_over_inputs(Program& program) {
  const Dataflow flow(program);
  for (std::uint32_t i = 0; i < program.calls.size(); ++i) {
    for (std::size_t k = 0; k < program.calls[i].outputs.count; ++k) {
      take_over(program, flow, i, k);
    }
  }
}

}  // namespace neap::compiler
