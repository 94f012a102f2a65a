// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The cost of the tape by itself, which must not grow: per node, beside many
// others, in depth, in bytes. The figures of other libraries are quoted from
// elsewhere; none of them is measured here.
#include <fmt/format.h>

#include <array>
#include <memory>

#include "graph_work.hpp"
#include "neap/neap.hpp"
#include "support/measure.hpp"
#include "support/report.hpp"

namespace neap::bench {
namespace {

struct Length {
  std::int64_t full;
  std::int64_t quick;
  const char* burn_books;  // quoted
  const char* burn_small;  // quoted
  std::int64_t of(const Arguments& arguments) const {
    return arguments.quick ? quick : full;
  }
};

// burn's published algorithm for its graph's memory, run by itself.
constexpr std::array kLengths{
    Length{1'000, 10, "burn, quoted: 150-220", "burn, quoted: 200"},
    Length{100'000, 100, "burn, quoted: 410-540", "burn, quoted: 85 000"},
    Length{1'000'000, 200, "burn, quoted: 1 130-1 270",
           "burn, quoted: 1 900 000"}};

std::string count_name(std::int64_t count) {
  return fmt::format("N = {:.0e}", static_cast<double>(count));
}

/// The times of timed_each, in seconds of the processor.
template <class Body>
Contender timed_alone(std::string name, Body body) {
  return {std::move(name), [body](int count) {
            std::vector<double> seconds;
            for (int i = 0; i < count; ++i) {
              const double begin = processor_seconds();
              body();
              seconds.push_back(processor_seconds() - begin);
            }
            return seconds;
          }};
}

// --- a node -----------------------------------------------------------------

// Holds the room for the nodes between runs.
Contender books_contender(std::int64_t count) {
  auto books = std::make_shared<Books>(count);
  return timed_alone(count_name(count), [books] { books->run(); });
}

Contender views_contender(const Tensor& x, std::int64_t count) {
  return timed_alone(count_name(count), [&x, count] {
    const Tensor cotangent = ones(x.shape());
    const Tensor y = passes(x, count);
    keep(grad(std::span(&y, 1), std::span(&x, 1),
              {.cotangents = std::span(&cotangent, 1)}));
  });
}

Contender negations_contender(const Tensor& x, std::int64_t count) {
  return timed_alone(count_name(count), [&x, count] {
    const Tensor cotangent = ones(x.shape());
    Tensor y = x;
    for (std::int64_t i = 0; i < count; ++i) {
      y = -y;
    }
    keep(grad(std::span(&y, 1), std::span(&x, 1),
              {.cotangents = std::span(&cotangent, 1)}));
  });
}

// One row a length, beside the first one's figure.
std::vector<Row> rows_of(const std::string& name,
                         const std::vector<Contender>& contenders,
                         const Arguments& arguments, bool is_books) {
  const Schedule schedule = arguments.quick
                                ? Schedule{.rounds = 1, .turn_seconds = 1e-5}
                                : Schedule{.rounds = 9, .turn_seconds = 0.05};
  const std::vector<Timing> timings = measure(contenders, schedule);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < timings.size(); ++i) {
    const auto count = static_cast<double>(kLengths[i].of(arguments));
    rows.push_back({.name = fmt::format("{}, {}", name, timings[i].name),
                    .unit = "ns a node",
                    .ours = timings[i].median * 1e9 / count,
                    .peer_name = is_books ? kLengths[i].burn_books : "",
                    .reps = timings[i].reps});
    rows.back().figures = {{"of the first", rows.back().ours / rows[0].ours}};
  }
  return rows;
}

template <class Make>
std::vector<Contender> for_each_length(const Arguments& arguments, Make make) {
  std::vector<Contender> contenders;
  for (const Length& length : kLengths) {
    contenders.push_back(make(length.of(arguments)));
  }
  return contenders;
}

void node_table(Report& report, const Arguments& arguments) {
  const Tensor x = requires_grad_(ones({4}));
  std::vector<Row> rows =
      rows_of("the tape alone", for_each_length(arguments, books_contender),
              arguments, true);
  const auto add = [&](const std::string& name, auto make) {
    const auto more =
        rows_of(name, for_each_length(arguments, make), arguments, false);
    rows.insert(rows.end(), more.begin(), more.end());
  };
  add("views, forward and backward",
      [&x](std::int64_t count) { return views_contender(x, count); });
  add("negations of 4 floats, forward and backward",
      [&x](std::int64_t count) { return negations_contender(x, count); });
  report.table("N nodes in a chain, registered and consumed", rows);
}

// --- a small backward beside a large graph ----------------------------------

// A turn makes the others anew: they live while it lasts.
Contender beside_contender(const Tensor& x, const Tensor& others,
                           std::int64_t count, bool is_quick) {
  return {count_name(count), [&x, others, count, is_quick](int /*calls*/) {
            const Tensor live = passes(others, count);
            std::vector<double> seconds;
            for (int i = 0; i < (is_quick ? 1 : 100); ++i) {
              seconds.push_back(seconds_of_ten(x, 20));
            }
            return seconds;
          }};
}

std::vector<Row> beside_rows(const std::string& name, const Tensor& others,
                             const Tensor& x, const Arguments& arguments) {
  const Schedule schedule{
      .rounds = arguments.quick ? 1 : 9, .turn_seconds = 1e-5, .most_calls = 1};
  const auto contenders = for_each_length(arguments, [&](std::int64_t count) {
    return beside_contender(x, others, count, arguments.quick);
  });
  const std::vector<Timing> timings = measure(contenders, schedule);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < timings.size(); ++i) {
    rows.push_back({.name = fmt::format("{}, {}", name, timings[i].name),
                    .unit = "us",
                    .ours = timings[i].median * 1e6,
                    .peer_name = kLengths[i].burn_small,
                    .reps = timings[i].reps * 2000});
    rows.back().figures = {{"of the first", rows.back().ours / rows[0].ours}};
  }
  return rows;
}

void beside_table(Report& report, const Arguments& arguments) {
  const Tensor x = requires_grad_(ones({4}));
  const Tensor other = requires_grad_(ones({4}));
  std::vector<Row> rows = beside_rows("of another leaf", other, x, arguments);
  const auto more = beside_rows("of the same leaf", x, x, arguments);
  rows.insert(rows.end(), more.begin(), more.end());
  report.table("A backward over ten nodes while N others live", rows);
}

// --- depth, doublings -------------------------------------------------------

void depth_table(Report& report, const Arguments& arguments) {
  const std::int64_t count = arguments.quick ? 1'000 : 10'000'000;
  const DeepTimes times = time_deep_chain(count);
  const auto row = [&](const char* name, double seconds) {
    return Row{.name = name,
               .unit = "ns a node",
               .ours = seconds * 1e9 / static_cast<double>(count),
               .peer_name = "burn, quoted: overflows 8 MiB at 104 700 nodes",
               .reps = 1,
               .figures = {{"seconds", seconds},
                           {"MiB at the peak", static_cast<double>(times.peak) /
                                                   static_cast<double>(kMiB)}}};
  };
  report.table(
      fmt::format("{} nodes in a chain, on a stack of 256 KiB", count),
      {row("made, forward", times.build), row("backward", times.backward),
       row("another one, dropped", times.drop)});
}

Contender doublings(const Tensor& x, int count) {
  return timed_alone(fmt::format("{} doublings", count), [&x, count] {
    const Tensor cotangent = ones(x.shape());
    Tensor y = x;
    for (int i = 0; i < count; ++i) {
      y = y + y;
    }
    keep(grad(std::span(&y, 1), std::span(&x, 1),
              {.cotangents = std::span(&cotangent, 1)}));
  });
}

void doubling_table(Report& report, const Arguments& arguments) {
  const Tensor x = requires_grad_(ones({4}));
  const std::vector<Contender> contenders{doublings(x, 15), doublings(x, 30),
                                          doublings(x, 60)};
  const auto timings =
      measure(contenders, arguments.quick
                              ? Schedule{.rounds = 1, .turn_seconds = 1e-5}
                              : Schedule{.rounds = 9, .turn_seconds = 0.01});
  std::vector<Row> rows;
  for (const Timing& timing : timings) {
    rows.push_back(
        {.name = timing.name,
         .unit = "us",
         .ours = timing.median * 1e6,
         .peer_name = "diffstruc, quoted: 24 take 1.8 s, cost 2^n",
         .reps = timing.reps,
         .figures = {{"of the first", timing.median / timings[0].median}}});
  }
  report.table("f = f + f, forward and backward", rows);
}

// --- bytes ------------------------------------------------------------------

Row byte_row(const std::string& name, std::int64_t bytes,
             const char* beside = "") {
  return {.name = name,
          .unit = "B",
          .ours = static_cast<double>(bytes),
          .peer_name = beside,
          .reps = 1};
}

Bytes footprint(const Tensor& result) {
  return static_cast<const graph::Node&>(*result.link()).footprint();
}

void size_table(Report& report) {
  const Tensor x = requires_grad_(ones({4, 4}));
  const Tensor w = requires_grad_(ones({4, 4}));
  const Bytes chain = footprint(x * w.detach()) + footprint(x + w.detach());
  report.table(
      "Bytes of a node on the tape, exact",
      {byte_row("a node's header", graph::kNodeHeader),
       byte_row("an edge, one an input", sizeof(graph::Edge)),
       byte_row("a residual", sizeof(graph::Residual)),
       byte_row("-x: nothing is kept", footprint(-x)),
       byte_row("tanh(x): its result is kept", footprint(tanh(x))),
       byte_row("x + w: nothing is kept", footprint(x + w)),
       byte_row("x w: both are kept", footprint(x * w)),
       byte_row("matmul(x, w): both are kept", footprint(matmul(x, w))),
       byte_row("the mean of x a and x + b in turns", chain / 2,
                "PyTorch, quoted: 716"),
       byte_row("a kept tensor's headers: storage, array, body",
                sizeof(tensor::Storage) + sizeof(tensor::Array) +
                    sizeof(tensor::Body))});
}

void flat_table(Report& report, const Arguments& arguments) {
  const int ops = arguments.quick ? 100 : 1'000'000;
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  const Tensor x = requires_grad_(ones({4}));
  Tensor y = tanh(x);
  const memory::Stats before = domain->stats();
  for (int i = 0; i < ops; ++i) {
    y = tanh(x);
  }
  const memory::Stats after = domain->stats();
  const char* burn = "burn, quoted: grows until some backward";
  report.table(
      fmt::format("More after {} recorded ops without a backward", ops),
      {byte_row("live bytes", after.live - before.live, burn),
       byte_row("held bytes", after.held - before.held, burn),
       {.name = "live blocks",
        .unit = "",
        .ours = static_cast<double>(after.live_blocks - before.live_blocks),
        .peer_name = burn,
        .reps = 1}});
}

void run(const Arguments& arguments) {
  Report report("graph", arguments);
  report.note(
      "time of the processor, of one thread; what is quoted was taken "
      "elsewhere, from what others publish, and is not measured here");
  threads::set_default_threads(1);
  node_table(report, arguments);
  beside_table(report, arguments);
  depth_table(report, arguments);
  doubling_table(report, arguments);
  size_table(report);
  flat_table(report, arguments);
}

}  // namespace
}  // namespace neap::bench

int main(int argc, char** argv) {
  neap::bench::run(neap::bench::read_arguments(
      argc, argv, "What the tape costs beside the operations on it."));
}
