// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// ShardSum: the gradients of a batch that is cut into shards, which the ranks
// of a group share out. Each shard's begin at zero; they are joined by one
// binary tree over all shards,
//
//   ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7))
//
// of which a rank makes the part over its own shards and the group the rest. So
// the bits depend on the number of shards alone: one rank with eight of them
// has those of eight ranks with one each.
//
//   dist::ShardSum sum(world, 8);
//   for (int s = sum.first(); s < sum.first() + sum.count(); ++s) {
//     sum.add(grad(losses of shard s * (its rows / batch), parameters));
//   }
//   const auto gradients = sum.take();
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "neap/dist/group.hpp"
#include "neap/memory/containers.hpp"

namespace neap::dist {

class NEAP_API ShardSum {
 public:
  /// THROWS: ValueError unless the number of shards is a power of two, and at
  /// least that of the ranks.
  ShardSum(const Group& group, int shards);
  ShardSum(const ShardSum&) = delete;
  ShardSum& operator=(const ShardSum&) = delete;

  /// This rank's shards are [first(), first() + count()).
  int first() const noexcept { return group_.rank() * count_; }
  int count() const noexcept { return count_; }

  /// Adds copies of the tensors of the next shard of this rank, f32 or f64, as
  /// many and of the same shapes each time. THROWS: ValueError (one shard too
  /// many, another number of tensors, an undefined one); ShapeError,
  /// DTypeError; OutOfMemory. The sum is as before then.
  void add(std::span<const Tensor> of_shard, CallSite site = CallSite::here());

  /// The sums over all shards of all ranks, in the order of add(). This object
  /// begins anew. THROWS: ValueError where a shard is missing; RankMismatch
  /// where ranks have other numbers of shards or tensors; as Group::sum(), and
  /// the sums are lost.
  memory::Vector<Tensor> take(CallSite site = CallSite::here());

 private:
  struct Partial {
    memory::Vector<Tensor> tensors;
    int shards = 1;  // that it is of
  };

  void check_alike(std::size_t i, const Tensor& tensor) const;

  Group group_;
  int count_;
  int added_ = 0;
  memory::Vector<Partial> open_;  // from the left, each larger than the next
};

}  // namespace neap::dist
