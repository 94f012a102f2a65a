// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/sampler.hpp"

#include <numeric>
#include <utility>

#include "neap/base/raise.hpp"
#include "neap/data/draw_key.hpp"

namespace neap::data {

Sampler::Sampler(std::int64_t size, bool shuffle, std::uint64_t seed)
    : size_(size),
      seed_(seed),
      order_(memory::Allocator<std::uint32_t>(memory::Category::kData)) {
  if (size < 0 || size > std::int64_t{0xFFFFFFFF}) {
    base::raise<ValueError>("sampler: {} samples, expected 0 to 2^32 - 1",
                            size);
  }
  if (shuffle) {
    order_.resize(static_cast<std::size_t>(size));
  }
}

void Sampler::start(std::int64_t epoch) noexcept {
  std::iota(order_.begin(), order_.end(), 0U);
  const base::DrawKey key = draw_key(seed_, Purpose::kShuffle, epoch);
  for (std::size_t left = order_.size(); left > 1; --left) {
    // Multiply-shift keeps the bias below 2^-32 of each position.
    const std::uint64_t word = key.word(left);
    const std::size_t pick = static_cast<std::size_t>((word * left) >> 32U);
    std::swap(order_[left - 1], order_[pick]);
  }
}

}  // namespace neap::data
