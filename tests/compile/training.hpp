// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The training of the tests of compiled training: one of several subjects, each
// with dropout, AdamW, a warm-up, clipping and weight decay, in a domain of its
// own.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "neap/compile/compile.hpp"
#include "neap/optim/adam.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/threads/pool.hpp"
#include "subject.hpp"

namespace neap::tests {

struct TrainingOptions {
  Kind kind = Kind::kMlp;
  std::int64_t batch = 7;
  int threads = 1;
  bool is_rehearsal = false;
  memory::HostAllocator host = memory::HostAllocator::kAuto;
  int event_capacity = 0;  // of its domain
};

/// A subject in training. LIFETIME: it may not move.
class Training {
 public:
  explicit Training(const TrainingOptions& options);

  /// The step as a user writes it.
  Tensor plain(const Tensor& x, const Tensor& y);
  auto compile(const CompileOptions& options = {}) {
    return neap::compile(
        [this](const Tensor& x, const Tensor& y) { return plain(x, y); },
        options);
  }
  /// The batch of step `i`; `size` 0: as the options say.
  std::pair<Tensor, Tensor> batch(std::uint64_t i, std::int64_t size = 0) const;
  /// A batch of these specs.
  std::pair<Tensor, Tensor> batch(
      std::uint64_t i, const std::array<tensor::Spec, 2>& specs) const;
  /// Specs of a batch.
  std::array<tensor::Spec, 2> specs(std::int64_t size = 0) const;
  /// Hash of everything that a step changes.
  std::uint64_t hash() const;
  Subject& subject() { return *subject_; }
  memory::Domain& domain() const { return *domain_; }
  optim::AdamW& optimizer() { return *optimizer_; }

 private:
  TrainingOptions options_;
  Domain::Handle domain_;
  UseDomain use_;
  threads::Pool pool_;
  tensor::ExecutionGuard executor_;
  Generator generator_;
  UseGenerator use_generator_;
  std::unique_ptr<Subject> subject_;
  std::unique_ptr<optim::AdamW> optimizer_;
};

/// A batch with values of many pages.
inline std::int64_t large_batch(Kind kind) {
  if (kind == Kind::kResNet || kind == Kind::kResNet34) {
    // More would be more runs of pages than a plan may have.
    return kind == Kind::kResNet ? 16 : 8;
  }
  return kind == Kind::kMlp || kind == Kind::kNewton ? 1024 : 64;
}

/// Every buffer of two pages or more on pages that do not lie together.
inline CompileOptions on_scattered_pages() {
  CompileOptions how;
  how.paged = true;
  how.debug.scatter = true;
  return how;
}

/// The outcome of a run: the loss that the host read after each step, and the
/// bits of the state.
struct Trace {
  std::vector<double> losses;
  std::uint64_t hash = 0;
  friend bool operator==(const Trace&, const Trace&) = default;
};

/// The trace of `steps` calls of `step`, a step of `training`.
template <class Step>
Trace train(Training& training, Step&& step, int steps) {
  Trace trace;
  for (int i = 0; i < steps; ++i) {
    const auto [x, y] = training.batch(static_cast<std::uint64_t>(i));
    trace.losses.push_back(step(x, y).item());
  }
  trace.hash = training.hash();
  return trace;
}

Trace train_eagerly(const TrainingOptions& options, int steps);
Trace train_compiled(const TrainingOptions& options, int steps,
                     const CompileOptions& how = {});

/// For the names of tests over kAllKinds.
inline std::string kind_of(const ::testing::TestParamInfo<Kind>& info) {
  return name_of(info.param);
}

}  // namespace neap::tests
