// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Passes: changes of a program that keep its bits. Each can be switched off,
// walks the program a fixed number of times and recurses over nothing, and
// leaves a program that verify() accepts. A pass that throws (OutOfMemory) may
// leave an invalid program, which can only be dropped. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "neap/program/program.hpp"

namespace neap::compiler {

/// Switches of the passes that run.
struct Passes {
  bool dead_code = true;
  bool common_subexpressions = true;
  bool fold_constants = true;
  bool in_place = true;
  bool fuse = true;
  bool gradient_release = true;
  bool reorder = true;
  bool copy_again = true;
  /// The number of pieces of a head (cut_into_pieces()). 0: whole, but in
  /// pieces where an arena_limit or a budget is not met else; 1: whole.
  std::uint32_t pieces = 0;
  /// The number of micro-batches (cut_into_micro_batches()), chosen where an
  /// arena_limit or a budget is not met else; 0, 1: whole.
  std::uint32_t micro_batches = 0;
  /// The number of pieces of time of recurrent layers (cut_time()), chosen
  /// where an arena_limit or a budget is not met else; 0, 1: whole.
  std::uint32_t time_pieces = 0;

  static constexpr Passes none() noexcept {
    return {.dead_code = false,
            .common_subexpressions = false,
            .fold_constants = false,
            .in_place = false,
            .fuse = false,
            .gradient_release = false,
            .reorder = false,
            .copy_again = false};
  }
  friend bool operator==(const Passes&, const Passes&) = default;
};

/// Runs every pass that is switched on, in an order in which they help one
/// another; values that nothing needs any more are removed from the tables
/// afterwards.
/// THROWS: OutOfMemory; InternalError in checked builds, where every pass is
/// followed by verify().
NEAP_API void run_passes(Program& program, const Passes& passes = {});

/// The two halves of run_passes(): the passes that choose the calls and their
/// order, and those that let calls share memory, which another order would
/// spoil.
NEAP_API void run_order_passes(Program& program, const Passes& passes);
NEAP_API void run_memory_passes(Program& program, const Passes& passes);

/// Removes calls whose values nobody needs. Results, gradients left behind,
/// writes into external storage, checks and calls with an effect need values.
NEAP_API void remove_dead_code(Program& program);

/// Common subexpression elimination: removes the later of two calls that
/// compute the same from the same, unless the earlier one's value would have to
/// be kept for it at an instant without headroom below the peak.
NEAP_API void merge_common(Program& program);

/// Runs calls that depend on constants alone now, where their values are small
/// (4 KiB each, 64 KiB together).
NEAP_API void fold_constants(Program& program);

/// Cuts heads into pieces: logits, their cross_entropy and its gradient, and
/// the products that read it, run for a share of their rows at a time, to the
/// same bits, so that logits of all rows never exist; `fitting.pieces` says in
/// how many. A head stays whole where it is no such chain, where other calls
/// read its logits, where its cotangent depends on its loss, and where a
/// plug-in's kernels have precedence. RETURNS: the number of heads that were
/// cut.
NEAP_API std::size_t cut_into_pieces(Program& program, std::uint32_t pieces);

/// Cuts recurrent layers (lstm, gru, rnn), their gradients and the products
/// that read those into so many pieces of time, at most one a step, to the same
/// bits; `fitting.time_pieces` says in how many. A layer stays whole where
/// other calls read the gates that it keeps, or their cotangents, or gradients
/// of it are added to where they lie, and where a plug-in's kernels have
/// precedence. RETURNS: the number of layers that were cut.
NEAP_API std::size_t cut_time(Program& program, std::uint32_t pieces);

/// The rows of the first tensor among the arguments; 0: there is none.
NEAP_API std::int64_t rows_of_batch(const Program& program) noexcept;

/// Makes cross entropies over all rows calls for each row and one for their
/// sum, to the same bits.
NEAP_API void split_losses(Program& program);

/// Makes sums over `rows` rows of the arguments' axis 0 sums that go on from
/// zeros, to the same bits.
NEAP_API void split_sums(Program& program, std::int64_t rows);

/// Cuts the batch into so many micro-batches (at most one a row), which run one
/// after another, to the same bits as the whole: sums over rows go on from one
/// to the next, and calls whose sums cannot, or that need all rows at once, run
/// once; `fitting.micro_batches` says in how many. Nothing is changed where no
/// call can run for some rows alone.
NEAP_API void cut_into_micro_batches(Program& program, std::uint32_t count);

/// Cuts the batch, the arguments whose axis 0 has `rows` rows, into shards, at
/// most one a row, which run one after another; sums over rows are joined by
/// one binary tree. Calls that need all rows at once run once. Nothing is
/// changed where no call can run for some rows alone.
NEAP_API void cut_into_shards(Program& program, std::int64_t rows,
                              std::uint32_t shards);

/// Fuses elementwise calls over equally many elements (kernels/fused.hpp),
/// where one reads the other's value, or both read the same one; values that
/// only they read then need no memory. Writes into external storage stay alone.
NEAP_API void fuse_elementwise(Program& program);

/// Fuses a convolution with the relu that alone reads it, so that the sums are
/// in memory once. Part of `fuse`; not where a plug-in's kernels have
/// precedence, which have convolutions of their own.
NEAP_API void fuse_relu(Program& program);

/// Adds to a gradient in its leaf's memory, where the step adds to one
/// (LeafGrad::is_accumulated): the new tensor becomes a write into external
/// storage, which the other passes keep behind the checks before it. Part of
/// `in_place`.
NEAP_API void accumulate_in_place(Program& program);

/// Gives an output the memory of an input that ends there, where the op allows
/// it (Facts::donates).
NEAP_API void take_over_inputs(Program& program);

/// Moves each update to where all that it needs is computed, so that gradients
/// are freed one by one: right after the last call that computes what it reads
/// and the last that reads what it overwrites, and never before a check that it
/// followed.
NEAP_API void release_gradients(Program& program);

/// Reorders the calls, where an order is found that needs less memory at the
/// instant at which most is needed.
NEAP_API void reorder_for_peak(Program& program);

/// Rematerialises copies: a dense copy of an external or an argument (for a
/// product that reads rows, say) that is idle at the instant at which most
/// memory is needed is freed and copied again, so that backward does not keep
/// forward's.
NEAP_API void rematerialise_copies(Program& program);

}  // namespace neap::compiler
