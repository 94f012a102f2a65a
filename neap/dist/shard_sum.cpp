// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/dist/shard_sum.hpp"

#include <array>
#include <bit>
#include <string>
#include <utility>

#include "neap/base/raise.hpp"
#include "neap/graph/recorder.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/operators.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap::dist {

ShardSum::ShardSum(const Group& group, int shards) : group_(group) {
  const bool is_power =
      shards > 0 && std::has_single_bit(static_cast<unsigned>(shards));
  if (!is_power || shards < group.ranks()) {
    base::raise<ValueError>(
        "dist: {} shards for {} ranks; their number must be a power of two, "
        "and at least that of the ranks",
        shards, group.ranks());
  }
  count_ = shards / group.ranks();
}

void ShardSum::add(std::span<const Tensor> of_shard, CallSite site) {
  if (added_ == count_) {
    base::raise<ValueError>(
        "dist: this rank has {} shards, and one more is added", count_);
  }
  if (!open_.empty() && open_.back().tensors.size() != of_shard.size()) {
    base::raise<ValueError>("dist: a shard has {} tensors, those before {}",
                            of_shard.size(), open_.back().tensors.size());
  }
  const NoGrad no_grad;
  Partial sum;
  for (std::size_t i = 0; i < of_shard.size(); ++i) {
    check_alike(i, of_shard[i]);
    sum.tensors.push_back(copy({of_shard[i], site}));
  }
  std::size_t joined = 0;
  while (joined < open_.size() &&
         open_[open_.size() - 1 - joined].shards == sum.shards) {
    const Partial& left = open_[open_.size() - 1 - joined];
    for (std::size_t i = 0; i < sum.tensors.size(); ++i) {
      sum.tensors[i] = neap::add({left.tensors[i], site}, sum.tensors[i]);
    }
    sum.shards *= 2;
    ++joined;
  }
  open_.reserve(open_.size() + 1);
  open_.resize(open_.size() - joined);
  open_.push_back(std::move(sum));
  ++added_;
}

// Shards are alike; there may be none before.
void ShardSum::check_alike(std::size_t i, const Tensor& tensor) const {
  if (!tensor.defined()) {
    base::raise<ValueError>(
        "dist: tensor {} of a shard is undefined; a parameter without a "
        "gradient gets zeros",
        i);
  }
  if (tensor.dtype() != DType::kF32 && tensor.dtype() != DType::kF64) {
    base::raise<DTypeError>(
        "dist: tensor {} of a shard is {}, expected f32 or "
        "f64",
        i, name_of(tensor.dtype()));
  }
  if (open_.empty()) {
    return;
  }
  const Tensor& before = open_.back().tensors[i];
  if (before.shape() != tensor.shape() || before.dtype() != tensor.dtype()) {
    base::raise<ShapeError>(
        "dist: tensor {} of a shard is {} {}, before it was "
        "{} {}",
        i, name_of(tensor.dtype()), format_shape(tensor.shape()),
        name_of(before.dtype()), format_shape(before.shape()));
  }
}

memory::Vector<Tensor> ShardSum::take(CallSite site) {
  if (added_ != count_) {
    base::raise<ValueError>("dist: {} of {} shards of this rank were added",
                            added_, count_);
  }
  group_.agree(std::array{
      Fact{"shards", static_cast<std::uint64_t>(count_ * group_.ranks())},
      Fact{"tensors of a shard", open_.front().tensors.size()}});
  memory::Vector<Tensor> sums = std::move(open_.front().tensors);
  open_.clear();
  added_ = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    group_.sum(sums[i], "tensor " + std::to_string(i) + " of a shard", site);
  }
  return sums;
}

}  // namespace neap::dist
