// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/ledger.hpp"

#include <gtest/gtest.h>

#include <map>
#include <tuple>
#include <vector>

#include "neap/memory/test_random.hpp"

namespace neap::memory {
namespace {

Tag tag(std::uint32_t owner, Category category = Category::kActivations,
        std::uint32_t site = 1) {
  return {.category = category,
          .owner = OwnerId{owner},
          .site = base::SiteId{site}};
}

using Key = std::tuple<int, int, std::uint32_t, std::uint32_t>;
using Snapshot = std::map<Key, std::pair<Bytes, std::int64_t>>;

Key key_of(const Tag& t) {
  return {static_cast<int>(t.category), t.space.value, t.owner.value,
          t.site.value};
}

template <class List>
Snapshot snapshot(List&& list) {
  std::vector<Row> rows(static_cast<std::size_t>(list(std::span<Row>{})));
  list(std::span<Row>(rows));
  Snapshot result;
  for (const Row& row : rows) {
    result[key_of(row.tag)] = {row.bytes, row.blocks};
  }
  return result;
}
Snapshot live_of(const Ledger& ledger) {
  return snapshot([&](auto rows) { return ledger.live_rows(rows); });
}
Snapshot peak_of(const Ledger& ledger) {
  return snapshot([&](auto rows) { return ledger.peak_rows(rows); });
}

TEST(LedgerTest, CountsLiveBytesPerTag) {
  SystemPages pages;
  Ledger ledger(pages);
  const BucketId a = ledger.open(tag(1));
  const BucketId b = ledger.open(tag(2));
  ledger.charge(a, 100);
  ledger.charge(b, 30);
  ledger.charge(a, 5);
  ledger.credit(b, 30);
  EXPECT_EQ(ledger.live(), 105);
  EXPECT_EQ(ledger.blocks(), 2);
  EXPECT_EQ(live_of(ledger), (Snapshot{{key_of(tag(1)), {105, 2}}}));
  EXPECT_EQ(ledger.tag_of(a), tag(1));
}

TEST(LedgerTest, RemembersWhoHeldWhatAtThePeak) {
  SystemPages pages;
  Ledger ledger(pages);
  const BucketId a = ledger.open(tag(1));
  const BucketId b = ledger.open(tag(2));
  ledger.charge(a, 100);
  ledger.charge(b, 50);  // the peak
  ledger.credit(a, 100);
  ledger.charge(b, 90);
  EXPECT_EQ(ledger.live_peak(), 150);
  EXPECT_EQ(peak_of(ledger),
            (Snapshot{{key_of(tag(1)), {100, 1}}, {key_of(tag(2)), {50, 1}}}));
}

// Against a ledger that copies all its rows at each new peak.
class NaiveLedger {
 public:
  void change(const Tag& t, Bytes bytes, std::int64_t blocks) {
    auto& row = rows_[key_of(t)];
    row.first += bytes;
    row.second += blocks;
    if (row.second == 0) {
      rows_.erase(key_of(t));
    }
    live_ += bytes;
  }
  void note_peak() {
    if (live_ > live_peak_) {
      reset_peak();
    }
  }
  void reset_peak() {
    live_peak_ = live_;
    at_peak_ = rows_;
  }
  const Snapshot& rows() const { return rows_; }
  const Snapshot& at_peak() const { return at_peak_; }
  Bytes live_peak() const { return live_peak_; }

 private:
  Snapshot rows_;
  Snapshot at_peak_;
  Bytes live_ = 0;
  Bytes live_peak_ = 0;
};

struct Held {
  BucketId bucket;
  Bytes bytes;
};

// A random step on both; the seeds differ in how much they favour growth.
void step(TestRandom& random, Ledger& ledger, NaiveLedger& naive,
          std::vector<Held>& held, unsigned growth) {
  const Tag t =
      tag(random() % 12, static_cast<Category>(random() % 3), random() % 3);
  const std::size_t at = held.empty() ? 0 : random() % held.size();
  const auto kind = random() % 100;
  if (kind == 99) {
    ledger.reset_peak();
    naive.reset_peak();
  } else if (held.empty() || kind < growth) {
    const Bytes bytes = random() % 50;
    held.push_back({ledger.open(t), bytes});
    ledger.charge(held.back().bucket, bytes);
    naive.change(t, bytes, 1);
    naive.note_peak();
  } else if (kind < 70) {
    naive.change(ledger.tag_of(held[at].bucket), -held[at].bytes, -1);
    ledger.credit(held[at].bucket, held[at].bytes);
    held[at] = held.back();
    held.pop_back();
  } else {
    naive.change(ledger.tag_of(held[at].bucket), -held[at].bytes, -1);
    const BucketId to = ledger.open(t);
    ledger.move(held[at].bucket, to, held[at].bytes);
    held[at].bucket = to;
    naive.change(t, held[at].bytes, 1);
  }
}

TEST(LedgerTest, AgreesWithACopyAtEachPeakUnderRandomOperations) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    SystemPages pages;
    Ledger ledger(pages);
    NaiveLedger naive;
    std::vector<Held> held;
    TestRandom random(seed);
    for (int i = 0; i < 1000; ++i) {
      step(random, ledger, naive, held, 30 + seed % 10);
      ASSERT_EQ(live_of(ledger), naive.rows());
      ASSERT_EQ(peak_of(ledger), naive.at_peak()) << "seed " << seed;
      ASSERT_EQ(ledger.live_peak(), naive.live_peak());
    }
    EXPECT_TRUE(ledger.is_consistent());
  }
}

TEST(LedgerTest, TakesExactlyWhatItSaidBeforehand) {
  SystemPages pages;
  Ledger ledger(pages);
  for (std::uint32_t i = 0; i < 3000; ++i) {
    const Bytes expected = pages.held() + ledger.growth_for(tag(i));
    ledger.charge(ledger.open(tag(i)), 1);
    ASSERT_EQ(pages.held(), expected);
  }
}

TEST(LedgerTest, ReusesRowsThatHoldNothing) {
  SystemPages pages;
  Ledger ledger(pages);
  ledger.charge(ledger.open(tag(1)), 1'000'000);  // the peak, for good
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    const BucketId bucket = ledger.open(tag(2, Category::kData, i));
    ledger.charge(bucket, 8);
    ledger.credit(bucket, 8);
    if (i % 1000 == 0) {
      ledger.reset_peak();
    }
  }
  EXPECT_LT(ledger.rows(), 4096U);
  EXPECT_TRUE(ledger.is_consistent());
}

TEST(LedgerTest, CountsTheRowsInUse) {
  SystemPages pages;
  Ledger ledger(pages, 100);
  EXPECT_EQ(ledger.rows(), 0U);
  ledger.charge(ledger.open(tag(1)), 8);
  const std::uint32_t first = kCategoryCount * kMaxSpaces + 1;
  EXPECT_EQ(ledger.rows(), first);
  for (std::uint32_t i = 2; i <= 59; ++i) {
    ledger.charge(ledger.open(tag(i)), 8);
  }
  EXPECT_EQ(ledger.rows(), first + 58);
  for (std::uint32_t i = 2; i <= 59; ++i) {
    ledger.credit(ledger.find(tag(i)), 8);
  }
  ledger.reset_peak();
  ledger.open(tag(60));  // the ledger is full: rows that hold nothing go
  EXPECT_EQ(ledger.rows(), first + 1);
}

TEST(LedgerTest, FoldsTagsBeyondItsBoundAndFindsThemAgain) {
  SystemPages pages;
  Ledger ledger(pages, 100);
  for (std::uint32_t i = 1; i <= 200; ++i) {
    ledger.charge(ledger.open(tag(i)), 10);
  }
  EXPECT_EQ(ledger.live(), 2000);
  EXPECT_LE(ledger.rows(), 100U);
  // Released by tag while rows come free: each goes back where it came from.
  for (std::uint32_t i = 1; i <= 200; ++i) {
    ledger.credit(ledger.find(tag(i)), 10);
  }
  EXPECT_EQ(live_of(ledger), Snapshot{});
  EXPECT_TRUE(ledger.is_consistent());
}

TEST(LedgerTest, OpensNoRowForATagThatIsStillFolded) {
  SystemPages pages;
  Ledger ledger(pages, 60);
  for (std::uint32_t i = 1; i <= 30; ++i) {
    ledger.charge(ledger.open(tag(i)), 10);
  }
  const BucketId folded = ledger.find(tag(30));
  for (std::uint32_t i = 1; i <= 10; ++i) {
    ledger.credit(ledger.find(tag(i)), 10);
  }
  ledger.reset_peak();
  EXPECT_EQ(ledger.open(tag(30)), folded);
  for (std::uint32_t i = 11; i <= 30; ++i) {
    ledger.credit(ledger.find(tag(i)), 10);
  }
  ledger.reset_peak();
  EXPECT_NE(ledger.open(tag(30)), folded);  // empty: rows open again
  EXPECT_EQ(ledger.live(), 0);
}

TEST(LedgerTest, SpendsAtMostItsBoundOnRows) {
  SystemPages pages;
  Ledger ledger(pages);
  for (std::uint32_t i = 0; i < 2 * kMaxBuckets; ++i) {
    ledger.charge(ledger.open(tag(i % 1000, Category::kData, i)), 1);
  }
  EXPECT_LE(ledger.rows(), kMaxBuckets);
  EXPECT_LE(pages.held(), 6 * kMiB);
  EXPECT_EQ(ledger.live(), 2 * kMaxBuckets);
}

}  // namespace
}  // namespace neap::memory
