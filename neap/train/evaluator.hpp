// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Evaluator: passes over a loader's data that measure a model, without
// gradients and in evaluation mode. Compiled, a pass runs as a plan, which is
// kept from one to the next, with the same bits. evaluate() is a single pass.
#pragma once

#include "neap/data/loader.hpp"
#include "neap/nn/layer.hpp"
#include "neap/train/trainer.hpp"

namespace neap::train {

struct Evaluation {
  double loss = 0.0;      // mean over samples; NaN where there are none
  double accuracy = 0.0;  // in [0, 1]; NaN without samples or labels
  std::int64_t samples = 0;
};

struct EvaluateOptions {
  Loss loss{};           // mean over samples; empty: cross_entropy
  bool compile = false;  // the pass runs as a plan, with the same bits
  CompileOptions compile_options{};  // the loader sets the batches
};

/// LIFETIME: model and loader outlive it. One thread at a time.
class NEAP_API Evaluator {
 public:
  /// THROWS: OutOfMemory.
  Evaluator(nn::Layer& model, data::Loader& loader,
            EvaluateOptions options = {}, CallSite site = CallSite::here());
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  /// Traces and plans the pass, for all sizes of the loader's batches, so that
  /// run() needs no more memory. Nothing without `compile`, or without a batch.
  /// THROWS: as run(); PlanError.
  void prepare(CallSite site = CallSite::here());

  /// One pass. Every module's mode is restored. A loader without a batch gives
  /// NaN, over 0 samples. THROWS: whatever a layer, the loss or the allocator
  /// throws; compiled, as neap::compile.
  Evaluation run(CallSite site = CallSite::here());

 private:
  struct Planned;

  nn::Layer& model_;
  data::Loader& loader_;
  EvaluateOptions options_;
  memory::Owned<Planned> planned_;  // null: not compiled
};

/// A single pass. THROWS: as Evaluator::run.
NEAP_API Evaluation evaluate(nn::Layer& model, data::Loader& loader,
                             const EvaluateOptions& options = {},
                             CallSite site = CallSite::here());

}  // namespace neap::train
