// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// x[...]: positions, slices, None, ..., masks and index tensors, by NumPy's
// rules; and x[...] = value.
#include <fmt/format.h>

#include "binding.hpp"
#include "neap/base/error.hpp"
#include "neap/graph/recorder.hpp"
#include "values.hpp"

namespace neap::python {
namespace {

using Keys = std::vector<nb::object>;

Keys keys_of(nb::handle key) {
  if (!nb::isinstance<nb::tuple>(key)) {
    return {nb::borrow(key)};
  }
  Keys keys;
  for (const nb::handle each : nb::borrow<nb::tuple>(key)) {
    keys.push_back(nb::borrow(each));
  }
  return keys;
}

bool is_ellipsis(nb::handle key) {
  return key.ptr() == Py_Ellipsis;
}

bool is_mask(nb::handle key) {
  return nb::isinstance<Tensor>(key) &&
         nb::cast<const Tensor&>(key).dtype() == DType::kBool;
}

// The number of axes of the tensor that a key takes up.
int axes_of(nb::handle key) {
  if (key.is_none() || is_ellipsis(key)) {
    return 0;
  }
  return is_mask(key) ? nb::cast<const Tensor&>(key).rank() : 1;
}

// Slices that stand for `...`, or for the axes behind the last key.
Keys expanded(const Keys& keys, int rank) {
  int used = 0;
  int ellipses = 0;
  for (const nb::object& key : keys) {
    used += axes_of(key);
    ellipses += is_ellipsis(key) ? 1 : 0;
  }
  if (used > rank || ellipses > 1) {
    throw ShapeError(
        ellipses > 1
            ? std::string("index: ... stands there twice")
            : fmt::format("index: {} positions for {} axes", used, rank));
  }
  const nb::object all = nb::steal(PySlice_New(nullptr, nullptr, nullptr));
  Keys full;
  const auto fill = [&] { full.insert(full.end(), rank - used, all); };
  for (const nb::object& key : keys) {
    if (is_ellipsis(key)) {
      fill();
    } else {
      full.push_back(key);
    }
  }
  if (ellipses == 0) {
    fill();
  }
  return full;
}

Tensor sliced(const Tensor& x, int axis, nb::handle key, const CallSite& site) {
  Py_ssize_t start = 0;
  Py_ssize_t stop = 0;
  Py_ssize_t step = 0;
  if (PySlice_Unpack(key.ptr(), &start, &stop, &step) != 0) {
    throw nb::python_error();
  }
  if (step < 0) {
    throw ValueError(
        "index: the step of a slice is negative; flip(x, axis) turns an axis");
  }
  const std::int64_t extent = x.size(axis);
  PySlice_AdjustIndices(static_cast<Py_ssize_t>(extent), &start, &stop, step);
  if (start == 0 && stop == extent && step == 1) {
    return x;
  }
  return slice({x, site}, axis, start, stop, step);
}

std::int64_t position_of(nb::handle key) {
  std::int64_t position = 0;
  if (PyBool_Check(key.ptr()) || !nb::detail::read_extent(key, position)) {
    throw nb::type_error(
        "index: an integer, a slice, None, ..., or a tensor of integers or "
        "bools is expected");
  }
  return position;
}

// Index tensors, with their axes, of which no view is taken.
struct Advanced {
  std::vector<Tensor> indices;
  std::vector<int> axes;
};

Tensor views_of(const Tensor& x, const Keys& keys, const CallSite& site,
                Advanced& advanced) {
  Tensor y = x;
  int axis = 0;
  for (const nb::object& key : keys) {
    if (key.is_none()) {
      y = unsqueeze({y, site}, axis++);
    } else if (PySlice_Check(key.ptr())) {
      y = sliced(y, axis++, key, site);
    } else if (nb::isinstance<Tensor>(key)) {
      const Tensor& index = nb::cast<const Tensor&>(key);
      advanced.indices.push_back(index);
      advanced.axes.push_back(axis);
      axis += index.dtype() == DType::kBool ? index.rank() : 1;
    } else {
      const std::int64_t position = position_of(key);
      if (position < -y.size(axis) || position >= y.size(axis)) {
        throw nb::index_error(
            fmt::format("index {} is out of range for axis {} of extent {}",
                        position, axis, y.size(axis))
                .c_str());
      }
      y = select({y, site}, axis, position);
    }
  }
  return y;
}

// One index tensor: its axes stand in the place of the axis.
Tensor selected(const Tensor& y, const Tensor& index, int axis,
                const CallSite& site) {
  if (index.dtype() == DType::kBool) {
    if (axis == 0 && index.rank() == y.rank()) {
      return pack({y, site}, {index, site});
    }
    throw ValueError(
        "index: a mask has the shape of the whole tensor; pack() and where() "
        "say more");
  }
  Tensor moved = axis == 0 ? y : transpose({y, site}, 0, axis);
  if (axis != 0) {
    if (index.rank() != 1) {
      throw ValueError(
          "index: an index tensor of an axis behind the first has one axis");
    }
    const std::array<Tensor, 1> one{index};
    return transpose(
        {neap::index({moved, site}, std::span<const Tensor>(one)), site}, 0,
        axis);
  }
  const std::array<Tensor, 1> one{index};
  return neap::index({moved, site}, std::span<const Tensor>(one));
}

Tensor get(const Tensor& x, nb::handle key) {
  const CallSite site = here();
  Advanced advanced;
  const Tensor y =
      views_of(x, expanded(keys_of(key), x.rank()), site, advanced);
  if (advanced.indices.empty()) {
    return y;
  }
  if (advanced.indices.size() == 1) {
    return selected(y, advanced.indices[0], advanced.axes[0], site);
  }
  for (std::size_t i = 0; i < advanced.axes.size(); ++i) {
    if (advanced.axes[i] != static_cast<int>(i)) {
      throw ValueError(
          "index: several index tensors are those of the leading "
          "axes, one after the other");
    }
  }
  return neap::index({y, site}, std::span<const Tensor>(advanced.indices));
}

void check_may_set(const Tensor& x) {
  if (x.requires_grad() &&
      (!x.is_leaf() || tensor::thread_execution().grad_enabled)) {
    throw GraphError(
        "x[...] = value: x requires grad, and a graph may need its elements; "
        "where(mask, value, x), scatter(x, axis, index, value) and concat give "
        "a new tensor, and a leaf may be written under neap.NoGrad()");
  }
}

void set(const Tensor& x, nb::handle key, const Value& value) {
  const CallSite site = here();
  check_may_set(x);
  const NoGrad no_grad;
  Advanced advanced;
  const Tensor y =
      views_of(x, expanded(keys_of(key), x.rank()), site, advanced);
  if (!advanced.indices.empty()) {
    throw ValueError(
        "x[...] = value: where() and scatter() take masks and "
        "index tensors, and give a new tensor");
  }
  if (value.tensor() == nullptr) {
    fill_(y, value.number(site), site);
    return;
  }
  copy_(y, expand({*value.tensor(), site}, y.shape()), site);
}

nb::object iterate(const Tensor& x) {
  if (x.rank() == 0) {
    throw nb::type_error("iteration over a tensor of rank 0");
  }
  return nb::iter(to_python(unbind({x, here()})));
}

}  // namespace

void bind_indexing(nb::class_<Tensor>& t) {
  t.def("__getitem__", &get, nb::arg("key").none());
  t.def("__setitem__", &set, nb::arg("key").none(), nb::arg("value"));
  t.def("__iter__", &iterate);
}

}  // namespace neap::python
