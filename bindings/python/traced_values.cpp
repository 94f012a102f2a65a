// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Values of Python's world that a step was traced for (neap/_guards.py),
// compared at each call: a look-up and a comparison of pointers each.
#include <cstring>

#include "binding.hpp"

namespace neap::python {
namespace {

// The numbers of neap/_guards.py.
enum class Kind : long { kItem, kAttribute, kElements };

// Plain values are compared by their bits, whatever == says of -0.0 and NaN.
bool is_same(PyObject* now, PyObject* then) {
  if (now == then) {
    return true;
  }
  PyTypeObject* type = Py_TYPE(now);
  if (type != Py_TYPE(then)) {
    return false;
  }
  if (type == &PyFloat_Type) {
    const double a = PyFloat_AsDouble(now);
    const double b = PyFloat_AsDouble(then);
    return std::memcmp(&a, &b, sizeof a) == 0;
  }
  if (type != &PyLong_Type && type != &PyUnicode_Type &&
      type != &PyBytes_Type) {
    return false;
  }
  const int equal = PyObject_RichCompareBool(now, then, Py_EQ);
  if (equal < 0) {
    throw nb::python_error();
  }
  return equal == 1;
}

// The elements of a list, or the keys of a dict, in their order.
bool are_elements(PyObject* home, PyObject* then) {
  if (PyObject_Length(home) != PyTuple_Size(then)) {
    return false;
  }
  Py_ssize_t i = 0;
  if (PyList_Check(home)) {
    while (i < PyTuple_Size(then) &&
           is_same(PyList_GetItem(home, i), PyTuple_GetItem(then, i))) {
      ++i;
    }
    return i == PyTuple_Size(then);
  }
  PyObject* key = nullptr;
  Py_ssize_t at = 0;
  while (PyDict_Next(home, &at, &key, nullptr) != 0) {
    if (i == PyTuple_Size(then) || !is_same(key, PyTuple_GetItem(then, i++))) {
      return false;
    }
  }
  return true;
}

bool holds(PyObject* guard, PyObject* missing) {
  const auto kind = static_cast<Kind>(PyLong_AsLong(PyTuple_GetItem(guard, 0)));
  PyObject* home = PyTuple_GetItem(guard, 1);
  PyObject* key = PyTuple_GetItem(guard, 2);
  PyObject* then = PyTuple_GetItem(guard, 3);
  if (kind == Kind::kElements) {
    return are_elements(home, then);
  }
  if (kind == Kind::kItem) {
    PyObject* now = PyDict_GetItemWithError(home, key);
    if (now == nullptr && PyErr_Occurred() != nullptr) {
      throw nb::python_error();
    }
    return is_same(now != nullptr ? now : missing, then);
  }
  const nb::object now = nb::steal(PyObject_GetAttr(home, key));
  if (!now.is_valid()) {
    PyErr_Clear();  // an empty cell, an attribute that was deleted
  }
  return is_same(now.is_valid() ? now.ptr() : missing, then);
}

}  // namespace

void bind_traced_values(nb::module_& m) {
  m.def(
      "_guards_hold",
      [](const nb::list& guards, nb::handle missing) {
        const Py_ssize_t count = PyList_Size(guards.ptr());
        for (Py_ssize_t i = 0; i < count; ++i) {
          if (!holds(PyList_GetItem(guards.ptr(), i), missing.ptr())) {
            return false;
          }
        }
        return true;
      },
      nb::arg("guards"), nb::arg("missing"));
}

}  // namespace neap::python
