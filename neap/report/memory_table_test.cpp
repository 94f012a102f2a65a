// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/memory_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "neap/report/ledger_rows.hpp"

namespace neap::report {
namespace {

using memory::Category;
using testing::HasSubstr;

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
  const std::string table =
      format_table(breakdown(*domain_, Instant::kNow), {.rows = 1});
  EXPECT_NE(table.find("(2 more)"), std::string::npos);
  EXPECT_NE(table.find("(2 more)            300 B       300 B\n"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("600 B"), std::string::npos);
  domain_->release(a);
  domain_->release(b);
  domain_->release(c);
}

TEST_F(MemoryTableTest, ShowsWhatIsNoLayerBelowTheLayers) {
  const auto a = take(Category::kActivations, "(step's arena)", 900);
  const auto b = take(Category::kParameters, "fc1", 200);
  const auto c = take(Category::kActivations, "", 300);
  const auto d = take(Category::kParameters, "fc2", 100);
  EXPECT_EQ(format_table(breakdown(*domain_, Instant::kNow), {.rows = 1}),
            "  layer           parameters  activations       total\n"
            "  fc1                  200 B          0 B       200 B\n"
            "  (1 more)             100 B          0 B       100 B\n"
            "  (step's arena)         0 B        900 B       900 B\n"
            "  (no layer)             0 B        300 B       300 B\n"
            "  total                300 B      1.2 KiB     1.5 KiB\n");
  for (const auto& block : {a, b, c, d}) {
    domain_->release(block);
  }
}

TEST_F(MemoryTableTest, TellsLongNamesApart) {
  const std::string stem(50, 'x');
  const auto a = take(Category::kActivations, "encoder." + stem + ".fc1", 300);
  const auto b = take(Category::kActivations, "encoder." + stem + ".fc2", 200);
  const auto c = take(Category::kActivations, "decoder." + stem + ".fc1", 100);
  const std::string table = format_table(breakdown(*domain_, Instant::kNow));
  EXPECT_THAT(table, HasSubstr("  encoder.xxxxxxxxxxx...xxxxxxxxxxxxxx.fc1  "));
  EXPECT_THAT(table, HasSubstr("  encoder.xxxxxxxxxxx...xxxxxxxxxxxxxx.fc2  "));
  EXPECT_THAT(table, HasSubstr("  decoder.xxxxxxxxxxx...xxxxxxxxxxxxxx.fc1  "));
  domain_->release(a);
  domain_->release(b);
  domain_->release(c);
}

TEST_F(MemoryTableTest, LinesItsColumnsUpWithinAHundredAndTwentyCharacters) {
  std::vector<memory::Block> blocks;
  for (const Category category :
       {Category::kParameters, Category::kGradients, Category::kOptimizerState,
        Category::kInputs, Category::kActivations, Category::kWorkspace,
        Category::kGraph}) {
    blocks.push_back(take(category, "encoder.fc1.weight", 1'048'000));
  }
  std::istringstream table(format_table(breakdown(*domain_, Instant::kNow)));
  std::string line;
  std::size_t width = 0;
  while (std::getline(table, line)) {
    width = width == 0 ? line.size() : width;
    EXPECT_EQ(line.size(), width) << line;
  }
  EXPECT_LE(width, 120U);
  for (const auto& block : blocks) {
    domain_->release(block);
  }
}

TEST_F(MemoryTableTest, SumsTheSmallestCategoriesWhereALineIsTooLong) {
  const auto a = take(Category::kParameters, "fc", 300);
  const auto b = take(Category::kGradients, "fc", 20);
  const auto c = take(Category::kActivations, "fc", 500);
  const auto d = take(Category::kWorkspace, "fc", 4);
  const Breakdown now = breakdown(*domain_, Instant::kNow);
  EXPECT_EQ(format_table(now, {.width = 75}), format_table(now));
  EXPECT_EQ(
      format_table(now, {.width = 74}),
      "  layer         parameters  activations       other       total\n"
      "  fc                 300 B        500 B        24 B       824 B\n"
      "  total              300 B        500 B        24 B       824 B\n");
  EXPECT_EQ(format_table(now, {.width = 1}),
            "  layer              other       total\n"
            "  fc                 824 B       824 B\n"
            "  total              824 B       824 B\n");
  for (const auto& block : {a, b, c, d}) {
    domain_->release(block);
  }
}

TEST_F(MemoryTableTest, FreesWhatLookingAllocated) {
  report_domain().reset_peak();  // other reports may have gone before
  const auto a = take(Category::kActivations, "a", 300);
  {
    const Breakdown now = breakdown(*domain_, Instant::kNow);
    EXPECT_GT(report_domain().stats().live, 0);
  }
  const memory::Stats after = report_domain().stats();
  EXPECT_EQ(after.live, 0);
  EXPECT_LE(after.held, 64 * kKiB);  // books, and the slab they began with
  for (int i = 0; i < 100; ++i) {
    std::ignore = format_table(breakdown(*domain_, Instant::kNow));
  }
  EXPECT_EQ(report_domain().stats().held, after.held);
  EXPECT_LE(report_domain().stats().peak, 256 * kKiB);
  domain_->release(a);
}

}  // namespace
}  // namespace neap::report
