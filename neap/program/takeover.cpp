// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/takeover.hpp"

#include <algorithm>

#include "neap/program/fused_call.hpp"

namespace neap::compiler {
namespace {

// The inputs that a kernel may write over as it makes output k.
std::uint32_t donated(const Program& program, const Call& call, std::size_t k) {
  if (k >= call.outputs.count) {
    return 0;
  }
  if (call.kind == CallKind::kFused) {
    return fused_takeovers(program, call, k);
  }
  return call.kind == CallKind::kKernel && call.op != nullptr && k == 0
             ? call.op->facts.donates
             : 0;
}

// Moves fill whole pages of the arena, which a block of its own has not.
bool is_moved(const Program& program, const Dataflow& flow, ValueId id) {
  const auto moves = [&](std::uint32_t i) { return is_move(program.calls[i]); };
  for (; id != kNoValue; id = program[id].over) {
    if ((program[id].origin == Origin::kCall && moves(program[id].index)) ||
        std::ranges::any_of(flow.readers(id), moves)) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::uint32_t takeover_mask(const Program& program, const Dataflow& flow,
                            const Call& call, std::size_t k) {
  const std::uint32_t donates = donated(program, call, k);
  if (donates == 0) {
    return 0;
  }
  const Operand& out = program.out(call)[k];
  const Value& made = program[out.value];
  if (made.over != kNoValue || made.spec->size == 0 ||
      !is_whole(out.layout, made.spec->size)) {
    return 0;
  }
  const std::span<const Operand> in = program.in(call);
  const auto fits = [&](std::size_t i) {
    const Value& value = program[in[i].value];
    return i < 32 && (donates >> i & 1U) != 0 && in[i].layout == out.layout &&
           value.spec->size == made.spec->size &&
           value.spec->space == made.spec->space;
  };
  std::uint32_t mask = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(in.size(), 32); ++i) {
    const ValueId id = in[i].value;
    if (!fits(i) || flow.exists_before(id) || flow.outlives(id) ||
        flow.heir(id) != kNoValue ||
        (flow.has_own_block(out.value) && is_moved(program, flow, id))) {
      continue;
    }
    // The same value as another operand must be read in the same way.
    bool alone = true;
    for (std::size_t other = 0; other < in.size(); ++other) {
      alone = alone && (in[other].value != id || fits(other));
    }
    mask |= alone ? 1U << i : 0U;
  }
  return mask;
}

}  // namespace neap::compiler
