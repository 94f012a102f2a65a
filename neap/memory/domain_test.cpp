// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/domain.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "neap/memory/host_backends.hpp"
#include "neap/memory/test_random.hpp"

namespace neap::memory {
namespace {

Domain::Handle pooled() {
  return Domain::create({.host = HostAllocator::kPooled});
}

Tag tag(Category category = Category::kActivations, OwnerId owner = {}) {
  return {.category = category, .owner = owner, .site = base::SiteId{1}};
}

TEST(DomainTest, CountsWhatIsAllocatedAndFreed) {
  const auto domain = pooled();
  const Block a = domain->allocate(1000, tag());
  const Block b = domain->allocate(kMiB, tag());
  EXPECT_EQ(domain->stats().live, kMiB + 1000);
  EXPECT_EQ(domain->stats().live_blocks, 2);
  EXPECT_GE(domain->stats().held, kMiB + 1000);
  domain->release(a);
  domain->release(b);
  const Stats s = domain->stats();
  EXPECT_EQ(s.live, 0);
  EXPECT_EQ(s.live_blocks, 0);
  EXPECT_EQ(s.live_peak, kMiB + 1000);
  EXPECT_EQ(s.peak, s.held);
  EXPECT_EQ(s.allocations, 2);
  EXPECT_EQ(s.releases, 2);
  EXPECT_TRUE(domain->is_consistent());
}

TEST(DomainTest, CountsTheCallsOfTheSystem) {
  const auto domain = Domain::create({.host = HostAllocator::kSystem});
  const std::int64_t books = domain->stats().system_calls;
  const Block first = domain->allocate(10, tag());
  const std::int64_t before = domain->stats().system_calls;
  EXPECT_GT(before, books);
  domain->release(domain->allocate(10, tag()));  // a malloc and a free
  EXPECT_EQ(domain->stats().system_calls, before + 2);
  domain->release(first);
}

TEST(DomainTest, CountsAZeroByteBlockAsOne) {
  const auto domain = pooled();
  const Block block = domain->allocate(0, tag());
  EXPECT_EQ(block.data, nullptr);
  EXPECT_EQ(domain->stats().live_blocks, 1);
  domain->release(block);
  EXPECT_EQ(domain->stats().live_blocks, 0);
  domain->release(Block{});  // no block at all
  EXPECT_EQ(domain->stats().live_blocks, 0);
}

TEST(DomainTest, RefusesSenselessRequests) {
  const auto domain = pooled();
  EXPECT_THROW(domain->allocate(-1, tag()), ValueError);
  EXPECT_THROW(domain->allocate(8, tag(), 48), ValueError);
  EXPECT_THROW(domain->allocate(8, tag(), 8192), ValueError);
  Tag elsewhere = tag();
  elsewhere.space = SpaceId{2};
  EXPECT_THROW(domain->allocate(8, elsewhere), DeviceError);
}

TEST(DomainTest, TurnsARefusalOfTheSystemIntoAnError) {
  const auto domain = pooled();
  domain->release(domain->allocate(64, tag()));
  for (const Bytes size : {Bytes{1} << 42U | 1, Bytes{1} << 45U, kUnlimited}) {
    try {
      domain->allocate(size, tag());
      FAIL();
    } catch (const OutOfMemory& error) {
      EXPECT_EQ(error.details().reason, OutOfMemory::Reason::kSystem);
    }
  }
  EXPECT_EQ(domain->stats().live, 0);
  EXPECT_EQ(domain->stats().live_blocks, 0);
  EXPECT_TRUE(domain->is_consistent());
}

TEST(DomainTest, KeepsPeaksUntilTheyAreReset) {
  const auto domain = pooled();
  domain->release(domain->allocate(kMiB, tag()));
  const Block small = domain->allocate(8 * kKiB, tag());
  std::array<Row, 8> rows;
  ASSERT_EQ(domain->peak_rows(rows), 1);
  EXPECT_EQ(rows[0].bytes, kMiB);
  domain->trim();
  domain->reset_peak();
  EXPECT_EQ(domain->stats().live_peak, 8 * kKiB);
  EXPECT_EQ(domain->stats().peak, domain->stats().held);
  ASSERT_EQ(domain->peak_rows(rows), 1);
  EXPECT_EQ(rows[0].bytes, 8 * kKiB);
  domain->release(small);
}

TEST(DomainTest, MovesABlockToAnotherOwner) {
  const auto domain = pooled();
  Block block = domain->allocate(100, tag());
  const OwnerId owner = domain->owner("fc2");
  domain->retag(block, Category::kGradients, owner);
  EXPECT_EQ(domain->tag_of(block.bucket), tag(Category::kGradients, owner));
  std::array<Row, 8> rows;
  ASSERT_EQ(domain->live_rows(rows), 1);
  EXPECT_EQ(rows[0].tag.owner, owner);
  EXPECT_EQ(domain->stats().live, 100);
  domain->release(block);
  EXPECT_EQ(domain->live_rows(rows), 0);
}

TEST(DomainTest, LeavesABlockWhereItIsWhenRetaggingFails) {
  const auto domain = pooled();
  Block block = domain->allocate(100, tag());
  const Tag before = domain->tag_of(block.bucket);
  domain->fail_at(1);
  EXPECT_THROW(domain->retag(block, Category::kData, {}), OutOfMemory);
  EXPECT_EQ(domain->tag_of(block.bucket), before);
  domain->release(block);
}

// A row more of the ledger is asked for, and no bytes for elements.
TEST(DomainTest, RefusesToRetagAboveTheBudgetAndAsksForNoBytes) {
  const auto domain = pooled();
  Block block = domain->allocate(100, tag());
  const Tag before = domain->tag_of(block.bucket);
  domain->set_budget(1);
  try {
    domain->retag(block, Category::kData, {});
    ADD_FAILURE() << "a row above the budget";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.details().reason, OutOfMemory::Reason::kBudget);
    EXPECT_EQ(error.details().requested, 0);
  }
  EXPECT_EQ(domain->tag_of(block.bucket), before);
  domain->release(block);
}

TEST(DomainTest, RetagsWithinABudgetThatIsUsedUp) {
  const auto domain = pooled();
  Block block = domain->allocate(100, tag());
  domain->retag(block, Category::kGradients, {});  // all rows are there
  domain->retag(block, tag().category, {});
  const Stats stats = domain->stats();
  domain->set_budget(stats.held + stats.external);
  domain->retag(block, Category::kData, {});
  EXPECT_EQ(domain->tag_of(block.bucket).category, Category::kData);
  domain->release(block);
}

TEST(DomainTest, CountsLentMemoryApart) {
  const auto domain = pooled();
  domain->lend(5000, tag());
  EXPECT_EQ(domain->stats().lent, 5000);
  EXPECT_EQ(domain->stats().live, 0);
  domain->unlend(5000, tag());
  EXPECT_EQ(domain->stats().lent, 0);
}

TEST(DomainTest, LogsTheLatestEventsOldestFirst) {
  const auto domain =
      Domain::create({.host = HostAllocator::kPooled, .event_capacity = 3});
  const Block a = domain->allocate(10, tag());
  Block b = domain->allocate(20, tag());
  domain->retag(b, Category::kData, {});
  domain->release(a);
  std::array<Event, 8> events;
  ASSERT_EQ(domain->events(events), 3);
  EXPECT_EQ(events[0].kind, EventKind::kAllocate);
  EXPECT_EQ(events[0].bytes, 20);
  EXPECT_EQ(events[0].time, 1U);
  EXPECT_EQ(events[0].address, b.data);
  EXPECT_EQ(events[1].kind, EventKind::kRetag);
  EXPECT_EQ(events[2].kind, EventKind::kRelease);
  EXPECT_EQ(events[2].live_after, 20);
  EXPECT_EQ(domain->events(std::span(events).first(1)), 1);
  EXPECT_EQ(events[0].kind, EventKind::kRelease);
  domain->release(b);
}

// Interns, allocates and retags; whatever fails on the way is given back.
void use(Domain& domain) {
  std::vector<Block> blocks;
  try {
    for (int i = 0; i < 5; ++i) {
      const OwnerId owner = domain.owner("layer" + std::to_string(i));
      blocks.push_back(domain.allocate(1000 * i, tag(Category::kData, owner)));
      domain.retag(blocks.back(), Category::kInputs, owner);
    }
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.details().reason, OutOfMemory::Reason::kInjected);
    for (const Block& block : blocks) {
      domain.release(block);
    }
    throw;
  }
  for (const Block& block : blocks) {
    domain.release(block);
  }
}

TEST(DomainTest, FailsEachRequestInTurnUntilNoneIsLeft) {
  int failures = 0;
  EXPECT_EQ(pooled()->requests(), 0);
  for (std::int64_t n = 1;; ++n) {
    const auto domain = pooled();
    domain->fail_at(n);
    try {
      use(*domain);
      EXPECT_EQ(domain->requests(), n - 1);
      break;
    } catch (const OutOfMemory&) {
      ++failures;
    }
    EXPECT_EQ(domain->stats().live_blocks, 0);
    EXPECT_EQ(domain->requests(), n);
  }
  EXPECT_EQ(failures, 15);  // 5 owners, 5 blocks, 5 retags
}

TEST(DomainTest, KeepsTwoDomainsApart) {
  const auto a = pooled();
  const auto b = pooled();
  const Block block = a->allocate(100, tag());
  EXPECT_EQ(a->stats().live, 100);
  EXPECT_EQ(b->stats().live, 0);
  a->set_budget(1);
  b->release(b->allocate(kMiB, tag()));
  a->release(block);
}

TEST(DomainTest, OutlivesItsHandleWhileBlocksAreLive) {
  Domain::Handle handle = pooled();
  Domain* domain = handle.get();
  const Block block = domain->allocate(5000, tag());
  domain->lend(10, tag());
  handle.reset();
  std::memset(block.data, 1, 5000);
  EXPECT_EQ(domain->stats().live, 5000);
  domain->release(block);
  EXPECT_EQ(domain->stats().lent, 10);
  domain->unlend(10, tag());  // the domain goes here; ASan proves it
}

TEST(DomainTest, FindsTheRowAgainForHoldersWithoutABlock) {
  const auto domain = pooled();
  void* data = domain->allocate_raw(300, tag());
  EXPECT_EQ(domain->stats().live, 300);
  domain->release_raw(data, 300, tag());
  EXPECT_EQ(domain->stats().live, 0);
  EXPECT_TRUE(domain->is_consistent());
}

TEST(DomainTest, AllocatesInASpaceOfItsOwnBackend) {
  const auto domain = pooled();
  domain->add_space(SpaceId{1}, std::make_unique<SystemBackend>());
  EXPECT_TRUE(domain->has_space(SpaceId{1}));
  EXPECT_FALSE(domain->has_space(SpaceId{2}));
  EXPECT_THROW(domain->add_space(SpaceId{1}, std::make_unique<SystemBackend>()),
               ValueError);
  EXPECT_THROW(
      domain->add_space(SpaceId{kMaxSpaces}, std::make_unique<SystemBackend>()),
      ValueError);
  Tag there = tag();
  there.space = SpaceId{1};
  const Block block = domain->allocate(100, there);
  EXPECT_EQ(domain->tag_of(block.bucket).space, SpaceId{1});
  EXPECT_EQ(domain->stats().held - domain->stats().books, 100);
  domain->release(block);
}

TEST(DomainTest, HoldsNothingInASpaceThatIsLeftOut) {
  const auto domain = pooled();
  const Bytes before = domain->stats().held;
  domain->add_space(SpaceId{3}, std::make_unique<SystemBackend>());
  EXPECT_FALSE(domain->has_space(SpaceId{2}));
  EXPECT_EQ(domain->stats().held, before);
  EXPECT_EQ(domain->trim(), 0);
}

TEST(DomainTest, KeepsOwnerPaths) {
  const auto domain = pooled();
  const OwnerId owner = domain->owner("encoder.fc1.weight");
  EXPECT_EQ(domain->path_of(owner), "encoder.fc1.weight");
  EXPECT_EQ(domain->owner("encoder.fc1.weight"), owner);
  EXPECT_EQ(domain->path_of(OwnerId{77}), "");
}

// An eager training step in miniature: activations and nodes on the way in;
// on the way out they go as gradients come.
std::vector<void*> train_step(Domain& domain) {
  std::vector<Block> forward;
  std::vector<Block> gradients;
  std::vector<void*> addresses;
  const auto take = [&](std::vector<Block>& list, Bytes size) {
    list.push_back(domain.allocate(size, tag()));
    addresses.push_back(list.back().data);
  };
  const Bytes widths[] = {784, 512, 512, 256, 256, 10};
  for (const Bytes width : widths) {
    take(forward, 128 * width * 4);
    take(forward, 200);
    take(forward, 40 + width);
  }
  while (!forward.empty()) {
    take(gradients, forward.back().size);
    domain.release(forward.back());
    forward.pop_back();
    if (gradients.size() > 4) {
      domain.release(gradients.front());
      gradients.erase(gradients.begin());
    }
  }
  for (const Block& block : gradients) {
    domain.release(block);
  }
  return addresses;
}

TEST(DomainTest, RepeatsAStepWithoutTheSystemAndAtTheSameAddresses) {
  const auto domain = pooled();
  const Block parameters = domain->allocate(512 * 784 * 4, tag());
  train_step(*domain);
  train_step(*domain);
  const std::int64_t calls = domain->stats().system_calls;
  const auto third = train_step(*domain);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(train_step(*domain), third);
  }
  EXPECT_EQ(domain->stats().system_calls, calls);
  domain->release(parameters);
  EXPECT_EQ(domain->trim() + domain->stats().held, domain->stats().peak);
}

// Mixed sizes, released out of order: hard on any allocator.
std::vector<void*> play(Domain& domain) {
  std::vector<Block> blocks;
  std::vector<void*> addresses;
  TestRandom random(4);
  for (int i = 0; i < 400; ++i) {
    if (random() % 3 != 0) {
      const auto size =
          static_cast<Bytes>(random() % (random() % 4 == 0 ? 900'000 : 3000));
      blocks.push_back(domain.allocate(size, tag()));
      addresses.push_back(blocks.back().data);
    } else if (!blocks.empty()) {
      const std::size_t at = random() % blocks.size();
      domain.release(blocks[at]);
      blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  for (const Block& block : blocks) {
    domain.release(block);
  }
  return addresses;
}

TEST(DomainTest, RepeatsItsLayoutOnceItNeedsTheSystemNoMore) {
  const auto domain = pooled();
  std::vector<void*> addresses;
  std::int64_t calls = -1;
  int rounds = 0;
  while (domain->stats().system_calls != calls && rounds < 12) {
    calls = domain->stats().system_calls;
    addresses = play(*domain);
    ++rounds;
  }
  EXPECT_LT(rounds, 12);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(play(*domain), addresses);
  }
  EXPECT_EQ(domain->stats().system_calls, calls);
}

// Asks and gives back so many times; every hundredth block is kept.
void use_in_a_thread(Domain& domain, std::size_t number, int rounds,
                     std::vector<Block>& kept) {
  const OwnerId owner = domain.owner("thread" + std::to_string(number));
  TestRandom random(static_cast<unsigned>(number));
  for (int i = 0; i < rounds; ++i) {
    const auto size = static_cast<Bytes>(random() % 5000);
    Block block = domain.allocate(size, tag(Category::kData, owner));
    if (i % 3 == 0) {
      domain.retag(block, Category::kInputs, owner);
    }
    if (i % 100 == 0) {
      kept.push_back(block);
    } else {
      domain.release(block);
    }
  }
}

TEST(DomainTest, CountsExactlyAcrossThreads) {
  const auto domain = pooled();
  constexpr int kThreads = 4;
  constexpr int kRounds = 5000;
  std::vector<std::thread> threads;
  std::vector<std::vector<Block>> kept(kThreads);
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back(
        [&, t] { use_in_a_thread(*domain, t, kRounds, kept[t]); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  Bytes live = 0;
  for (const auto& blocks : kept) {
    for (const Block& block : blocks) {
      live += block.size;
    }
  }
  EXPECT_EQ(domain->stats().live, live);
  EXPECT_EQ(domain->stats().live_blocks, kThreads * kRounds / 100);
  EXPECT_EQ(domain->stats().allocations, kThreads * kRounds);
  EXPECT_TRUE(domain->is_consistent());
  for (const auto& blocks : kept) {
    for (const Block& block : blocks) {
      domain->release(block);
    }
  }
}

// A backend that says when it goes, which is when its domain does.
class MortalBackend final : public Backend {
 public:
  explicit MortalBackend(bool& is_gone) : is_gone_(&is_gone) {}
  ~MortalBackend() override { *is_gone_ = true; }
  MortalBackend(const MortalBackend&) = delete;
  MortalBackend& operator=(const MortalBackend&) = delete;

  Bytes growth_for(Bytes /*size*/,
                   Bytes /*alignment*/) const noexcept override {
    return 0;
  }
  void* allocate(Bytes /*size*/, Bytes /*alignment*/) noexcept override {
    return nullptr;
  }
  void release(void* /*block*/, Bytes /*size*/,
               Bytes /*alignment*/) noexcept override {}
  Bytes trim() noexcept override { return 0; }
  Bytes held() const noexcept override { return 0; }
  Bytes idle() const noexcept override { return 0; }

 private:
  bool* is_gone_;
};

TEST(DomainTest, OutlivesItsHandleUntilTheLastOfItsBytesIsBack) {
  bool is_gone = false;
  auto handle = pooled();
  Domain& domain = *handle;
  domain.add_space(SpaceId{1}, std::make_unique<MortalBackend>(is_gone));
  domain.lend(100, tag());
  domain.lend(28, tag());
  const Block block = domain.allocate(0, tag());
  handle.reset();
  EXPECT_EQ(domain.stats().lent, 128);
  domain.unlend(28, tag());
  EXPECT_EQ(domain.stats().lent, 100);
  domain.release(block);
  EXPECT_FALSE(is_gone);
  domain.unlend(100, tag());
  EXPECT_TRUE(is_gone);
}

TEST(DefaultDomainTest, IsOneAndStays) {
  EXPECT_EQ(&default_domain(), &default_domain());
  EXPECT_EQ(default_domain().stats().budget, kUnlimited);
}

TEST(CategoryTest, HasANameForEach) {
  for (int i = 0; i < kCategoryCount; ++i) {
    EXPECT_NE(name_of(static_cast<Category>(i)), "?");
  }
}

}  // namespace
}  // namespace neap::memory
