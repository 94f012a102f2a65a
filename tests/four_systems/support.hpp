// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Shared by the tests of the rows: short names for creating tensors and for
// asking the domain.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "neap/neap.hpp"

namespace neap::four_systems {

inline Bytes live() {
  return memory::domain().stats().live;
}

inline Bytes live_of(memory::Category category) {
  const std::vector<memory::Row> none;
  std::vector<memory::Row> rows(
      static_cast<std::size_t>(memory::domain().live_rows({})));
  memory::domain().live_rows(rows);
  Bytes bytes = 0;
  for (const memory::Row& row : rows) {
    bytes += row.tag.category == category ? row.bytes : 0;
  }
  return bytes;
}

/// A row of f64 elements.
inline Tensor row(std::initializer_list<double> values) {
  return from_values(values, {static_cast<std::int64_t>(values.size())}, f64);
}

/// The same, as a leaf that gradients are accumulated for.
inline Tensor leaf(std::initializer_list<double> values) {
  return requires_grad_(row(values));
}

inline std::vector<double> numbers(const Tensor& x) {
  const auto values = x.to_vector();
  return {values.begin(), values.end()};
}

/// The message of the E that an action throws; "" when it throws nothing.
template <class E, class Action>
std::string refusal(const Action& action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  return {};
}

using ::testing::AllOf;
using ::testing::DoubleEq;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pointwise;

}  // namespace neap::four_systems
