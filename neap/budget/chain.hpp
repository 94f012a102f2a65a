// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The chain in a training step: stages of its forward part that hand little to
// the next one and keep much for backward, and which backward needs again from
// the last to the first (cells of a recurrent network, blocks of a deep one,
// steps of a solver).
#pragma once

#include <optional>

#include "neap/budget/uses.hpp"

namespace neap::budget {

struct Chain {
  /// Stage i has the calls from begins[i] to before begins[i + 1].
  memory::Vector<std::int32_t> begins;
  /// The first call that needs what stage i or one before it keeps; falls
  /// with i.
  memory::Vector<std::int32_t> needed_at;
  std::int64_t residual = 0;  // of a stage, the mean, rounded up
  std::int64_t state = 0;     // from one stage to the next, the same

  std::int32_t stages() const noexcept {
    return static_cast<std::int32_t>(needed_at.size());
  }
};

/// RETURNS: nothing where the calls are no chain of several stages.
/// THROWS: OutOfMemory.
NEAP_API std::optional<Chain> find_chain(const Problem& problem,
                                         const Uses& uses);

}  // namespace neap::budget
