// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/testing/inputs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "neap/base/philox.hpp"
#include "neap/base/raise.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/element.hpp"

namespace neap::testing {
namespace {

constexpr double kGapNumber = 99.0;  // in gaps of whole numbers

bool is_near(double value, const InputSpec& spec) {
  return std::any_of(spec.avoided.begin(), spec.avoided.end(), [&](double k) {
    return std::abs(value - k) < spec.margin;
  });
}

// Draws again (at most so many times) until the value keeps away from kinks.
double drawn_value(const InputSpec& spec, const base::DrawKey& key,
                   std::uint64_t element) {
  constexpr std::uint64_t kTries = 64;
  for (std::uint64_t t = 0; t < kTries; ++t) {
    const base::PhiloxBlock words = key.block(element * kTries + t);
    const double u = base::uniform_f64(words[0], words[1]);
    const double x = spec.low + u * (spec.high - spec.low);
    const double value = spec.is_integral
                             ? std::floor(x)
                             : static_cast<double>(static_cast<float>(x));
    if (!is_near(value, spec)) {
      return value;
    }
  }
  base::raise<ValueError>(
      "op_check: no value in [{}, {}) keeps {} away from the row's kinks",
      spec.low, spec.high, spec.margin);
}

int longest_axis(const Shape& shape) {
  return static_cast<int>(std::max_element(shape.begin(), shape.end()) -
                          shape.begin());
}

Shape reversed(const Shape& shape) {
  Shape out = shape;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    out[axis] = shape[shape.rank() - 1 - axis];
  }
  return out;
}

// A window on a new storage of `stored` elements.
struct Window {
  Shape strides;
  std::int64_t offset = 0;
  std::int64_t stored = 0;
};

Window window_for(const Shape& shape, LayoutKind kind) {
  Window window;
  if (shape.element_count() == 0 && kind != LayoutKind::kTransposed) {
    kind = LayoutKind::kContiguous;
  }
  switch (kind) {
    case LayoutKind::kSliced: {
      Shape wide = shape;
      for (int axis = 0; axis < shape.rank(); ++axis) {
        wide[axis] = 2 * shape[axis] + 1;
      }
      window.strides = base::row_major_strides(wide);
      for (int axis = 0; axis < shape.rank(); ++axis) {
        window.offset += window.strides[axis];
        window.strides[axis] *= 2;
      }
      window.stored = wide.element_count();
      return window;
    }
    case LayoutKind::kExpanded: {
      Shape narrow = shape;
      const int axis = longest_axis(shape);
      if (shape.rank() > 0 && shape[axis] > 1) {
        narrow[axis] = 1;
      }
      window.strides = base::row_major_strides(narrow);
      if (shape.rank() > 0) {
        window.strides[axis] =
            narrow[axis] != shape[axis] ? 0 : window.strides[axis];
      }
      window.stored = narrow.element_count();
      return window;
    }
    case LayoutKind::kTransposed:
      window.strides = reversed(base::row_major_strides(reversed(shape)));
      break;
    case LayoutKind::kContiguous:
    case LayoutKind::kMixed:
      window.strides = base::row_major_strides(shape);
      break;
  }
  window.stored = shape.element_count();
  return window;
}

}  // namespace

const char* name_of(LayoutKind kind) noexcept {
  switch (kind) {
    case LayoutKind::kContiguous:
      return "contiguous";
    case LayoutKind::kTransposed:
      return "transposed";
    case LayoutKind::kSliced:
      return "sliced";
    case LayoutKind::kExpanded:
      return "expanded";
    case LayoutKind::kMixed:
      return "mixed";
  }
  return "";
}

HostArray make_values(const InputSpec& spec, std::uint64_t seed,
                      std::size_t index) {
  HostArray out{spec.shape, spec.literal};
  const auto count = static_cast<std::size_t>(spec.shape.element_count());
  if (!spec.literal.empty()) {
    if (spec.literal.size() != count) {
      base::raise<ValueError>("op_check: {} literal values for shape {}",
                              spec.literal.size(), format_shape(spec.shape));
    }
    return out;
  }
  const base::DrawKey key{seed, index};
  out.values.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    out.values[i] = drawn_value(spec, key, i);
  }
  return out;
}

HostArray make_direction(const Shape& shape, std::uint64_t seed,
                         std::size_t index) {
  return make_values({.shape = shape}, ~seed, index);
}

HostArray constant_along_longest(const HostArray& array) {
  HostArray out = array;
  const int axis = longest_axis(array.shape);
  if (array.shape.rank() == 0 || array.values.empty()) {
    return out;
  }
  const auto extent = static_cast<std::size_t>(array.shape[axis]);
  const auto inner =
      static_cast<std::size_t>(base::row_major_strides(array.shape)[axis]);
  for (std::size_t i = 0; i < out.values.size(); ++i) {
    const std::size_t start = i / (extent * inner) * (extent * inner);
    out.values[i] = array.values[start + i % inner];
  }
  return out;
}

Tensor make_tensor(const HostArray& array, DType dtype, LayoutKind kind,
                   std::size_t index) {
  if (kind == LayoutKind::kMixed) {
    kind = index % 2 == 0 ? LayoutKind::kContiguous : LayoutKind::kTransposed;
  }
  const Window window = window_for(array.shape, kind);
  const double gap = is_floating(dtype)
                         ? std::numeric_limits<double>::quiet_NaN()
                         : kGapNumber;
  const Tensor whole = full({window.stored}, gap, dtype);
  const tensor::Layout layout{dtype, array.shape, window.strides,
                              window.offset};
  Tensor out(tensor::Array::make(whole.array()->storage(), layout));
  const tensor::Strided view = out.array()->strided();
  tensor::with_type(dtype, [&]<class T>(T*) {
    std::size_t i = 0;
    tensor::for_each_offset(view.shape, view.strides, [&](std::int64_t at) {
      view.as<T>()[at] = tensor::to_element<T>(array.values[i++]);
    });
  });
  return out;
}

}  // namespace neap::testing
