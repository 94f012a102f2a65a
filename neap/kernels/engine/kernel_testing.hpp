// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// For the tests of kernels: arrays with any strides, and calls without a
// runtime. Everything here owns plain vectors; used by tests alone.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "neap/base/philox.hpp"
#include "neap/kernels/engine/kernel.hpp"
#include "neap/kernels/engine/strides.hpp"
#include "neap/threads/executor.hpp"

namespace neap::kernels::testing {

/// How an array lies in memory.
enum class Lay { kDense, kTransposed, kSliced, kReversed };

inline constexpr Lay kLays[] = {Lay::kDense, Lay::kTransposed, Lay::kSliced,
                                Lay::kReversed};

/// An owned array. Bytes around and between its elements are guards.
class Array {
 public:
  template <class T>
  static Array of(const Shape& shape, Lay lay,
                  const std::function<T(std::int64_t)>& value) {
    Array array(shape, dtype_of<T>, lay);
    for (std::int64_t i = 0; i < array.count(); ++i) {
      array.at<T>(i) = value(i);
    }
    array.before_ = array.bytes_;
    return array;
  }

  Array(const Shape& shape, DType dtype, Lay lay = Lay::kDense)
      : view_{nullptr, dtype, shape, base::row_major_strides(shape)} {
    const std::int64_t gap = lay == Lay::kSliced ? 3 : 1;
    Shape order = shape;
    if (lay == Lay::kTransposed) {
      std::reverse(&order[0], &order[0] + order.rank());
    }
    Shape strides = base::row_major_strides(order);
    if (lay == Lay::kTransposed) {
      std::reverse(&strides[0], &strides[0] + strides.rank());
    }
    std::int64_t start = kGuard;
    for (int axis = 0; axis < shape.rank(); ++axis) {
      strides[axis] *= lay == Lay::kReversed ? -gap : gap;
      if (strides[axis] < 0 && shape[axis] > 0) {
        start -= strides[axis] * (shape[axis] - 1);
      }
    }
    view_.strides = strides;
    const std::int64_t total = count() * gap + 2 * kGuard;
    bytes_.assign(static_cast<std::size_t>(total * size_of(dtype)),
                  std::byte{0xA5});
    start_ = start * size_of(dtype);
    before_ = bytes_;
  }

  std::int64_t count() const { return view_.shape.element_count(); }
  const Shape& shape() const { return view_.shape; }

  Strided view() {
    Strided view = view_;
    view.data = count() == 0 ? nullptr : bytes_.data() + start_;
    return view;
  }

  template <class T>
  T& at(std::int64_t i) {
    return element<T>(view(), i);
  }

  /// The elements, dense.
  std::vector<std::byte> elements() {
    const Strided from = view();
    std::vector<std::byte> dense(
        static_cast<std::size_t>(count() * size_of(view_.dtype)));
    if (!dense.empty()) {
      gather({from.shape, from.strides, size_of(from.dtype), from.data}, 0,
             count(), dense.data());
    }
    return dense;
  }

  /// True when no byte outside of the elements has changed.
  bool has_intact_guards() {
    std::vector<std::byte> after = bytes_;
    const Strided here = view();
    for (std::int64_t i = 0; i < count(); ++i) {
      const auto at = static_cast<std::size_t>(
          start_ +
          offset_at(here.shape, here.strides, i) * size_of(view_.dtype));
      std::memcpy(&after[at], &before_[at],
                  static_cast<std::size_t>(size_of(view_.dtype)));
    }
    return after == before_;
  }

 private:
  static constexpr std::int64_t kGuard = 64;  // elements on each side

  Strided view_;
  std::vector<std::byte> bytes_;
  std::vector<std::byte> before_;
  std::int64_t start_ = 0;  // bytes
};

/// Runs parts one after the other, last first, as if on `count` threads.
class BackwardExecutor final : public threads::Executor {
 public:
  explicit BackwardExecutor(int count) : count_(count) {}
  int threads() const noexcept override { return count_; }
  void run(int parts, threads::PartFunction function,
           void* context) noexcept override {
    for (int part = parts - 1; part >= 0; --part) {
      function(context, part);
    }
  }

 private:
  int count_;
};

inline constexpr std::size_t kGuard = 64;  // bytes around scratch

/// Runs a kernel with the scratch it asks for, between guards; `attrs` may be
/// nullptr.
inline void call(const Kernel& kernel, std::vector<Strided> in,
                 std::vector<Strided> out, const void* attrs = nullptr,
                 int threads = 1) {
  isa();
  BackwardExecutor executor(threads);
  Args args{in, out, attrs, {}, &executor};
  const Bytes bytes = scratch_bytes(kernel, args);
  std::vector<std::byte> scratch(static_cast<std::size_t>(bytes) + 2 * kGuard,
                                 std::byte{0xA5});
  args.scratch =
      std::span(scratch).subspan(kGuard, scratch.size() - 2 * kGuard);
  kernel.run(args);
  for (std::size_t i = 0; i < kGuard; ++i) {
    ASSERT_EQ(scratch[i], std::byte{0xA5});
    ASSERT_EQ(scratch[scratch.size() - 1 - i], std::byte{0xA5});
  }
}

/// The kernel that runs for `dtype`, and the last entry, its reference.
inline const Kernel& first_of(const KernelList& list, DType dtype) {
  return find(list, memory::kHost, dtype, {});
}
inline const Kernel& reference_of(const KernelList& list, DType dtype) {
  const Kernel* last = nullptr;
  for (const Kernel& kernel : list.kernels) {
    last = kernel.dtype == dtype ? &kernel : last;
  }
  return *last;
}

/// A number of about [-4, 4) that looks random; the same for the same index.
inline double noise(std::int64_t i) {
  const auto word = base::DrawKey{7, 1}.word(static_cast<std::uint64_t>(i));
  return (static_cast<double>(word) * 0x1p-32 - 0.5) * 8.0;
}

/// Distance in units in the last place of T at `want`.
template <class T>
double ulps(T got, long double want) {
  const T rounded = static_cast<T>(want);
  if (got == rounded || (got != got && rounded != rounded)) {
    return 0.0;
  }
  if (!(std::abs(got) <= std::numeric_limits<T>::max()) ||
      !(std::abs(rounded) <= std::numeric_limits<T>::max())) {
    return std::numeric_limits<double>::infinity();
  }
  int exponent = 0;
  std::frexp(rounded, &exponent);
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent);
  const long double unit =
      std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits);
  return static_cast<double>(std::abs(static_cast<long double>(got) - want) /
                             unit);
}

}  // namespace neap::kernels::testing
