// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/matrices.hpp"

#include <cmath>

#include "neap/graph/trace.hpp"
#include "neap/tensor/element.hpp"

namespace neap::ops {

Shape batch_of(const Shape& shape) {
  return Shape(shape.span().first(static_cast<std::size_t>(shape.rank() - 2)));
}

void check_square(std::string_view op, const Spec& a) {
  check_computes(op, a.dtype);
  if (a.shape.rank() < 2 || a.shape.back(1) != a.shape.back(2)) {
    raise<ShapeError>("{}: {}, expected square matrices (..., n, n)", op,
                      format_shape(a.shape));
  }
}

void infer_solve(const OpArgs& args, std::span<Spec> out) {
  const Spec& a = args.inputs[0];
  const Spec& b = args.inputs[1];
  check_same_dtype(args);
  check_square(args.name, a);
  if (b.shape.rank() < 2 || b.shape.back(2) != a.shape.back(1)) {
    raise<ShapeError>("{}: a {} and b {}, expected (..., n, n) and (..., n, k)",
                      args.name, format_shape(a.shape), format_shape(b.shape));
  }
  out[0].dtype = a.dtype;
  out[0].shape =
      base::broadcast(args.name, batch_of(a.shape), batch_of(b.shape));
  out[0].shape.push_back(b.shape.back(2));
  out[0].shape.push_back(b.shape.back(1));
}

namespace {

void look_at_factored(const char* op, std::span<const tensor::Strided> values,
                      const Attrs& attrs) {
  const char* is = attrs.as<const char*>();  // a literal
  const tensor::Strided& view = values[0];
  const Shape batch = batch_of(view.shape);
  const Shape strides = batch_of(view.strides);
  std::int64_t matrix = 0;
  const auto check = [&]<class T>(const T* first) {
    tensor::for_each_offset(batch, strides, [&](std::int64_t offset) {
      if (std::isnan(first[offset])) {
        raise<ValueError>("{}: matrix {} of {} {}", op, matrix,
                          format_shape(batch), is);
      }
      ++matrix;
    });
  };
  if (view.dtype == f32) {
    check(view.as<const float>());
  } else {
    check(view.as<const double>());
  }
}

}  // namespace

void check_factored(const char* op, const Tensor& result, const char* is) {
  if (result.space() == memory::kHost && result.element_count() != 0) {
    graph::run_check({.op = op,
                      .look = look_at_factored,
                      .values = std::span(&result, 1),
                      .attrs = is,
                      .site = memory::thread_context().site});
  }
}

}  // namespace neap::ops
