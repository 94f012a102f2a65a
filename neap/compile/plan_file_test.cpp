// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/plan_file.hpp"

#include <gmock/gmock.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "neap/memory/context.hpp"

namespace neap::compiler {
namespace {

using Content = memory::Vector<std::byte>;

PlanRecord small_record() {
  PlanRecord record{.problem = 0x0123456789ABCDEFULL,
                    .passes = 0x7F,
                    .pieces = 4,
                    .limit = 4096,
                    .arena = 4032,
                    .price = 1'000'000,
                    .extra = 70'000,
                    .bound = 60'000};
  record.channel = {
      .write_rate = 1 << 30, .read_rate = 1 << 29, .bus_price = 40'000};
  budget::Schedule& schedule = record.schedule.emplace();
  schedule.runs = {
      {.index = 0},
      {.index = 0, .action = budget::Action::kWrite},
      {.index = 1, .drops_end = 2},
      {.index = 0, .drops_end = 2, .action = budget::Action::kFetch},
      {.index = 2, .drops_end = 3}};
  schedule.drops = {0, 3, 1};
  return record;
}

PlanFacts some_facts() {
  PlanFacts facts{};
  for (std::size_t i = 0; i < facts.size(); ++i) {
    facts[i] = static_cast<std::int64_t>(i * i) - 3;
  }
  return facts;
}

Content small_file() {
  const Content record = plan_record_bytes(small_record());
  const Content kept = plan_record_bytes({.arena = 64});
  const std::array<PlanEntry, 2> entries{
      {{.program = 7, .record = kept}, {.program = 9, .record = record}}};
  return plan_file_bytes(some_facts(), entries);
}

// Whether it is refused as a whole, or a plan in it.
bool is_refused(std::span<const std::byte> bytes) {
  const auto table = parse_plan_file(bytes);
  if (!table) {
    EXPECT_FALSE(table.error().message.empty());
    return true;
  }
  bool is_good = true;
  for (const PlanEntry& entry : table->entries) {
    is_good = is_good && parse_plan_record(entry.record).has_value();
  }
  return !is_good;
}

void sign(Content& bytes) {
  const std::size_t end = bytes.size() - sizeof(std::uint64_t);
  const std::uint64_t hash = XXH3_64bits(bytes.data(), end);
  std::memcpy(bytes.data() + end, &hash, sizeof(hash));
}

TEST(PlanFileTest, WhatIsWrittenIsReadAndWrittenTheSame) {
  const Content bytes = small_file();
  const auto table = parse_plan_file(bytes);
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ(table->facts, some_facts());
  ASSERT_EQ(table->entries.size(), 2U);
  EXPECT_EQ(table->find(8), nullptr);
  const auto record = parse_plan_record(table->find(9)->record);
  ASSERT_TRUE(record.has_value());
  const PlanRecord wanted = small_record();
  EXPECT_EQ(record->problem, wanted.problem);
  EXPECT_EQ(record->limit, wanted.limit);
  EXPECT_EQ(record->channel, wanted.channel);
  EXPECT_EQ(record->schedule->drops, wanted.schedule->drops);
  EXPECT_EQ(record->schedule->runs.at(3).action, budget::Action::kFetch);
  EXPECT_EQ(plan_record_bytes(*record), plan_record_bytes(wanted));
  EXPECT_EQ(plan_file_bytes(table->facts, table->entries), bytes);
  EXPECT_FALSE(parse_plan_record(table->find(7)->record)->schedule);
}

TEST(PlanFileTest, AnyFlippedBitIsRefused) {
  Content bytes = small_file();
  ASSERT_FALSE(is_refused(bytes));
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    EXPECT_TRUE(is_refused(bytes)) << bit;
    bytes[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
  }
}

TEST(PlanFileTest, AnyOtherLengthIsRefused) {
  Content bytes = small_file();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_TRUE(is_refused(std::span(bytes).first(size))) << size;
  }
  bytes.push_back(std::byte{0});
  EXPECT_TRUE(is_refused(bytes));
}

// Whoever flips a bit may know the checksum, too.
TEST(PlanFileTest, ASignedFileWithAFlippedBitIsRefusedOrReadAsItIs) {
  const Content good = small_file();
  int refused = 0;
  for (std::size_t bit = 0; bit < 8 * (good.size() - 8); ++bit) {
    Content bytes = good;
    bytes[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    sign(bytes);
    const auto table = parse_plan_file(bytes);
    if (!table) {
      ++refused;
      continue;
    }
    EXPECT_EQ(plan_file_bytes(table->facts, table->entries), bytes) << bit;
    for (const PlanEntry& entry : table->entries) {
      const auto record = parse_plan_record(entry.record);
      refused += record ? 0 : 1;
      if (record) {
        const Content again = plan_record_bytes(*record);
        EXPECT_TRUE(std::ranges::equal(again, entry.record)) << bit;
      }
    }
  }
  EXPECT_GT(refused, 200);
}

TEST(PlanFileTest, ACountAllocatesNoMoreThanTheFileHas) {
  const auto domain = memory::Domain::create();
  const memory::UseDomain use(*domain);
  Content bytes = small_file();
  constexpr std::size_t kCountAt = 12;
  std::fill_n(bytes.begin() + kCountAt, 4, std::byte{0xFF});
  sign(bytes);
  const Bytes before = domain->stats().live;
  domain->reset_peak();
  EXPECT_TRUE(is_refused(bytes));
  EXPECT_LT(domain->stats().live_peak - before, 4096);
  const Content good = small_file();
  const auto table = parse_plan_file(good);
  Content record(table->find(9)->record.begin(), table->find(9)->record.end());
  const std::size_t runs_at = 61 + 32;
  std::fill_n(record.begin() + static_cast<std::ptrdiff_t>(runs_at), 8,
              std::byte{0x7F});
  domain->reset_peak();
  const Bytes live = domain->stats().live;
  EXPECT_FALSE(parse_plan_record(record).has_value());
  EXPECT_LT(domain->stats().live_peak - live, 4096);
}

}  // namespace
}  // namespace neap::compiler
