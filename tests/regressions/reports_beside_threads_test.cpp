// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Reports crashed when other threads went on building, differentiating and
// dropping graphs, closing scopes and opening new ones, while they looked.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/graph/dot.hpp"
#include "neap/graph/inspect.hpp"
#include "neap/graph/lifetime.hpp"
#include "neap/graph/print.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/memory/composite.hpp"
#include "neap/ops/ops.hpp"
#include "neap/report/growth.hpp"
#include "neap/report/leaks.hpp"
#include "neap/report/memory_table.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

constexpr int kThreads = 3;
constexpr int kLooks = 60;

Tensor leaf() {
  return requires_grad_(full({8, 8}, 0.5, f32));
}

// One round of a thread: scopes, composites, handles that are bound anew, and
// graphs that are consumed, released and dropped.
void work(const Tensor& own, const Tensor& shared) {
  Scope scope("work");
  Tensor y = exp(tanh(own * shared));
  Composite pair(y * 2, concat({own, own}, 0));
  pair.absorb(square(y));
  backward(sum(y + y.detach()));
  const Tensor z = square(own) + shared;
  const Tensor w = sin(z);
  graph::release(z);
  scope.keep(w);
  zero_grad(std::array{own});
}

// Runs `look` again and again beside threads that work on a shared leaf.
template <class Look>
void look_beside_threads(const Tensor& shared, const Look& look) {
  std::atomic<bool> is_done{false};
  std::atomic<int> running{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      const Tensor own = leaf();
      ++running;
      while (!is_done) {
        work(own, shared);
      }
    });
  }
  while (running < kThreads) {
    std::this_thread::yield();
  }
  for (int i = 0; i < kLooks; ++i) {
    look();
  }
  is_done = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST(ReportsBesideThreadsTest, ListLeaksWithTheirHolders) {
  const memory::TrackHandles tracking;
  const Tensor shared = leaf();
  const report::Baseline baseline;
  const Tensor mine = square(shared);
  std::size_t characters = 0;
  look_beside_threads(shared, [&] {
    characters += report::report_leaks(baseline).size();
    const report::Baseline again;
    characters += again.format().size();
  });
  EXPECT_GT(characters, 0U);
  EXPECT_NE(report::report_leaks(baseline).find("made by 'square'"),
            std::string::npos);
}

TEST(ReportsBesideThreadsTest, ListTheTensorsOfAScope) {
  const Tensor shared = leaf();
  const Scope scope("mine");
  const Tensor mine = exp(shared);
  look_beside_threads(shared, [&] {
    EXPECT_NE(report::report_leaks(scope).find("1 tensor alive"),
              std::string::npos)
        << report::report_leaks(scope);
    const Tensor passing = mine + 1;
  });
}

TEST(ReportsBesideThreadsTest, FollowGrowthAndSumUpTheLedger) {
  const memory::TrackHandles tracking;
  const Tensor shared = leaf();
  report::Growth growth(memory::domain(), {.warm_up = 1});
  std::vector<Tensor> kept;
  look_beside_threads(shared, [&] {
    kept.push_back(shared * 2);
    growth.step();
    static_cast<void>(growth.format());
    const auto table =
        report::breakdown(memory::domain(), report::Instant::kNow);
    EXPECT_GT(table.live, 0);
    static_cast<void>(report::format_table(table, {.rows = 10}));
  });
}

// The part of the graph that is looked at grows and ends meanwhile.
TEST(ReportsBesideThreadsTest, InspectPrintAndDrawASharedPartOfAGraph) {
  const Tensor x = leaf();
  const Tensor shared = tanh(square(x));
  const Tensor above = sum(exp(shared));
  std::atomic<bool> is_done{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      while (!is_done) {
        const Tensor y = sum(shared * shared);
        const Tensor z = exp(y) + y;
        graph::release(z);
      }
    });
  }
  for (int i = 0; i < 10 * kLooks; ++i) {
    if (i == 5 * kLooks) {
      threads.emplace_back([&] { backward(above); });
    }
    const graph::NodeInfo info = graph::inspect(shared);
    EXPECT_LE(info.inputs.size(), 1U);
    EXPECT_LE(graph::measure(above).nodes, 5);
    EXPECT_FALSE(graph::print(above).empty());
    EXPECT_FALSE(graph::to_dot(above).empty());
  }
  is_done = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
}

}  // namespace
}  // namespace neap
