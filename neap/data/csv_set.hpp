// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// CsvSet: a table of numbers as training data. One column is the target, a
// class label (0, 1, ...) or a value; all others are features, in order.
//
//   auto set = data::read_csv(door, "wine.csv", {.target = "quality"});
//   set->standardise(set->statistics());
//
// Every field must hold a number that is finite and fits f32; a missing one, or
// a text, is refused with its line and column.
#pragma once

#include <string>
#include <string_view>

#include "neap/data/dataset.hpp"
#include "neap/files/door.hpp"
#include "neap/memory/containers.hpp"

namespace neap::data {

enum class CsvTarget : std::uint8_t { kLabel, kValue };

struct CsvSetOptions {
  char separator = ',';
  bool header = true;  // the first record has the columns' names
  /// The target's column: its name; or, where that is empty, its number from 0,
  /// or from -1 backwards.
  std::string target{};
  std::int64_t target_column = -1;
  CsvTarget kind = CsvTarget::kLabel;
  Bytes longest_record = kMiB;
};

/// Mean and deviation of a column of features.
struct ColumnStatistics {
  double mean = 0.0;
  double deviation = 1.0;  // 1 where all are the same
};

class NEAP_API CsvSet {
 public:
  /// `features` (n, k) f32 and `targets` (n), i32 labels or f32 values, dense
  /// and on the host; `names` of the features, or none; `classes`: of labels,
  /// at least. THROWS: ShapeError, DTypeError.
  CsvSet(Tensor features, Tensor targets,
         memory::Vector<memory::String> names = {}, std::int64_t classes = 0);

  const Tensor& features() const noexcept { return features_; }
  const Tensor& targets() const noexcept { return targets_; }
  /// The largest label plus 1, or as many as were given; 0 where the target is
  /// a value.
  std::int64_t classes() const noexcept { return classes_; }
  /// The names of the features; empty without a header.
  const memory::Vector<memory::String>& names() const noexcept {
    return names_;
  }
  Bytes bytes() const;

  memory::Vector<ColumnStatistics> statistics() const;
  /// Replaces each feature by (x - mean) / deviation. THROWS: ShapeError for
  /// another number of columns.
  void standardise(std::span<const ColumnStatistics> statistics);

  // Dataset: input f32 (k); target i64 of rank 0 for labels, f32 (1) for
  // values.
  std::int64_t size() const noexcept { return size_; }
  SampleSpec spec() const;
  void load(std::int64_t index, std::span<std::byte> input,
            std::span<std::byte> target) const noexcept;
  std::uint64_t fingerprint() const;

 private:
  Tensor features_;
  Tensor targets_;
  memory::Vector<memory::String> names_;
  std::int64_t classes_ = 0;
  std::int64_t size_ = 0;
};

/// Reads a file, plain or gzipped, in two passes: everything is checked, and
/// counted, before memory for it is allocated. Failures: kCorrupt (no number;
/// an invalid label, or one beyond 2^31 - 1; records of different lengths; no
/// record; invalid CSV), kMismatch (no such column, or no other one),
/// kTooLarge, file-system failures. THROWS: OutOfMemory.
[[nodiscard]] NEAP_API Result<CsvSet> read_csv(
    files::Door& door, const std::string& path,
    const CsvSetOptions& options = {});

}  // namespace neap::data
