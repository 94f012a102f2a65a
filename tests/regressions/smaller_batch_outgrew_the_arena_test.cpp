// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// With max_batch, a smaller batch whose program needs a larger arena than the
// largest one's was refused in the middle of training.
#include <gmock/gmock.h>

#include <array>

#include "neap/compile/compile_for_test.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::int64_t kLargest = 4;
constexpr std::int64_t kMore = 4096;

// A step that needs more for fewer rows, whatever the passes do.
Tensor grown(const Tensor& x) {
  return x.shape()[0] == kLargest
             ? exp(x)
             : exp(sum(cumsum(expand(x, {kMore, x.shape()[0]}), 0), {0}));
}

TEST(SmallerBatchOutgrewTest, TheArenaGrowsWhereNothingForbidsIt) {
  auto step = neap::compile(grown, {.max_batch = kLargest});
  step(zeros({kLargest}));
  const Bytes arena = step.arena_bytes();
  EXPECT_THAT(floats(step(zeros({2}))), Each(1.0F));
  EXPECT_GT(step.arena_bytes(), arena);
  EXPECT_EQ(step.prediction().arena, step.arena_bytes());
  const Bytes larger = step.arena_bytes();
  for (const std::int64_t rows : {kLargest, std::int64_t{2}, kLargest}) {
    EXPECT_THAT(floats(step(zeros({rows}))), Each(1.0F));
  }
  EXPECT_EQ(step.arena_bytes(), larger);
  EXPECT_EQ(step.traces(), 2);
}

TEST(SmallerBatchOutgrewTest, ASmallerOneFirstHasBoth) {
  auto step = neap::compile(grown, {.max_batch = kLargest});
  EXPECT_THAT(floats(step(zeros({2}))), Each(1.0F));
  EXPECT_THAT(floats(step(zeros({kLargest}))), Each(1.0F));
}

// The results of the call before are valid until the next, as ever.
TEST(SmallerBatchOutgrewTest, AResultOfTheCallBeforeIsKeptWhereItHasABlock) {
  auto step = neap::compile(grown, {.max_batch = kLargest, .keep_all = true});
  const Tensor before = step(zeros({kLargest}));
  step(zeros({2}));
  EXPECT_THAT(floats(before), Each(1.0F));
  auto other = neap::compile(grown, {.max_batch = kLargest});
  const Tensor gone = other(zeros({kLargest}));
  other(zeros({2}));
  EXPECT_THROW(gone.item(), UseAfterRelease);
}

TEST(SmallerBatchOutgrewTest, WithinALimitItIsRefusedAsBefore) {
  std::array<std::byte, 4096> memory{};
  auto lent = neap::compile(grown, {.max_batch = kLargest, .memory = memory});
  lent(zeros({kLargest}));
  EXPECT_THROW(lent(zeros({2})), PlanError);
  EXPECT_THAT(floats(lent(zeros({kLargest}))), Each(1.0F));
  auto limited =
      neap::compile(grown, {.max_batch = kLargest, .arena_limit = 8 * kKiB});
  limited(zeros({kLargest}));
  EXPECT_THROW(limited(zeros({2})), PlanError);
  EXPECT_THAT(floats(limited(zeros({kLargest}))), Each(1.0F));
}

}  // namespace
}  // namespace neap::compiler
