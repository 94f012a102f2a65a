// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Dataset: what a user's own data must offer to be batched. Samples are written
// straight into the rows of a batch buffer, so no sample is ever a tensor.
//
//   struct Points {
//     std::int64_t size() const;                  // samples
//     data::SampleSpec spec() const;              // of one sample
//     void load(std::int64_t index, std::span<std::byte> input,
//               std::span<std::byte> target) const noexcept;
//   };
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "neap/tensor/tensor.hpp"

namespace neap::data {

/// Shape and dtype of one sample, without the batch axis.
struct SampleSpec {
  Shape input;
  DType input_dtype = f32;
  Shape target;  // rank 0 for a class label
  DType target_dtype = i64;
};

template <class D>
concept Dataset = requires(const D& d, std::int64_t index,
                           std::span<std::byte> bytes) {
  { d.size() } -> std::convertible_to<std::int64_t>;
  { d.spec() } -> std::convertible_to<SampleSpec>;
  { d.load(index, bytes, bytes) }
  noexcept;
};

/// A reference to any Dataset, as two plain pointers: what the loader keeps.
/// LIFETIME: the data set must outlive it.
class AnyDataset {
 public:
  template <Dataset D>
  AnyDataset(const D& dataset) noexcept  // NOLINT: implicit on purpose
      : object_(&dataset),
        size_(dataset.size()),
        spec_(dataset.spec()),
        load_([](const void* object, std::int64_t index,
                 std::span<std::byte> input,
                 std::span<std::byte> target) noexcept {
          static_cast<const D*>(object)->load(index, input, target);
        }) {}

  std::int64_t size() const noexcept { return size_; }
  const SampleSpec& spec() const noexcept { return spec_; }
  /// Writes sample `index` (in [0, size())) as row-major elements.
  void load(std::int64_t index, std::span<std::byte> input,
            std::span<std::byte> target) const noexcept {
    load_(object_, index, input, target);
  }

 private:
  const void* object_;
  std::int64_t size_;
  SampleSpec spec_;
  void (*load_)(const void*, std::int64_t, std::span<std::byte>,
                std::span<std::byte>) noexcept;
};

}  // namespace neap::data
