// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Dataset: the concept that a user's own data must satisfy to be batched.
// Samples are written straight into the rows of a batch buffer, so no sample is
// ever a tensor.
//
//   struct Points {
//     std::int64_t size() const;                  // samples
//     data::SampleSpec spec() const;              // of one sample
//     void load(std::int64_t index, std::span<std::byte> input,
//               std::span<std::byte> target) const noexcept;
//   };
//
// `load` has two variations, apart or together: it takes a SampleId, where a
// sample differs from epoch to epoch (random crops), and it returns
// Result<void>, where it can fail (a file). The loader calls it from one thread
// at a time: the user's, or the reader thread that it was told to start.
//
// A set may identify its contents, for checkpoints to recognise it
// (fingerprint.hpp): `std::uint64_t fingerprint() const`, which differs where
// samples do, and may be called while the reader loads.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "neap/base/result.hpp"
#include "neap/tensor/tensor.hpp"

namespace neap::data {

/// Shape and dtype of one sample, without the batch axis.
struct SampleSpec {
  Shape input;
  DType input_dtype = f32;
  Shape target;  // rank 0 for a class label
  DType target_dtype = i64;
  friend bool operator==(const SampleSpec&, const SampleSpec&) = default;
};

/// A sample in an epoch. Everything random about a sample follows from these
/// two and a seed alone.
struct SampleId {
  std::int64_t epoch = 0;
  std::int64_t index = 0;
};

namespace internal {
template <class D, class Id>
concept LoadsSurely = requires(const D& d, Id id, std::span<std::byte> bytes) {
  { d.load(id, bytes, bytes) }
  noexcept->std::same_as<void>;
};
template <class D, class Id>
concept LoadsIfItCan = requires(const D& d, Id id, std::span<std::byte> bytes) {
  { d.load(id, bytes, bytes) } -> std::same_as<Result<void>>;
};
template <class D, class Id>
concept LoadsBy = LoadsSurely<D, Id> || LoadsIfItCan<D, Id>;
template <class D>
concept KnowsItself = requires(const D& d) {
  { d.fingerprint() } -> std::same_as<std::uint64_t>;
};
}  // namespace internal

template <class D>
concept Dataset = requires(const D& d) {
  { d.size() } -> std::convertible_to<std::int64_t>;
  { d.spec() } -> std::convertible_to<SampleSpec>;
}
&&(internal::LoadsBy<D, std::int64_t> || internal::LoadsBy<D, SampleId>);

/// A reference to any Dataset, as two plain pointers: what the loader keeps.
/// LIFETIME: the data set must outlive it.
class AnyDataset {
 public:
  /// THROWS: what the data set's spec() does (of Neap's own, UseAfterRelease
  /// for one that was moved from).
  template <Dataset D>
  AnyDataset(const D& dataset)  // NOLINT: implicit on purpose
      : object_(&dataset),
        size_(dataset.size()),
        spec_(dataset.spec()),
        load_([](const void* object, SampleId id, std::span<std::byte> input,
                 std::span<std::byte> target) {
          const D& set = *static_cast<const D*>(object);
          if constexpr (internal::LoadsBy<D, SampleId>) {
            return call(set, id, input, target);
          } else {
            return call(set, id.index, input, target);
          }
        }),
        is_same_([](const AnyDataset& known) {
          const D& set = *static_cast<const D*>(known.object_);
          return set.size() == known.size_ &&
                 SampleSpec(set.spec()) == known.spec_;
        }),
        fingerprint_(nullptr) {
    if constexpr (internal::KnowsItself<D>) {
      fingerprint_ = [](const void* object) {
        return static_cast<const D*>(object)->fingerprint();
      };
    }
  }

  std::int64_t size() const noexcept { return size_; }
  const SampleSpec& spec() const noexcept { return spec_; }
  /// Writes sample `id` (its index in [0, size())) as row-major elements.
  Result<void> load(SampleId id, std::span<std::byte> input,
                    std::span<std::byte> target) const {
    return load_(object_, id, input, target);
  }
  /// False: the data set has other samples by now than when this was created.
  /// (It was assigned over, or grew.) THROWS: what size() and spec() do.
  bool is_as_it_was() const { return is_same_(*this); }
  /// Nothing where the set does not identify its contents.
  std::optional<std::uint64_t> fingerprint() const {
    return fingerprint_ != nullptr ? std::optional(fingerprint_(object_))
                                   : std::nullopt;
  }

 private:
  template <class D, class Id>
  static Result<void> call(const D& set, Id id, std::span<std::byte> input,
                           std::span<std::byte> target) {
    if constexpr (internal::LoadsIfItCan<D, Id>) {
      return set.load(id, input, target);
    } else {
      set.load(id, input, target);
      return {};
    }
  }

  const void* object_;
  std::int64_t size_;
  SampleSpec spec_;
  Result<void> (*load_)(const void*, SampleId, std::span<std::byte>,
                        std::span<std::byte>);
  bool (*is_same_)(const AnyDataset& known);
  std::uint64_t (*fingerprint_)(const void*);
};

}  // namespace neap::data
