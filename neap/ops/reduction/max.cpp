// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reduction/max.hpp"

#include "neap/ops/indexing/gather.hpp"
#include "neap/ops/reduction/argmax.hpp"
#include "neap/ops/reduction/reduce.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace {

ValuesAndIndices chosen(std::string_view op, const Operand& x,
                        std::int64_t axis, bool keepdim, bool is_max) {
  const ops::AtSite here(x);
  const Tensor& value = ops::tensor_of(op, x);
  const int along = base::normalize_axis(op, axis, value.rank());
  if (value.shape()[along] == 0) {
    base::raise<ValueError>("{}: axis {} of {} is empty", op, along,
                            format_shape(value.shape()));
  }
  const Tensor at = is_max ? argmax(x, along, true) : argmin(x, along, true);
  const Tensor best = ops::gather_checked(value, along, at);
  if (keepdim) {
    return {best, at};
  }
  const std::uint64_t mask = ops::axis_bit(along);
  return {ops::without_axes(best, mask), ops::without_axes(at, mask)};
}

}  // namespace

ValuesAndIndices max(const Operand& x, std::int64_t axis, bool keepdim) {
  return chosen("max", x, axis, keepdim, true);
}

ValuesAndIndices min(const Operand& x, std::int64_t axis, bool keepdim) {
  return chosen("min", x, axis, keepdim, false);
}

}  // namespace neap
