// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "fuzz_run.hpp"

#include <fmt/format.h>

#include "shrink.hpp"

namespace neap::lifetimes {
namespace {

// Every try has a domain of its own, since a failure may leave bytes behind.
std::string failure_of(const Program& program, Companion& companion,
                       const HeaderBytes& headers, std::string* log) {
  const auto domain = Domain::create();
  Mix mix;
  return Trial(*domain, companion, headers).run(program, mix, log);
}

std::string described(const Program& failing, Companion& companion,
                      const HeaderBytes& headers) {
  const Program least = shrink(failing, [&](const Program& program) {
    return !failure_of(program, companion, headers, nullptr).empty();
  });
  std::string log;
  const std::string failure = failure_of(least, companion, headers, &log);
  return fmt::format("seed {}, cut down to {} actions:\n{}{}", failing.seed,
                     least.actions.size(), log, failure);
}

}  // namespace

std::string run_fuzz(std::uint64_t first, std::int64_t count, Mix& mix) {
  const auto domain = Domain::create();
  Companion companion;
  const HeaderBytes headers = measure_headers(*domain);
  Trial trial(*domain, companion, headers);
  Program program;
  for (std::int64_t i = 0; i < count; ++i) {
    generate(first + static_cast<std::uint64_t>(i), program);
    const std::string failure = trial.run(program, mix);
    if (!failure.empty()) {
      return fmt::format("program {} of {}: {}\nseen first: {}", i + 1, count,
                         described(program, companion, headers), failure);
    }
  }
  return {};
}

}  // namespace neap::lifetimes
