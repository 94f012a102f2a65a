// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The matrices, one row or column after the other.
#include <optional>

#include "neap/autograd/functional.hpp"
#include "neap/autograd/tangent_recorder.hpp"
#include "neap/ops/elementwise/cast.hpp"
#include "neap/ops/elementwise/comparison.hpp"
#include "neap/ops/elementwise/fill.hpp"
#include "neap/ops/elementwise/transfer.hpp"
#include "neap/ops/shape/concat.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/execution.hpp"

namespace neap {

using autograd::Function;
using autograd::FunctionOfMany;
using tensor::Spec;

namespace {

Shape joined(const Shape& a, const Shape& b) {
  memory::Vector<std::int64_t> extents(a.begin(), a.end());
  extents.insert(extents.end(), b.begin(), b.end());
  return Shape(extents);
}

// A tensor with 1 at element `i`, in row-major order, and 0 elsewhere.
Tensor unit(const Spec& spec, std::int64_t i) {
  const Tensor places = arange(spec.shape.element_count(), i64);
  return to(reshape(cast(eq(places, i), spec.dtype), spec.shape), spec.space);
}

// Parts of one shape, as a tensor of shape a.shape + b.shape.
Tensor assembled(std::span<const Tensor> parts, std::int64_t axis,
                 const Spec& a, const Spec& b) {
  const Shape shape = joined(a.shape, b.shape);
  return parts.empty()
             ? ops::filled({a.dtype, shape, a.space}, 0.0, CallSite::here())
             : reshape(stack(parts, axis), shape);
}

std::int64_t count_of(std::span<const Tensor> tensors) {
  std::int64_t count = 0;
  for (const Tensor& tensor : tensors) {
    count += tensor.element_count();
  }
  return count;
}

// A row for each element of the result.
Tensors by_rows(const VjpResult& result, std::span<const Tensor> primals) {
  const Spec out = result.value.spec();
  memory::Vector<Tensors> rows(primals.size());
  for (std::int64_t k = 0; k < out.shape.element_count(); ++k) {
    Gradients row = result.pullback(unit(out, k));
    for (std::size_t i = 0; i < primals.size(); ++i) {
      rows[i].push_back(row.take(i));
    }
  }
  Tensors matrices;
  for (std::size_t i = 0; i < primals.size(); ++i) {
    matrices.push_back(assembled(rows[i], 0, out, primals[i].spec()));
    rows[i].clear();
  }
  return matrices;
}

// A column for each element of the primals.
Tensors by_columns(FunctionOfMany f, std::span<const Tensor> primals,
                   bool create_graph) {
  const JvpOptions options{.create_graph = create_graph};
  memory::Vector<Tensors> columns(primals.size());
  Tensors direction(primals.size());
  std::optional<Spec> out;
  for (std::size_t i = 0; i < primals.size(); ++i) {
    const Spec spec = primals[i].spec();
    for (std::int64_t k = 0; k < spec.shape.element_count(); ++k) {
      direction[i] = unit(spec, k);
      JvpResult one = jvp(f, primals, direction, options);
      out = one.value.spec();
      columns[i].push_back(create_graph ? std::move(one.tangent)
                                        : autograd::cut(one.tangent));
    }
    direction[i] = Tensor();
  }
  if (!out) {  // no primal has an element
    out = f(primals).spec();
  }
  Tensors matrices;
  for (std::size_t i = 0; i < primals.size(); ++i) {
    matrices.push_back(assembled(columns[i], -1, *out, primals[i].spec()));
    columns[i].clear();
  }
  return matrices;
}

}  // namespace

Tensors jacobian(FunctionOfMany f, std::span<const Tensor> primals,
                 const JacobianOptions& options) {
  const bool create_graph =
      options.create_graph && tensor::thread_execution().grad_enabled;
  if (options.mode != JacobianMode::kForward) {
    const VjpResult result = vjp(f, primals, {.create_graph = create_graph});
    if (options.mode == JacobianMode::kReverse ||
        result.value.element_count() <= count_of(primals)) {
      return by_rows(result, primals);
    }
  }
  return by_columns(f, primals, create_graph);
}

Tensor jacobian(Function f, const Tensor& primal,
                const JacobianOptions& options) {
  const auto first = [&](std::span<const Tensor> in) { return f(in[0]); };
  return std::move(
      jacobian(FunctionOfMany(first), std::span(&primal, 1), options)[0]);
}

memory::Vector<Tensors> hessian(FunctionOfMany f,
                                std::span<const Tensor> primals,
                                const DerivativeOptions& options) {
  memory::Vector<Tensors> matrices(primals.size());
  Tensors direction(primals.size());
  for (std::size_t i = 0; i < primals.size(); ++i) {
    const Spec spec = primals[i].spec();
    memory::Vector<Tensors> rows(primals.size());
    for (std::int64_t k = 0; k < spec.shape.element_count(); ++k) {
      direction[i] = unit(spec, k);
      HvpResults row = hvp(f, primals, direction, options);
      for (std::size_t j = 0; j < primals.size(); ++j) {
        rows[j].push_back(row.products.take(j));
      }
    }
    direction[i] = Tensor();
    for (std::size_t j = 0; j < primals.size(); ++j) {
      matrices[i].push_back(assembled(rows[j], 0, spec, primals[j].spec()));
      rows[j].clear();
    }
  }
  return matrices;
}

Tensor hessian(Function f, const Tensor& primal,
               const DerivativeOptions& options) {
  const auto first = [&](std::span<const Tensor> in) { return f(in[0]); };
  return std::move(
      hessian(FunctionOfMany(first), std::span(&primal, 1), options)[0][0]);
}

}  // namespace neap
