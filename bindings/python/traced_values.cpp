// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Values of Python's world that a step was traced for (neap/_guards.py),
// compared at each call: a look-up and a comparison of pointers each.
#include <cstring>

#include "binding.hpp"

namespace neap::python {
namespace {

PyTypeObject* method_type = nullptr;  // for as long as Python lives

// The numbers of neap/_guards.py.
enum class Kind : long {
  kItem,
  kAttribute,
  kElements,
  kType,
  kMapping,
  kIndex,
  kEqual
};

bool is_same(PyObject* now, PyObject* then);

bool are_equal(PyObject* now, PyObject* then) {
  const int equal = PyObject_RichCompareBool(now, then, Py_EQ);
  if (equal < 0) {
    throw nb::python_error();
  }
  return equal == 1;
}

bool are_same_parts(PyObject* now, PyObject* then, const char* part) {
  const nb::object ours = nb::getattr(now, part);
  return is_same(ours.ptr(), nb::object(nb::getattr(then, part)).ptr());
}

// Numbers of libraries, such as NumPy's.
bool is_of_numbers(PyTypeObject* type) {
  const nb::object module =
      nb::getattr(reinterpret_cast<PyObject*>(type), "__module__", nb::none());
  const auto is = [&](const char* name) {
    return PyUnicode_CompareWithASCIIString(module.ptr(), name) == 0;
  };
  return PyUnicode_Check(module.ptr()) != 0 &&
         (is("numpy") || is("fractions") || is("decimal") || is("datetime"));
}

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
  if (type == &PyTuple_Type) {
    const Py_ssize_t size = PyTuple_Size(now);
    Py_ssize_t i = 0;
    while (size == PyTuple_Size(then) && i < size &&
           is_same(PyTuple_GetItem(now, i), PyTuple_GetItem(then, i))) {
      ++i;
    }
    return i == size && size == PyTuple_Size(then);
  }
  if (type == method_type) {
    return are_same_parts(now, then, "__self__") &&
           are_same_parts(now, then, "__func__");
  }
  const bool is_plain = type == &PyLong_Type || type == &PyUnicode_Type ||
                        type == &PyBytes_Type || type == &PyComplex_Type ||
                        type == &PyFrozenSet_Type || type == &PyRange_Type;
  return (is_plain || is_of_numbers(type)) && are_equal(now, then);
}

// The elements of a list, or the keys of a dict, in their order.
bool are_elements(PyObject* home, PyObject* then) {
  const Py_ssize_t count = PyTuple_Size(then);
  Py_ssize_t i = 0;
  if (PyList_Check(home) != 0) {
    while (i < count && PyList_Size(home) == count &&
           is_same(PyList_GetItem(home, i), PyTuple_GetItem(then, i))) {
      ++i;
    }
    return i == count && PyList_Size(home) == count;
  }
  PyObject* key = nullptr;
  Py_ssize_t at = 0;
  while (PyDict_Next(home, &at, &key, nullptr) != 0) {
    if (i == count || !is_same(key, PyTuple_GetItem(then, i++))) {
      return false;
    }
  }
  return i == count;
}

nb::object attribute_or(nb::handle home, nb::handle name, nb::handle missing) {
  nb::object now = nb::steal(PyObject_GetAttr(home.ptr(), name.ptr()));
  if (!now.is_valid()) {
    PyErr_Clear();  // an empty cell, an attribute that was deleted
    return nb::borrow(missing);
  }
  return now;
}

bool holds(PyObject* guard, PyObject* missing) {
  const auto kind = static_cast<Kind>(PyLong_AsLong(PyTuple_GetItem(guard, 0)));
  PyObject* home = PyTuple_GetItem(guard, 1);
  PyObject* key = PyTuple_GetItem(guard, 2);
  PyObject* then = PyTuple_GetItem(guard, 3);
  switch (kind) {
    case Kind::kElements:
      return are_elements(home, then);
    case Kind::kType:
      return reinterpret_cast<PyObject*>(Py_TYPE(home)) == then;
    case Kind::kEqual:
      return are_equal(home, then);
    case Kind::kIndex: {
      const Py_ssize_t size = PyList_Size(home);
      const Py_ssize_t given = PyLong_AsSsize_t(key);
      const Py_ssize_t i = given < 0 ? given + size : given;
      return i >= 0 && i < size && is_same(PyList_GetItem(home, i), then);
    }
    case Kind::kItem: {
      PyObject* now = PyDict_GetItemWithError(home, key);
      if (now == nullptr && PyErr_Occurred() != nullptr) {
        throw nb::python_error();
      }
      return is_same(now != nullptr ? now : missing, then);
    }
    case Kind::kMapping: {
      const nb::object now = nb::steal(PyObject_GetItem(home, key));
      if (!now.is_valid()) {
        PyErr_Clear();
      }
      return is_same(now.is_valid() ? now.ptr() : missing, then);
    }
    case Kind::kAttribute:
      break;
  }
  return is_same(attribute_or(home, key, missing).ptr(), then);
}

bool is_traced(const Tensor& t) {
  return t.is_given() &&
         t.array()->storage()->absence() == tensor::Absence::kTraced;
}

}  // namespace

void bind_traced_values(nb::module_& m) {
  nb::object method = nb::module_::import_("types").attr("MethodType");
  method_type = reinterpret_cast<PyTypeObject*>(method.release().ptr());
  m.def("_attribute_or", &attribute_or, nb::arg("home"), nb::arg("name"),
        nb::arg("missing"));
  m.def("_is_traced", &is_traced, nb::arg("tensor"));
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
