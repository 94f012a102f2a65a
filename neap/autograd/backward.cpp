// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/autograd/backward.hpp"

#include <fmt/format.h>

#include "neap/autograd/cotangents.hpp"
#include "neap/autograd/own_memory.hpp"
#include "neap/autograd/walk.hpp"
#include "neap/base/raise.hpp"
#include "neap/graph/hooks.hpp"
#include "neap/graph/replay.hpp"
#include "neap/memory/scope.hpp"
#include "neap/tensor/execution.hpp"

namespace neap {

using base::raise;

namespace {

void check_roots(const char* op, std::span<const Tensor> roots,
                 std::span<const Tensor> cotangents) {
  for (const Tensor& root : roots) {
    if (!root.requires_grad() && root.array()->storage()->is_of_step()) {
      raise<GraphError>(
          "{}: the result of a compiled step has no graph; call {} inside the "
          "step, or differentiate the plain function",
          op, op);
    }
    if (!root.requires_grad()) {
      raise<GraphError>(
          "{}: the result depends on no tensor that requires grad (computed "
          "under NoGrad, detached, or from plain tensors only)",
          op);
    }
  }
  if (!cotangents.empty() && cotangents.size() != roots.size()) {
    raise<ShapeError>("{}: {} cotangents for {} results", op, cotangents.size(),
                      roots.size());
  }
}

Tensor checked_cotangent(const char* op, const Tensor& root,
                         const Tensor& given, const CallSite& site) {
  if (!given.is_given()) {
    if (root.element_count() != 1) {
      raise<ShapeError>("{}: a result of shape {} needs a cotangent", op,
                        format_shape(root.shape()));
    }
    const memory::ContextGuard guard(
        [](memory::Context& c) { c.category = memory::Category::kGradients; });
    return autograd::ones_of(root.spec(), site);
  }
  if (given.spec() != root.spec()) {
    raise<ShapeError>("{}: cotangent {} {} for a result {} {}", op,
                      name_of(given.dtype()), format_shape(given.shape()),
                      name_of(root.dtype()), format_shape(root.shape()));
  }
  return given;
}

void check_inputs(const char* op, std::span<const Tensor> inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (graph::is_inside_segment(inputs[i])) {
      graph::refuse_inside_segment(fmt::format("{}: input {}", op, i),
                                   inputs[i]);
    }
  }
}

bool keeps_gradient(const Tensor& tensor) {
  const auto& vertex = static_cast<const graph::Vertex&>(*tensor.link());
  const graph::Extras* extras = vertex.extras();
  return vertex.is_leaf() ||
         (extras != nullptr && extras->keeps_grad(tensor.output_index()));
}

// Inputs that backward adds to must have a place for their gradient.
void check_have_gradients(std::span<const Tensor> inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& input = inputs[i];
    if (!input.requires_grad()) {
      raise<GraphError>(
          "backward: input {} of shape {} requires no grad; call "
          "requires_grad_() on it before it is used",
          i, format_shape(input.shape()));
    }
    if (!keeps_gradient(input)) {
      raise<GraphError>(
          "backward: input {} of shape {} is the result of an op and keeps no "
          "gradient; call retain_grad() on it, or ask grad() for its cotangent",
          i, format_shape(input.shape()));
    }
  }
}

void seed_all(const char* op, autograd::Walk& walk,
              std::span<const Tensor> roots, std::span<const Tensor> cotangents,
              const CallSite& site) {
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const Tensor given = cotangents.empty() ? Tensor() : cotangents[i];
    walk.seed(roots[i], checked_cotangent(op, roots[i], given, site));
  }
}

void check_used(const char* op, const autograd::Walk& walk,
                std::span<const Tensor> inputs, const char* advice) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!walk.reaches(i)) {
      raise<GraphError>("{}: input {} of shape {} is not used by the outputs{}",
                        op, i, format_shape(inputs[i].shape()), advice);
    }
  }
}

void backward_into(std::span<const Tensor> results,
                   std::span<const Tensor> cotangents,
                   const BackwardOptions& options, const CallSite& site) {
  check_inputs("backward", options.inputs);
  check_have_gradients(options.inputs);
  autograd::Walk walk(results, options.inputs,
                      {.retain_graph = options.retain_graph,
                       .create_graph = options.create_graph,
                       .accumulate = true},
                      base::intern(site));
  check_used("backward", walk, options.inputs, "");
  seed_all("backward", walk, results, cotangents, site);
  walk.run();
  walk.commit();
}

// The walk is over: what it held is no other holder of a gradient any more.
void detach_from_each_other(Gradients& gradients, const GradOptions& options,
                            const CallSite& site) {
  const memory::OutsideScopes apart;
  const memory::ContextGuard guard([&](memory::Context& c) {
    c.category = memory::Category::kGradients;
    c.site = c.site.value != 0 ? c.site : base::intern(site);
  });
  const tensor::UseGradMode mode(options.create_graph);
  memory::Vector<Tensor> all;
  all.reserve(gradients.size());
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    all.push_back(gradients.take(i));
  }
  autograd::put_in_own_memory(all, options.cotangents);
  for (std::size_t i = 0; i < all.size(); ++i) {
    gradients.replace(i, std::move(all[i]));
  }
}

// The results of grad belong to the caller's scope, as those of an op; a tensor
// of somebody else's (a cotangent that went straight through) stays his.
void join_scope(Gradients& gradients) {
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    Tensor gradient = gradients.take(i);
    if (!gradient.is_one_handle()) {
      gradient = gradient.alias();
    }
    memory::join_current_scope(gradient);
    gradients.replace(i, std::move(gradient));
  }
}

}  // namespace

void backward(const Tensor& result, const BackwardOptions& options,
              CallSite site) {
  backward(std::span(&result, 1), std::span(&options.cotangent, 1), options,
           site);
}

void backward(const Tensor& result, std::initializer_list<Tensor> inputs,
              const BackwardOptions& options, CallSite site) {
  if (inputs.size() == 0) {
    raise<ValueError>(
        "backward: the list of inputs is empty; leave it out for all leaves");
  }
  BackwardOptions into = options;
  into.inputs = std::span(inputs.begin(), inputs.size());
  backward(result, into, site);
}

void backward(std::span<const Tensor> results,
              std::span<const Tensor> cotangents,
              const BackwardOptions& options, CallSite site) {
  check_roots("backward", results, cotangents);
  const memory::OutsideScopes apart;  // a walk's own tensors
  if (!options.inputs.empty()) {
    backward_into(results, cotangents, options, site);
    return;
  }
  autograd::Walk walk(results,
                      {.retain_graph = options.retain_graph,
                       .create_graph = options.create_graph},
                      base::intern(site));
  seed_all("backward", walk, results, cotangents, site);
  walk.run();
  walk.commit();
}

Gradients grad(std::span<const Tensor> outputs, std::span<const Tensor> inputs,
               const GradOptions& options, CallSite site) {
  check_roots("grad", outputs, options.cotangents);
  check_inputs("grad", inputs);
  Gradients out(inputs);
  {
    const memory::OutsideScopes apart;
    autograd::Walk walk(outputs, inputs,
                        {.retain_graph = options.retain_graph,
                         .create_graph = options.create_graph},
                        base::intern(site));
    if (options.unused == GradOptions::Unused::kError) {
      check_used("grad", walk, inputs, "; ask for zeros with Unused::kZeros");
    }
    seed_all("grad", walk, outputs, options.cotangents, site);
    walk.run();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      Tensor cotangent = walk.take_target(i);
      out.replace(i, cotangent.defined()
                         ? std::move(cotangent)
                         : autograd::zeros_of(inputs[i].spec(), site));
    }
  }
  detach_from_each_other(out, options, site);
  join_scope(out);
  return out;
}

Gradients grad(const Tensor& output, std::initializer_list<Tensor> inputs,
               const GradOptions& options, CallSite site) {
  return grad(std::span(&output, 1), std::span(inputs.begin(), inputs.size()),
              options, site);
}

}  // namespace neap
