// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/fields/length_plan.hpp"

#include <algorithm>
#include <limits>

#include "neap/base/raise.hpp"

namespace neap::data {
namespace {

constexpr std::int64_t kMostCount = 256;
constexpr std::int64_t kMostLength = std::int64_t{1} << 40U;
constexpr std::size_t kMostSteps = 1024;

template <class T>
memory::Vector<T> vector_of(std::size_t size = 0, T value = T()) {
  return memory::Vector<T>(size, value,
                           memory::Allocator<T>(memory::Category::kData));
}

void check(std::span<const std::int64_t> lengths, std::int64_t count,
           std::int64_t multiple) {
  if (count < 1 || count > kMostCount || multiple < 1 ||
      multiple > kMostMultiple) {
    base::raise<ValueError>(
        "plan_lengths: {} lengths, multiples of {}, expected 1 to {} lengths "
        "and a multiple of 1 to {}",
        count, multiple, kMostCount, kMostMultiple);
  }
  for (const std::int64_t length : lengths) {
    if (length < 0 || length > kMostLength) {
      base::raise<ValueError>(
          "plan_lengths: a sample of length {}, expected 0 to {}", length,
          kMostLength);
    }
  }
}

std::int64_t rounded_up(std::int64_t length, std::int64_t step) noexcept {
  return std::max<std::int64_t>(1, (length + step - 1) / step) * step;
}

// Different lengths, in ascending order, and how many samples have one of those
// up to each.
struct Steps {
  memory::Vector<std::int64_t> lengths = vector_of<std::int64_t>();
  memory::Vector<std::int64_t> samples = vector_of<std::int64_t>();
};

Steps steps_of(std::span<const std::int64_t> sorted, std::int64_t step) {
  Steps steps;
  for (std::size_t at = 0; at < sorted.size(); ++at) {
    const std::int64_t length = rounded_up(sorted[at], step);
    if (steps.lengths.empty() || steps.lengths.back() != length) {
      steps.lengths.push_back(length);
      steps.samples.push_back(0);
    }
    steps.samples.back() = static_cast<std::int64_t>(at) + 1;
  }
  return steps;
}

// best[j]: the fewest items of all samples up to step j, padding included,
// where j is the last of so many lengths; from[j] is the one before.
struct Row {
  explicit Row(std::size_t size)
      : best(vector_of<double>(size)), from(vector_of<std::uint32_t>(size)) {}
  memory::Vector<double> best;
  memory::Vector<std::uint32_t> from;
};

Row row_after(const Row& before, const Steps& steps) {
  const std::size_t size = steps.lengths.size();
  Row row(size);
  for (std::size_t j = 0; j < size; ++j) {
    row.best[j] = std::numeric_limits<double>::infinity();
    const auto length = static_cast<double>(steps.lengths[j]);
    for (std::size_t i = 0; i < j; ++i) {
      const auto samples =
          static_cast<double>(steps.samples[j] - steps.samples[i]);
      const double items = before.best[i] + length * samples;
      if (items < row.best[j]) {
        row.best[j] = items;
        row.from[j] = static_cast<std::uint32_t>(i);
      }
    }
  }
  return row;
}

Row first_row(const Steps& steps) {
  Row row(steps.lengths.size());
  for (std::size_t j = 0; j < steps.lengths.size(); ++j) {
    row.best[j] = static_cast<double>(steps.lengths[j]) *
                  static_cast<double>(steps.samples[j]);
  }
  return row;
}

}  // namespace

memory::Vector<std::int64_t> plan_lengths(std::span<const std::int64_t> lengths,
                                          std::int64_t count,
                                          std::int64_t multiple) {
  check(lengths, count, multiple);
  auto sorted = vector_of<std::int64_t>();
  sorted.assign(lengths.begin(), lengths.end());
  std::sort(sorted.begin(), sorted.end());
  std::int64_t step = multiple;
  Steps steps = steps_of(sorted, step);
  while (steps.lengths.size() > kMostSteps) {
    step *= 2;
    steps = steps_of(sorted, step);
  }
  auto planned = vector_of<std::int64_t>();
  if (steps.lengths.empty()) {
    return planned;
  }
  memory::Vector<Row> rows{memory::Allocator<Row>(memory::Category::kData)};
  rows.push_back(first_row(steps));
  const auto most =
      std::min(static_cast<std::size_t>(count), steps.lengths.size());
  while (rows.size() < most) {
    rows.push_back(row_after(rows.back(), steps));
  }
  // More lengths never pad more, up to as many as there are.
  std::size_t at = steps.lengths.size() - 1;
  for (std::size_t row = rows.size(); row > 0; --row) {
    planned.push_back(steps.lengths[at]);
    at = rows[row - 1].from[at];
  }
  std::reverse(planned.begin(), planned.end());
  return planned;
}

}  // namespace neap::data
