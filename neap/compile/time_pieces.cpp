// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/time_pieces.hpp"

#include <algorithm>

#include "neap/program/passes.hpp"
#include "neap/program/time_layers.hpp"

namespace neap::compiler {
namespace {

constexpr Bytes kLeastShare = 8;  // of the arena: an eighth
constexpr std::int64_t kPieces[] = {5, 10, 25};

}  // namespace

memory::Vector<std::uint32_t> time_pieces(const Program& traced,
                                          const Passes& passes, Bytes arena) {
  memory::Vector<std::uint32_t> out;
  if (passes.time_pieces != 0) {
    return out;
  }
  Program program = traced.copy();
  remove_dead_code(program);
  Bytes kept = 0;
  std::int64_t steps = 0;
  for (const TimeLayer& layer : time_layers(program)) {
    for (const Operand& made : program.out(program.calls[layer.call])) {
      kept += program[made.value].spec->size;
    }
    steps = std::max(steps, layer.steps);
  }
  if (kept < std::max<Bytes>(arena / kLeastShare, 1)) {
    return out;
  }
  for (const std::int64_t pieces : kPieces) {
    const auto count = static_cast<std::uint32_t>(std::min(pieces, steps));
    if (out.empty() || out.back() != count) {
      out.push_back(count);
    }
  }
  return out;
}

}  // namespace neap::compiler
