// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Prediction: the memory that a planned step will need, known before it runs,
// and beside it the measurements. All bytes are live bytes, as requested:
// blocks as the program names them, without the allocator's rounding.
//
//   held by the step   persistent | arena | program
//                                   '-- of it live at the peak: values, scratch
//   the caller's       arguments
#pragma once

#include <array>
#include <iosfwd>

#include "neap/base/function_ref.hpp"
#include "neap/compile/plan.hpp"

namespace neap::compiler {

/// The layer of an owner path of the ledger: "encoder.fc1" of the parameter
/// "encoder.fc1.weight", and of its gradient and state; of other things the
/// path itself. LIFETIME: as the path's.
NEAP_API std::string_view layer_of(std::string_view path,
                                   memory::Category category) noexcept;

/// A part of the arenas' contents at the peak.
struct PeakLine {
  Bytes bytes = 0;
  ValueId value = kNoValue;  // kNoValue: scratch
  memory::String op;         // that computed it, or whose scratch it is
  memory::String layer;
  memory::Category category = memory::Category::kActivations;
  base::SiteId site{};
};

struct LayerBytes {
  memory::String layer;  // "" for what belongs to none
  Bytes persistent = 0;
  Bytes at_peak = 0;  // in the arenas
};

struct Prediction {
  // --- what stays from run to run -----------------------------------------

  /// Blocks that the program knows, by what they are: parameters, buffers,
  /// optimizer state, gradients that are left, results that are kept (as
  /// activations) and other tensors that the step captured.
  std::array<Bytes, memory::kCategoryCount> persistent_by_category{};
  Bytes constants = 0;  // part of those: created while tracing, or folded
  Bytes persistent = 0;

  // --- what lives within a run --------------------------------------------

  Bytes arena = 0;            // of all spaces
  Bytes live_at_peak = 0;     // part of the arena
  Bytes workspace = 0;        // part of that: scratch
  Bytes largest_scratch = 0;  // of a call, at any instant
  Bytes lower_bound = 0;      // no arena for this order of calls is smaller
  bool is_proven = true;      // nor than this one
  std::array<Bytes, memory::kCategoryCount> arena_by_category{};  // at the peak

  // --- beside --------------------------------------------------------------

  Bytes arguments = 0;  // the caller's
  Bytes program = 0;    // the program and the plan themselves
  Bytes external = 0;   // of this process, at the time of the prediction

  // --- when and who ----------------------------------------------------------

  std::uint32_t peak_call = 0;
  memory::String peak_op;
  memory::String peak_layer;
  base::SiteId peak_site{};
  memory::Vector<PeakLine> at_peak;     // largest first
  memory::Vector<LayerBytes> by_layer;  // in the order of their paths

  std::int64_t ops = 0;
  double seconds = 0.0;  // of planning

  Fitting fitting{};    // into CompileOptions::arena_limit
  Sharding sharding{};  // of the batch, by CompileOptions::shards
  StateParts state{};   // of optimizers whose state ranks share out

  Bytes gap() const noexcept { return arena - lower_bound; }
  /// The peak of what the step holds, the caller's arguments left out.
  Bytes peak() const noexcept { return persistent + arena + program; }
  /// The same by category; what the arena does not use at its peak is under
  /// none of them.
  Bytes peak_of(memory::Category category) const noexcept;
};

/// Memory that stays from run to run.
struct Persistent {
  memory::Category category = memory::Category::kOther;
  std::string_view owner;  // LIFETIME: the domain's
  Bytes bytes = 0;
  bool is_constant = false;  // created while tracing, or folded
};

/// Tells of each block that a program knows and that stays: externals, kept
/// results, gradients that are left. THROWS: OutOfMemory; as `tell`.
NEAP_API void list_persistent(const Program& program, const Plan& plan,
                              base::FunctionRef<void(const Persistent&)> tell);

/// THROWS: OutOfMemory.
NEAP_API Prediction predict(const Program& program, const Plan& plan);

/// Measurements of the same. -1: not measured. The peaks are those of the whole
/// domain.
struct Measured {
  Bytes persistent = -1;
  Bytes arena = -1;
  Bytes peak = -1;       // highest live
  Bytes held_peak = -1;  // with rounding and idle pages
  Bytes external = -1;
  double seconds = -1.0;  // of planning
};

struct PredictionOptions {
  std::size_t max_lines = 24;  // of the peak and of layers each
  const Measured* measured = nullptr;
};

/// Tables for people: sums, what lives at the peak, layers.
/// THROWS: OutOfMemory.
NEAP_API memory::String format(const Prediction& prediction,
                               const PredictionOptions& options = {});
NEAP_API std::ostream& operator<<(std::ostream& out,
                                  const Prediction& prediction);

/// An object: peak_bytes, persistent_bytes, constants_bytes, arena_bytes,
/// live_at_peak_bytes, workspace_bytes, largest_scratch_bytes,
/// lower_bound_bytes, gap_bytes, proven, arguments_bytes, program_bytes,
/// external_bytes, peak_step {call, op, layer, site}, by_category and by_layer
/// {name: bytes}, live [{bytes, value, op, category, layer, site}], ops,
/// plan_seconds, fitting {limit_bytes, price_ns, extra_ns, bound_ns,
/// calls_again, pieces, micro_batches, time_pieces, values_spilled,
/// states_away, states_away_bytes, weights_away, weights_away_bytes, stall_ns,
/// written_bytes, fetched_bytes, spill_file_bytes}, or null without a limit;
/// with `measured`, an object of the same names for the measurements. All
/// lines, whatever max_lines. THROWS: OutOfMemory.
NEAP_API memory::String to_json(const Prediction& prediction,
                                const PredictionOptions& options = {});

}  // namespace neap::compiler
