// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A training step that is compiled: traced once, laid out in one arena, its
// peak printed before it runs and again as it was measured. Then what a
// compiled step is given, what it gives back, and what it refuses.
#include <cstdio>
#include <string>
#include <utility>

#include "neap/neap.hpp"

namespace {

namespace optim = neap::optim;
using neap::CompileOptions;
using neap::Tensor;
using neap::tensor::Spec;

constexpr std::int64_t kBatch = 64;
constexpr std::int64_t kSteps = 200;

// Points of the plane, and whether they lie in the disk around 0.
std::pair<Tensor, Tensor> make_batch(std::int64_t size = kBatch) {
  const Tensor x = neap::rand({size, 2}) * 4.0 - 2.0;
  return {x, cast(lt(sum(square(x), {1}), 2.0), neap::i64)};
}

struct Net : neap::nn::Layer {
  neap::nn::Linear hidden{2, 128};
  neap::nn::Linear out{128, 2};

  Net() {
    register_module("hidden", hidden);
    register_module("out", out);
  }
  Tensor forward(const Tensor& x) const override {
    return out(dropout(relu(hidden(x)), 0.1, is_training()));
  }
};

// Modes of modules, NoGrad and shapes are looked at in each call.
double accuracy_of(Net& net) {
  auto scores = neap::compile([&](const Tensor& x) { return net(x); });
  const auto [x, labels] = make_batch(1000);
  net.eval();
  const neap::NoGrad guard;
  return neap::nn::accuracy(scores(x), labels);
}

struct Outcome {
  neap::memory::Stats stats;
  neap::Bytes arena = 0;
  double accuracy = 0.0;
};

// In a rehearsal everything is as in training, but nothing has elements.
Outcome train(bool is_rehearsal) {
  const auto domain =
      neap::Domain::create({.host = neap::memory::HostAllocator::kPooled,
                            .is_rehearsal = is_rehearsal});
  const neap::UseDomain use(*domain);
  neap::seed(7);
  Net net;
  optim::Adam adam(net.parameters());
  adam.set_schedule(optim::cosine(1e-2, kSteps, 10));

  auto step = neap::compile([&](const Tensor& x, const Tensor& labels) {
    Tensor loss = cross_entropy(net(x), labels);
    backward(loss);
    optim::clip_grad_norm(net.parameters(), 1.0);
    adam.step();
    adam.zero_grad();
    return loss;
  });

  step.prepare({Spec{neap::f32, {kBatch, 2}}, Spec{neap::i64, {kBatch}}});
  if (is_rehearsal) {
    const auto said = neap::compiler::predict(step.program(), step.plan());
    std::printf("%s\n", format(said, {.max_lines = 6}).c_str());
  }

  for (std::int64_t i = 0; i < (is_rehearsal ? 3 : kSteps); ++i) {
    const auto [x, labels] = make_batch();
    const Tensor loss = step(x, labels);
    if (!is_rehearsal && i % 50 == 0) {
      std::printf("step %3lld  loss %.3f\n", static_cast<long long>(i),
                  loss.item());
    }
  }
  Outcome outcome{domain->stats(), step.arena_bytes()};
  if (!is_rehearsal) {
    outcome.accuracy = accuracy_of(net);
  }
  return outcome;
}

bool train_as_predicted() {
  const Outcome predicted = train(true);
  const Outcome measured = train(false);
  std::printf("accuracy %.1f %%\n", measured.accuracy * 100);
  std::printf("arena    predicted %s, measured %s\n",
              neap::format_bytes(predicted.arena).c_str(),
              neap::format_bytes(measured.arena).c_str());
  std::printf("peak     predicted %s, measured %s\n\n",
              neap::format_bytes(predicted.stats.peak).c_str(),
              neap::format_bytes(measured.stats.peak).c_str());
  return measured.accuracy > 0.9 && predicted.stats.peak == measured.stats.peak;
}

// A program can be read, drawn and taken apart.
bool look() {
  const Tensor w = requires_grad_(neap::ones({3, 4}));
  auto step = neap::compile([&](const Tensor& x) {
    Tensor loss = mean(square(tanh(matmul(x, w))));
    backward(loss);
    return loss;
  });
  step.prepare({Spec{neap::f32, {2, 3}}});
  const auto& program = step.program();
  std::printf("%s\n",
              print(program, {.offsets = value_offsets(step.plan())}).c_str());
  return !to_dot(program).empty() && !to_json(program).empty();
}

// A result may be read until the next call, unless it is kept.
bool results() {
  auto doubled = neap::compile([](const Tensor& x) { return x * 2.0; });
  const Tensor first = doubled(neap::ones({2}));
  doubled(neap::zeros({2}));
  bool is_refused = false;
  try {
    std::printf("%s\n", format(first).c_str());
  } catch (const neap::UseAfterRelease& error) {
    std::printf("%s\n", error.what());
    is_refused = true;
  }
  auto kept = neap::compile([](const Tensor& x) { return x * 2.0; },
                            {.keep_all = true});
  const Tensor mine = kept(neap::ones({2}));
  kept(neap::zeros({2}));
  return is_refused && mine.at({0}) == 2.0;
}

// Another number is no new trace; another mode is one.
bool arguments() {
  neap::nn::Dropout layer(0.5);
  auto step = neap::compile([&](const Tensor& x, const Tensor& weight) {
    return sum(layer(x) * weight);
  });
  const Tensor x = neap::ones({8});
  step(x, 0.5);
  step(x, 2.0);
  layer.eval();
  const double in_evaluation = step(x, 2.0).item();
  std::printf("traced %lld times\n", static_cast<long long>(step.traces()));
  return in_evaluation == 16.0 && step.traces() == 2;
}

// A branch by a value is not known before the step runs.
bool refuses() {
  auto step = neap::compile(
      [](const Tensor& x) { return sum(x).item() > 0.0 ? x : -x; });
  try {
    step(neap::ones({4}));
  } catch (const neap::TraceError& error) {
    std::printf("%s\n", error.what());
  }
  auto chooses = neap::compile(
      [](const Tensor& x) { return where(gt(sum(x), 0.0), x, -x); });
  return chooses(neap::ones({4})).at({0}) == 1.0;
}

// One arena for all batches up to the largest.
bool batches() {
  auto step = neap::compile([](const Tensor& x) { return sum(exp(x)); },
                            {.max_batch = 256, .warm = {64}});
  step(neap::zeros({100, 32}));
  const neap::Bytes arena = step.arena_bytes();
  step(neap::zeros({256, 32}));
  step(neap::zeros({64, 32}));
  try {
    step(neap::zeros({257, 32}));
  } catch (const neap::PlanError& error) {
    std::printf("%s\n", error.what());
  }
  return step.arena_bytes() == arena && step.programs() == 3;
}

// A handle that the step assigns to goes on from call to call.
bool state() {
  Tensor average = neap::zeros({3});
  auto step = neap::compile(
      [&](const Tensor& x) { average = average * 0.9 + x * 0.1; });
  Tensor plain = neap::zeros({3});
  for (int i = 0; i < 4; ++i) {
    plain = plain * 0.9 + neap::ones({3}) * 0.1;
    step(neap::ones({3}));
  }
  return average.at({0}) == plain.at({0});
}

}  // namespace

int main() {
  const bool is_right = train_as_predicted() && look() && results() &&
                        arguments() && refuses() && state() && batches();
  const neap::Bytes live = neap::memory::domain().stats().live;
  std::printf("live at exit: %s\n", neap::format_bytes(live).c_str());
  return is_right && live == 0 ? 0 : 1;
}
