// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/planner/exact_style.hpp"

#include <algorithm>

namespace neap::planner {
namespace {

constexpr double kFirstAboveAll = 1e9;  // what counts first against the rest
constexpr double kShake = 0.3;

double key(const Sections& sections, const Sections::Piece& piece,
           PieceOrder order) noexcept {
  const double length = piece.range.end - piece.range.begin;
  const auto size = static_cast<double>(piece.size);
  const auto share = size / static_cast<double>(sections.lower_bound());
  std::int64_t fullest = 0;
  switch (order) {
    case PieceOrder::kLongest:
      return length * kFirstAboveAll + share;
    case PieceOrder::kLargest:
      return size * kFirstAboveAll + length;
    case PieceOrder::kFullest:
      for (std::int32_t s = piece.range.begin; s < piece.range.end; ++s) {
        fullest = std::max(fullest, sections.total(s));
      }
      return static_cast<double>(fullest) * kFirstAboveAll + length * share;
    case PieceOrder::kWidest:
      return length * length * share;
  }
  return 0;
}

// A number in [-0.5, 0.5) of a linear congruential generator (Knuth's MMIX).
double next_shake(std::uint64_t& state) noexcept {
  state = state * 6364136223846793005U + 1442695040888963407U;
  return static_cast<double>(state >> 11U) * 0x1p-53 - 0.5;
}

}  // namespace

void fill_keys(const Sections& sections, PieceOrder order, std::uint64_t seed,
               std::span<double> keys) noexcept {
  std::uint64_t state = seed * 0x9e3779b97f4a7c15U;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = key(sections, sections.pieces()[i], order);
    if (seed > 0) {
      keys[i] *= 1 + kShake * next_shake(state);
    }
  }
}

}  // namespace neap::planner
