// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The class Tensor: what it is, its elements as Python numbers, and operators.
#include <fmt/format.h>

#include "binding.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/tensor/print.hpp"
#include "values.hpp"

namespace neap::python {
namespace {

using tensor::Absence;

// True where elements may be shown: they are there, on the host, and no step is
// traced, whose trace would be told of the look.
bool may_show(const tensor::Array& array) {
  return tensor::thread_execution().trace == nullptr &&
         array.space() == memory::kHost &&
         array.storage()->absence() == Absence::kNone;
}

std::string reason_not_shown(const tensor::Array& array) {
  switch (array.storage()->absence()) {
    case Absence::kTraced:
      return ", traced";
    case Absence::kRehearsed:
      return ", of a dry run";
    case Absence::kRevoked:
      return ", its memory is used by a later call of its step";
    case Absence::kAway:
      return ", in a file";
    case Absence::kNone:
      break;
  }
  return "";
}

// Never throws, and asks a handle nothing that a trace would hear.
std::string show(const Tensor& t) {
  const base::Ref<tensor::Body>& body = t.shared();
  if (!body) {
    return "Tensor(undefined)";
  }
  if (!body->array()) {
    return fmt::format("Tensor(released by {})",
                       base::format_site(body->revoked_by()));
  }
  const tensor::Array& array = *body->array();
  std::string text = fmt::format("Tensor({} {}", name_of(array.dtype()),
                                 format_shape(array.shape()));
  if (!may_show(array)) {
    return text + reason_not_shown(array) + ")";
  }
  try {
    return fmt::format("Tensor({}, {} {})", format(t), name_of(array.dtype()),
                       format_shape(array.shape()));
  } catch (const std::exception&) {
    return text + ")";
  }
}

template <class T>
nb::object element_of(T value) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    return nb::cast(static_cast<double>(static_cast<float>(value)));
  } else if constexpr (std::is_same_v<T, bool>) {
    return nb::cast(value);
  } else if constexpr (std::is_integral_v<T>) {
    return nb::cast(static_cast<std::int64_t>(value));
  } else {
    return nb::cast(static_cast<double>(value));
  }
}

template <class Visit>
nb::object with_elements(const Tensor& t, const CallSite& site, Visit&& visit) {
  switch (t.dtype()) {
    case DType::kF32:
      return visit(t.values<float>(site));
    case DType::kF64:
      return visit(t.values<double>(site));
    case DType::kBF16:
      return visit(t.values<BFloat16>(site));
    case DType::kI32:
      return visit(t.values<std::int32_t>(site));
    case DType::kI64:
      return visit(t.values<std::int64_t>(site));
    case DType::kU8:
      return visit(t.values<std::uint8_t>(site));
    case DType::kBool:
      return visit(t.values<bool>(site));
  }
  return nb::none();
}

// The only element, as the Python number of its kind.
nb::object item(const Tensor& t) {
  const CallSite site = here();
  t.item(site);  // that there is one, and that it may be read
  const Tensor dense = t.is_contiguous() ? t : contiguous({t, site});
  return with_elements(dense, site,
                       [](auto span) { return element_of(span[0]); });
}

// Lists of lists, the last axis innermost: lists of one level become those of
// the next, level by level.
nb::object to_list(const Tensor& t) {
  const CallSite site = here();
  if (t.rank() == 0) {
    return item(t);
  }
  const Tensor dense = t.is_contiguous() ? t : contiguous({t.detach(), site});
  return with_elements(dense, site, [&](auto span) -> nb::object {
    nb::list level;
    for (const auto value : span) {
      level.append(element_of(value));
    }
    const Shape& shape = t.shape();
    for (int axis = shape.rank() - 1; axis > 0; --axis) {
      std::int64_t count = 1;
      for (int outer = 0; outer < axis; ++outer) {
        count *= shape[outer];
      }
      nb::list above;
      for (std::int64_t i = 0; i < count; ++i) {
        nb::list part;
        for (std::int64_t k = 0; k < shape[axis]; ++k) {
          part.append(level[static_cast<std::size_t>(i * shape[axis] + k)]);
        }
        above.append(part);
      }
      level = above;
    }
    return level;
  });
}

template <class Op>
auto binary(Op op) {
  return [op](const Tensor& a, const Value& b) {
    const CallSite site = here();
    return run_op([&] { return op(Operand(a, site), b.operand(site)); }, a, b);
  };
}
template <class Op>
auto reversed(Op op) {
  return [op](const Tensor& a, const Value& b) {
    const CallSite site = here();
    return run_op([&] { return op(b.operand(site), Operand(a, site)); }, a, b);
  };
}

void bind_operators(nb::class_<Tensor>& t) {
  using A = const Operand&;
  const auto both = [&t](const char* name, const char* back, auto op) {
    t.def(name, binary(op), nb::is_operator());
    t.def(back, reversed(op), nb::is_operator());
  };
  both("__add__", "__radd__", [](A a, A b) { return add(a, b); });
  both("__sub__", "__rsub__", [](A a, A b) { return sub(a, b); });
  both("__mul__", "__rmul__", [](A a, A b) { return mul(a, b); });
  both("__truediv__", "__rtruediv__", [](A a, A b) { return div(a, b); });
  both("__pow__", "__rpow__", [](A a, A b) { return pow(a, b); });
  both("__mod__", "__rmod__", [](A a, A b) { return remainder(a, b); });
  const auto one = [&t](const char* name, auto op) {
    t.def(name, binary(op), nb::is_operator());
  };
  one("__matmul__", [](A a, A b) { return matmul(a, b); });
  one("__eq__", [](A a, A b) { return eq(a, b); });
  one("__ne__", [](A a, A b) { return ne(a, b); });
  one("__lt__", [](A a, A b) { return lt(a, b); });
  one("__le__", [](A a, A b) { return le(a, b); });
  one("__gt__", [](A a, A b) { return gt(a, b); });
  one("__ge__", [](A a, A b) { return ge(a, b); });
  one("__and__", [](A a, A b) { return logical_and(a, b); });
  one("__or__", [](A a, A b) { return logical_or(a, b); });
  one("__xor__", [](A a, A b) { return logical_xor(a, b); });
  t.def("__neg__", [](const Tensor& x) { return neg({x, here()}); });
  t.def("__invert__", [](const Tensor& x) { return logical_not({x, here()}); });
  t.def("__abs__", [](const Tensor& x) { return abs({x, here()}); });
  t.def("__hash__", [](nb::handle self) {
    return static_cast<Py_ssize_t>(
        reinterpret_cast<std::uintptr_t>(self.ptr()) >> 4U);
  });
}

void bind_numbers(nb::class_<Tensor>& t) {
  t.def("item", &item, "The only element. Raises ShapeError for more.");
  t.def("tolist", &to_list, "The elements as nested lists.");
  t.def("__bool__", [](const Tensor& x) { return x.item(here()) != 0.0; });
  t.def("__float__", [](const Tensor& x) { return x.item(here()); });
  t.def("__int__", [](const Tensor& x) { return nb::int_(item(x)); });
  t.def("__repr__", &show);
  t.def("__len__", [](const Tensor& x) { return x.size(0); });
}

}  // namespace

nb::class_<Tensor> bind_tensor(nb::module_& m) {
  nb::enum_<DType>(m, "DType", "Element types; there is no promotion.")
      .value("f32", DType::kF32)
      .value("f64", DType::kF64)
      .value("bf16", DType::kBF16)
      .value("i32", DType::kI32)
      .value("i64", DType::kI64)
      .value("u8", DType::kU8)
      .value("bool", DType::kBool);
  nb::class_<Tensor> t(m, "Tensor", nb::is_weak_referenceable(),
                       nb::type_slots(tensor_slots()),
                       "A handle to elements and their place on the graph.");
  t.def_prop_ro("shape", [](const Tensor& x) { return x.shape(); });
  t.def_prop_ro("ndim", [](const Tensor& x) { return x.rank(); });
  t.def_prop_ro("dtype", [](const Tensor& x) { return x.dtype(); });
  t.def_prop_ro("strides", [](const Tensor& x) { return x.strides(); });
  t.def_prop_ro("nbytes", [](const Tensor& x) {
    return x.element_count() * size_of(x.dtype());
  });
  t.def_prop_ro("T", [](const Tensor& x) {
    return x.rank() < 2 ? x : transpose({x, here()});
  });
  t.def("size", [](const Tensor& x) { return x.shape(); });
  t.def(
      "size", [](const Tensor& x, std::int64_t axis) { return x.size(axis); },
      nb::arg("axis"));
  t.def("numel", [](const Tensor& x) { return x.element_count(); });
  t.def("dim", [](const Tensor& x) { return x.rank(); });
  t.def("is_contiguous", [](const Tensor& x) { return x.is_contiguous(); });
  t.def("is_alias_of", [](const Tensor& x, const Tensor& other) {
    return x.is_alias_of(other);
  });
  t.def_prop_ro("is_released", [](const Tensor& x) { return !x.defined(); });
  t.def(
      "to",
      [](const Tensor& x, DType dtype) {
        const CallSite site = here();
        return x.dtype() == dtype ? x
                                  : run_op(
                                        [&] {
                                          return cast({x, site}, dtype);
                                        },
                                        x);
      },
      nb::arg("dtype"), "The same elements in another dtype.");
  bind_operators(t);
  bind_numbers(t);
  return t;
}

}  // namespace neap::python
