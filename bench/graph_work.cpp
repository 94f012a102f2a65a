// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "graph_work.hpp"

#include <pthread.h>
#include <time.h>

#include <functional>
#include <stdexcept>
#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/graph/rules.hpp"
#include "neap/tensor/create.hpp"
#include "support/measure.hpp"

namespace neap::bench {
namespace {

using graph::OpArgs;
using graph::VjpContext;
using tensor::Layout;
using tensor::Spec;

constexpr graph::Op kPass{
    .name = "pass",
    .formula = "y = x",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { out[0] = args.inputs[0]; },
    .view = [](const Layout& input, const graph::Attrs&) { return input; },
    .vjp = [](VjpContext& c) { c.set(0, c.take_cotangent()); },
    .facts = {}};

void run_on_small_stack(std::function<void()> body) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 * kKiB);
  pthread_t thread{};
  const auto run = [](void* call) -> void* {
    (*static_cast<std::function<void()>*>(call))();
    return nullptr;
  };
  const int error = pthread_create(&thread, &attributes, run, &body);
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    throw std::runtime_error("no thread with a stack of 256 KiB");
  }
  pthread_join(thread, nullptr);
}

}  // namespace

double processor_seconds() noexcept {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_nsec) * 1e-9;
}

Tensor pass(const Tensor& x) {
  return graph::apply(kPass, {x});
}

Tensor passes(const Tensor& x, std::int64_t count) {
  Tensor y = x;
  for (std::int64_t i = 0; i < count; ++i) {
    y = pass(y);
  }
  return y;
}

// --- the tape alone ---------------------------------------------------------

Books::Books(std::int64_t count)
    : x_(requires_grad_(ones({4}))),
      spec_(x_.spec()),
      nodes_(static_cast<std::size_t>(count)) {}

void Books::run() {
  Domain& domain = memory::domain();
  const base::SiteId site = base::intern(CallSite::here());
  Tensor y = x_.alias();  // only its place on the graph changes
  const Operand input = y;
  for (base::Ref<graph::Node>& node : nodes_) {
    node = graph::Node::create({kPass, std::span(&input, 1), {}, site},
                               std::span(&spec_, 1), domain);
    node->finish();  // no output is kept
    y.set_link(base::Ref<tensor::GraphLink>::share(node.get()));
  }
  y = Tensor();
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
    (*node)->claim(0, 0);
    (*node)->consume(site);
    *node = nullptr;
  }
}

// --- small backwards --------------------------------------------------------

double seconds_of_ten(const Tensor& x, int times) {
  const Tensor cotangent = ones(x.shape());
  const GradOptions options{.cotangents = std::span(&cotangent, 1)};
  std::vector<Tensor> results;
  for (int i = 0; i < times; ++i) {
    results.push_back(passes(x, 10));
  }
  const double begin = processor_seconds();
  for (const Tensor& result : results) {
    keep(grad(std::span(&result, 1), std::span(&x, 1), options));
  }
  return (processor_seconds() - begin) / times;
}

// --- a deep chain -----------------------------------------------------------

DeepTimes time_deep_chain(std::int64_t count) {
  DeepTimes times;
  run_on_small_stack([&] {
    const auto domain = Domain::create();
    const UseDomain use(*domain);
    const Tensor x = requires_grad_(ones({4}));
    const Tensor cotangent = ones({4});
    double begin = processor_seconds();
    const auto lap = [&begin] {
      const double end = processor_seconds();
      return end - std::exchange(begin, end);
    };
    {
      const Tensor y = passes(x, count);
      times.build = lap();
      backward(y, {.cotangent = cotangent});
      times.backward = lap();
    }
    Tensor unused = passes(x, count);
    lap();
    unused = Tensor();
    times.drop = lap();
    times.peak = domain->stats().peak;
  });
  return times;
}

}  // namespace neap::bench
