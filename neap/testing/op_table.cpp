// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/testing/op_table.hpp"

#include <algorithm>
#include <iterator>

#include "neap/base/raise.hpp"

namespace neap::testing {
namespace {

// Filled by the constructors of static objects, before any test runs.
std::vector<Listed::Maker>& makers() {
  static std::vector<Listed::Maker> list;
  return list;
}

std::vector<Listed::FamilyMaker>& family_makers() {
  static std::vector<Listed::FamilyMaker> list;
  return list;
}

// Index into an operand of the broadcast result's element `i`.
std::size_t source_index(std::int64_t i, const Shape& result,
                         const Shape& operand) {
  const int added = result.rank() - operand.rank();
  std::int64_t index = 0;
  std::int64_t scale = 1;
  for (int axis = result.rank() - 1; axis >= 0; --axis) {
    const std::int64_t at = i % result[axis];
    i /= result[axis];
    if (axis >= added) {
      const std::int64_t extent = operand[axis - added];
      index += (extent == 1 ? 0 : at) * scale;
      scale *= extent;
    }
  }
  return static_cast<std::size_t>(index);
}

}  // namespace

InputSpec InputSpec::as(DType fixed) const {
  InputSpec spec = *this;
  spec.dtype = fixed;
  spec.differentiable = spec.differentiable && is_floating(fixed);
  return spec;
}

InputSpec InputSpec::constant() const {
  InputSpec spec = *this;
  spec.differentiable = false;
  return spec;
}

InputSpec uniform(const Shape& shape, double low, double high) {
  return {.shape = shape, .low = low, .high = high};
}

InputSpec positive(const Shape& shape) {
  return uniform(shape, 0.2, 2.0);
}

InputSpec integers(const Shape& shape, std::int64_t low, std::int64_t high) {
  return {.shape = shape,
          .low = static_cast<double>(low),
          .high = static_cast<double>(high),
          .is_integral = true};
}

InputSpec away_from(const Shape& shape, std::vector<double> kinks) {
  return {.shape = shape, .avoided = std::move(kinks)};
}

InputSpec literal(const Shape& shape, std::vector<double> values) {
  return {.shape = shape, .literal = std::move(values)};
}

Reference each(double (*f)(double)) {
  return [f](std::span<const HostArray> x) {
    std::vector<double> y = x[0].values;
    std::transform(y.begin(), y.end(), y.begin(), f);
    return y;
  };
}

Reference each_pair(double (*f)(double, double)) {
  return [f](std::span<const HostArray> x) {
    const Shape shape = base::broadcast("each_pair", x[0].shape, x[1].shape);
    std::vector<double> y(static_cast<std::size_t>(shape.element_count()));
    for (std::size_t i = 0; i < y.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      y[i] = f(x[0].values[source_index(at, shape, x[0].shape)],
               x[1].values[source_index(at, shape, x[1].shape)]);
    }
    return y;
  };
}

Listed::Listed(Maker maker) {
  makers().push_back(maker);
}

Listed::Listed(FamilyMaker maker) {
  family_makers().push_back(maker);
}

std::vector<OpTable> listed_tables() {
  std::vector<OpTable> tables;
  for (const Listed::Maker maker : makers()) {
    tables.push_back(maker());
  }
  for (const Listed::FamilyMaker maker : family_makers()) {
    std::ranges::move(maker(), std::back_inserter(tables));
  }
  std::sort(tables.begin(), tables.end(),
            [](const OpTable& a, const OpTable& b) { return a.name < b.name; });
  return tables;
}

}  // namespace neap::testing
