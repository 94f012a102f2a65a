// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The machine's limits, measured in the run that needs it: how fast so many
// threads multiply and add in registers, and how fast they move bytes in plain
// loops over memory of a given size.
#pragma once

#include "neap/base/bytes.hpp"
#include "neap/base/dtype.hpp"
#include "neap/memory/containers.hpp"
#include "neap/threads/executor.hpp"
#include "support/measure.hpp"

namespace neap::bench {

/// Flops a second of fused multiply-adds in registers, all threads together.
double fma_peak(threads::Executor& executor, DType dtype);

/// The floats of a loop that reads `reads` streams and writes their sum to
/// `writes` of them.
class Streams {
 public:
  /// `bytes`: of all streams together. REQUIRES: 0 <= reads <= 3,
  /// 0 <= writes <= 1, one of them above 0.
  Streams(int reads, int writes, Bytes bytes);

  /// One pass over everything by each thread over its own part, `passes`
  /// times. Past the caches: stores that do not read what they replace.
  void run(threads::Executor& executor, int passes, bool past_caches);

  Bytes bytes() const noexcept;
  /// REQUIRES: writes.
  std::span<const float> written() const noexcept { return data_.back(); }

  /// The two ways of storing, as contenders; a call is one pass.
  /// LIFETIME: this and the executor outlive them.
  std::vector<Contender> contenders(threads::Executor& executor);

 private:
  int reads_;
  int writes_;
  std::int64_t count_;  // floats a stream
  std::vector<memory::Vector<float>> data_;
};

}  // namespace neap::bench
