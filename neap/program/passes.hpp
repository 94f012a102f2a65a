// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Passes: changes of a program that keep its bits. Each can be switched off,
// walks the program a fixed number of times and recurses over nothing, and
// leaves a program that verify() accepts. A pass that throws (OutOfMemory) may
// leave a program that is good for nothing but to be dropped.
// Not thread-safe.
#pragma once

#include "neap/program/program.hpp"

namespace neap::compiler {

/// The passes that run.
struct Passes {
  bool dead_code = true;
  bool common_subexpressions = true;
  bool fold_constants = true;
  bool in_place = true;
  bool fuse = true;
  bool gradient_release = true;
  bool reorder = true;
  bool copy_again = true;

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

/// Every pass that is switched on, in an order in which they help one another;
/// values that nothing needs any more are gone from the tables afterwards.
/// THROWS: OutOfMemory; InternalError in checked builds, where every pass is
/// followed by verify().
NEAP_API void run_passes(Program& program, const Passes& passes = {});

/// Calls whose values nobody needs go. Needed is what results, gradients left
/// behind, writes into what exists, checks and calls with an effect need.
NEAP_API void remove_dead_code(Program& program);

/// The later of two calls that compute the same from the same goes, unless
/// what the earlier made would have to be kept for it at an instant at which
/// there is no room below the peak.
NEAP_API void merge_common(Program& program);

/// Calls that depend on constants alone run now, where what they make is small
/// (4 KiB each, 64 KiB together).
NEAP_API void fold_constants(Program& program);

/// Elementwise calls over as many elements become one (kernels/fused.hpp),
/// where one reads what another made, or both read the same side by side; what
/// only they read has no memory any more. Writes into what exists stay alone.
NEAP_API void fuse_elementwise(Program& program);

/// A convolution whose sums only a relu reads ends in it: the sums are in
/// memory once. Part of `fuse`; not where a plug-in's kernels stand in front,
/// which have convolutions of their own.
NEAP_API void join_relu(Program& program);

/// A gradient that the step adds to is added to in its leaf's memory
/// (LeafGrad::is_accumulated): what was a new tensor is a write into what
/// exists, which the other passes keep behind the checks before it. Part of
/// `in_place`.
NEAP_API void accumulate_in_place(Program& program);

/// An output takes over the memory of an input that ends there, where the op
/// says that it may (Facts::donates).
NEAP_API void take_over_inputs(Program& program);

/// An update runs as soon as all that it needs is there, so that gradients go
/// one by one: right after the last call that makes what it reads and the last
/// that reads what it writes over, and never before a check that it followed.
NEAP_API void release_gradients(Program& program);

/// Another order of the calls, where one is found that needs less memory at the
/// instant at which most is needed.
NEAP_API void reorder_for_peak(Program& program);

/// A dense copy of what exists (of an argument, say, for a product that reads
/// rows) is made once more, where that one lies idle at the instant at which
/// most memory is needed: backward has its own instead of forward's.
NEAP_API void copy_again(Program& program);

}  // namespace neap::compiler
