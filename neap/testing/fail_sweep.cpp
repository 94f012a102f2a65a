// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/testing/fail_sweep.hpp"

#include <fmt/format.h>

#include "neap/memory/out_of_memory.hpp"

namespace neap::testing {
namespace {

enum class Outcome { kSucceeded, kFailed, kWrong };

class FaultSwitch {
 public:
  explicit FaultSwitch(memory::Domain& domain) noexcept : domain_(domain) {}
  ~FaultSwitch() { off(); }
  FaultSwitch(const FaultSwitch&) = delete;
  FaultSwitch& operator=(const FaultSwitch&) = delete;
  void set(std::int64_t n) noexcept { domain_.fail_at(n); }
  void off() noexcept { domain_.fail_at(0); }

 private:
  memory::Domain& domain_;
};

Outcome run(const std::function<void()>& action, std::int64_t n,
            SweepResult& result) {
  try {
    action();
    return Outcome::kSucceeded;
  } catch (const OutOfMemory& error) {
    if (error.details().reason == OutOfMemory::Reason::kInjected) {
      return Outcome::kFailed;
    }
    result.problems.push_back(
        fmt::format("failure {}: another OutOfMemory: {}", n, error.what()));
  } catch (const std::exception& error) {
    result.problems.push_back(
        fmt::format("failure {}: not OutOfMemory but: {}", n, error.what()));
  }
  return Outcome::kWrong;
}

bool is_as_before(const memory::Stats& before, const memory::Stats& after,
                  std::int64_t n, SweepResult& result) {
  if (before.live == after.live && before.live_blocks == after.live_blocks &&
      before.lent == after.lent) {
    return true;
  }
  result.problems.push_back(fmt::format(
      "failure {}: {} B in {} blocks (lent {} B) before, {} B in {} blocks "
      "(lent {} B) after",
      n, before.live, before.live_blocks, before.lent, after.live,
      after.live_blocks, after.lent));
  return false;
}

// Sanitizers make a run ten times as long: there, behind the first hundred
// requests, every seventh fails.
std::int64_t after(std::int64_t n) noexcept {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return n < 100 ? n + 1 : n + 7;
#else
  return n + 1;
#endif
}

}  // namespace

SweepResult sweep_allocation_failures(
    memory::Domain& domain, const std::function<void()>& action,
    const std::function<void(std::int64_t n)>& check, std::int64_t limit) {
  SweepResult result;
  FaultSwitch fault(domain);
  for (std::int64_t n = 1; n <= limit; n = after(n)) {
    const memory::Stats before = domain.stats();
    fault.set(n);
    const Outcome outcome = run(action, n, result);
    // An action may also do without what it was refused.
    const bool was_hit = domain.requests() >= n;
    fault.off();
    if (outcome == Outcome::kWrong ||
        (outcome == Outcome::kSucceeded && !was_hit)) {
      return result;
    }
    if (outcome == Outcome::kFailed) {
      ++result.failures;
      if (!is_as_before(before, domain.stats(), n, result)) {
        return result;
      }
      if (check) {
        check(n);
      }
    }
  }
  result.problems.push_back(
      fmt::format("the action did not succeed in {} runs", limit));
  return result;
}

}  // namespace neap::testing
