// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/csv_set.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "neap/base/outside.hpp"
#include "neap/base/raise.hpp"
#include "neap/data/fingerprint.hpp"
#include "neap/memory/scope.hpp"

namespace neap::data {

using base::raise;

CsvSet::CsvSet(Tensor features, Tensor targets,
               memory::Vector<memory::String> names, std::int64_t classes)
    : features_(std::move(features)),
      targets_(std::move(targets)),
      names_(std::move(names)),
      classes_(classes) {
  if (features_.rank() != 2 || targets_.rank() != 1 ||
      targets_.size(0) != features_.size(0) ||
      (!names_.empty() &&
       static_cast<std::int64_t>(names_.size()) != features_.size(1))) {
    raise<ShapeError>(
        "csv set: features {}, targets {} and {} names, expected (n, k), (n) "
        "and k or none",
        format_shape(features_.shape()), format_shape(targets_.shape()),
        names_.size());
  }
  if (features_.array()->storage()->has_elements()) {
    features_.values<float>();  // throws unless f32, dense, on the host
    if (targets_.dtype() == f32) {
      targets_.values<float>();
    } else {
      for (const std::int32_t label : targets_.values<std::int32_t>()) {
        classes_ = std::max<std::int64_t>(classes_, label + std::int64_t{1});
      }
    }
  }
  size_ = features_.size(0);
  memory::detach_from_scope(features_);
  memory::detach_from_scope(targets_);
}

std::uint64_t CsvSet::fingerprint() const {
  if (!features_.array()->storage()->has_elements()) {
    return 0;  // a rehearsal
  }
  const std::uint64_t found = data::fingerprint(
      std::as_bytes(features_.values<float>()),
      data::fingerprint({features_.size(0), features_.size(1), classes_}));
  return targets_.dtype() == f32
             ? data::fingerprint(std::as_bytes(targets_.values<float>()), found)
             : data::fingerprint(std::as_bytes(targets_.values<std::int32_t>()),
                                 found);
}

Bytes CsvSet::bytes() const {
  return features_.array()->storage()->size() +
         targets_.array()->storage()->size();
}

memory::Vector<ColumnStatistics> CsvSet::statistics() const {
  const auto columns = static_cast<std::size_t>(features_.size(1));
  memory::Vector<ColumnStatistics> all(
      columns, {},
      memory::Allocator<ColumnStatistics>(memory::Category::kData));
  if (!features_.array()->storage()->has_elements() || size() == 0) {
    return all;
  }
  const auto values = features_.values<float>();
  const auto rows = static_cast<double>(size());
  for (std::size_t column = 0; column < columns; ++column) {
    double sum = 0.0;
    for (std::size_t at = column; at < values.size(); at += columns) {
      sum += static_cast<double>(values[at]);
    }
    const double mean = sum / rows;
    double squares = 0.0;
    for (std::size_t at = column; at < values.size(); at += columns) {
      const double off = static_cast<double>(values[at]) - mean;
      squares += off * off;
    }
    all[column] = {mean, squares > 0.0 ? std::sqrt(squares / rows) : 1.0};
  }
  return all;
}

void CsvSet::standardise(std::span<const ColumnStatistics> statistics) {
  if (static_cast<std::int64_t>(statistics.size()) != features_.size(1)) {
    raise<ShapeError>("csv set: statistics of {} columns, there are {}",
                      statistics.size(), features_.size(1));
  }
  if (!features_.array()->storage()->has_elements()) {
    return;  // a rehearsal
  }
  std::size_t column = 0;
  for (float& value : features_.mutable_values<float>()) {
    const ColumnStatistics& of = statistics[column];
    value = static_cast<float>((static_cast<double>(value) - of.mean) /
                               of.deviation);
    column = column + 1 == statistics.size() ? 0 : column + 1;
  }
}

SampleSpec CsvSet::spec() const {
  if (targets_.dtype() == f32) {
    return {{features_.size(1)}, f32, {1}, f32};
  }
  return {{features_.size(1)}, f32, Shape(), i64};
}

void CsvSet::load(std::int64_t index, std::span<std::byte> input,
                  std::span<std::byte> target) const noexcept {
  base::tell_of_question("load", "for a sample of a data set", {});
  const std::int64_t columns = features_.size(1);
  const auto* row =
      features_.array()->strided().as<const float>() + index * columns;
  std::copy_n(row, columns, reinterpret_cast<float*>(input.data()));
  if (targets_.dtype() == f32) {
    const float value = targets_.array()->strided().as<const float>()[index];
    std::memcpy(target.data(), &value, sizeof(value));
    return;
  }
  const std::int64_t label =
      targets_.array()->strided().as<const std::int32_t>()[index];
  std::memcpy(target.data(), &label, sizeof(label));
}

}  // namespace neap::data
