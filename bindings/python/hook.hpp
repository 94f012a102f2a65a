// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Hook: a function of Python's on gradients.
#pragma once

#include "binding.hpp"
#include "neap/graph/hooks.hpp"

namespace neap::python {

/// It is called and destroyed in whatever thread the backward runs in.
class Hook {
 public:
  /// Needs the GIL.
  explicit Hook(nb::object function) : function_(std::move(function)) {}

  Tensor operator()(const Tensor& gradient) const {
    const nb::gil_scoped_acquire gil;
    const OwnSites sites;
    const nb::object result = function_.get()(gradient);
    return result.is_none() ? Tensor() : nb::cast<Tensor>(result);
  }
  PyObject* function() const noexcept { return function_.get().ptr(); }

 private:
  Held function_;
};

/// The function of a hook; nullptr where it is none of Python's.
inline PyObject* function_of(const graph::HookBody& body) noexcept {
  const auto* hook = dynamic_cast<const graph::HookOf<Hook>*>(&body);
  return hook != nullptr ? hook->function().function() : nullptr;
}

}  // namespace neap::python
