// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Numbers: the values of a traced step that stand for plain numbers of the
// caller's: arguments that are numbers, and what is computed of such alone. As
// a plain number does, they take part in an op in the dtype of its other
// operands:
//
//   x * (lr * 0.5)     lr, 0.5 and their product in f64, rounded once to x's
//                      dtype
//
// For sources of this room.
#pragma once

#include <optional>

#include "neap/compile/stand_in.hpp"

namespace neap::compiler {

class Numbers {
 public:
  /// Notes one. THROWS: OutOfMemory.
  void add(const Tensor& number);
  bool has(const Tensor& tensor) const;
  /// The dtype in which an op takes the numbers among its inputs; none: there
  /// is none, or all stay as they are.
  std::optional<DType> dtype_for(const graph::OpCall& call) const;
  /// Notes what an op has made. THROWS: OutOfMemory.
  void add_made(const graph::OpCall& call, std::span<const Tensor> outputs);

 private:
  enum class Kind : std::uint8_t {
    kTensor,
    kNumber,
    kWritten,  // in the text of the step, beside a tensor of f64
  };
  Kind kind_of(const Tensor& tensor) const;
  void set(const Tensor& tensor, Kind kind);

  memory::Vector<Kind> kinds_;  // by value; beyond its end: tensors
};

}  // namespace neap::compiler
