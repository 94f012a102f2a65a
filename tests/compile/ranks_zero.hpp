// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Helpers of tests of ranks that share out the optimizer's state.
#pragma once

#include <memory>

#include "neap/dist/fake_engine_for_test.hpp"
#include "neap/dist/group.hpp"
#include "neap/nn/linear.hpp"
#include "neap/ops/ops.hpp"
#include "neap/program/ranks.hpp"

namespace neap::tests {

/// Calls run(group) in each of so many ranks.
template <class Run>
void on_ranks(int ranks, const Run& run, const dist::FakeOptions& how = {}) {
  dist::FakeWorld world(ranks, how);
  world.run([&](dist::Engine& engine) {
    run(dist::Group(
        std::shared_ptr<dist::Engine>(&engine, [](dist::Engine*) {})));
  });
}

/// The rows of a rank, as a loader would read them.
inline Tensor own_rows(const Tensor& batch, int shards,
                       const dist::Group& group) {
  const compiler::RowsOfRanks rows{batch.shape()[0], shards, group.ranks()};
  return contiguous(slice(batch, 0, rows.first_of_rank(group.rank()),
                          rows.first_of_rank(group.rank() + 1)));
}

/// Two layers, of four parameters: 5 to 6 to 3.
class Pair : public nn::Module {
 public:
  Pair() {
    register_module("first", first);
    register_module("second", second);
  }
  Tensor operator()(const Tensor& x) { return second(tanh(first(x))); }

  nn::Linear first{5, 6};
  nn::Linear second{6, 3};
};

}  // namespace neap::tests
