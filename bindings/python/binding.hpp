// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The parts of the extension, each of which adds its names to the module; and
// what holds a Python object on behalf of C++.
#pragma once

#include <nanobind/nanobind.h>

#include <utility>

#include "collect.hpp"
#include "neap/memory/context.hpp"
#include "neap/tensor/tensor.hpp"

namespace neap::python {

namespace nb = nanobind;

/// A Python object that C++ holds, whose end may come in any thread, with or
/// without the GIL, also after the interpreter: then the object is left.
class Held {
 public:
  /// Needs the GIL.
  explicit Held(nb::object object) noexcept : object_(std::move(object)) {}
  Held(Held&& other) noexcept : object_(std::move(other.object_)) {}
  Held& operator=(Held&&) = delete;
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    if (!object_.is_valid()) {
      return;
    }
    if (!nb::is_alive()) {
      object_.release();
      return;
    }
    const Locked locked;
    object_.reset();
  }
  const nb::object& get() const noexcept { return object_; }

 private:
  nb::object object_;
};

/// Python lines that run inside have call sites of their own, whatever C++ call
/// they run for.
class OwnSites : public memory::ContextGuard {
 public:
  OwnSites() : ContextGuard([](memory::Context& c) { c.site = {}; }) {}
};

/// Keeps `object` alive for as long as the compiled steps that are traced now,
/// in this thread, if there are any. Needs the GIL.
void keep_for_traces(nb::handle object);

void bind_errors();
nb::class_<Tensor> bind_tensor(nb::module_& m);
void bind_indexing(nb::class_<Tensor>& t);
void bind_creation(nb::module_& m);
void bind_arrays(nb::module_& m, nb::class_<Tensor>& t);
void bind_autograd(nb::module_& m, nb::class_<Tensor>& t);
void bind_custom(nb::module_& m);
void bind_data(nb::module_& m);
void bind_functional(nb::module_& m);
void bind_guards(nb::module_& m);
void bind_memory(nb::module_& m);
void bind_models(nb::module_& m);
void bind_modules(nb::module_& m);
void bind_loaders(nb::module_& m);
void bind_layers(nb::module_& m);
void bind_optim(nb::module_& m);
void bind_optimizers(nb::module_& m);
void bind_averages(nb::module_& m);
void bind_traced_values(nb::module_& m);
void bind_train(nb::module_& m);
void bind_compile(nb::module_& m);

}  // namespace neap::python
