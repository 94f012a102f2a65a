// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/snapshot_domain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/compile/arenas.hpp"
#include "neap/compile/compile.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/memory/host_backends.hpp"
#include "neap/nn/linear.hpp"
#include "neap/ops/ops.hpp"
#include "neap/optim/adam.hpp"
#include "neap/report/ledger_rows.hpp"
#include "neap/report/snapshot_json.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/generator.hpp"

namespace neap::report {
namespace {

using memory::Category;
using testing::HasSubstr;

// Pairs of blocks that would share memory.
int overlaps(const Snapshot& s) {
  int count = 0;
  for (std::size_t i = 0; i < s.blocks.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const Snapshot::Block& a = s.blocks[i];
      const Snapshot::Block& b = s.blocks[k];
      const bool is_apart =
          a.space != b.space || a.first > b.last || b.first > a.last ||
          a.offset >= b.offset + b.bytes || b.offset >= a.offset + a.bytes;
      count += is_apart ? 0 : 1;
    }
  }
  return count;
}

// Live bytes at each call, from the blocks and what stays.
std::vector<Bytes> live_of(const Snapshot& s) {
  std::vector<Bytes> live(s.calls.size(), s.sums.stays);
  for (const Snapshot::Block& block : s.blocks) {
    for (std::uint32_t i = block.first; i <= block.last; ++i) {
      live[i] += block.bytes;
    }
  }
  return live;
}

void expect_adds_up(const Snapshot& s) {
  const auto checked = check_snapshot(s);
  EXPECT_TRUE(checked) << (checked ? "" : checked.error().message);
  EXPECT_TRUE(s.is_eager);
  EXPECT_EQ(overlaps(s), 0);
  const Snapshot::Sums& sums = s.sums;
  EXPECT_EQ(sums.reserved,
            sums.arena + sums.stays + sums.program + sums.idle + sums.overhead);
  EXPECT_GE(sums.arena, sums.live_at_peak);
  Bytes stays = 0;
  for (const Snapshot::Stay& stay : s.stays) {
    stays += stay.bytes;
  }
  EXPECT_EQ(sums.stays, stays);
}

// With the live bytes that the domain says, event for event.
void expect_as_logged(const Snapshot& s, const memory::Domain& domain) {
  std::vector<memory::Event> events(100'000);
  events.resize(static_cast<std::size_t>(domain.events(events)));
  const std::vector<Bytes> live = live_of(s);
  const std::size_t before = live.size() - events.size();
  ASSERT_LE(before, 1U);
  for (std::size_t i = 0; i < events.size(); ++i) {
    ASSERT_EQ(live[before + i], events[i].live_after) << "event " << i;
  }
}

class SnapshotOfDomainTest : public testing::Test {
 protected:
  static memory::Domain::Handle domain_of(
      int events, memory::HostAllocator host = memory::HostAllocator::kAuto) {
    return memory::Domain::create(
        {.name = "run", .host = host, .event_capacity = events});
  }
  static memory::Tag tag(memory::Domain& domain, std::string_view owner,
                         Category category = Category::kActivations) {
    return {.category = category,
            .owner = domain.owner(owner),
            .site = base::intern(CallSite::here())};
  }
  static void train(int steps) {
    const Generator generator(1);
    nn::Linear first(8, 32);
    nn::Linear second(32, 4);
    optim::Adam adam(first.parameters(), {});
    for (int i = 0; i < steps; ++i) {
      const Tensor x = ones({16, 8});
      backward(sum(square(second(relu(first(x))))));
      adam.step();
      adam.zero_grad();
    }
  }
};

TEST_F(SnapshotOfDomainTest, ATrainingStepPeaksAtTheLivePeakToTheByte) {
  const auto domain = domain_of(100'000);
  {
    const memory::UseDomain use(*domain);
    train(3);
  }
  const Snapshot s = snapshot(*domain);
  expect_adds_up(s);
  expect_as_logged(s, *domain);
  const memory::Stats stats = domain->stats();
  EXPECT_EQ(s.sums.stays, 0);
  EXPECT_EQ(s.sums.live_at_peak, stats.live_peak);
  EXPECT_EQ(s.sums.used_at_peak, stats.live_peak);
  EXPECT_EQ(s.sums.reserved, stats.peak);
  EXPECT_THAT(s.title, HasSubstr("domain run, "));
  // The peak in rows is the domain's.
  std::map<std::string, Bytes> blocks;
  for (const Snapshot::Block& block : s.blocks) {
    if (block.first <= s.sums.peak_call && s.sums.peak_call <= block.last) {
      blocks[std::string(s.text(block.category))] += block.bytes;
    }
  }
  std::map<std::string, Bytes> rows;
  for (const memory::Row& row : rows_of(*domain, Instant::kLivePeak)) {
    rows[std::string(memory::name_of(row.tag.category))] += row.bytes;
  }
  std::erase_if(rows, [](const auto& row) { return row.second == 0; });
  EXPECT_EQ(blocks, rows);
}

TEST_F(SnapshotOfDomainTest, LookingChangesNothing) {
  const auto domain = domain_of(1000);
  const memory::UseDomain use(*domain);
  const Tensor x = ones({100});
  const memory::Stats before = domain->stats();
  const Snapshot s = snapshot(*domain);
  const memory::Stats after = domain->stats();
  EXPECT_EQ(after.allocations, before.allocations);
  EXPECT_EQ(after.releases, before.releases);
  EXPECT_EQ(after.held, before.held);
  EXPECT_EQ(snapshot(*domain).calls.size(), s.calls.size());
}

TEST_F(SnapshotOfDomainTest, ReleasesOfEarlierBlocksBeginBeforeTheLog) {
  const auto domain = domain_of(4);
  const memory::Block kept = domain->allocate(1000, tag(*domain, "kept"));
  const memory::Block early = domain->allocate(5000, tag(*domain, "early"));
  for (int i = 0; i < 3; ++i) {
    domain->release(domain->allocate(64, tag(*domain, "noise")));
  }
  domain->release(early);
  const Snapshot s = snapshot(*domain);
  expect_adds_up(s);
  expect_as_logged(s, *domain);
  ASSERT_EQ(s.calls.size(), 5U);
  EXPECT_EQ(s.text(s.calls[0].op), "before the log");
  EXPECT_EQ(s.text(s.calls[4].op), "release");
  EXPECT_EQ(s.sums.stays, 1000);
  EXPECT_EQ(s.text(s.stays.at(0).owner), "kept");
  const auto block =
      std::find_if(s.blocks.begin(), s.blocks.end(),
                   [](const auto& b) { return b.bytes == 5000; });
  ASSERT_NE(block, s.blocks.end());
  EXPECT_EQ(block->first, 0U);
  EXPECT_EQ(block->last, 3U);
  EXPECT_EQ(s.sums.live_at_peak + s.sums.stays, domain->stats().live_peak);
  EXPECT_THAT(s.title, HasSubstr("the last 4 of 9 events"));
  domain->release(kept);
}

TEST_F(SnapshotOfDomainTest, ARetaggedBlockIsOneForEachOfItsTags) {
  const auto domain = domain_of(100);
  memory::Block block =
      domain->allocate(4000, tag(*domain, "made", Category::kWorkspace));
  domain->retag(block, Category::kGradients, domain->owner("fc1"));
  const Snapshot s = snapshot(*domain);
  expect_adds_up(s);
  ASSERT_EQ(s.blocks.size(), 2U);
  EXPECT_EQ(s.text(s.blocks[0].layer), "made");
  EXPECT_EQ(s.blocks[0].kind, Snapshot::Kind::kWorkspace);
  EXPECT_EQ(s.blocks[0].last, 0U);
  EXPECT_EQ(s.text(s.blocks[1].layer), "fc1");
  EXPECT_EQ(s.blocks[1].first, 1U);
  EXPECT_EQ(s.blocks[1].over, 0U);
  EXPECT_EQ(s.blocks[1].offset, s.blocks[0].offset);
  EXPECT_EQ(s.calls[1].phase, Snapshot::Phase::kBackward);
  EXPECT_EQ(s.sums.stays, 0);
  domain->release(block);
}

TEST_F(SnapshotOfDomainTest, ABlockRetaggedThatWasThereEarlierIsNoStay) {
  const auto domain = domain_of(2);
  memory::Block block = domain->allocate(4000, tag(*domain, "a"));
  domain->release(domain->allocate(64, tag(*domain, "noise")));
  domain->retag(block, Category::kBuffers, domain->owner("b"));
  const Snapshot s = snapshot(*domain);
  expect_adds_up(s);
  expect_as_logged(s, *domain);
  EXPECT_EQ(s.sums.stays, 0);
  domain->release(block);
}

TEST_F(SnapshotOfDomainTest, WithoutALogThereIsWhatStays) {
  const auto domain = domain_of(0);
  const memory::Block block =
      domain->allocate(4000, tag(*domain, "fc1", Category::kParameters));
  const Snapshot s = snapshot(*domain);
  expect_adds_up(s);
  EXPECT_TRUE(s.calls.empty());
  EXPECT_TRUE(s.blocks.empty());
  ASSERT_EQ(s.stays.size(), 1U);
  EXPECT_EQ(s.stays[0].bytes, 4000);
  EXPECT_EQ(s.text(s.stays[0].category), "parameters");
  EXPECT_EQ(s.sums.reserved, domain->stats().held);
  EXPECT_THAT(s.title, HasSubstr("no events are known"));
  domain->release(block);
  expect_adds_up(snapshot(*domain));
}

TEST_F(SnapshotOfDomainTest, ACompiledStepsArenaIsABlock) {
  const auto domain = domain_of(100'000);
  Bytes arena = 0;
  {
    const memory::UseDomain use(*domain);
    const Tensor w = requires_grad_(ones({64, 64}));
    auto step =
        compile([&](const Tensor& x) { return sum(exp(matmul(x, w))); });
    const Tensor x = ones({64, 64});
    static_cast<void>(step(x));
    arena = step.arena_bytes();
  }
  ASSERT_GT(arena, 0);
  const Snapshot s = snapshot(*domain);
  expect_adds_up(s);
  EXPECT_EQ(s.sums.live_at_peak, domain->stats().live_peak);
  EXPECT_TRUE(std::any_of(
      s.blocks.begin(), s.blocks.end(), [&](const Snapshot::Block& block) {
        return s.text(block.layer) == compiler::kArenaOwner &&
               block.bytes >= arena;
      }));
}

TEST_F(SnapshotOfDomainTest, EverySpaceHasAMapOfItsOwn) {
  const auto domain = domain_of(100);
  domain->add_space(memory::SpaceId{1}, memory::make_host_backend(
                                            memory::HostAllocator::kPooled, 0));
  memory::Tag second = tag(*domain, "there");
  second.space = memory::SpaceId{1};
  const memory::Block a = domain->allocate(4096, tag(*domain, "here"));
  const memory::Block b = domain->allocate(8192, second);
  const Snapshot s = snapshot(*domain);
  expect_adds_up(s);
  ASSERT_EQ(s.blocks.size(), 2U);
  EXPECT_EQ(s.blocks[0].space, 0);
  EXPECT_EQ(s.blocks[1].space, 1);
  EXPECT_LT(s.blocks[0].offset, 4096);
  EXPECT_LT(s.blocks[1].offset, 4096);
  EXPECT_EQ(s.sums.live_at_peak, 4096 + 8192);
  domain->release(a);
  domain->release(b);
}

TEST_F(SnapshotOfDomainTest, ARefusalIsASentence) {
  const auto domain = domain_of(100);
  const memory::Block block = domain->allocate(1000, tag(*domain, "held"));
  const memory::Tag greedy = tag(*domain, "greedy");
  domain->fail_at(1);
  EXPECT_THROW(domain->allocate(24, greedy), OutOfMemory);
  const Snapshot s = snapshot(*domain);
  expect_adds_up(s);
  ASSERT_EQ(s.refusals.size(), 1U);
  EXPECT_THAT(s.refusals[0], HasSubstr("24 B of activations for 'greedy' at "));
  EXPECT_THAT(s.refusals[0], HasSubstr("when 1000 B were live; enough would "
                                       "have been room for 1.0 KiB (1 024 B) "
                                       "live at once"));
  EXPECT_EQ(s.refusals, refusals_of(*domain));
  domain->release(block);
}

TEST_F(SnapshotOfDomainTest, TheReportsOwnDomainIsRefused) {
  EXPECT_THROW(snapshot(report_domain()), ValueError);
}

// Allocations, releases and changes of hands, at random.
void run_at_random(memory::Domain& domain, unsigned seed, int events,
                   const memory::Tag& tag) {
  std::mt19937 random(seed);
  std::vector<memory::Block> blocks;
  for (int i = 0; i < events; ++i) {
    const unsigned what = random() % 8;
    if (what < 4 || blocks.empty()) {
      memory::Tag next = tag;
      next.category = static_cast<Category>(random() % memory::kCategoryCount);
      const Bytes most = random() % 16 == 0 ? 100'000 : 2'000;
      blocks.push_back(
          domain.allocate(static_cast<Bytes>(random()) % most, next));
      continue;
    }
    const std::size_t at = random() % blocks.size();
    if (what == 4) {
      domain.retag(blocks[at],
                   static_cast<Category>(random() % memory::kCategoryCount),
                   tag.owner);
    } else {
      domain.release(blocks[at]);
      blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  // Half of them are there still when the snapshot is taken.
  const Snapshot s = snapshot(domain);
  expect_adds_up(s);
  expect_as_logged(s, domain);
  for (const memory::Block& block : blocks) {
    domain.release(block);
  }
}

TEST_F(SnapshotOfDomainTest, RandomRunsAddUpAtEveryEvent) {
  for (unsigned seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(seed);
    const auto domain =
        domain_of(seed % 3 == 0 ? 100 : 1'000,
                  seed % 2 == 0 ? memory::HostAllocator::kPooled
                                : memory::HostAllocator::kSystem);
    run_at_random(*domain, seed, 400, tag(*domain, "random"));
    const Snapshot s = snapshot(*domain);
    expect_adds_up(s);
    EXPECT_EQ(s.sums.stays, 0);
    if (seed % 3 != 0) {
      EXPECT_EQ(s.sums.live_at_peak, domain->stats().live_peak);
    }
  }
}

}  // namespace
}  // namespace neap::report
