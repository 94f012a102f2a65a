// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reduction/any.hpp"

#include "neap/ops/elementwise/comparison.hpp"
#include "neap/ops/reduction/extremes.hpp"
#include "neap/ops/reduction/reduce.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace {

Tensor is_nonzero(std::string_view op, const Operand& x) {
  const Tensor& value = ops::tensor_of(op, x);
  return value.dtype() == boolean ? value : ne(x, 0);
}

}  // namespace

Tensor any(const TensorOperand& x) {
  const ops::AtSite here(x);
  return ops::over_all("any", is_nonzero("any", x), ops::amax_axes);
}

Tensor any(const TensorOperand& x, const Shape& axes, bool keepdim) {
  const ops::AtSite here(x);
  return ops::over_some("any", is_nonzero("any", x), axes, keepdim,
                        ops::amax_axes);
}

Tensor all(const TensorOperand& x) {
  const ops::AtSite here(x);
  return ops::over_all("all", is_nonzero("all", x), ops::amin_axes);
}

Tensor all(const TensorOperand& x, const Shape& axes, bool keepdim) {
  const ops::AtSite here(x);
  return ops::over_some("all", is_nonzero("all", x), axes, keepdim,
                        ops::amin_axes);
}

Tensor count_nonzero(const TensorOperand& x) {
  const ops::AtSite here(x);
  return ops::over_all("count_nonzero", is_nonzero("count_nonzero", x),
                       ops::sum_axes);
}

Tensor count_nonzero(const TensorOperand& x, const Shape& axes, bool keepdim) {
  const ops::AtSite here(x);
  return ops::over_some("count_nonzero", is_nonzero("count_nonzero", x), axes,
                        keepdim, ops::sum_axes);
}

}  // namespace neap
