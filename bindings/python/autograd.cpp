// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Gradients: backward, grad, hooks.
#include "hook.hpp"
#include "neap/autograd/backward.hpp"
#include "neap/graph/hooks.hpp"
#include "neap/graph/vertex.hpp"
#include "values.hpp"

namespace neap::python {
namespace {

using Tensors = std::vector<Tensor>;

void run_backward(const Tensor& result, const MaybeTensor& cotangent,
                  bool retain_graph, bool create_graph, const Tensors& inputs) {
  const CallSite site = here();
  const Unlocked release;
  backward(result,
           {.cotangent = cotangent.get(),
            .retain_graph = retain_graph,
            .create_graph = create_graph,
            .inputs = inputs},
           site);
}

TensorTuple run_grad(const Tensors& outputs, const Tensors& inputs,
                     const Tensors& cotangents, bool retain_graph,
                     bool create_graph, bool allow_unused) {
  const CallSite site = here();
  const Gradients all = [&] {
    const Unlocked release;
    return grad(std::span<const Tensor>(outputs),
                std::span<const Tensor>(inputs),
                {.cotangents = cotangents,
                 .retain_graph = retain_graph,
                 .create_graph = create_graph,
                 .unused = allow_unused ? GradOptions::Unused::kZeros
                                        : GradOptions::Unused::kError},
                site);
  }();
  return to_python_tuple(all);
}

HookHandle add_hook(nb::handle self, nb::object function) {
  HookHandle handle = register_hook(nb::cast<const Tensor&>(self),
                                    Hook(std::move(function)), here());
  join_collector(self);
  return handle;
}

HookHandle add_post_hook(nb::handle self, nb::object function) {
  HookHandle handle = register_post_accumulate_hook(
      nb::cast<const Tensor&>(self), Hook(std::move(function)), here());
  join_collector(self);
  return handle;
}

void bind_leaves(nb::class_<Tensor>& t) {
  t.def_prop_rw(
      "requires_grad", [](const Tensor& x) { return x.requires_grad(); },
      [](const Tensor& x, bool value) { requires_grad_(x, value, here()); });
  t.def(
      "requires_grad_",
      [](const Tensor& x, bool value) {
        return requires_grad_(x, value, here());
      },
      nb::arg("value") = true, "Makes a leaf one that gets a gradient.");
  t.def_prop_ro("is_leaf", [](const Tensor& x) { return x.is_leaf(); });
  t.def_prop_rw(
      "grad",
      [](const Tensor& x) -> nb::object {
        Tensor gradient = x.grad();
        return gradient.defined() ? nb::cast(std::move(gradient)) : nb::none();
      },
      [](const Tensor& x, const MaybeTensor& gradient) {
        if (gradient.get().is_given()) {
          set_grad(x, gradient.get());
        } else {
          const std::array<Tensor, 1> one{x};
          zero_grad(std::span<const Tensor>(one));
        }
      },
      nb::for_setter(nb::arg("gradient").none()));
  t.def("detach", [](const Tensor& x) { return x.detach(); });
}

}  // namespace

void bind_autograd(nb::module_& m, nb::class_<Tensor>& t) {
  bind_leaves(t);
  t.def("backward", &run_backward, nb::arg("cotangent").none() = nb::none(),
        nb::kw_only(), nb::arg("retain_graph") = false,
        nb::arg("create_graph") = false, nb::arg("inputs") = nb::tuple(),
        "Adds the derivative by every leaf that requires one to its grad.");
  m.def("_grad", &run_grad);
  t.def("register_hook", &add_hook, nb::arg("function"),
        "Calls function(gradient) in each backward that passes this tensor; "
        "what it returns, unless None, replaces the gradient.");
  t.def("register_post_accumulate_grad_hook", &add_post_hook,
        nb::arg("function"),
        "Calls function(gradient) when a backward has completed this leaf's.");
  t.def("retain_grad", [](const Tensor& x) { retain_grad(x); });
  nb::class_<HookHandle>(m, "HookHandle").def("remove", &HookHandle::remove);
}

}  // namespace neap::python
