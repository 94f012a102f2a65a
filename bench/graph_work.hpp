// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The work that graph_bench.cpp times: chains of calls that compute nothing, so
// that what is left is the tape's own bookkeeping.
#pragma once

#include "neap/graph/node.hpp"
#include "neap/memory/containers.hpp"

namespace neap::bench {

/// Seconds of the processor that this thread has had: beside nothing that was
/// measured in turns with it, a figure should not depend on who else is busy.
double processor_seconds() noexcept;

/// A view of all of x, recorded; its rule gives the cotangent on as it is.
Tensor pass(const Tensor& x);

/// A chain of `count` of them on x.
Tensor passes(const Tensor& x, std::int64_t count);

/// Nodes of pass() in a chain, made and consumed without running any op: what
/// the tape alone costs.
class Books {
 public:
  explicit Books(std::int64_t count);
  /// Registers all of the nodes, each on the one before it, then consumes and
  /// drops them from the last to the first, as a backward does.
  void run();

 private:
  Tensor x_;
  tensor::Spec spec_;
  memory::Vector<base::Ref<graph::Node>> nodes_;
};

/// Seconds that a backward over ten nodes of pass() took, in the mean of
/// `times` of them one after the other, whose nodes were made beforehand.
double seconds_of_ten(const Tensor& x, int times);

/// Times of a chain that is longer than any stack, in seconds.
struct DeepTimes {
  double build = 0;
  double backward = 0;
  double drop = 0;  // of another one, never differentiated
  Bytes peak = 0;   // of held bytes
};
/// In a thread with 256 KiB of stack.
DeepTimes time_deep_chain(std::int64_t count);

}  // namespace neap::bench
