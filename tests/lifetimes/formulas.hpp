// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The reference model's formulas of the ops in random programs: values and
// cotangents by plain loops over at most six numbers, and what each op's
// derivative reads. Every cotangent carries a bound, the sum of the sizes of
// what was added up in it, so that rounding can be told from an error.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "neap/base/shape.hpp"

namespace neap::lifetimes {

inline constexpr std::size_t kMaxElements = 6;
using Values = std::array<double, kMaxElements>;

enum class OpKind : std::uint8_t {
  kAdd,
  kSub,
  kMul,
  kMatmul,
  kNeg,
  kSquare,
  kSin,
  kExp,
  kTanh,
  kRelu,
  kSum,
  kReshape,
  kSlice,
  kVarMean,  // two outputs: variance and mean along axis 0
  kCount
};

/// Values that an op keeps or may take over: bit i is input or output i.
struct OpFacts {
  std::string_view name;  // as error messages call the recorded op
  int inputs;
  int outputs;  // that have a handle
  /// [i]: kept for the cotangent of input i.
  std::array<std::uint8_t, 2> keeps_inputs;
  std::uint8_t keeps_outputs;
  std::uint8_t donates;
  bool is_view;
  bool keeps_bits;  // one bit an element, which nobody has a handle of
};

const OpFacts& facts_of(OpKind op) noexcept;

/// One call: shapes, and where the elements of a slice or a sum lie.
struct Call {
  OpKind op = OpKind::kNeg;
  std::array<Shape, 2> in;
  std::array<Shape, 2> out;
  std::int64_t axis = 0;          // slice
  std::int64_t start = 0;         // slice
  std::array<bool, 2> reduces{};  // sum: which axes

  const OpFacts& facts() const noexcept { return facts_of(op); }
};

struct Cotangent {
  Values value{};
  Values bound{};
  bool is_defined = false;

  void add(std::size_t i, double term, double size) noexcept {
    value[i] += term;
    bound[i] += size;
  }
  void add(const Cotangent& other) noexcept;
};

using ValuePair = std::array<Values, 2>;
using CotangentPair = std::array<Cotangent, 2>;

ValuePair forward(const Call& call, const ValuePair& in) noexcept;

/// Cotangents of the inputs. `in`, `out`: values of the call.
CotangentPair pull_back(const Call& call, const ValuePair& in,
                        const ValuePair& out,
                        const CotangentPair& cotangents) noexcept;

inline std::size_t count_of(const Shape& shape) {
  return static_cast<std::size_t>(shape.element_count());
}

}  // namespace neap::lifetimes
