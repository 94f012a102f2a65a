// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Hook: a function of Python's on gradients.
#pragma once

#include <string>

#include "binding.hpp"
#include "neap/graph/hooks.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::python {

/// The tensor, or none, that a function of the user's returned. THROWS:
/// TypeError (of Python).
inline Tensor tensor_of(const char* what, nb::handle result) {
  Tensor out;
  if (!nb::try_cast(result, out, false)) {
    throw nb::type_error((std::string(what) + ": it returned a " +
                          nb::type_name(result.type()).c_str() +
                          ", expected a Tensor or None")
                             .c_str());
  }
  return out;
}

/// It is called and destroyed in whatever thread the backward runs in.
class Hook {
 public:
  /// Needs the GIL.
  explicit Hook(nb::object function) : function_(std::move(function)) {}

  Tensor operator()(const Tensor& gradient) const {
    const Locked locked;
    const OwnSites sites;
    if (tensor::thread_execution().trace != nullptr) {
      nb::module_::import_("neap._guards").attr("look_at")(function_.get());
    }
    const nb::object result =
        in_python([&] { return nb::object(function_.get()(gradient)); });
    return result.is_none() ? Tensor() : tensor_of("hook", result);
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
