// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "collect.hpp"

#include "hook.hpp"

namespace neap::python {
namespace {

int traverse_tensor(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  int status = 0;
  if (nb::inst_ready(self) && Unlocked::sections() == 0) {
    graph::visit_sole_hooks(*nb::inst_ptr<Tensor>(self),
                            [&](const graph::HookBody& body) {
                              PyObject* function = function_of(body);
                              if (status == 0 && function != nullptr) {
                                status = visit(function, arg);
                              }
                            });
  }
  return status;
}

// The handle ends, and with it all that it alone leads to.
int clear_tensor(PyObject* self) {
  base::Ref<tensor::Body> nothing;
  nb::inst_ptr<Tensor>(self)->exchange_shared(nothing);
  return 0;
}

}  // namespace

void leave_collector(nb::handle tensor) noexcept {
  if (tensor.is_valid() && !KeepCollected::is_on() &&
      Py_REFCNT(tensor.ptr()) == 1) {  // a new one
    PyObject_GC_UnTrack(tensor.ptr());
  }
}

void join_collector(nb::handle tensor) noexcept {
  if (PyObject_GC_IsTracked(tensor.ptr()) == 0) {
    PyObject_GC_Track(tensor.ptr());
  }
}

PyType_Slot* tensor_slots() noexcept {
  static PyType_Slot slots[] = {
      {Py_tp_traverse, reinterpret_cast<void*>(&traverse_tensor)},
      {Py_tp_clear, reinterpret_cast<void*>(&clear_tensor)},
      {0, nullptr}};
  return slots;
}

}  // namespace neap::python
