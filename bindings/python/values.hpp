// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// How arguments come from Python: tensors, numbers, shapes, sizes per axis and
// choices by name; and how results go back.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "collect.hpp"
#include "neap/autograd/functional.hpp"
#include "neap/graph/operand.hpp"
#include "neap/memory/containers.hpp"
#include "neap/ops/ops.hpp"
#include "sites.hpp"

namespace neap::python {

namespace nb = nanobind;

/// A tensor or a plain number. LIFETIME: as the Python object that it is from.
class Value {
 public:
  Value() = default;
  explicit Value(const Tensor* tensor) noexcept : tensor_(tensor) {}
  explicit Value(double number) noexcept : number_(number) {}
  explicit Value(std::int64_t number) noexcept
      : integer_(number), is_integer_(true) {}

  /// nullptr: a number.
  const Tensor* tensor() const noexcept { return tensor_; }
  /// THROWS: as tensor::to_double().
  Operand operand(const CallSite& site) const {
    if (tensor_ != nullptr) {
      return {*tensor_, site};
    }
    return is_integer_ ? Operand(integer_, site) : Operand(number_, site);
  }
  /// THROWS: nb::type_error for a tensor; as tensor::to_double().
  Number number(const CallSite& site) const {
    if (tensor_ != nullptr) {
      throw nb::type_error("a plain number is expected here, not a tensor");
    }
    return is_integer_ ? Number(integer_, site) : Number(number_, site);
  }

 private:
  const Tensor* tensor_ = nullptr;
  double number_ = 0.0;
  std::int64_t integer_ = 0;
  bool is_integer_ = false;
};

/// A tensor, or None.
class MaybeTensor {
 public:
  MaybeTensor() = default;
  explicit MaybeTensor(const Tensor* tensor) noexcept : tensor_(tensor) {}
  const Tensor& get() const noexcept {
    return tensor_ != nullptr ? *tensor_ : none_;
  }

 private:
  const Tensor* tensor_ = nullptr;
  Tensor none_;
};

/// The bytes of a tensor's storage, for how long an op may take; asks the
/// handle nothing that a trace would hear.
inline Bytes bytes_of(const Tensor& t) noexcept {
  const base::Ref<tensor::Body>& body = t.shared();
  return body && body->array() ? body->array()->storage()->size() : 0;
}
inline Bytes bytes_of(const Value& value) noexcept {
  return value.tensor() != nullptr ? bytes_of(*value.tensor()) : 0;
}
inline Bytes bytes_of(const MaybeTensor& value) noexcept {
  return bytes_of(value.get());
}
inline Bytes bytes_of(const std::vector<Tensor>& tensors) noexcept {
  Bytes sum = 0;
  for (const Tensor& t : tensors) {
    sum += bytes_of(t);
  }
  return sum;
}

/// Operations over more bytes run without the GIL.
inline constexpr Bytes kLeastUnlocked = 64 * kKiB;

template <class F, class... Arguments>
auto run_op(F&& call, const Arguments&... arguments) {
  std::optional<Unlocked> release;
  if ((bytes_of(arguments) + ... + Bytes{0}) > kLeastUnlocked) {
    release.emplace();
  }
  return call();
}

// --- results: what is more than a tensor becomes a tuple --------------------

inline Tensor to_python(Tensor&& t) {
  return std::move(t);
}
/// Tuples as stubs name them: of these types, and of any number of tensors.
template <class... T>
using TupleOf = nb::typed<nb::tuple, T...>;
using TensorTuple = nb::typed<nb::tuple, Tensor, nb::ellipsis>;

template <class... T>
TupleOf<T...> tuple_of(T&&... each) {
  return TupleOf<T...>(nb::make_tuple(nb::cast(std::move(each))...));
}
template <class A, class B>
TupleOf<A, B> to_python(std::pair<A, B>&& pair) {
  return tuple_of(std::move(pair.first), std::move(pair.second));
}
template <class Range>
TensorTuple to_python_tuple(Range& tensors) {
  nb::list all;
  for (auto& t : tensors) {
    all.append(nb::cast(Tensor(t)));
  }
  return TensorTuple(nb::tuple(all));
}
inline TensorTuple to_python(memory::Vector<Tensor>&& tensors) {
  return to_python_tuple(tensors);
}
inline TupleOf<Tensor, Tensor> to_python(ValuesAndIndices&& r) {
  return tuple_of(std::move(r.values), std::move(r.indices));
}
inline TupleOf<Tensor, Tensor> to_python(VarMean&& r) {
  return tuple_of(std::move(r.var), std::move(r.mean));
}
inline TupleOf<Tensor, Tensor> to_python(Slogdet&& r) {
  return tuple_of(std::move(r.sign), std::move(r.logabsdet));
}
inline TupleOf<Tensor, Tensor> to_python(RecurrentResult&& r) {
  return tuple_of(std::move(r.output), std::move(r.h));
}
inline TupleOf<Tensor, Tensor> to_python(LstmState&& r) {
  return tuple_of(std::move(r.h), std::move(r.c));
}
inline TupleOf<Tensor, TupleOf<Tensor, Tensor>> to_python(LstmResult&& r) {
  return TupleOf<Tensor, TupleOf<Tensor, Tensor>>(nb::make_tuple(
      nb::cast(std::move(r.output)), to_python(std::move(r.state))));
}

/// A choice's names in Python; a list of them stands where casters are.
template <class E>
struct Named {
  const char* name;
  E value;
};

}  // namespace neap::python

namespace nanobind::detail {

template <>
struct type_caster<neap::python::Value> {
  NB_TYPE_CASTER(neap::python::Value, const_name("Tensor | float"))

  bool from_python(handle src, uint32_t flags, cleanup_list* cleanup) noexcept {
    if (PyFloat_Check(src.ptr())) {
      value = neap::python::Value(PyFloat_AsDouble(src.ptr()));
      return true;
    }
    make_caster<neap::Tensor> caster;
    if (caster.from_python(src, flags_for_local_caster<neap::Tensor*>(flags),
                           cleanup)) {
      const neap::Tensor* tensor = caster.operator neap::Tensor*();
      value = neap::python::Value(tensor);
      return tensor != nullptr;
    }
    return from_number(src);
  }

 private:
  bool from_number(handle src) noexcept {
    if (!PyLong_Check(src.ptr()) && PyIndex_Check(src.ptr()) == 0) {
      return from_float(src);
    }
    const long long number = PyLong_AsLongLong(src.ptr());
    if (number == -1 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      return from_large(src);
    }
    value = neap::python::Value(static_cast<std::int64_t>(number));
    return true;
  }
  // An integer beyond 64 bits: a number that no integer dtype has.
  bool from_large(handle src) noexcept {
    const double number = PyLong_AsDouble(src.ptr());
    if (number == -1.0 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      return false;
    }
    value = neap::python::Value(number);
    return true;
  }
  // A scalar of another library: anything with __float__ but no length.
  bool from_float(handle src) noexcept {
    if (PyObject_HasAttrString(src.ptr(), "__float__") == 0 ||
        PyObject_HasAttrString(src.ptr(), "ndim") == 0) {
      return false;
    }
    const object ndim = steal(PyObject_GetAttrString(src.ptr(), "ndim"));
    if (!ndim.is_valid() || PyLong_AsLong(ndim.ptr()) != 0) {
      PyErr_Clear();
      return false;
    }
    const object number = steal(PyNumber_Float(src.ptr()));
    if (!number.is_valid()) {
      PyErr_Clear();
      return false;
    }
    value = neap::python::Value(PyFloat_AsDouble(number.ptr()));
    return true;
  }
};

template <>
struct type_caster<neap::python::MaybeTensor> {
  NB_TYPE_CASTER(neap::python::MaybeTensor, const_name("Tensor"))

  bool from_python(handle src, uint32_t flags, cleanup_list* cleanup) noexcept {
    if (src.is_none()) {
      value = neap::python::MaybeTensor();
      return true;
    }
    make_caster<neap::Tensor> caster;
    if (!caster.from_python(src, flags_for_local_caster<neap::Tensor*>(flags),
                            cleanup)) {
      return false;
    }
    const neap::Tensor* tensor = caster.operator neap::Tensor*();
    value = neap::python::MaybeTensor(tensor);
    return tensor != nullptr;
  }
};

/// Reads an integer or an object that stands for one; false: it is none.
inline bool read_extent(handle src, std::int64_t& out) noexcept {
  if (!PyLong_Check(src.ptr()) && PyIndex_Check(src.ptr()) == 0) {
    return false;
  }
  const long long number = PyLong_AsLongLong(src.ptr());
  if (number == -1 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    return false;
  }
  out = number;
  return true;
}

/// Reads integers from a tuple or list; -1: it is none, or longer than `most`.
inline Py_ssize_t read_extents(handle src, std::int64_t* out,
                               Py_ssize_t most) noexcept {
  const bool is_tuple = PyTuple_Check(src.ptr());
  if (!is_tuple && !PyList_Check(src.ptr())) {
    return -1;
  }
  const Py_ssize_t size =
      is_tuple ? PyTuple_Size(src.ptr()) : PyList_Size(src.ptr());
  if (size > most) {
    return -1;
  }
  for (Py_ssize_t i = 0; i < size; ++i) {
    const handle item =
        is_tuple ? PyTuple_GetItem(src.ptr(), i) : PyList_GetItem(src.ptr(), i);
    if (!read_extent(item, out[i])) {
      return -1;
    }
  }
  return size;
}

template <>
struct type_caster<neap::Shape> {
  NB_TYPE_CASTER(neap::Shape, io_name("int | collections.abc.Sequence[int]",
                                      "tuple[int, ...]"))

  bool from_python(handle src, uint32_t, cleanup_list*) noexcept {
    std::array<std::int64_t, neap::kMaxRank> extents{};
    if (read_extent(src, extents[0])) {
      value = neap::Shape::filled(1, extents[0]);
      return true;
    }
    const Py_ssize_t size = read_extents(src, extents.data(), neap::kMaxRank);
    if (size < 0) {
      return false;
    }
    value = neap::Shape::filled(static_cast<int>(size), 0);
    for (int axis = 0; axis < value.rank(); ++axis) {
      value[axis] = extents[static_cast<std::size_t>(axis)];
    }
    return true;
  }
  static handle from_cpp(const neap::Shape& shape, rv_policy,
                         cleanup_list*) noexcept {
    PyObject* all = PyTuple_New(shape.rank());
    for (int axis = 0; all != nullptr && axis < shape.rank(); ++axis) {
      PyTuple_SetItem(all, axis, PyLong_FromLongLong(shape[axis]));
    }
    return all;
  }
};

template <int kAxes>
struct type_caster<neap::PerAxis<kAxes>> {
  using Sizes = neap::PerAxis<kAxes>;
  static constexpr auto Name = const_name("int | tuple[int, ...]");
  template <class T>
  using Cast = movable_cast_t<T>;
  template <class T>
  static constexpr bool can_cast() {
    return true;
  }
  explicit operator Sizes*() { return &value; }
  explicit operator Sizes&() { return value; }
  explicit operator Sizes&&() { return std::move(value); }
  using Value = Sizes;
  Sizes value = 0;

  bool from_python(handle src, uint32_t, cleanup_list*) noexcept {
    std::array<std::int64_t, kAxes> sizes{};
    if (read_extent(src, sizes[0])) {
      value = Sizes(sizes[0]);
      return true;
    }
    if (read_extents(src, sizes.data(), kAxes) != kAxes) {
      return false;
    }
    if constexpr (kAxes == 1) {
      value = Sizes(sizes[0]);
    } else {
      value = Sizes(sizes[0], sizes[1]);
    }
    return true;
  }
};

/// A choice, by its name: "mean" is Reduction::kMean.
template <class E>
struct choice_caster {
  template <std::size_t n>
  static bool find(handle src, const neap::python::Named<E> (&names)[n],
                   E& out) noexcept {
    if (!PyUnicode_Check(src.ptr())) {
      return false;
    }
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(src.ptr(), &size);
    if (text == nullptr) {
      PyErr_Clear();
      return false;
    }
    for (const auto& each : names) {
      if (std::string_view(text, static_cast<std::size_t>(size)) == each.name) {
        out = each.value;
        return true;
      }
    }
    return false;
  }
};

#define NEAP_PYTHON_CHOICE(Type, description, ...)                         \
  template <>                                                              \
  struct type_caster<Type> {                                               \
    NB_TYPE_CASTER(Type, const_name("typing.Literal[" description "]"))    \
    bool from_python(handle src, uint32_t, cleanup_list*) noexcept {       \
      static constexpr neap::python::Named<Type> kNames[] = {__VA_ARGS__}; \
      return choice_caster<Type>::find(src, kNames, value);                \
    }                                                                      \
  };

NEAP_PYTHON_CHOICE(neap::GeluForm, "'exact', 'tanh'",
                   {"exact", neap::GeluForm::kExact},
                   {"tanh", neap::GeluForm::kTanh})
NEAP_PYTHON_CHOICE(neap::Reduction, "'mean', 'sum', 'none'",
                   {"mean", neap::Reduction::kMean},
                   {"sum", neap::Reduction::kSum},
                   {"none", neap::Reduction::kNone})
NEAP_PYTHON_CHOICE(neap::Interpolation, "'nearest', 'bilinear'",
                   {"nearest", neap::Interpolation::kNearest},
                   {"bilinear", neap::Interpolation::kBilinear})
NEAP_PYTHON_CHOICE(neap::Nonlinearity, "'tanh', 'relu'",
                   {"tanh", neap::Nonlinearity::kTanh},
                   {"relu", neap::Nonlinearity::kRelu})
NEAP_PYTHON_CHOICE(neap::RotaryPairs, "'halves', 'interleaved'",
                   {"halves", neap::RotaryPairs::kHalves},
                   {"interleaved", neap::RotaryPairs::kInterleaved})
NEAP_PYTHON_CHOICE(neap::RotaryScaling,
                   "'none', 'linear', 'ramp', 'wavelengths'",
                   {"none", neap::RotaryScaling::kNone},
                   {"linear", neap::RotaryScaling::kLinear},
                   {"ramp", neap::RotaryScaling::kRamp},
                   {"wavelengths", neap::RotaryScaling::kWavelengths})
NEAP_PYTHON_CHOICE(neap::PadMode,
                   "'constant', 'reflect', 'replicate', 'circular'",
                   {"constant", neap::PadMode::kConstant},
                   {"reflect", neap::PadMode::kReflect},
                   {"replicate", neap::PadMode::kReplicate},
                   {"circular", neap::PadMode::kCircular})
NEAP_PYTHON_CHOICE(neap::JacobianMode, "'auto', 'forward', 'reverse'",
                   {"auto", neap::JacobianMode::kAuto},
                   {"forward", neap::JacobianMode::kForward},
                   {"reverse", neap::JacobianMode::kReverse})
NEAP_PYTHON_CHOICE(neap::Precision, "'f32', 'bf16'",
                   {"f32", neap::Precision::kF32},
                   {"bf16", neap::Precision::kBf16})

}  // namespace nanobind::detail
