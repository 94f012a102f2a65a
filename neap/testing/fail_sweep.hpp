// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Walks every failure path of an action: its n-th request at the domain fails,
// for n = 1, 2, ... until it succeeds undisturbed. Sanitized builds skip six of
// seven requests behind the first hundred.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "neap/memory/domain.hpp"

namespace neap::testing {

struct SweepResult {
  std::int64_t failures = 0;          // failed runs, each checked
  std::vector<std::string> problems;  // leaks, wrong exceptions; empty: fine

  bool ok() const noexcept { return problems.empty(); }
};

/// Runs `action` until it succeeds. After every failed run, live and lent bytes
/// and blocks of `domain` must be what they were before it, and `check` (if
/// any) is called with n; what it throws is let through. The run that succeeds
/// may keep what it made. Ends early at the first problem, or after `limit`
/// runs. The domain's fault switch is off afterwards.
/// REQUIRES: `action` asks at `domain` in this thread alone.
NEAP_API SweepResult sweep_allocation_failures(
    memory::Domain& domain, const std::function<void()>& action,
    const std::function<void(std::int64_t n)>& check = {},
    std::int64_t limit = 1'000'000);

}  // namespace neap::testing
