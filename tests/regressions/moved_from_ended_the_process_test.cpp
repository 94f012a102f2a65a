// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A segment, a log, a map or a data set that was moved from ended the process
// when it was used, in one way or another.
#include <gtest/gtest.h>

#include <utility>

#include "neap/autograd/rematerialise.hpp"
#include "neap/data/csv_set.hpp"
#include "neap/data/image_set.hpp"
#include "neap/data/loader.hpp"
#include "neap/data/text_set.hpp"
#include "neap/nn/linear.hpp"
#include "neap/nn/memory_map.hpp"
#include "neap/nn/recurrent.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/tensor/create.hpp"
#include "neap/train/metrics.hpp"

namespace neap {
namespace {

// NOLINTBEGIN(bugprone-use-after-move): that is what is tested

TEST(MovedFromTest, ASegmentRefuses) {
  auto segment = rematerialise([](const Tensor& x) { return mul(x, x); });
  const auto moved = std::move(segment);
  EXPECT_THROW(segment(ones({2})), UseAfterRelease);
  EXPECT_EQ(moved(full({2}, 3)).at({0}), 9.0);
  auto spans =
      rematerialise([](std::span<const Tensor> x) { return mul(x[0], x[0]); });
  const auto moved_spans = std::move(spans);
  const Tensor x = ones({2});
  EXPECT_THROW(spans(std::span(&x, 1)), UseAfterRelease);
  segment = moved;
  EXPECT_EQ(segment(full({2}, 3)).at({0}), 9.0);
}

TEST(MovedFromTest, ALogRefuses) {
  auto log = train::MetricsLog::rehearse({.jsonl = "run.jsonl"});
  auto moved = std::move(log);
  EXPECT_THROW((void)log.step({.step = 1}), UseAfterRelease);
  EXPECT_THROW((void)log.evaluation(1, "test", {}), UseAfterRelease);
  EXPECT_THROW((void)log.scalar(1, "x", 1.0), UseAfterRelease);
  EXPECT_THROW((void)log.flush(), UseAfterRelease);
  EXPECT_THROW((void)log.close(), UseAfterRelease);
  EXPECT_THROW((void)log.failure(), UseAfterRelease);
  EXPECT_TRUE(moved.step({.step = 1}).has_value());
  log = std::move(moved);
  EXPECT_TRUE(log.close().has_value());
}

TEST(MovedFromTest, AMapRefuses) {
  const nn::Linear linear(2, 2);
  nn::MemoryMap map(linear);
  const Bytes bytes = map.bytes();
  nn::MemoryMap moved = std::move(map);
  EXPECT_THROW((void)map.entries(), UseAfterRelease);
  EXPECT_THROW((void)map.parameters(), UseAfterRelease);
  EXPECT_THROW((void)map.layer_caches(), UseAfterRelease);
  EXPECT_THROW((void)map.at("weight"), UseAfterRelease);
  EXPECT_THROW((void)map.find("weight"), UseAfterRelease);
  EXPECT_THROW((void)map.bytes(), UseAfterRelease);
  EXPECT_THROW((void)map.bytes(nn::MapList::kParameters), UseAfterRelease);
  EXPECT_THROW((void)map.format(), UseAfterRelease);
  EXPECT_THROW(map.add_state("weight.state", ones({2})), UseAfterRelease);
  EXPECT_EQ(moved.bytes(), bytes);
  const nn::MemoryMap copy = moved;
  map = std::move(moved);
  EXPECT_EQ(map.at("weight").bytes, copy.at("weight").bytes);
  EXPECT_EQ(map.parameters().size(), 2U);
}

TEST(MovedFromTest, ATableRefuses) {
  data::CsvSet set(ones({3, 2}), zeros({3}));
  data::CsvSet moved = std::move(set);
  EXPECT_EQ(moved.size(), 3);
  (void)set.size();  // as of the other sets
  EXPECT_THROW((void)set.spec(), UseAfterRelease);
  EXPECT_THROW((void)set.statistics(), UseAfterRelease);
  EXPECT_THROW((void)set.fingerprint(), UseAfterRelease);
  EXPECT_THROW((void)set.bytes(), UseAfterRelease);
  EXPECT_THROW(data::Loader(set, {.batch = 1}), UseAfterRelease);
  set = std::move(moved);
  EXPECT_EQ(set.size(), 3);
}

TEST(MovedFromTest, ALoaderOfImagesOrTextsRefuses) {
  data::ImageSet images(zeros({2, 3, 3}, u8), zeros({2}, u8), 10);
  const data::ImageSet moved_images = std::move(images);
  EXPECT_THROW(data::Loader(images, {.batch = 1}), UseAfterRelease);
  data::TextSet text(
      data::tokenise("to be or not to be", data::Symbols::kBytes).value(),
      {.block = 4});
  const data::TextSet moved_text = std::move(text);
  EXPECT_THROW(data::Loader(text, {.batch = 1}), UseAfterRelease);
}

TEST(MovedFromTest, ARecurrentLayerRefuses) {
  nn::LSTM lstm(2, 2);
  const nn::LSTM moved = std::move(lstm);
  EXPECT_THROW(lstm(ones({1, 1, 2})), UseAfterRelease);
}

// NOLINTEND(bugprone-use-after-move)

}  // namespace
}  // namespace neap
