// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "training.hpp"

#include <gtest/gtest.h>

#include "neap/optim/clip.hpp"
#include "neap/optim/schedule.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/train/state_hash.hpp"

namespace neap::tests {
namespace {

Tensor random(const tensor::Spec& spec, std::int64_t classes) {
  return spec.dtype == i64 ? randint(0, classes, spec.shape)
                           : randn(spec.shape, spec.dtype);
}

}  // namespace

Training::Training(const TrainingOptions& options)
    : options_(options),
      domain_(Domain::create({.host = options.host,
                              .event_capacity = options.event_capacity,
                              .is_rehearsal = options.is_rehearsal})),
      use_(*domain_),
      pool_(options.threads),
      executor_([this](tensor::Execution& c) { c.executor = &pool_; }),
      generator_(7),
      use_generator_(generator_),
      subject_(make_subject(options.kind)),
      optimizer_(std::make_unique<optim::AdamW>(
          subject_->module().parameters(),
          optim::AdamOptions{.weight_decay = 1e-2})) {
  optimizer_->set_schedule(optim::warm_up(1e-2, 4));
}

Tensor Training::plain(const Tensor& x, const Tensor& y) {
  Tensor loss = subject_->differentiate(x, y);
  optim::clip_grad_norm(subject_->module().parameters(), 0.5);
  optimizer_->step();
  optimizer_->zero_grad();
  return loss;
}

std::array<tensor::Spec, 2> Training::specs(std::int64_t size) const {
  return subject_->specs(size > 0 ? size : options_.batch);
}

std::pair<Tensor, Tensor> Training::batch(std::uint64_t i,
                                          std::int64_t size) const {
  return batch(i, specs(size));
}

std::pair<Tensor, Tensor> Training::batch(
    std::uint64_t i, const std::array<tensor::Spec, 2>& specs) const {
  Generator generator(1000 + i);
  const UseGenerator use(generator);
  const std::int64_t classes = subject_->classes();
  Tensor x = random(specs[0], classes);
  return {std::move(x), random(specs[1], classes)};
}

std::uint64_t Training::hash() const {
  return train::state_hash(subject_->module(), *optimizer_, generator_);
}

Trace train_eagerly(const TrainingOptions& options, int steps) {
  Training training(options);
  return train(
      training,
      [&](const Tensor& x, const Tensor& y) { return training.plain(x, y); },
      steps);
}

Trace train_compiled(const TrainingOptions& options, int steps,
                     const CompileOptions& how) {
  Training training(options);
  auto step = training.compile(how);
  Trace trace = train(training, step, steps);
  EXPECT_EQ(step.traces(), 1);
  return trace;
}

}  // namespace neap::tests
