// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The strided elementwise engine. It cuts the operands of a call into pieces
// that are dense in every operand and hands them to one function, so that the
// arithmetic is written once, for plain arrays. Other operands (strides,
// broadcasts) are gathered into small buffers on the stack first, and scattered
// from them afterwards: the same code computes every element. An operand that
// lies transposed is gathered by tiles, so that each of its cache lines is read
// once.
//
//   logical index  0 ......... n of the output, row-major
//   threads        |  part 0  |  part 1  |      contiguous ranges
//   pieces         |  |  |  | |  |  |  | |      one call each
//
// Each element is a pure function of its inputs and its logical index, so the
// cuts never show in the result.
#pragma once

#include <array>
#include <cstdint>

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

inline constexpr int kMaxOperands = 4;  // inputs and outputs together

/// `count` elements of each operand, dense, inputs first, then outputs.
struct Piece {
  std::array<std::byte*, kMaxOperands> data{};
  std::int64_t count = 0;
  std::int64_t first = 0;  // logical index in the output
  const void* attrs = nullptr;

  template <class T>
  T* at(int operand) const noexcept {
    return reinterpret_cast<T*>(data[static_cast<std::size_t>(operand)]);
  }
  template <class T>
  const T& attrs_as() const noexcept {
    return *static_cast<const T*>(attrs);
  }
};

/// The function object of a loop. One that depends on the op's attributes is an
/// aggregate of them:
///   struct ClipVector {
///     using Attrs = ClipAttrs;
///     Attrs attrs;
///     ...operator()
///   };
template <class Op>
Op make_op([[maybe_unused]] const void* attrs) noexcept {
  if constexpr (requires { requires !std::is_empty_v<typename Op::Attrs>; }) {
    return Op{*static_cast<const typename Op::Attrs*>(attrs)};
  } else {
    return Op{};
  }
}

/// The way in which a function uses its outputs.
enum class OutputUse : std::uint8_t {
  kWrites,   // sets every element, reads none
  kUpdates,  // reads, then writes (optimizer steps)
};

/// Calls `function` for pieces that cover out[0] once. Inputs broadcast to the
/// shape of out[0]; all outputs have that shape. REQUIRES: inputs and outputs
/// together at most kMaxOperands; an output does not repeat an element.
void run_elementwise(const Args& args, PieceFunction function,
                     OutputUse use = OutputUse::kWrites) noexcept;

}  // namespace neap::kernels
