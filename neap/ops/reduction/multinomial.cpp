// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reduction/multinomial.hpp"

#include <cmath>

#include "neap/graph/trace.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/cast.hpp"
#include "neap/ops/elementwise/draw.hpp"
#include "neap/ops/elementwise/exponential.hpp"
#include "neap/ops/reduction/cumsum.hpp"
#include "neap/ops/reduction/searchsorted.hpp"
#include "neap/ops/reduction/sort.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/ops/support.hpp"
#include "neap/tensor/element.hpp"
#include "neap/tensor/generator.hpp"

namespace neap {
namespace ops {
namespace {

struct WeightsWanted {
  std::int64_t positive = 0;  // of a row, at least
};

void look_at_weights(const char* op, std::span<const tensor::Strided> values,
                     const Attrs& attrs) {
  const std::int64_t wanted = attrs.as<WeightsWanted>().positive;
  const tensor::Strided& view = values[0];
  const std::int64_t length = view.shape.back();
  std::int64_t place = 0;
  std::int64_t positive = 0;
  tensor::for_each_offset(view.shape, view.strides, [&](std::int64_t offset) {
    const double weight = tensor::element_as_double(view, offset);
    if (!(weight >= 0.0) || std::isinf(weight)) {
      raise<ValueError>(
          "{}: weight {} at {} of row {}, expected a finite "
          "number >= 0",
          op, weight, place % length, place / length);
    }
    positive += weight > 0.0 ? 1 : 0;
    if (++place % length == 0) {
      if (positive < wanted) {
        raise<ValueError>(
            "{}: {} weights of row {} are above 0, expected {} "
            "or more",
            op, positive, place / length - 1, wanted);
      }
      positive = 0;
    }
  });
}

void check_weights(const char* op, const Tensor& weights, std::int64_t count,
                   bool replacement) {
  if (weights.rank() == 0) {
    raise<ShapeError>("{}: weights of rank 0, expected an axis", op);
  }
  check_computes(op, weights.dtype());
  const std::int64_t length = weights.shape().back();
  const std::int64_t wanted =
      replacement ? std::min<std::int64_t>(count, 1) : count;
  if (count < 0 || wanted > length) {
    raise<ValueError>("{}: {} of {} positions", op, count, length);
  }
  if (weights.space() == memory::kHost && weights.element_count() > 0) {
    graph::run_check({.op = op,
                      .look = look_at_weights,
                      .values = std::span(&weights, 1),
                      .attrs = WeightsWanted{wanted},
                      .site = memory::thread_context().site});
  }
}

// A time of arrival for each, of the rate that its weight is: the first to come
// is each with its share, and so on among those that are left. A weight of 0
// comes at infinity, or never (NaN), and so last.
Tensor first_to_come(const Tensor& weights, const Tensor& u,
                     std::int64_t count) {
  const Tensor clock = neg(log1p(neg(u)));
  return topk(div(clock, weights), count, -1, false).indices;
}

// The place where u of the whole falls; u times the whole is less than it.
Tensor by_running_sum(const Tensor& weights, const Tensor& u) {
  const Tensor sums = cumsum(weights, -1);
  return searchsorted(
      sums, mul(u, narrow(sums, -1, sums.shape().back() - 1, 1)), true);
}

}  // namespace
}  // namespace ops

Tensor multinomial(const TensorOperand& weights, std::int64_t count,
                   bool replacement) {
  constexpr const char* kName = "multinomial";
  const ops::AtSite here(weights);
  const Tensor given = ops::tensor_of(kName, weights).detach();
  ops::check_weights(kName, given, count, replacement);
  Shape shape = given.shape();
  if (replacement) {
    shape[shape.rank() - 1] = count;
  }
  tensor::Generator& source = tensor::generator();
  const Tensor u = ops::drawn(ops::Draw::kUniform, {f64, shape, given.space()},
                              0, 1, source.next(), weights.site());
  source.advance();
  if (replacement && shape.element_count() == 0) {
    return cast(u, i64);
  }
  const Tensor exact = cast(given, f64);
  return replacement ? ops::by_running_sum(exact, u)
                     : ops::first_to_come(exact, u, count);
}

}  // namespace neap
