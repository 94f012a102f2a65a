// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// FieldSet: the concept of a data set whose samples have several fields, some
// of them of a length that differs from sample to sample (the tokens of a
// text). FieldLoader makes batches of them.
//
//   struct Texts {
//     std::int64_t size() const;                    // samples
//     std::span<const data::FieldSpec> fields() const;
//     // Items of the sample's longest field, of those whose length varies.
//     std::int64_t length(std::int64_t index) const noexcept;
//     void load(data::SampleId id,
//               std::span<data::FieldRow> rows) const noexcept;
//   };
//
// `load` may return Result<void> instead, where it can fail; then it need not
// be noexcept. It is called by one thread at a time, as a Dataset's. A set may
// have a fingerprint() as a Dataset has.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "neap/base/result.hpp"
#include "neap/data/dataset.hpp"

namespace neap::data {

struct FieldSpec {
  /// Shape of an item, where the length varies; else of the whole field.
  Shape shape{};
  DType dtype = i64;
  bool is_variable = false;  // true: a sample has (length, shape...) elements
  /// The elements beyond a sample's own: a number that the dtype has.
  double padding = 0.0;
};

/// A sample's place in a batch, for one field, as row-major elements. The whole
/// row has its padding already.
struct FieldRow {
  std::span<std::byte> bytes;
  /// Items of a variable field that are the sample's, the first of the row. It
  /// is length(index) when load() begins, which may make it less.
  std::int64_t length = 0;
};

namespace internal {
template <class D>
concept LoadsFieldsSurely = requires(const D& d, SampleId id,
                                     std::span<FieldRow> rows) {
  { d.load(id, rows) }
  noexcept->std::same_as<void>;
};
template <class D>
concept LoadsFieldsIfItCan = requires(const D& d, SampleId id,
                                      std::span<FieldRow> rows) {
  { d.load(id, rows) } -> std::same_as<Result<void>>;
};
}  // namespace internal

template <class D>
concept FieldSet = requires(const D& d, std::int64_t index) {
  { d.size() } -> std::convertible_to<std::int64_t>;
  { d.fields() } -> std::convertible_to<std::span<const FieldSpec>>;
  { d.length(index) }
  noexcept->std::convertible_to<std::int64_t>;
}
&&(internal::LoadsFieldsSurely<D> || internal::LoadsFieldsIfItCan<D>);

/// A reference to any FieldSet. LIFETIME: the set outlives it.
class AnyFieldSet {
 public:
  template <FieldSet D>
  AnyFieldSet(const D& set)  // NOLINT: implicit on purpose
      : object_(&set),
        size_(set.size()),
        fields_([](const void* object) {
          return std::span<const FieldSpec>(of<D>(object).fields());
        }),
        length_([](const void* object, std::int64_t index) noexcept {
          return static_cast<std::int64_t>(of<D>(object).length(index));
        }),
        load_([](const void* object, SampleId id, std::span<FieldRow> rows) {
          if constexpr (internal::LoadsFieldsIfItCan<D>) {
            return of<D>(object).load(id, rows);
          } else {
            of<D>(object).load(id, rows);
            return Result<void>();
          }
        }),
        count_([](const void* object) {
          return static_cast<std::int64_t>(of<D>(object).size());
        }) {
    if constexpr (internal::KnowsItself<D>) {
      fingerprint_ = [](const void* object) {
        return of<D>(object).fingerprint();
      };
    }
  }

  std::int64_t size() const noexcept { return size_; }
  std::span<const FieldSpec> fields() const { return fields_(object_); }
  std::int64_t length(std::int64_t index) const noexcept {
    return length_(object_, index);
  }
  Result<void> load(SampleId id, std::span<FieldRow> rows) const {
    return load_(object_, id, rows);
  }
  /// False: the set has another number of samples by now.
  bool is_as_it_was() const { return count_(object_) == size_; }
  /// Nothing where the set does not identify its contents.
  std::optional<std::uint64_t> fingerprint() const {
    return fingerprint_ != nullptr ? std::optional(fingerprint_(object_))
                                   : std::nullopt;
  }

 private:
  template <class D>
  static const D& of(const void* object) noexcept {
    return *static_cast<const D*>(object);
  }

  const void* object_;
  std::int64_t size_;
  std::span<const FieldSpec> (*fields_)(const void*);
  std::int64_t (*length_)(const void*, std::int64_t) noexcept;
  Result<void> (*load_)(const void*, SampleId, std::span<FieldRow>);
  std::int64_t (*count_)(const void*);
  std::uint64_t (*fingerprint_)(const void*) = nullptr;
};

}  // namespace neap::data
