// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Neap's types as programs print them, to a stream and by fmt.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "neap/fmt.hpp"

namespace neap {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

template <class T>
std::string streamed(const T& value) {
  std::ostringstream out;
  out << value;
  EXPECT_EQ(fmt::format("{}", value), out.str());
  return out.str();
}

TEST(PrintingTest, ShowsTensorsAndWhatTheyAreMadeOf) {
  EXPECT_EQ(streamed(from_values({1.0, 2.5}, {2})), "[1.  2.5]");
  EXPECT_EQ(streamed(Tensor()), "undefined");
  EXPECT_EQ(streamed(Shape{2, 3}), "[2, 3]");
  EXPECT_EQ(streamed(bf16), "bf16");
  EXPECT_EQ(streamed(ByteCount(14'051'328)), "13.4 MiB (14 051 328 B)");
}

TEST(PrintingTest, ShowsErrors) {
  const ShapeError error("matmul: no");
  EXPECT_EQ(streamed(error), "matmul: no");
  EXPECT_EQ(streamed(static_cast<const Error&>(error)), "matmul: no");
}

TEST(PrintingTest, ShowsTables) {
  const memory::Domain& domain = memory::domain();
  EXPECT_THAT(streamed(report::breakdown(domain, report::Instant::kNow)),
              HasSubstr("total"));
  EXPECT_THAT(streamed(domain.stats()), StartsWith("live "));
  EXPECT_THAT(streamed(memory::scope_stats()), HasSubstr("live"));
  const nn::Linear layer(2, 3);
  EXPECT_THAT(streamed(nn::MemoryMap(layer)), HasSubstr("weight"));
}

TEST(PrintingTest, ShowsStepsAndWhatTheyNeed) {
  auto step = compile([](const Tensor& x) { return square(x) + 1; });
  step.prepare({tensor::Spec{f32, {8}}});
  EXPECT_THAT(streamed(step.prediction()), HasSubstr("arena"));
  EXPECT_THAT(streamed(step.program()), StartsWith("program: "));
}

}  // namespace
}  // namespace neap
