// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Sampler: the order of samples in an epoch. A shuffled order is a function of
// (seed, epoch) alone, so a run can be resumed anywhere.
#pragma once

#include "neap/base/outside.hpp"
#include "neap/memory/containers.hpp"

namespace neap::data {

class NEAP_API Sampler {
 public:
  /// `size` samples; in order, or shuffled by `seed` for each epoch. The order
  /// takes 4 B a sample (category data). THROWS: OutOfMemory; ValueError for a
  /// negative size or 2^32 samples and more.
  Sampler(std::int64_t size, bool shuffle, std::uint64_t seed);

  /// Computes the order of an epoch (Fisher and Yates over Philox words).
  void start(std::int64_t epoch) noexcept;

  std::int64_t size() const noexcept { return size_; }
  /// A step that is traced is refused where it asks.
  std::int64_t operator[](std::int64_t position) const noexcept {
    base::tell_of_question("operator[]", "for the order of samples", {});
    return order_.empty() ? position
                          : order_[static_cast<std::size_t>(position)];
  }

 private:
  std::int64_t size_;
  std::uint64_t seed_;
  memory::Vector<std::uint32_t> order_;  // empty: in order
};

}  // namespace neap::data
