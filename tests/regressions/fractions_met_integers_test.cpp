// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A number beside a tensor of integers took its dtype: 0.5 was 0, NaN was 0,
// 1e30 the largest. The product of integers and 0.5 was zero, and nothing was
// said.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/assign.hpp"
#include "neap/ops/elementwise/cast.hpp"
#include "neap/ops/elementwise/comparison.hpp"
#include "neap/ops/elementwise/extremes.hpp"
#include "neap/ops/elementwise/where.hpp"
#include "neap/ops/indexing/scatter.hpp"
#include "neap/ops/operators.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/shape/pad.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

TEST(FractionsMetIntegers, AreRefusedWhereTheDtypeHasNoSuchNumber) {
  const Tensor whole = arange(4, i64);
  const Tensor bytes = cast(whole, u8);
  const std::vector<std::function<Tensor()>> calls{
      [&] { return whole * 0.5; },
      [&] { return 1.5 + whole; },
      [&] { return whole - NAN; },
      [&] { return whole + 1e30; },
      [&] { return whole - INFINITY; },
      [&] { return add(whole, std::ldexp(1.0, 63)); },
      [&] { return eq(whole, 1.5); },
      [&] { return gt(bytes, -1); },
      [&] { return lt(bytes, 256); },
      [&] { return where(gt(whole, 1), whole, 0.5); },
      [&] { return maximum(whole, 1.5); },
      [&] { return clip(whole, 0.5, 2); },
      [&] { return clip_max(whole, 1e30); },
      [&] { return scatter(whole, 0, zeros({1}, i64), 0.5); },
      [&] { return scatter(bytes, 0, zeros({1}, i64), 300); },
      [&] {
        return pad(whole, {1, 1}, PadMode::kConstant, 0.5);
      }};
  for (std::size_t i = 0; i < calls.size(); ++i) {
    EXPECT_THROW(calls[i](), DTypeError) << "call " << i;
  }
}

TEST(FractionsMetIntegers, InPlaceNothingChanges) {
  const Tensor whole = arange(4, i64);
  EXPECT_THROW(mul_(whole, 0.5), DTypeError);
  EXPECT_THROW(fill_(whole, 0.5), DTypeError);
  EXPECT_EQ(whole.to_vector(), (memory::Vector<double>{0, 1, 2, 3}));
}

TEST(FractionsMetIntegers, ANamedDtypeRoundsAndRefusesWhatIsBeyondIt) {
  EXPECT_EQ(full({1}, -2.5, i64).item(), -2);
  EXPECT_EQ(full({1}, 2.5, boolean).item(), 1);
  EXPECT_EQ(from_values({255.5, -0.5}, {2}, u8).to_vector(),
            (memory::Vector<double>{255, 0}));
  EXPECT_EQ(arange(0, u8).element_count(), 0);
  EXPECT_EQ(arange(256, u8).to_vector()[255], 255);
  EXPECT_EQ(arange(3, -1, -1, u8).to_vector()[3], 0);
  const std::vector<std::function<Tensor()>> calls{
      [] { return full({1}, 256, u8); },
      [] { return scalar(-1, u8); },
      [] { return scalar(NAN, i64); },
      [] { return scalar(0x1p31, i32); },
      [] { return scalar(INFINITY, i32); },
      [] {
        return from_values({1, 256}, {2}, u8);
      },
      [] { return arange(257, u8); },
      [] { return arange(3, -2, -1, u8); },
      [] { return linspace(0, 256, 3, u8); },
      [] { return arange(0x1p53, 0x1p53 + 4, 1, i64); },
      [] { return linspace(-0x1p54, 0, 3, i64); }};
  for (std::size_t i = 0; i < calls.size(); ++i) {
    EXPECT_THROW(calls[i](), ValueError) << "call " << i;
  }
}

TEST(FractionsMetIntegers, NumbersThatTheDtypeHasAreTaken) {
  const Tensor whole = arange(3, i64);
  EXPECT_EQ((whole + 2.0).to_vector(), (memory::Vector<double>{2, 3, 4}));
  EXPECT_EQ(add(whole, -std::ldexp(1.0, 63)).to_vector()[0],
            -std::ldexp(1.0, 63));
  EXPECT_EQ(clip(whole, 1, INFINITY).to_vector(),
            (memory::Vector<double>{1, 1, 2}));
  EXPECT_EQ(sum(cast(le(cast(whole, u8), 255), i64)).item(), 3);
}

}  // namespace
}  // namespace neap
