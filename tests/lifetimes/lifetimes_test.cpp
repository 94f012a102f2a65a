// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Random programs on the library and on the reference model, side by side.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "shrink.hpp"
#include "trial.hpp"

namespace neap::lifetimes {
namespace {

// What failed, cut down, as a person reads it.
std::string described(const Program& failing, Companion& companion,
                      const HeaderBytes& headers) {
  const auto failure_of = [&](const Program& program, std::string* log) {
    const auto domain = Domain::create();
    Mix mix;
    return Trial(*domain, companion, headers).run(program, mix, log);
  };
  const Program least = shrink(failing, [&](const Program& program) {
    return !failure_of(program, nullptr).empty();
  });
  std::string log;
  const std::string failure = failure_of(least, &log);
  return "seed " + std::to_string(failing.seed) + ", cut down to " +
         std::to_string(least.actions.size()) + " actions:\n" + log + failure;
}

// Programs with the seeds from `first` on.
void run_programs(std::uint64_t first, std::int64_t count) {
  const auto domain = Domain::create();
  Companion companion;
  const HeaderBytes headers = measure_headers(*domain);
  Trial trial(*domain, companion, headers);
  Program program;
  Mix mix;
  for (std::int64_t i = 0; i < count; ++i) {
    generate(first + static_cast<std::uint64_t>(i), program);
    if (!trial.run(program, mix).empty()) {
      FAIL() << "program " << i + 1 << " of " << count << ", "
             << described(program, companion, headers);
    }
  }
  std::cout << mix.text();
}

TEST(LifetimesTest, RandomProgramsDoAsTheReferenceModelSays) {
#if defined(NEAP_CHECKED)
  constexpr std::int64_t kPrograms = 10'000;
#else
  constexpr std::int64_t kPrograms = 100'000;
#endif
  run_programs(1, kPrograms);
}

}  // namespace
}  // namespace neap::lifetimes
