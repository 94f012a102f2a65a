// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Group: the ranks that work on one training. Each runs the same program, on
// rows of its own, and sums what it has with the others:
//
//   const dist::Group world = dist::init();     // of the launcher
//   ...
//   backward(loss_of_my_rows);
//   world.sum(weight.grad(), "weight");          // now the batch's, in all
//   ranks optimizer.step();
//
// A sum is made in one order for every number of ranks (exchange.hpp): with the
// shards of a batch (shard_sum.hpp) training has the same bits on 1, 2, 4, ...
// ranks, whatever the engine.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "neap/base/call_site.hpp"
#include "neap/dist/engine.hpp"
#include "neap/dist/errors.hpp"
#include "neap/dist/exchange.hpp"
#include "neap/memory/containers.hpp"
#include "neap/tensor/tensor.hpp"

namespace neap::compiler {
class Ranks;
}

namespace neap::dist {

/// A number that all ranks have to have in common: "batch", 64.
struct Fact {
  std::string_view name;
  std::uint64_t value = 0;
};

struct GroupOptions {
  /// Seconds for which an exchange waits for a rank that makes no progress.
  double deadline = 60.0;

  /// THROWS: ValueError unless it is positive.
  NEAP_API void check() const;
};

/// Counts of a group since it began.
struct GroupCounts {
  Bytes sent = 0;
  Bytes received = 0;
  double waited = 0.0;  // seconds
};

/// Not thread-safe: one thread of each rank exchanges. Copies mean the same
/// group (and so does what is moved).
///
/// The ranks exchange the same things in the same order. Each exchange begins
/// with a comparison of that, so that ranks at different places are a
/// RankMismatch in all of them, before anything else moves. After a RankLost or
/// a DistError every exchange of the group is refused.
class NEAP_API Group {
 public:
  /// A group of one rank, which has nothing to exchange.
  Group() = default;
  /// THROWS: ValueError unless the number of ranks is a power of two; for a
  /// deadline that is not positive.
  explicit Group(std::shared_ptr<Engine> engine, const GroupOptions& = {});
  Group(const Group&) = default;
  Group& operator=(const Group&) = default;
  ~Group() = default;

  int rank() const noexcept;
  int ranks() const noexcept;
  /// "Open MPI v4.1.4"; "none" for a group of one.
  std::string_view engine_name() const noexcept;

  /// Refuses to go on where a fact differs between ranks: THROWS RankMismatch,
  /// in every rank, with the first fact that does. The ranks list as many
  /// facts, of the same names, in the same order. THROWS: RankLost; TraceError
  /// in a compiled step, as the others.
  void agree(std::span<const Fact> facts) const;
  /// Returns when all ranks are here. THROWS: RankLost.
  void meet(std::string_view what) const;

  /// Adds the elements of all ranks' tensors, in place and in every rank, by
  /// one binary tree in the order of the ranks. `x`: dense, f32 or f64, on the
  /// host, of one shape in all ranks; it may be a gradient, and records none.
  /// `what`: named where it fails. THROWS: DTypeError, ShapeError, TraceError
  /// (in a compiled step), GraphError (a graph records it, or it is a leaf
  /// beyond NoGrad), OutOfMemory, and nothing has changed: the other ranks get
  /// a RankMismatch; RankMismatch where shapes differ; RankLost, DistError, and
  /// then the elements are of no use.
  void sum(const Tensor& x, std::string_view what,
           CallSite site = CallSite::here()) const;
  /// The sum of a number, in f64, likewise.
  double sum(double x, std::string_view what) const;

  /// This group for a compiled step, whose shards its ranks share out
  /// (CompileOptions::ranks); null: it has one rank. While such a step is
  /// called nothing else of the group is. THROWS: OutOfMemory.
  std::shared_ptr<compiler::Ranks> for_steps() const;

  /// Every rank's number, by rank. THROWS: as sum() of a number; OutOfMemory.
  memory::Vector<double> gather(double mine, std::string_view what) const;

  GroupCounts counts() const noexcept;

  /// Ends the processes of all ranks with this exit status (1 in place of
  /// success), this one too, where there is an engine: what is left to do after
  /// a RankLost.
  void abort(int status) const noexcept;

 private:
  friend class StepRanks;
  struct State;
  static std::shared_ptr<compiler::Ranks> ranks_of(
      const std::shared_ptr<State>& state);
  [[noreturn]] static void refuse_fact(std::string_view name,
                                       std::span<const std::uint64_t> values);
  void sum_elements(const Tensor& x, tensor::Storage& staging,
                    std::string_view what) const;

  std::shared_ptr<State> state_;  // none: a group of one
};

}  // namespace neap::dist
