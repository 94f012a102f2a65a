// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/cuts.hpp"

#include <algorithm>

#include "neap/compile/orders.hpp"
#include "neap/memory/out_of_memory.hpp"

namespace neap::compiler {
namespace {

constexpr std::int64_t kMostMicroBatches = 64;
constexpr std::int64_t kMostCalls = 20'000;  // of the step that they make
constexpr std::size_t kMostScheduledCalls = 1'200;
constexpr Bytes kLeastGain = 20;  // of an arena: a twentieth

}  // namespace

memory::Vector<Passes> Cuts::kept(const Passes& passes) const {
  memory::Vector<Passes> out;
  for (const std::uint32_t count : heads.kept) {
    out.push_back(passes);
    out.back().pieces = count;
  }
  for (const std::uint32_t count : micro_batches) {
    out.push_back(passes);
    out.back().micro_batches = count;
  }
  return out;
}

Cuts cuts_of(const Program& traced, const CompileOptions& options,
             Bytes arena) {
  Cuts out{.heads = head_pieces(traced, options.passes, arena),
           .micro_batches = {},
           .scheduled = 0};
  if (options.passes.micro_batches != 0) {
    return out;
  }
  const auto calls = static_cast<std::int64_t>(traced.calls.size());
  const std::int64_t most =
      std::min({kMostMicroBatches, rows_of_batch(traced),
                kMostCalls / std::max<std::int64_t>(calls, 1)});
  Passes passes = options.passes;
  for (std::int64_t count = 2; count <= most; count *= 2) {
    passes.micro_batches = static_cast<std::uint32_t>(count);
    try {
      const Candidate found = all_kept(traced, options, passes);
      if (found.program.fitting.micro_batches == 0 ||
          found.arena > arena - arena / kLeastGain) {
        break;
      }
      arena = found.arena;
      out.micro_batches.push_back(passes.micro_batches);
      if (found.program.calls.size() <= kMostScheduledCalls) {
        out.scheduled = passes.micro_batches;
      }
    } catch (const OutOfMemory& error) {
      if (error.details().reason != OutOfMemory::Reason::kBudget) {
        throw;
      }
      break;  // what is planned within has no memory for so many calls
    }
  }
  return out;
}

}  // namespace neap::compiler
