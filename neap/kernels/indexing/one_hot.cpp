// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/indexing/one_hot.hpp"

#include <array>

#include "neap/kernels/engine/convert.hpp"
#include "neap/kernels/engine/strides.hpp"

namespace neap::kernels {
namespace {

constexpr std::int64_t kGrain = 16384;  // elements of y

template <class T>
void one_hot_rows(const Args& args) noexcept {
  const Strided& labels = args.in[0];  // (...)
  const Strided& y = args.out[0];      // (..., C)
  const std::int64_t classes = y.shape.back();
  const std::int64_t stride = y.strides.back();
  if (y.shape.element_count() == 0) {
    return;
  }
  Shape row_strides = y.strides;
  row_strides.erase(y.shape.rank() - 1);
  const auto put = [&](std::int64_t begin, std::int64_t end) noexcept {
    for (std::int64_t row = begin; row < end; ++row) {
      T* place = y.as<T>() + offset_at(labels.shape, row_strides, row);
      const std::int64_t label =
          labels
              .as<std::int64_t>()[offset_at(labels.shape, labels.strides, row)];
      for (std::int64_t c = 0; c < classes; ++c) {
        place[c * stride] = convert<T>(c == label);
      }
    }
  };
  threads::parallel_for(*args.executor, labels.shape.element_count(),
                        (kGrain - 1) / classes + 1, put);
}

// In the order of DType.
constexpr std::array<void (*)(const Args&) noexcept, kDTypeCount> kByOutput{
    one_hot_rows<float>,        one_hot_rows<double>,
    one_hot_rows<BFloat16>,     one_hot_rows<std::int32_t>,
    one_hot_rows<std::int64_t>, one_hot_rows<std::uint8_t>,
    one_hot_rows<bool>};

void one_hot(const Args& args) noexcept {
  kByOutput[static_cast<std::size_t>(args.out[0].dtype)](args);
}

constexpr std::array kKernels{
    Kernel{.name = "one_hot.i64", .dtype = i64, .run = one_hot}};

}  // namespace

constinit const KernelList one_hot_kernels{"one_hot", kKernels};

}  // namespace neap::kernels
