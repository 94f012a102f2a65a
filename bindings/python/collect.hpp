// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Python's collector of cycles and tensors. A hook's function may hold the very
// tensor that it hangs on: a cycle through C++, which the collector sees where
// Tensor says what it leads to. The rules:
//
//  - A function is shown where one handle alone leads to it
//    (graph::visit_sole_hooks). Shown by a handle beside which others lead
//    there, it would be cleared while a graph still needs it.
//  - The counts that this asks must stand still during a collection, so nothing
//    is shown while any thread is in a section without the GIL (Unlocked).
//  - Tensors leave the collector's lists when they are made, so that a
//    collection costs nothing for a million of them, and join them with their
//    first hook. While handles are tracked they stay, to be found by reports.
//
// Thread rule: every function needs the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include "gil.hpp"
#include "neap/tensor/tensor.hpp"

namespace neap::python {

namespace nb = nanobind;

/// For a new object of type Tensor.
void leave_collector(nb::handle tensor) noexcept;
/// For an object to which a Python function was attached.
void join_collector(nb::handle tensor) noexcept;
/// While one lives, new tensors stay in the collector's lists.
class KeepCollected {
 public:
  KeepCollected() { ++count_; }
  ~KeepCollected() { --count_; }
  KeepCollected(const KeepCollected&) = delete;
  KeepCollected& operator=(const KeepCollected&) = delete;
  static bool is_on() noexcept { return count_ > 0; }

 private:
  static inline int count_ = 0;
};

/// Type slots of Tensor.
PyType_Slot* tensor_slots() noexcept;

}  // namespace neap::python

namespace nanobind::detail {

/// The caster of a bound class; objects that it makes leave the collector's
/// lists.
template <>
struct type_caster<neap::Tensor> : type_caster_base<neap::Tensor> {
  using Base = type_caster_base<neap::Tensor>;
  using Base::Base;

  template <class T>
  static handle from_cpp(T&& value, rv_policy policy,
                         cleanup_list* cleanup) noexcept {
    const handle made = Base::from_cpp(std::forward<T>(value), policy, cleanup);
    neap::python::leave_collector(made);
    return made;
  }
};

}  // namespace nanobind::detail
