// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Generator: seed and number of the next draw. A random op takes one draw; the
// element index inside it is the counter (see base/philox.hpp), so no thread
// count or split changes a value.
#pragma once

#include "neap/base/philox.hpp"
#include "neap/memory/context.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::tensor {

class NEAP_API Generator {
 public:
  explicit Generator(std::uint64_t seed = 0) noexcept : key_{seed, 0} {}

  /// The key of the next draw, which advance() then uses up. They are two
  /// steps so that an op that fails has drawn nothing.
  const base::DrawKey& next() const noexcept { return key_; }
  void advance() noexcept { ++key_.draw; }

  /// Whole state: saving and restoring it repeats the draws.
  const base::DrawKey& state() const noexcept { return key_; }
  void set_state(const base::DrawKey& state) noexcept { key_ = state; }

 private:
  base::DrawKey key_;
};

/// The context's generator, or the process's default one (seed 0). The default
/// one is not for several threads at once: give each its own by UseGenerator.
NEAP_API Generator& generator() noexcept;

/// Makes `generator` the current thread's for a block of code.
class NEAP_API UseGenerator : public tensor::ExecutionGuard {
 public:
  explicit UseGenerator(Generator& generator)
      : ExecutionGuard(
            [&](tensor::Execution& c) { c.generator = &generator; }) {}
};

}  // namespace neap::tensor

namespace neap {
using tensor::Generator;
using tensor::UseGenerator;

/// Restarts the current generator.
NEAP_API void seed(std::uint64_t value) noexcept;
}  // namespace neap
