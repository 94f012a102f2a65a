// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Steps that are hardly any, names that are markup or no text, very many calls,
// and threads that go on meanwhile: each has a snapshot that every writer
// takes, and that adds up.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/nn/layers.hpp"
#include "neap/nn/linear.hpp"
#include "neap/ops/ops.hpp"
#include "neap/optim/adam.hpp"
#include "neap/report/folded.hpp"
#include "neap/report/ledger_rows.hpp"
#include "neap/report/page.hpp"
#include "neap/report/pickle.hpp"
#include "neap/report/picture.hpp"
#include "neap/report/profile_table.hpp"
#include "neap/report/snapshot_check.hpp"
#include "neap/report/snapshot_diff.hpp"
#include "neap/report/snapshot_domain.hpp"
#include "neap/report/snapshot_file.hpp"
#include "neap/report/snapshot_lines.hpp"
#include "neap/report/snapshot_step.hpp"
#include "neap/report/snapshot_text.hpp"
#include "neap/report/trace.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

using report::Snapshot;

void expect_good(const Snapshot& s) {
  const auto good = report::check_snapshot(s);
  ASSERT_TRUE(good) << (good ? "" : good.error().message);
  EXPECT_EQ(s.sums.reserved, s.sums.arena + s.sums.stays + s.sums.program +
                                 s.sums.idle + s.sums.overhead);
  const files::TemporaryFolder folder;
  files::Door& door = files::system_door();
  for (const auto writer :
       {report::write_snapshot, report::write_trace, report::write_pickle,
        report::write_folded, report::write_svg}) {
    writer(door, folder.at("out"), s).value();
  }
  report::write_page(door, folder.at("page"), s).value();
  report::write_page(door, folder.at("two"), s, &s).value();
  report::write_snapshot(door, folder.at("file"), s).value();
  const Snapshot read = report::read_snapshot(door, folder.at("file")).value();
  EXPECT_EQ(report::to_text(read), report::to_text(s));
  EXPECT_TRUE(report::diff(read, s).rows.empty());
  EXPECT_FALSE(report::to_markdown(s).empty());
  static_cast<void>(report::profile_table(s));
  Snapshot without = read;
  report::drop_lines(without);
  EXPECT_TRUE(report::check_snapshot(without));
  EXPECT_EQ(without.sums.reserved, s.sums.reserved);
}

TEST(OddStepsOnPagesTest, StepsThatAreHardlyAny) {
  const auto domain = Domain::create({.event_capacity = 1000});
  const UseDomain use(*domain);
  const auto show = [&](auto& step, const Tensor& x) {
    step(x);
    expect_good(report::snapshot(step));
    expect_good(report::snapshot(step, domain.get()));
  };
  auto none = compile([](const Tensor& x) { return x; });
  show(none, ones({3}));
  auto one = compile([](const Tensor& x) { return exp(x); });
  show(one, ones({3}));
  auto empty = compile([](const Tensor& x) { return sum(exp(x * 2.0)); });
  show(empty, ones({0, 5}));
  auto scalar = compile([](const Tensor& x) { return exp(x) + exp(x * x); });
  show(scalar, ones({}));
  expect_good(report::snapshot(*domain));
  expect_good(report::snapshot(*Domain::create()));
}

TEST(OddStepsOnPagesTest, NamesThatAreMarkupOrNoText) {
  struct Net : nn::Module {
    nn::Linear first{4, 4};
    nn::Linear second{4, 4};
    Net() {
      register_module("</script><img src=x onerror=alert(1)>", first);
      register_module("a;b\n\t\x01\x7f \"'\\ \xff\xc3 ]]>--> @x | `", second);
    }
    Tensor operator()(const Tensor& x) const { return second(tanh(first(x))); }
  };
  const auto domain = Domain::create({.name = "<b>\n", .event_capacity = 1000});
  const UseDomain use(*domain);
  Net net;
  optim::Adam adam(net.parameters(), {});
  const auto body = [&](const Tensor& x) {
    Tensor loss = sum(square(net(x)));
    backward(loss);
    adam.step({.release_gradients = true});
    return loss;
  };
  body(ones({2, 4}));
  auto step = compile(body);
  step(ones({2, 4}));
  Snapshot s = report::snapshot(step, domain.get());
  s.title = "<!--\r\n--><noscript></title>\xe2\x80\xae";
  s.refusals.emplace_back("</script>\n\x02");
  s.leaks.emplace_back("leak: <b>\n  \xff");
  expect_good(s);
  expect_good(report::snapshot(*domain));
}

// As many calls, blocks and texts as a step of a thousand layers has.
TEST(OddStepsOnPagesTest, AHundredThousandCallsTakeLittleMemoryAndTime) {
  constexpr std::uint32_t kCalls = 100'000;
  const UseDomain use(report::report_domain());
  Snapshot s;
  s.title = "long";
  s.texts.emplace_back();
  for (std::uint32_t i = 0; i < 1000; ++i) {
    s.texts.emplace_back("h." + std::to_string(i));
  }
  for (std::uint32_t i = 0; i < kCalls; ++i) {
    s.calls.push_back({.op = 1 + i % 7, .layer = 1 + i % 1000});
    s.blocks.push_back({.first = i,
                        .last = std::min(i + 50, kCalls - 1),
                        .offset = Bytes{64} * (i % 51),
                        .bytes = 64,
                        .used = 60,
                        .category = 1 + i % 9,
                        .layer = 1 + i % 1000,
                        .value = i});
    s.reads.push_back({i, std::min(i + 1, kCalls - 1)});
  }
  s.sums.arena = s.sums.reserved = Bytes{64} * 51;
  s.sums.live_at_peak = s.sums.arena;
  s.sums.used_at_peak = Bytes{60} * 51;
  s.sums.peak_call = 50;
  Domain& reports = report::report_domain();
  const files::TemporaryFolder folder;
  for (const bool is_page : {true, false}) {
    reports.reset_peak();
    const Bytes before = reports.stats().live;
    if (is_page) {
      report::write_page(files::system_door(), folder.at("p"), s).value();
    } else {
      report::write_snapshot(files::system_door(), folder.at("s"), s).value();
    }
    EXPECT_LT(reports.stats().live_peak - before, kMiB) << is_page;
  }
  expect_good(s);
}

TEST(OddStepsOnPagesTest, EagerAndCompiledStepsInThreadsAreLookedAtMeanwhile) {
  const auto domain = Domain::create({.event_capacity = 4096});
  std::atomic<bool> is_over{false};
  std::atomic<int> rounds{0};
  std::vector<std::thread> threads;
  for (int k = 0; k < 3; ++k) {
    threads.emplace_back([&, k] {
      const UseDomain use(*domain);
      const nn::Linear layer(8, 8);
      auto step = compile([&](const Tensor& x) { return sum(layer(x)); });
      while (!is_over) {
        const Tensor x = ones({1 + k, 8});
        static_cast<void>(k == 0 ? step(x) : sum(tanh(layer(x))));
        ++rounds;
      }
    });
  }
  auto own = [&] {
    const UseDomain use(*domain);
    return compile([](const Tensor& x) { return exp(x) * 2.0 + x; });
  }();
  {
    const UseDomain use(*domain);
    own(ones({100}));
  }
  for (int i = 0; i < 20 || rounds < 50; ++i) {
    for (const Snapshot& s :
         {report::snapshot(*domain), report::snapshot(own, domain.get())}) {
      const auto good = report::check_snapshot(s);
      EXPECT_TRUE(good) << (good ? "" : good.error().message);
    }
  }
  is_over = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  expect_good(report::snapshot(*domain));
}

}  // namespace
}  // namespace neap
