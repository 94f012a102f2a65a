// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/autograd/backward.hpp"

#include "neap/autograd/walk.hpp"
#include "neap/base/raise.hpp"
#include "neap/ops/fill.hpp"

namespace neap {

using base::raise;

namespace {

// What a walk makes on its way is no handle of the user's.
class ApartFromScopes : public memory::ContextGuard {
 public:
  ApartFromScopes()
      : ContextGuard([](memory::Context& c) { c.scope = nullptr; }) {}
};

void check_root(const char* op, const Tensor& root) {
  if (!root.requires_grad()) {
    raise<GraphError>(
        "{}: the result depends on no tensor that requires grad (made under "
        "NoGrad, detached, or of plain tensors only)",
        op);
  }
}

Tensor checked_cotangent(const char* op, const Tensor& root,
                         const Tensor& given, const CallSite& site) {
  if (!given.defined()) {
    if (root.element_count() != 1) {
      raise<ShapeError>("{}: a result of shape {} needs a cotangent", op,
                        format_shape(root.shape()));
    }
    const memory::ContextGuard guard(
        [](memory::Context& c) { c.category = memory::Category::kGradients; });
    return ops::filled(root.spec(), 1.0, site);
  }
  if (given.spec() != root.spec()) {
    raise<ShapeError>("{}: cotangent {} {} for a result {} {}", op,
                      name_of(given.dtype()), format_shape(given.shape()),
                      name_of(root.dtype()), format_shape(root.shape()));
  }
  return given;
}

}  // namespace

void backward(const Tensor& result, const BackwardOptions& options,
              CallSite site) {
  check_root("backward", result);
  const ApartFromScopes apart;
  const Tensor cotangent =
      checked_cotangent("backward", result, options.cotangent, site);
  autograd::Walk walk(
      std::span(&result, 1),
      {options.retain_graph || options.create_graph, options.create_graph},
      base::intern(site));
  walk.seed(result, cotangent);
  walk.run();
  walk.commit();
}

Gradients grad(std::span<const Tensor> outputs, std::span<const Tensor> inputs,
               const GradOptions& options, CallSite site) {
  if (!options.cotangents.empty() &&
      options.cotangents.size() != outputs.size()) {
    raise<ShapeError>("grad: {} cotangents for {} outputs",
                      options.cotangents.size(), outputs.size());
  }
  for (const Tensor& output : outputs) {
    check_root("grad", output);
  }
  const ApartFromScopes apart;
  autograd::Walk walk(
      outputs, inputs,
      {options.retain_graph || options.create_graph, options.create_graph},
      base::intern(site));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Tensor given =
        options.cotangents.empty() ? Tensor() : options.cotangents[i];
    walk.seed(outputs[i], checked_cotangent("grad", outputs[i], given, site));
  }
  Gradients out(inputs);
  walk.run();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Tensor cotangent = walk.take_target(i);
    if (!cotangent.defined()) {
      if (options.unused == GradOptions::Unused::kError) {
        raise<GraphError>(
            "grad: input {} of shape {} is not used by the outputs; ask for "
            "zeros with Unused::kZeros",
            i, format_shape(inputs[i].shape()));
      }
      cotangent = ops::filled(inputs[i].spec(), 0.0, site);
    }
    out.replace(i, std::move(cotangent));
  }
  return out;
}

Gradients grad(const Tensor& output, std::initializer_list<Tensor> inputs,
               const GradOptions& options, CallSite site) {
  return grad(std::span(&output, 1), std::span(inputs.begin(), inputs.size()),
              options, site);
}

}  // namespace neap
