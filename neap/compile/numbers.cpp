// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/numbers.hpp"

#include <algorithm>
#include <array>

#include "neap/ops/elementwise/cast.hpp"
#include "neap/ops/elementwise/fill.hpp"

namespace neap::compiler {
namespace {

// Integers beside numbers are indices or labels where the op takes both as they
// are. They do not say then in which dtype the numbers are to be.
bool takes_all(const graph::OpCall& call) {
  memory::Vector<tensor::Spec> specs;
  specs.reserve(call.inputs.size());
  for (const neap::Operand& input : call.inputs) {
    specs.push_back(input.tensor().spec());
  }
  std::array<tensor::Spec, graph::kMaxOutputs> made;
  try {
    call.op.infer(
        {call.op.name, specs, call.attrs},
        std::span(made).first(static_cast<std::size_t>(call.op.outputs)));
  } catch (const DTypeError&) {
    return false;
  }
  return true;
}

}  // namespace

void Numbers::add(const Tensor& number) {
  set(number, Kind::kNumber);
}

bool Numbers::has(const Tensor& tensor) const {
  return kind_of(tensor) == Kind::kNumber;
}

std::optional<DType> Numbers::dtype_for(const graph::OpCall& call) const {
  std::optional<DType> others;
  std::optional<DType> small;  // of conditions, packed bits
  bool has_number = false;
  for (const neap::Operand& input : call.inputs) {
    const Tensor& tensor = input.tensor();
    const Kind kind = kind_of(tensor);
    has_number = has_number || kind == Kind::kNumber;
    if (kind != Kind::kTensor) {
      continue;
    }
    // Conditions and packed bits say nothing of what they choose from, where
    // something else does.
    const DType dtype = tensor.dtype();
    if (dtype == DType::kBool || dtype == DType::kU8) {
      small = dtype == DType::kU8 ? dtype : small.value_or(dtype);
    } else if (!others || (!is_floating(*others) && is_floating(dtype))) {
      others = dtype;
    }
  }
  others = others ? others : small;
  if (!has_number || others == DType::kF64) {
    return std::nullopt;
  }
  const bool is_index = others && !is_floating(*others) && takes_all(call);
  return is_index ? std::nullopt : others;
}

void Numbers::add_made(const graph::OpCall& call,
                       std::span<const Tensor> outputs) {
  if (call.op.view != nullptr || &call.op == &ops::kCast) {
    return;  // the same value; what the step says
  }
  const bool is_written = &call.op == &ops::kFill;
  bool is_number = false;
  for (const neap::Operand& input : call.inputs) {
    const Kind kind = kind_of(input.tensor());
    is_number = is_number || kind == Kind::kNumber;
    if (kind == Kind::kTensor) {
      return;
    }
  }
  for (const Tensor& output : outputs) {
    const bool may = output.dtype() == DType::kF64 &&
                     (is_number || (is_written && output.rank() == 0));
    if (may) {
      set(output, is_number ? Kind::kNumber : Kind::kWritten);
    }
  }
}

Numbers::Kind Numbers::kind_of(const Tensor& tensor) const {
  const StandIn* stand_in = StandIn::of(*tensor.array()->storage());
  const bool is_known =
      stand_in != nullptr && stand_in->value().value < kinds_.size();
  return is_known ? kinds_[stand_in->value().value] : Kind::kTensor;
}

void Numbers::set(const Tensor& tensor, Kind kind) {
  const std::size_t at = StandIn::of(*tensor.array()->storage())->value().value;
  kinds_.resize(std::max(kinds_.size(), at + 1), Kind::kTensor);
  kinds_[at] = kind;
}

}  // namespace neap::compiler
