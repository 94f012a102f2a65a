// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Generator: seed and number of the next draw. A random op takes one draw; the
// element index inside it is the counter (see base/philox.hpp), so no thread
// count or split changes a value.
#pragma once

#include "neap/base/philox.hpp"
#include "neap/memory/context.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::tensor {

/// In a step that is traced the current generator is one of the trace, whose
/// draws become those of each run. The step is refused where it asks for a
/// state, or uses a generator of its own choice, which no run would do again.
class NEAP_API Generator {
 public:
  explicit Generator(std::uint64_t seed = 0) noexcept : key_{seed, 0} {}
  Generator(const Generator& other,
            const CallSite& site = CallSite::here()) noexcept
      : key_(other.next(site)) {}
  Generator& operator=(const Generator& other) noexcept {
    if (tell("operator=", {})) {
      key_ = other.key_;
    }
    return *this;
  }
  ~Generator() = default;

  /// The key of the next draw, which advance() then uses up. They are two
  /// steps so that an op that fails has drawn nothing. In a step that is traced
  /// each next() must be followed by its advance(): a key that no draw takes is
  /// a question for the state.
  const base::DrawKey& next(
      const CallSite& site = CallSite::here()) const noexcept {
    tell("next", site);
    return key_;
  }
  void advance(const CallSite& site = CallSite::here()) noexcept {
    if (tell("advance", site)) {
      ++key_.draw;
    }
  }

  /// Whole state: saving and restoring it repeats the draws.
  const base::DrawKey& state(
      const CallSite& site = CallSite::here()) const noexcept {
    tell("state", site);
    return key_;
  }
  void set_state(const base::DrawKey& state,
                 const CallSite& site = CallSite::here()) noexcept {
    if (tell("set_state", site)) {
      key_ = state;
    }
  }

  /// state() and set_state() for the library, which a trace does not hear.
  const base::DrawKey& key() const noexcept { return key_; }
  void set_key(const base::DrawKey& key) noexcept { key_ = key; }

 private:
  // RETURNS: whether it may be changed.
  bool tell(const char* function, const CallSite& site) const noexcept {
    Creator* creator = thread_execution().creator;
    return creator == nullptr || tell_trace(*creator, function, site);
  }
  bool tell_trace(Creator& creator, const char* function,
                  const CallSite& site) const noexcept;

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
