// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/cuts.hpp"

#include <algorithm>

#include "neap/compile/orders.hpp"
#include "neap/compile/time_pieces.hpp"
#include "neap/memory/out_of_memory.hpp"
#include "neap/ops/rows.hpp"

namespace neap::compiler {
namespace {

constexpr std::int64_t kMostMicroBatches = 64;
constexpr std::int64_t kMostCalls = 20'000;  // of the step that they make
constexpr std::size_t kMostSearchedCalls = 1'200;
constexpr Bytes kLeastGain = 20;  // of an arena: a twentieth
// Two parts may need more than the whole, whose gradients are used up one by
// one, where four need less.
constexpr int kMostMisses = 1;

// The step in so many parts, each call once; none where it is not cut, or what
// is planned within has no memory for so many calls.
MicroBatches in_parts(const Program& traced, const CompileOptions& options,
                      std::uint32_t count) {
  Passes passes = options.passes;
  passes.micro_batches = count;
  try {
    const Candidate found = all_kept(traced, options, passes);
    if (found.program.fitting.micro_batches == 0) {
      return {};
    }
    return {.count = count,
            .arena = found.arena,
            .calls = found.program.calls.size(),
            .is_searched = found.program.calls.size() <= kMostSearchedCalls};
  } catch (const OutOfMemory& error) {
    if (error.details().reason != OutOfMemory::Reason::kBudget) {
      throw;
    }
    return {};
  }
}

}  // namespace

memory::Vector<Passes> Cuts::kept(const Passes& passes) const {
  memory::Vector<Passes> out;
  for (const std::uint32_t count : heads.kept) {
    out.push_back(passes);
    out.back().pieces = count;
  }
  for (const MicroBatches& some : micro_batches) {
    out.push_back(passes);
    out.back().micro_batches = some.count;
  }
  return out;
}

const MicroBatches* Cuts::above(LeftBeside left) const {
  const MicroBatches* found = nullptr;
  for (const MicroBatches& some : micro_batches) {
    if (some.is_searched && some.arena > left(some.calls)) {
      found = &some;
    }
  }
  return found;
}

Cuts cuts_of(const Program& traced, const CompileOptions& options,
             Bytes arena) {
  Cuts out{.heads = head_pieces(traced, options.passes, arena),
           .micro_batches = {},
           .time = time_pieces(traced, options.passes, arena)};
  if (options.passes.micro_batches != 0) {
    return out;
  }
  const auto calls = static_cast<std::int64_t>(traced.calls.size());
  const std::int64_t most =
      std::min({kMostMicroBatches, rows_of_batch(traced),
                kMostCalls / std::max<std::int64_t>(calls, 1)});
  int misses = 0;
  for (std::int64_t count = 2; count <= most && misses <= kMostMisses;
       count *= 2) {
    const MicroBatches some =
        in_parts(traced, options, static_cast<std::uint32_t>(count));
    if (some.count == 0) {
      break;
    }
    if (some.arena > arena - arena / kLeastGain) {
      ++misses;
      continue;
    }
    misses = 0;
    arena = some.arena;
    out.micro_batches.push_back(some);
  }
  return out;
}

const graph::Op* needs_whole_batch(const Program& traced) noexcept {
  for (const Call& call : traced.calls) {
    if (call.op != nullptr && call.op->facts.rows == ops::rows_together) {
      return call.op;
    }
  }
  return nullptr;
}

}  // namespace neap::compiler
