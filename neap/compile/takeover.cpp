// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/takeover.hpp"

#include <algorithm>

namespace neap::compiler {

std::uint32_t takeover_mask(const Program& program, const Dataflow& flow,
                            const Call& call) {
  if (call.kind != CallKind::kKernel || call.op == nullptr ||
      call.op->facts.donates == 0 || call.outputs.count == 0) {
    return 0;
  }
  const Operand& out = program.out(call)[0];
  const Value& made = program[out.value];
  if (made.over != kNoValue || made.size == 0 ||
      !is_whole(out.layout, made.size)) {
    return 0;
  }
  const std::span<const Operand> in = program.in(call);
  const auto fits = [&](std::size_t k) {
    const Value& value = program[in[k].value];
    return k < 32 && (call.op->facts.donates >> k & 1U) != 0 &&
           in[k].layout == out.layout && value.size == made.size &&
           value.spec.space == made.spec.space;
  };
  std::uint32_t mask = 0;
  for (std::size_t k = 0; k < std::min<std::size_t>(in.size(), 32); ++k) {
    const ValueId id = in[k].value;
    if (!fits(k) || flow.exists_before(id) || flow.outlives(id) ||
        flow.heir(id) != kNoValue) {
      continue;
    }
    // The same value as another operand must be read in the same way.
    bool alone = true;
    for (std::size_t other = 0; other < in.size(); ++other) {
      alone = alone && (in[other].value != id || fits(other));
    }
    mask |= alone ? 1U << k : 0U;
  }
  return mask;
}

}  // namespace neap::compiler
