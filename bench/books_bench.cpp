// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The bookkeeping of a compiled step: its bytes a call, at most while it is
// traced and planned and then for as long as it exists, and the time that this
// takes. Steps of very many calls on very few elements, so that nothing else
// counts.
#include <fmt/format.h>

#include <functional>
#include <memory>

#include "neap/compile/lower.hpp"
#include "neap/neap.hpp"
#include "neap/program/bind.hpp"
#include "neap/program/passes.hpp"
#include "neap/tensor/execution.hpp"
#include "support/measure.hpp"
#include "support/report.hpp"

namespace neap::bench {
namespace {

using Step = std::function<Tensor(const Tensor&)>;

// Forward alone: a product and a tanh in turns.
Step chain(int calls) {
  const Tensor w = full({4, 4}, 0.1);
  return [=](const Tensor& x) {
    Tensor y = x;
    for (int i = 0; i < calls; i += 2) {
      y = tanh(matmul(y, w));
    }
    return y;
  };
}

// An unrolled recurrent cell, forward and backward, on a row of x each.
Step recurrent(int cells) {
  const Tensor w = requires_grad_(full({4, 4}, 0.1));
  const Tensor u = requires_grad_(full({4, 4}, 0.1));
  const Tensor b = requires_grad_(full({4}, 0.1));
  return [=](const Tensor& x) {
    Tensor h = zeros({2, 4});
    for (int i = 0; i < cells; ++i) {
      h = tanh(matmul(select(x, 0, i), w) + matmul(h, u) + b);
    }
    const Tensor loss = sum(h);
    const std::array leaves{w, u, b};
    const auto grads = grad(std::span(&loss, 1), leaves);
    return loss + sum(grads[0]) + sum(grads[1]) + sum(grads[2]);
  };
}

double per(Bytes bytes, std::size_t calls) {
  return static_cast<double>(bytes) / static_cast<double>(calls);
}

Row row_of(const std::string& name, const Shape& shape,
           const std::function<Step()>& make) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  const Step body = make();
  const Tensor x = full(shape, 0.5);
  const std::array specs{x.spec()};
  const double begin = now();
  std::size_t traced = 0;
  double after_trace = 0;
  double after_passes = 0;
  double after_bind = 0;
  double after_plan = 0;
  {
    compiler::Program program =
        compiler::trace(compiler::as_step<1>(body), specs);
    traced = program.calls.size();
    after_trace = now();
    compiler::run_passes(program);
    after_passes = now();
    compiler::bind(program, tensor::executor());
    after_bind = now();
    const compiler::Plan plan =
        compiler::plan(program, tensor::executor().threads());
    after_plan = now();
  }
  const Bytes before = domain->stats().live;
  auto step = neap::compile(body);
  domain->reset_peak();
  step.prepare({x.spec()});
  const memory::Stats after = domain->stats();
  const std::size_t calls = step.program().calls.size();
  const Bytes arena = step.arena_bytes();
  const double begin_run = now();
  step(x);
  const double run_seconds = now() - begin_run;
  return {.name = name,
          .unit = "s",
          .ours = after_plan - begin,
          .reps = 1,
          .figures = {
              {"calls traced", static_cast<double>(traced)},
              {"calls", static_cast<double>(calls)},
              {"peak, B a traced call", per(after.live_peak - before, traced)},
              {"then, B a call", per(after.live - before - arena, calls)},
              {"program, B a call", per(step.program().bytes(), calls)},
              {"plan, B a call", per(step.plan().bytes(), calls)},
              {"arena, kB", static_cast<double>(arena) / 1e3},
              {"trace", after_trace - begin},
              {"passes", after_passes - after_trace},
              {"bind", after_bind - after_passes},
              {"planning", after_plan - after_bind},
              {"first run", run_seconds}}};
}

void run(const Arguments& arguments) {
  Report report("books", arguments);
  std::vector<Row> rows;
  const int sizes = arguments.quick ? 1 : 3;
  for (int k = 0, calls = arguments.quick ? 100 : 1000; k < sizes;
       ++k, calls *= 10) {
    std::string name = fmt::format("chain of {}", calls);
    if (arguments.selects(name)) {
      rows.push_back(row_of(name, {2, 4}, [=] { return chain(calls); }));
    }
    const int count = calls / 16;
    name = fmt::format("recurrent, {} cells", count);
    if (arguments.selects(name)) {
      rows.push_back(
          row_of(name, {count, 2, 4}, [=] { return recurrent(count); }));
    }
  }
  report.table("a compiled step's own books, s: trace, passes, planning", rows);
}

}  // namespace
}  // namespace neap::bench

int main(int argc, char** argv) {
  neap::bench::run(neap::bench::read_arguments(
      argc, argv, "What a compiled step keeps about itself."));
}
