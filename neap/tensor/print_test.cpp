// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Expected texts are NumPy's own, at precision 4.
#include "neap/tensor/print.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "neap/tensor/create.hpp"

namespace neap {
namespace {

TEST(PrintTest, PrintsScalarsAndVectors) {
  EXPECT_EQ(format(scalar(1.5)), "1.5");
  EXPECT_EQ(format(from_values({1, 2, 3}, {3})), "[1. 2. 3.]");
  EXPECT_EQ(format(from_values({1, -2, 30}, {3}, i32)), "[ 1 -2 30]");
  EXPECT_EQ(format(from_values({1, 0}, {2}, boolean)), "[ True False]");
}

TEST(PrintTest, AlignsMatrices) {
  EXPECT_EQ(format(from_values({1, 2.5, -3, 4}, {2, 2})),
            "[[ 1.   2.5]\n [-3.   4. ]]");
}

TEST(PrintTest, LeavesABlankLineBetweenMatrices) {
  EXPECT_EQ(format(arange(4, i32)), "[0 1 2 3]");
  EXPECT_EQ(format(zeros({2, 1, 2}, i32)), "[[[0 0]]\n\n [[0 0]]]");
}

TEST(PrintTest, PrintsEmptyAsBrackets) {
  EXPECT_EQ(format(zeros({0})), "[]");
  EXPECT_EQ(format(zeros({2, 0})), "[]");
}

TEST(PrintTest, SummarisesLargeOnes) {
  EXPECT_EQ(format(arange(2000, i64)), "[   0    1    2 ... 1997 1998 1999]");
}

TEST(PrintTest, SummarisesRows) {
  PrintOptions options;
  options.threshold = 5;
  options.edge_items = 1;
  EXPECT_EQ(format(zeros({3, 3}, i32), options),
            "[[0 ... 0]\n ...\n [0 ... 0]]");
}

TEST(PrintTest, PrintsNotANumberAndInfinity) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(format(from_values({inf, 1}, {2})), "[inf  1.]");
}

TEST(PrintTest, TurnsToScientificForWideRanges) {
  EXPECT_EQ(format(from_values({1e-7, 1}, {2})), "[1.0000e-07 1.0000e+00]");
}

TEST(PrintTest, KeepsLargeIntegersExact) {
  const std::int64_t big = std::numeric_limits<std::int64_t>::max();
  const Tensor t = from_span(std::span<const std::int64_t>(&big, 1), {1});
  EXPECT_EQ(format(t), "[9223372036854775807]");
}

TEST(PrintTest, GoesToStreams) {
  std::ostringstream out;
  out << scalar(1.5) << ' ' << Tensor();
  EXPECT_EQ(out.str(), "1.5 undefined");
}

}  // namespace
}  // namespace neap
