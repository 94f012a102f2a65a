// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Rows N5, N7 and N8: what grows, what is left when memory runs out, and memory
// to look at.
#include <array>

#include "neap/files/temporary_folder.hpp"
#include "neap/report/folded.hpp"
#include "neap/report/page.hpp"
#include "neap/report/pickle.hpp"
#include "neap/report/picture.hpp"
#include "neap/report/snapshot_diff.hpp"
#include "neap/report/snapshot_file.hpp"
#include "neap/report/snapshot_step.hpp"
#include "neap/report/trace.hpp"
#include "neap/testing/fail_sweep.hpp"
#include "support.hpp"

namespace neap::four_systems {
namespace {

// The work of one thread with a graph: it is built, differentiated twice over,
// released part by part.
void use_a_graph(const Tensor& x) {
  const Tensor hidden = tanh(x * 2.0);
  const Tensor loss = sum(hidden * hidden);
  const auto first = grad(loss, {x}, {.create_graph = true});
  backward(sum(square(first[0])));
}

TEST(FourSystemsTest, AnyAllocationMayFailAndEverythingIsUnchanged_N7) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  const Tensor x = leaf({0.1, 0.2, 0.3});
  backward(sum(x * 4.0));
  const std::vector<double> gradient = numbers(x.grad());
  const auto result = testing::sweep_allocation_failures(
      *domain, [&] { use_a_graph(x); },
      [&](std::int64_t) {
        EXPECT_EQ(numbers(x.grad()), gradient);
        EXPECT_THAT(numbers(x), ElementsAre(0.1, 0.2, 0.3));
      });
  EXPECT_TRUE(result.ok()) << result.problems.front();
  EXPECT_GT(result.failures, 20);
  EXPECT_NE(numbers(x.grad()), gradient);
}

TEST(FourSystemsTest, GrowthFromStepToStepIsNamed_N5) {
  report::Growth growth;
  std::vector<Tensor> losses;
  losses.reserve(100);
  const Tensor w = leaf({1, 2});
  int line = 0;
  for (int i = 0; i < 20; ++i) {
    losses.push_back(sum(square(w)));  // should be .item()
    line = __LINE__ - 1;
    growth.step();
  }
  EXPECT_TRUE(growth.has_grown());
  EXPECT_THAT(growth.format(),
              HasSubstr("neap_test.cpp:" + std::to_string(line)));
}

TEST(FourSystemsTest, AFlatLoopDoesNotGrow_N5) {
  report::Growth growth;
  const Tensor w = leaf({1, 2});
  double total = 0;
  for (int i = 0; i < 20; ++i) {
    total += sum(square(w)).item();
    growth.step();
  }
  EXPECT_FALSE(growth.has_grown()) << growth.format();
  EXPECT_GT(total, 0);
}

TEST(FourSystemsTest, TheErrorSaysWhoHasTheMemory_N7) {
  const Tensor x = ones({1 << 16});
  memory::domain().trim();
  const Budget budget(memory::domain().stats().held +
                      memory::domain().stats().external + 64 * kKiB);
  try {
    const Tensor y = x * 2.0;
    FAIL() << "the budget was passed";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.details().requested, 4 << 16);
    EXPECT_THAT(error.what(), HasSubstr("neap_test.cpp"));
  }
  EXPECT_EQ(x.at({0}), 1);
}

// A step that is planned and looked at.
report::Snapshot snapshot_of_a_step(std::int64_t batch) {
  nn::Sequential net(nn::Linear(16, 32), nn::ReLU(), nn::Linear(32, 4));
  optim::Adam optimizer(net.parameters());
  auto step = compile([&](const Tensor& x) {
    const Tensor loss = mean(square(net(x)));
    backward(loss);
    optimizer.step({.release_gradients = true});
    return loss.detach();
  });
  step.prepare({tensor::Spec{f32, {batch, 16}}});
  return report::snapshot(step);
}

// tests/page looks at pages of every model in a browser.
TEST(FourSystemsTest, ThePageAddsUpToTheByteAndNeedsNoNetwork_N8) {
  const report::Snapshot s = snapshot_of_a_step(8);
  const auto& sums = s.sums;
  EXPECT_EQ(sums.reserved,
            sums.arena + sums.stays + sums.program + sums.idle + sums.overhead);
  Bytes stays = 0;
  for (const auto& stay : s.stays) {
    stays += stay.bytes;
  }
  EXPECT_EQ(stays, sums.stays);
  Bytes live = 0;
  for (const auto& block : s.blocks) {
    const bool is_there =
        block.first <= sums.peak_call && sums.peak_call <= block.last;
    live += is_there ? block.bytes : 0;
  }
  EXPECT_EQ(live, sums.live_at_peak);
  const files::TemporaryFolder folder;
  report::write_page(files::system_door(), folder.at("page.html"), s).value();
  const std::string page = folder.get("page.html");
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(page.find("://"), std::string::npos);
  EXPECT_EQ(page.find("src="), std::string::npos);
}

// tests/report opens these files in their viewers.
TEST(FourSystemsTest, ViewersReadTheSnapshot_N8) {
  const files::TemporaryFolder folder;
  files::Door& door = files::system_door();
  const report::Snapshot one = snapshot_of_a_step(8);
  report::write_snapshot(door, folder.at("s.neapmem"), one).value();
  const report::Snapshot s =
      report::read_snapshot(door, folder.at("s.neapmem")).value();
  report::write_pickle(door, folder.at("s.pickle"), s).value();
  report::write_trace(door, folder.at("s.json"), s).value();
  report::write_folded(door, folder.at("s.folded"), s).value();
  report::write_svg(door, folder.at("s.svg"), s).value();
  EXPECT_THAT(folder.get("s.json"), HasSubstr("traceEvents"));
  EXPECT_THAT(folder.get("s.folded"), HasSubstr("program"));
  EXPECT_THAT(folder.get("s.svg"), HasSubstr("<svg"));
  EXPECT_EQ(folder.get("s.pickle").substr(0, 1), "\x80");
  // The rows of a difference are none, or add up.
  EXPECT_TRUE(report::diff(one, s).rows.empty());
  const report::Snapshot other = snapshot_of_a_step(24);
  Bytes change = 0;
  for (const auto& row : report::diff(one, other).rows) {
    change += row.after - row.before;
  }
  EXPECT_EQ(change, other.sums.reserved - one.sums.reserved);
  EXPECT_NE(change, 0);
}

}  // namespace
}  // namespace neap::four_systems
