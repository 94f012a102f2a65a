// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/autograd/functional.hpp"

#include <optional>

#include "neap/autograd/backward.hpp"
#include "neap/autograd/own_memory.hpp"
#include "neap/autograd/tangent_recorder.hpp"
#include "neap/base/raise.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/memory/scope.hpp"
#include "neap/ops/elementwise/fill.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/ops/support.hpp"
#include "neap/tensor/execution.hpp"

namespace neap {

using autograd::TangentRecorder;
using base::raise;

namespace {

// A stand-in that f is given for a primal: the same elements and tangents, at a
// place on the graph that only this call knows, so that the primal's own graph
// and gradient are left alone. With `create_graph` it is connected to them.
Tensor stand_in(const char* op, const Tensor& primal, bool create_graph) {
  if (!is_floating(primal.dtype())) {
    raise<DTypeError>("{}: a primal of {} carries no derivative", op,
                      name_of(primal.dtype()));
  }
  if (create_graph && primal.requires_grad()) {
    return graph::apply(ops::kExpand, {primal},
                        ops::ShapeAttrs(primal.shape()));
  }
  Tensor own = primal.alias();
  own.set_link(nullptr);
  return requires_grad_(std::move(own));
}

// A handle of our own that belongs to no scope of the user's.
Tensor own_handle(const Tensor& value) {
  const memory::OutsideScopes apart;
  return Tensor(value.array(), value.link(), value.output_index());
}

Tensors stand_ins(const char* op, std::span<const Tensor> primals,
                  bool create_graph) {
  const memory::OutsideScopes apart;
  Tensors out;
  out.reserve(primals.size());
  for (const Tensor& primal : primals) {
    out.push_back(stand_in(op, primal, create_graph));
  }
  return out;
}

Tensor result_of(const Tensor& value, bool create_graph) {
  return create_graph ? value : autograd::cut(value);
}

bool is_graph_wanted(const DerivativeOptions& options) noexcept {
  return options.create_graph && tensor::thread_execution().grad_enabled;
}

void check_cotangent(const Tensor& cotangent, const Tensor& output) {
  if (cotangent.is_given() && cotangent.spec() != output.spec()) {
    raise<ShapeError>("vjp: cotangent {} {} for a result {} {}",
                      name_of(cotangent.dtype()),
                      format_shape(cotangent.shape()), name_of(output.dtype()),
                      format_shape(output.shape()));
  }
}

}  // namespace

struct PullbackMaker {
  static Pullback make(std::span<const Tensor> primals, Tensors inputs,
                       std::span<const Tensor> outputs, bool create_graph) {
    Pullback out;
    for (const Tensor& primal : primals) {
      out.primals_.push_back(own_handle(primal));
    }
    for (const Tensor& output : outputs) {
      out.outputs_.push_back(own_handle(output));
    }
    out.inputs_ = std::move(inputs);
    out.create_graph_ = create_graph;
    return out;
  }
};

Gradients Pullback::operator()(std::span<const Tensor> cotangents) const {
  if (inputs_.empty() && outputs_.empty()) {
    raise<GraphError>("vjp: a pullback that no vjp() made");
  }
  if (cotangents.size() != outputs_.size()) {
    raise<ShapeError>("vjp: {} cotangents for {} results", cotangents.size(),
                      outputs_.size());
  }
  Tensors outputs;
  Tensors given;
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    check_cotangent(cotangents[k], outputs_[k]);
    if (cotangents[k].defined() && outputs_[k].requires_grad()) {
      outputs.push_back(outputs_[k]);
      given.push_back(cotangents[k]);
    }
  }
  Gradients found = grad(outputs, inputs_,
                         {.cotangents = given,
                          .retain_graph = true,
                          .create_graph = create_graph_,
                          .unused = GradOptions::Unused::kZeros});
  Gradients out(primals_);
  for (std::size_t i = 0; i < primals_.size(); ++i) {
    out.replace(i, result_of(found.take(i), create_graph_));
  }
  return out;
}

VjpResults vjp(autograd::FunctionToMany f, std::span<const Tensor> primals,
               const DerivativeOptions& options) {
  const bool create_graph = is_graph_wanted(options);
  Tensors inputs = stand_ins("vjp", primals, create_graph);
  VjpResults results;
  {
    const EnableGrad guard;
    results.values = f(inputs);
  }
  results.pullback = PullbackMaker::make(primals, std::move(inputs),
                                         results.values, create_graph);
  for (Tensor& value : results.values) {
    value = result_of(value, create_graph);
  }
  return results;
}

VjpResult vjp(autograd::FunctionOfMany f, std::span<const Tensor> primals,
              const DerivativeOptions& options) {
  const auto listed = [&](std::span<const Tensor> in) {
    Tensors out;
    out.push_back(f(in));
    return out;
  };
  VjpResults all = vjp(autograd::FunctionToMany(listed), primals, options);
  return {std::move(all.values[0]), std::move(all.pullback)};
}

VjpResult vjp(autograd::Function f, const Tensor& primal,
              const DerivativeOptions& options) {
  const auto first = [&](std::span<const Tensor> in) { return f(in[0]); };
  return vjp(autograd::FunctionOfMany(first), std::span(&primal, 1), options);
}

HvpResults hvp(autograd::FunctionOfMany f, std::span<const Tensor> primals,
               std::span<const Tensor> directions,
               const DerivativeOptions& options) {
  autograd::check_tangents("hvp", primals, directions);
  const bool create_graph = is_graph_wanted(options);
  const Tensors inputs = stand_ins("hvp", primals, create_graph);
  std::optional<TangentRecorder> recorder(std::in_place, create_graph);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    recorder->set(inputs[i], directions[i]);
  }
  HvpResults results;
  Gradients gradients;
  {
    const graph::UseRecorder forward(&*recorder);
    const EnableGrad reverse;
    Tensor value = f(inputs);
    if (value.element_count() != 1) {
      raise<ShapeError>("hvp: f gives shape {}, expected one element",
                        format_shape(value.shape()));
    }
    const std::span<const Tensor> roots(&value, value.requires_grad() ? 1 : 0);
    gradients = grad(
        roots, inputs,
        {.create_graph = create_graph, .unused = GradOptions::Unused::kZeros});
    results.value = result_of(value, create_graph);
  }
  results.gradients = Gradients(primals);
  results.products = Gradients(primals);
  Tensors products;
  products.reserve(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor gradient = gradients.take(i);
    products.push_back(
        result_of(recorder->tangent_or_zeros(gradient), create_graph));
    results.gradients.replace(i, result_of(gradient, create_graph));
  }
  recorder.reset();  // it holds tangents of its own
  autograd::put_in_own_memory(products, directions);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    results.products.replace(i, std::move(products[i]));
  }
  return results;
}

HvpResult hvp(autograd::Function f, const Tensor& primal,
              const Tensor& direction, const DerivativeOptions& options) {
  const auto first = [&](std::span<const Tensor> in) { return f(in[0]); };
  HvpResults all = hvp(autograd::FunctionOfMany(first), std::span(&primal, 1),
                       std::span(&direction, 1), options);
  return {std::move(all.value), all.gradients.take(0), all.products.take(0)};
}

}  // namespace neap
