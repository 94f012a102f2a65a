// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/memory_table.hpp"

#include <gtest/gtest.h>

namespace neap::report {
namespace {

using memory::Category;

class MemoryTableTest : public testing::Test {
 protected:
  memory::Block take(Category category, std::string_view owner, Bytes bytes) {
    memory::Tag tag;
    tag.category = category;
    tag.owner = domain_->owner(owner);
    return domain_->allocate(bytes, tag);
  }
  memory::Domain::Handle domain_ = memory::Domain::create();
};

TEST_F(MemoryTableTest, AddsUpToTheLivePeak) {
  const auto a = take(Category::kParameters, "fc1.weight", 400);
  const auto b = take(Category::kActivations, "fc1", 1000);
  domain_->release(b);
  const auto c = take(Category::kGradients, "fc1.weight", 400);
  const Breakdown peak = breakdown(*domain_, Instant::kLivePeak);
  EXPECT_EQ(peak.live, domain_->stats().live_peak);
  EXPECT_EQ(peak.live, 1400);
  EXPECT_EQ(breakdown(*domain_, Instant::kNow).live, 800);
  domain_->release(a);
  domain_->release(c);
}

TEST_F(MemoryTableTest, JoinsAParameterToItsLayer) {
  const auto a = take(Category::kParameters, "encoder.fc1.weight", 400);
  const auto b = take(Category::kActivations, "encoder.fc1", 1000);
  const auto c = take(Category::kGradients, "encoder.fc1.weight", 40);
  const Breakdown now = breakdown(*domain_, Instant::kNow);
  ASSERT_EQ(now.by_layer.size(), 1U);
  EXPECT_EQ(std::string_view(now.by_layer[0].name), "encoder.fc1");
  EXPECT_EQ(now.by_layer[0].bytes, 1440);
  EXPECT_EQ(now.by_owner.size(), 2U);
  domain_->release(a);
  domain_->release(b);
  domain_->release(c);
}

TEST_F(MemoryTableTest, SumsTheLayersThatItLeavesOut) {
  const auto a = take(Category::kActivations, "a", 300);
  const auto b = take(Category::kActivations, "b", 200);
  const auto c = take(Category::kActivations, "c", 100);
  const std::string table = format_table(breakdown(*domain_, Instant::kNow), 1);
  EXPECT_NE(table.find("(2 more)"), std::string::npos);
  EXPECT_NE(table.find("600"), std::string::npos);
  domain_->release(a);
  domain_->release(b);
  domain_->release(c);
}

}  // namespace
}  // namespace neap::report
