// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The equation of an einsum, read: which axis of which operand goes by which
// label. For sources of ops only.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "neap/base/shape.hpp"
#include "neap/memory/containers.hpp"

namespace neap::ops {

/// A letter (A to Z, then a to z), or an axis of "...", counted from its end.
using Label = int;
inline constexpr Label kLetters = 52;
inline constexpr int kLabels = kLetters + kMaxRank;

/// Bit i stands for label i.
using LabelSet = std::uint64_t;

/// The labels of a tensor's axes, in their order.
class Labels {
 public:
  int rank() const noexcept { return rank_; }
  Label operator[](int axis) const noexcept {
    return labels_[static_cast<std::size_t>(axis)];
  }
  /// THROWS: ShapeError beyond kMaxRank.
  void push_back(Label label);
  void erase(int axis) noexcept;
  /// Axis of a label; -1 where there is none.
  int find(Label label) const noexcept;
  LabelSet set() const noexcept;

 private:
  std::array<Label, kMaxRank> labels_{};
  int rank_ = 0;
};

inline LabelSet bit_of(Label label) noexcept {
  return LabelSet{1} << static_cast<unsigned>(label);
}

struct EinsumEquation {
  memory::Vector<Labels> terms;  // one an operand
  Labels output;
  std::array<std::int64_t, kLabels> extents{};  // of each label
};

/// Reads "ij,jk->ik" for operands of these shapes; einsum (einsum.hpp) says
/// what is allowed. THROWS: ValueError, ShapeError; OutOfMemory.
EinsumEquation read_equation(std::string_view equation,
                             std::span<const Shape> shapes);

}  // namespace neap::ops
