// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Snapshots of compiled training: they add up to what is predicted, to the
// byte, and what they say of values is true.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "neap/base/sanitizer.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/memory/system_pages.hpp"
#include "neap/ops/ops.hpp"
#include "neap/report/ledger_rows.hpp"
#include "neap/report/page.hpp"
#include "neap/report/snapshot_file.hpp"
#include "neap/report/snapshot_json.hpp"
#include "neap/report/snapshot_profile.hpp"
#include "neap/report/snapshot_text.hpp"
#include "neap/tensor/create.hpp"
#include "pages.hpp"

namespace neap::tests {
namespace {

using report::Snapshot;

// Blocks that begin where another one has its memory: a sweep over the calls,
// with what lives in the order of addresses.
std::size_t overlaps(const Snapshot& s) {
  std::size_t found = 0;
  std::size_t next_block = 0;  // they are in the order of `first`
  std::map<std::pair<int, Bytes>, const Snapshot::Block*> live;
  for (std::uint32_t call = 0; call < s.calls.size(); ++call) {
    std::erase_if(live,
                  [&](const auto& one) { return one.second->last < call; });
    for (; next_block < s.blocks.size(); ++next_block) {
      const Snapshot::Block& block = s.blocks[next_block];
      if (block.first != call) {
        break;
      }
      if (block.bytes == 0) {
        continue;
      }
      const auto [at, is_new] =
          live.emplace(std::pair(int{block.space}, block.offset), &block);
      const auto next = std::next(at);
      found += !is_new ? 1 : 0;
      found += next != live.end() && next->first.first == block.space &&
                       block.offset + block.bytes > next->second->offset
                   ? 1
                   : 0;
      if (at != live.begin()) {
        const Snapshot::Block& before = *std::prev(at)->second;
        found += before.space == block.space &&
                         before.offset + before.bytes > block.offset
                     ? 1
                     : 0;
      }
    }
  }
  return found;
}

Bytes live_at(const Snapshot& s, std::uint32_t call) {
  Bytes live = 0;
  for (const Snapshot::Block& block : s.blocks) {
    live += block.first <= call && call <= block.last ? block.bytes : 0;
  }
  return live;
}

Bytes height_of(const Snapshot& s) {
  Bytes height = 0;
  for (const Snapshot::Block& block : s.blocks) {
    height = std::max(height, block.offset + block.bytes);
  }
  return height;
}

class SnapshotTest
    : public ::testing::TestWithParam<std::tuple<Kind, PlanKind>> {
 protected:
  // Searches of large programs are slow under a sanitizer, and have tests of
  // their own there.
  void SetUp() override {
    const auto [model, kind] = GetParam();
    if (base::kAddressSanitizer && kind == PlanKind::kLimited &&
        model != Kind::kMlp && model != Kind::kLstm) {
      GTEST_SKIP() << "left to other builds";
    }
  }
};

TEST_P(SnapshotTest, AddsUpToThePrediction) {
  const auto [model, kind] = GetParam();
  const Pictured seen = pictured(model, kind);
  const Snapshot& s = seen.snapshot;
  const report::Snapshot::Sums& sums = s.sums;
  ASSERT_TRUE(report::check_snapshot(s));
  EXPECT_EQ(sums.reserved, seen.prediction.peak());
  EXPECT_EQ(sums.predicted, sums.reserved);
  EXPECT_EQ(sums.arena, seen.prediction.arena);
  EXPECT_EQ(sums.stays, seen.prediction.persistent);
  EXPECT_EQ(sums.program, seen.prediction.program);
  EXPECT_EQ(sums.arguments, seen.prediction.arguments);
  EXPECT_EQ(sums.lower_bound, seen.prediction.lower_bound);
  EXPECT_EQ(sums.live_at_peak, seen.host.live_at_peak);
  EXPECT_EQ(sums.peak_call, seen.host.peak_call);
  EXPECT_EQ(live_at(s, sums.peak_call), sums.live_at_peak);
  EXPECT_LE(sums.used_at_peak, sums.live_at_peak);
  EXPECT_EQ(overlaps(s), 0U);
  if (kind == PlanKind::kPages) {  // the last page is not full
    EXPECT_LE(height_of(s), sums.arena);
    EXPECT_LT(sums.arena - height_of(s), memory::page_bytes());
  } else {
    EXPECT_EQ(height_of(s), sums.arena);
  }
  Bytes stays = 0;
  for (const Snapshot::Stay& stay : s.stays) {
    stays += stay.bytes;
  }
  EXPECT_EQ(stays, sums.stays);
}

TEST_P(SnapshotTest, IsTheSameFileEachTimeAndReadsBackAsItWas) {
  const auto [model, kind] = GetParam();
  const files::TemporaryFolder folder;
  const auto write = [&](const char* name, const Snapshot& s) {
    report::write_snapshot(files::system_door(), folder.at(name), s).value();
    return folder.get(name);
  };
  const std::string one = write("one", pictured(model, kind).snapshot);
  EXPECT_EQ(write("two", pictured(model, kind).snapshot), one);
  const Snapshot read =
      report::read_snapshot(files::system_door(), folder.at("one")).value();
  EXPECT_EQ(write("three", read), one);
  EXPECT_EQ(one.find(folder.path()), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(AllModels, SnapshotTest,
                         ::testing::Combine(::testing::ValuesIn(kAllKinds),
                                            ::testing::ValuesIn(kPlanKinds)),
                         [](const auto& c) {
                           return std::string(
                                      tests::name_of(std::get<0>(c.param))) +
                                  "_" + name_of(std::get<1>(c.param));
                         });

class EagerSnapshotTest : public ::testing::TestWithParam<Kind> {};

TEST_P(EagerSnapshotTest, HasThePeakOfTheDomain) {
  const PicturedEagerly seen = pictured_eagerly(GetParam());
  const Snapshot& s = seen.snapshot;
  ASSERT_TRUE(report::check_snapshot(s));
  EXPECT_TRUE(s.is_eager);
  EXPECT_EQ(s.sums.live_at_peak, seen.live_peak);
  EXPECT_EQ(live_at(s, s.sums.peak_call), seen.live_peak);
  EXPECT_EQ(overlaps(s), 0U);
}

INSTANTIATE_TEST_SUITE_P(AllModels, EagerSnapshotTest,
                         ::testing::ValuesIn(kAllKinds), kind_of);

// --- what it says ------------------------------------------------------------

std::set<std::string> texts_of(const Snapshot& s, Snapshot::Phase phase) {
  std::set<std::string> ops;
  for (const Snapshot::Call& call : s.calls) {
    if (call.phase == phase) {
      ops.emplace(s.text(call.op));
    }
  }
  return ops;
}

TEST(SnapshotFactsTest, PhasesAreThoseOfTheOps) {
  const Snapshot s = pictured(Kind::kMlp, PlanKind::kWhole).snapshot;
  using Phase = Snapshot::Phase;
  EXPECT_TRUE(texts_of(s, Phase::kForward).contains("linear"));
  EXPECT_FALSE(texts_of(s, Phase::kBackward).contains("linear"));
  EXPECT_TRUE(texts_of(s, Phase::kUpdate).contains("adam"));
  EXPECT_FALSE(texts_of(s, Phase::kForward).contains("adam"));
  EXPECT_FALSE(texts_of(s, Phase::kBackward).contains("adam"));
}

TEST(SnapshotFactsTest, CallsThatRunAgainAreKnownAndSoIsWhatTheyMake) {
  for (const PlanKind kind : {PlanKind::kWhole, PlanKind::kLimited}) {
    const Pictured seen = pictured(Kind::kMlp, kind);
    std::uint32_t again = 0;
    for (const Snapshot::Call& call : seen.snapshot.calls) {
      again += call.is_again ? 1 : 0;
    }
    EXPECT_EQ(again, seen.prediction.fitting.again);
    for (const Snapshot::Block& block : seen.snapshot.blocks) {
      if (block.kind == Snapshot::Kind::kRecomputed) {
        EXPECT_TRUE(seen.snapshot.calls[block.first].is_again);
      }
    }
  }
}

TEST(SnapshotFactsTest, CallsReadWhatIsThere) {
  for (const PlanKind kind : kPlanKinds) {
    const Snapshot s = pictured(Kind::kGpt, kind).snapshot;
    ASSERT_FALSE(s.reads.empty());
    for (const Snapshot::Read& read : s.reads) {
      const Snapshot::Block& block = s.blocks[read.block];
      EXPECT_LE(block.first, read.call);
      // A call may write its result over what it reads.
      EXPECT_LE(read.call, block.last + 1);
    }
  }
}

TEST(SnapshotFactsTest, WhatIsTakenOverEndsWhereTheNextBegins) {
  const Snapshot s = pictured(Kind::kGpt, PlanKind::kWhole).snapshot;
  std::size_t count = 0;
  for (const Snapshot::Block& block : s.blocks) {
    if (block.over != Snapshot::kNone) {
      const Snapshot::Block& before = s.blocks[block.over];
      EXPECT_EQ(before.last + 1, block.first);
      EXPECT_EQ(before.offset, block.offset);
      EXPECT_EQ(before.bytes, block.bytes);
      ++count;
    }
  }
  EXPECT_GT(count, 0U);
}

TEST(SnapshotFactsTest, WithADomainItIsAllThatTheDomainHolds) {
  for (const Kind model : {Kind::kMlp, Kind::kGpt}) {
    Training training({.kind = model});
    auto step = training.compile();
    const auto [x, y] = training.batch(0);
    const Tensor other = zeros({1000});
    step.prepare(training.specs());
    for (const bool has_run : {false, true}) {
      if (has_run) {
        step(x, y);
      }
      const memory::Stats before = training.domain().stats();
      const Snapshot s = report::snapshot(step, &training.domain());
      ASSERT_TRUE(report::check_snapshot(s));
      EXPECT_EQ(s.sums.reserved, s.sums.arena + s.sums.stays + s.sums.program +
                                     s.sums.idle + s.sums.overhead);
      // An arena that is not there yet is counted, too.
      EXPECT_GE(s.sums.reserved, before.held);
      EXPECT_EQ(training.domain().stats().allocations, before.allocations);
      if (has_run) {
        EXPECT_EQ(s.sums.reserved, before.held);
        EXPECT_EQ(s.sums.program, step.program().bytes() + step.plan().bytes());
      }
      bool has_other = false;
      for (const Snapshot::Stay& stay : s.stays) {
        has_other = has_other || stay.bytes >= 4000;
      }
      EXPECT_TRUE(has_other);
    }
  }
}

// The caller's memory is not the domain's: it is reserved, and not held.
TEST(SnapshotFactsTest, AnArenaInLentMemoryIsTheCallers) {
  const auto body = [](const Tensor& x) { return exp(x) * 2.0 + x; };
  alignas(64) static std::array<std::byte, 64 * 1024> memory;
  // Above what a sanitizer of the whole process takes beside the domain.
  const auto domain = Domain::create({.budget = 64 * kGiB});
  const memory::UseDomain use(*domain);
  const Tensor x = ones({1000});
  auto lent = neap::compile(body, {.memory = memory});
  lent(x);
  const Snapshot s = report::snapshot(lent, domain.get());
  ASSERT_TRUE(report::check_snapshot(s));
  EXPECT_GT(s.sums.arena, 0);
  EXPECT_EQ(s.sums.lent, s.sums.arena);
  EXPECT_EQ(s.sums.held(), domain->stats().held);
  EXPECT_EQ(s.sums.reserved, domain->stats().held + s.sums.arena);
  EXPECT_EQ(s.sums.budget, 64 * kGiB);
  EXPECT_NE(report::to_text(s).find("lent, of reserved"), memory::String::npos);
}

TEST(SnapshotFactsTest, LentTensorsAreNoLentArena) {
  const auto domain = Domain::create();
  const memory::UseDomain use(*domain);
  domain->lend(kMiB, {});  // as a tensor over memory of the caller's does
  auto step = neap::compile([](const Tensor& x) { return exp(x) * 2.0 + x; });
  step(ones({1000}));
  const Snapshot s = report::snapshot(step, domain.get());
  EXPECT_EQ(s.sums.lent, -1);
  EXPECT_EQ(s.sums.reserved, domain->stats().held);
  domain->unlend(kMiB, {});
}

// Each step knows whose its arena is, whatever else the domain borrows.
TEST(SnapshotFactsTest, OfTwoStepsOnlyTheOneInLentMemoryIsLent) {
  const auto body = [](const Tensor& x) { return exp(x) * 2.0 + x; };
  alignas(64) static std::array<std::byte, 64 * 1024> memory;
  const auto domain = Domain::create();
  const memory::UseDomain use(*domain);
  auto lent = neap::compile(body, {.memory = memory});
  auto own = neap::compile(body);
  domain->lend(kMiB, {});  // as a tensor over memory of the caller's does
  for (const bool is_run : {false, true}) {
    if (is_run) {
      lent(ones({1000}));
      own(ones({1000}));
    } else {
      lent.prepare({tensor::Spec{f32, {1000}}});
      own.prepare({tensor::Spec{f32, {1000}}});
    }
    const Bytes held = domain->stats().held;
    const auto check = [&](const Snapshot& s, Bytes of_caller, Bytes to_come) {
      const auto good = report::check_snapshot(s);
      EXPECT_TRUE(good) << (good ? "" : good.error().message);
      EXPECT_EQ(s.sums.lent, of_caller);
      EXPECT_EQ(s.sums.held(), held + to_come);
      EXPECT_EQ(s.sums.reserved,
                held + to_come + std::max<Bytes>(of_caller, 0));
    };
    const Bytes arena = own.plan().arena_bytes();
    check(report::snapshot(own, domain.get()), -1, 0);
    check(report::snapshot(own.program(), own.plan(), domain.get()), -1, 0);
    check(report::snapshot(lent, domain.get()), arena, 0);
    check(report::snapshot(lent.program(), lent.plan(), domain.get()), arena,
          0);
    // An arena beside it that is not there yet will come on top.
    check(report::snapshot(own.program(), own.plan(), domain.get(), 0), -1,
          arena);
  }
  EXPECT_EQ(report::snapshot(own).sums.lent, -1);
  EXPECT_EQ(report::snapshot(lent).sums.lent, lent.plan().arena_bytes());
  domain->unlend(kMiB, {});
}

TEST(SnapshotFactsTest, TimesComeWithTheirShareOfTheLimits) {
  auto step = neap::compile([](const Tensor& x) { return matmul(x, x); });
  compiler::Profile profile = step.profile({.runs = 2}, ones({32, 32}));
  Snapshot s = report::snapshot(step);
  report::add_times(s, profile);
  EXPECT_EQ(s.calls[0].share, -1);
  EXPECT_EQ(s.sums.flops_a_second, -1);
  profile.limits = {.flops = 1e9, .bytes = 5e8};
  report::add_times(s, profile);
  ASSERT_TRUE(report::check_snapshot(s));
  EXPECT_EQ(s.sums.flops_a_second, 1'000'000'000);
  EXPECT_EQ(s.sums.bytes_a_second, 500'000'000);
  const double percent = profile.shares(step.program())[0];
  EXPECT_NEAR(static_cast<double>(s.calls[0].share), 10.0 * percent, 0.51);
  const files::TemporaryFolder folder;
  report::write_snapshot(files::system_door(), folder.at("s"), s).value();
  const Snapshot read =
      report::read_snapshot(files::system_door(), folder.at("s")).value();
  EXPECT_EQ(read.calls[0].share, s.calls[0].share);
  profile.limits = {};
  report::add_times(s, profile);  // no share of what is no longer known
  EXPECT_EQ(s.calls[0].share, -1);
}

TEST(SnapshotFactsTest, AnotherDomainIsRefused) {
  auto step = neap::compile([](const Tensor& x) { return exp(x); });
  step(ones({4}));
  const auto other = Domain::create();
  EXPECT_THROW(static_cast<void>(report::snapshot(step, other.get())),
               ValueError);
}

TEST(SnapshotFactsTest, TimesOfAnotherProgramAreRefused) {
  auto one = neap::compile([](const Tensor& x) { return matmul(x, x); });
  auto other = neap::compile([](const Tensor& x) { return exp(x); });
  const Tensor x = ones({4, 4});
  const compiler::Profile profile = one.profile({.runs = 1}, x);
  other(x);
  Snapshot s = report::snapshot(other);
  EXPECT_EQ(s.calls.size(), profile.ns.size());
  EXPECT_THROW(report::add_times(s, profile), ValueError);
  Snapshot right = report::snapshot(one);
  report::add_times(right, profile);
  EXPECT_GE(right.calls[0].ns, 0);
  static_cast<void>(one.profile({.runs = 1}, ones({8, 8})));
  Snapshot larger = report::snapshot(one);
  EXPECT_THROW(report::add_times(larger, profile), ValueError);
}

TEST(SnapshotFactsTest, IsRefusedWhereNothingWasTraced) {
  Training training({.kind = Kind::kMlp});
  auto step = training.compile();
  EXPECT_THROW(static_cast<void>(report::snapshot(step)), ValueError);
}

TEST(SnapshotFactsTest, OfAStepWithoutCallsIsEmptyAndWritten) {
  auto step = neap::compile([](const Tensor& x) { return x; });
  step.prepare({tensor::Spec{f32, {3}}});
  const Snapshot s = report::snapshot(step);
  EXPECT_TRUE(s.blocks.empty());
  const files::TemporaryFolder folder;
  report::write_page(files::system_door(), folder.at("page"), s).value();
  report::write_snapshot(files::system_door(), folder.at("file"), s).value();
  EXPECT_TRUE(report::read_snapshot(files::system_door(), folder.at("file")));
}

// Reports take from their own domain: what is looked at does not change.
TEST(SnapshotFactsTest, WritingTakesLessThanAMebibyteOfTheReports) {
  const Snapshot s = pictured(Kind::kResNet34, PlanKind::kWhole).snapshot;
  const files::TemporaryFolder folder;
  memory::Domain& reports = report::report_domain();
  const memory::Stats mine = memory::domain().stats();
  for (const bool is_page : {false, true}) {
    reports.reset_peak();
    const Bytes before = reports.stats().live;
    const auto path = folder.at("out");
    (is_page ? report::write_page(files::system_door(), path, s)
             : report::write_snapshot(files::system_door(), path, s))
        .value();
    EXPECT_LT(reports.stats().live_peak - before, kMiB);
    EXPECT_EQ(reports.stats().live, before);
  }
  EXPECT_EQ(memory::domain().stats().allocations, mine.allocations);
}

}  // namespace
}  // namespace neap::tests
