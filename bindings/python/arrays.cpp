// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Arrays of other libraries: out by DLPack and NumPy's array interface, in by
// DLPack, without a copy where that is safe.
//
// Out: an export holds the storage of its tensor, so it is valid for as long as
// the other library keeps it. The exception is a result of a compiled step that
// lies in the step's arena: the next call would change it under the view, so
// exporting it copies.
#include <nanobind/stl/unique_ptr.h>

#include <array>
#include <atomic>
#include <memory>

#include "binding.hpp"
#include "dlpack.hpp"
#include "neap/tensor/host_access.hpp"
#include "values.hpp"

namespace neap::python {
namespace {

std::atomic<Bytes> exported{0};  // bytes that exports refer to

dl::DataType dtype_out(DType dtype) {
  const auto bits = static_cast<std::uint8_t>(8 * size_of(dtype));
  switch (dtype) {
    case DType::kF32:
    case DType::kF64:
      return {dl::kFloat, bits, 1};
    case DType::kBF16:
      return {dl::kBfloat, bits, 1};
    case DType::kI32:
    case DType::kI64:
      return {dl::kInt, bits, 1};
    case DType::kU8:
      return {dl::kUInt, bits, 1};
    case DType::kBool:
      return {dl::kBool, bits, 1};
  }
  return {};
}

std::optional<DType> dtype_in(const dl::DataType& type) {
  for (const DType dtype : {f32, f64, bf16, i32, i64, u8, boolean}) {
    const dl::DataType own = dtype_out(dtype);
    if (type.lanes == 1 && type.code == own.code && type.bits == own.bits) {
      return dtype;
    }
  }
  return std::nullopt;
}

[[noreturn]] void refuse(const char* text) {
  PyErr_SetString(PyExc_BufferError, text);
  throw nb::python_error();
}

// The elements of a tensor, held for another library.
class Export {
 public:
  Export(const Tensor& t, bool is_writable)
      : array_(t.array()),
        shape_(array_->shape()),
        strides_(array_->layout().strides),
        is_writable_(is_writable) {
    exported += size();
  }
  ~Export() { exported -= size(); }
  Export(const Export&) = delete;
  Export& operator=(const Export&) = delete;

  Bytes size() const noexcept { return array_->storage()->size(); }
  bool is_writable() const noexcept { return is_writable_; }
  DType dtype() const noexcept { return array_->dtype(); }
  const Shape& shape() const noexcept { return shape_; }
  const Shape& strides() const noexcept { return strides_; }
  void* data() const noexcept { return array_->strided().data; }
  dl::Array describe() noexcept {
    dl::Array array;
    array.data = data();
    array.ndim = shape_.rank();
    array.dtype = dtype_out(dtype());
    array.shape = &shape_[0];
    array.strides = &strides_[0];
    return array;
  }

 private:
  base::Ref<tensor::Array> array_;
  Shape shape_;
  Shape strides_;
  bool is_writable_;
};

// An export with the struct of a version of DLPack, as one object, which the
// consumer's call of the deleter ends.
template <class Struct>
struct Package {
  explicit Package(const Tensor& t, bool is_writable) : held(t, is_writable) {
    managed.context = this;
    managed.array = held.describe();
    managed.deleter = [](Struct* self) {
      delete static_cast<Package*>(self->context);
    };
  }
  Export held;
  Struct managed;
};

// A capsule that nobody has consumed still owns what is in it.
template <class Struct>
void end_capsule(PyObject* capsule, const char* name) {
  if (PyCapsule_IsValid(capsule, name) == 0) {
    return;
  }
  auto* managed = static_cast<Struct*>(PyCapsule_GetPointer(capsule, name));
  if (managed->deleter != nullptr) {
    managed->deleter(managed);
  }
}

// Whether the elements may be other ones after the next call of a step.
bool lies_in_arena(const Tensor& t) {
  const tensor::Storage& storage = *t.array()->storage();
  return storage.is_of_step() && storage.is_lent();
}

// The tensor whose elements go out, by the rules of copy: None, True, False.
Tensor to_export(const Tensor& t, std::optional<bool> copy,
                 const CallSite& site) {
  if (copy.value_or(false)) {
    return neap::copy({t.detach(), site});
  }
  if (!lies_in_arena(t)) {
    return t;
  }
  if (copy.has_value()) {
    refuse(
        "a result of a compiled step lies in the step's arena, which the "
        "next call writes: copy it, or name it in `keep` of neap.compile");
  }
  return neap::copy({t.detach(), site});
}

nb::object to_capsule(const Tensor& t, bool is_versioned, bool is_writable,
                      bool is_copied) {
  PyObject* capsule = nullptr;
  if (is_versioned) {
    auto package =
        std::make_unique<Package<dl::VersionedManaged>>(t, is_writable);
    package->managed.flags =
        (is_writable ? 0 : dl::kReadOnly) | (is_copied ? dl::kIsCopied : 0);
    capsule = PyCapsule_New(
        &package->managed, dl::kVersionedName, [](PyObject* self) {
          end_capsule<dl::VersionedManaged>(self, dl::kVersionedName);
        });
    if (capsule != nullptr) {
      package.release();
    }
  } else {
    auto package = std::make_unique<Package<dl::Managed>>(t, is_writable);
    capsule = PyCapsule_New(&package->managed, dl::kName, [](PyObject* self) {
      end_capsule<dl::Managed>(self, dl::kName);
    });
    if (capsule != nullptr) {
      package.release();
    }
  }
  if (capsule == nullptr) {
    throw nb::python_error();
  }
  return nb::steal(capsule);
}

nb::object export_dlpack(const Tensor& t, nb::handle stream,
                         nb::handle max_version, nb::handle device,
                         std::optional<bool> copy) {
  const CallSite site = here();
  if (!stream.is_none()) {
    refuse("__dlpack__: the processor's memory has no streams");
  }
  if (!device.is_none() &&
      nb::cast<std::int64_t>(device[nb::int_(0)]) != dl::kCpu) {
    refuse("__dlpack__: elements are in the processor's memory only");
  }
  const bool is_versioned =
      !max_version.is_none() &&
      nb::cast<std::int64_t>(max_version[nb::int_(0)]) >= 1;
  tensor::check_host_access(t, "__dlpack__", site);
  const Tensor out = to_export(t, copy, site);
  return to_capsule(out, is_versioned, false, !out.is_alias_of(t));
}

// --- NumPy's array interface, which old versions of NumPy have, too ----------

const char* typestr_of(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "<f4";
    case DType::kF64:
      return "<f8";
    case DType::kI32:
      return "<i4";
    case DType::kI64:
      return "<i8";
    case DType::kU8:
      return "|u1";
    case DType::kBool:
      return "|b1";
    case DType::kBF16:
      break;
  }
  throw DTypeError("numpy: NumPy has no bf16; to(neap.f32) converts");
}

nb::dict array_interface(const Export& held) {
  nb::list strides;
  for (const std::int64_t stride : held.strides()) {
    strides.append(stride * size_of(held.dtype()));
  }
  nb::dict interface;
  interface["version"] = 3;
  interface["typestr"] = typestr_of(held.dtype());
  interface["shape"] = nb::cast(held.shape());
  interface["strides"] = nb::tuple(strides);
  // NumPy before 2.3 takes no address for no array; no element is read here.
  const void* data = held.data() != nullptr ? held.data() : &held;
  interface["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(data),
                                     !held.is_writable());
  return interface;
}

std::unique_ptr<Export> make_export(const Tensor& t, bool is_writable,
                                    std::optional<bool> copy) {
  const CallSite site = here();
  typestr_of(t.dtype());
  if (is_writable && t.requires_grad() && !t.is_leaf()) {
    throw GraphError(
        "numpy: a graph needs these elements; detach().copy() gives a tensor "
        "that may be written");
  }
  tensor::check_host_access(t, "numpy", site, is_writable);
  const Tensor out = to_export(t, copy, site);
  if (is_writable) {
    out.array()->storage()->bump_version(base::intern(site));
  }
  return std::make_unique<Export>(out, is_writable);
}

// --- in
// -----------------------------------------------------------------------

// An array that another library has handed over, in either version.
struct Given {
  nb::object capsule;
  dl::Array array;
  bool is_read_only = false;
  void* managed = nullptr;
  bool is_versioned = false;
};

Given consume(nb::object capsule) {
  Given given;
  if (PyCapsule_IsValid(capsule.ptr(), dl::kVersionedName) != 0) {
    auto* managed = static_cast<dl::VersionedManaged*>(
        PyCapsule_GetPointer(capsule.ptr(), dl::kVersionedName));
    if (managed->version.major != 1) {
      refuse("from_dlpack: a version of DLPack that is not known");
    }
    given = {capsule, managed->array, (managed->flags & dl::kReadOnly) != 0,
             managed, true};
  } else if (PyCapsule_IsValid(capsule.ptr(), dl::kName) != 0) {
    auto* managed = static_cast<dl::Managed*>(
        PyCapsule_GetPointer(capsule.ptr(), dl::kName));
    given = {capsule, managed->array, false, managed, false};
  } else {
    refuse(
        "from_dlpack: a capsule named 'dltensor' is expected, not one that "
        "was used");
  }
  return given;
}

// Ends what was handed over, from whatever thread.
struct Returner {
  void* managed = nullptr;
  bool is_versioned = false;

  void operator()() const noexcept {
    if (managed == nullptr || !nb::is_alive()) {
      return;
    }
    const Locked locked;
    PyObject* type = nullptr;
    PyObject* value = nullptr;
    PyObject* trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    if (is_versioned) {
      auto* all = static_cast<dl::VersionedManaged*>(managed);
      if (all->deleter != nullptr) {
        all->deleter(all);
      }
    } else {
      auto* all = static_cast<dl::Managed*>(managed);
      if (all->deleter != nullptr) {
        all->deleter(all);
      }
    }
    if (PyErr_Occurred() != nullptr) {
      PyErr_WriteUnraisable(nullptr);
    }
    PyErr_Restore(type, value, trace);
  }
};

Shape shape_of(const dl::Array& array) {
  if (array.ndim > kMaxRank) {
    throw ShapeError("from_dlpack: more than 8 axes");
  }
  return Shape(std::span(array.shape, static_cast<std::size_t>(array.ndim)));
}

bool is_dense(const dl::Array& array, const Shape& shape) {
  if (array.strides == nullptr || shape.element_count() == 0) {
    return true;
  }
  std::int64_t step = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    if (shape[axis] != 1 && array.strides[axis] != step) {
      return false;
    }
    step *= shape[axis];
  }
  return true;
}

template <class T>
Tensor borrow_as(const dl::Array& array, const Shape& shape,
                 const Returner& end, const CallSite& site) {
  auto* data = reinterpret_cast<T*>(static_cast<std::byte*>(array.data) +
                                    array.byte_offset);
  const auto count = static_cast<std::size_t>(shape.element_count());
  return Tensor::borrow(std::span<T>(data, count), shape, end, site);
}

Tensor borrow(const Given& given, DType dtype, const Shape& shape,
              const CallSite& site) {
  const Returner end{given.managed, given.is_versioned};
  switch (dtype) {
    case DType::kF32:
      return borrow_as<float>(given.array, shape, end, site);
    case DType::kF64:
      return borrow_as<double>(given.array, shape, end, site);
    case DType::kBF16:
      return borrow_as<BFloat16>(given.array, shape, end, site);
    case DType::kI32:
      return borrow_as<std::int32_t>(given.array, shape, end, site);
    case DType::kI64:
      return borrow_as<std::int64_t>(given.array, shape, end, site);
    case DType::kU8:
      return borrow_as<std::uint8_t>(given.array, shape, end, site);
    case DType::kBool:
      return borrow_as<bool>(given.array, shape, end, site);
  }
  return {};
}

// None: the array cannot be borrowed as it lies (layout, or read-only), which
// the caller answers by a copy.
std::optional<Tensor> borrow_dlpack(nb::object capsule) {
  const CallSite site = here();
  const Given given = consume(std::move(capsule));
  if (given.array.device.type != dl::kCpu) {
    refuse("from_dlpack: the array is not in the processor's memory");
  }
  const std::optional<DType> dtype = dtype_in(given.array.dtype);
  if (!dtype) {
    throw DTypeError(
        "from_dlpack: an element type that Neap has not: f32, f64, bf16, i32, "
        "i64, u8 and bool are");
  }
  const Shape shape = shape_of(given.array);
  if (given.is_read_only || !is_dense(given.array, shape)) {
    return std::nullopt;  // the capsule returns it
  }
  Tensor out = borrow(given, *dtype, shape, site);
  PyCapsule_SetName(given.capsule.ptr(), given.is_versioned
                                             ? dl::kUsedVersionedName
                                             : dl::kUsedName);
  return out;
}

}  // namespace

void bind_arrays(nb::module_& m, nb::class_<Tensor>& t) {
  nb::class_<Export>(m, "Export", "Elements that another library refers to.")
      .def_prop_ro("__array_interface__", &array_interface);
  m.def("_export", &make_export, nb::arg("tensor"), nb::arg("writable"),
        nb::arg("copy").none());
  m.def("_borrow_dlpack", &borrow_dlpack, nb::arg("capsule"));
  m.def(
      "exported_bytes", [] { return exported.load(); },
      "Bytes of storages that arrays of other libraries refer to.");
  t.def("__dlpack__", &export_dlpack, nb::kw_only(),
        nb::arg("stream").none() = nb::none(),
        nb::arg("max_version").none() = nb::none(),
        nb::arg("dl_device").none() = nb::none(),
        nb::arg("copy").none() = nb::none());
  t.def("__dlpack_device__",
        [](const Tensor&) { return nb::make_tuple(dl::kCpu + 0, 0); });
}

}  // namespace neap::python
