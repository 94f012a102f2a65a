// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Random programs on the library and on the reference model, side by side.
//
// Errors that were planted in the library, one at a time, and how many programs
// it took to see each:
//
//   a retired node tells only those made from it directly             6
//   an unavailable node keeps its residuals and edges                 4
//   a release ends what another handle still needs                    6
//   a gradient is added twice                                         4
//   retain_graph is ignored                                           2
//   a retired input is not noticed when a node is made                3
//   a scope revokes what was kept                                    21
//   the version of a kept value is not checked                       87
//   grad consumes beside what lies between outputs and inputs         1
//   an op takes over memory that another node keeps                   1
//   an op takes over the tail of a larger storage                   191
//   the block of a revoked handle's header goes before the handle     9
#include <gtest/gtest.h>

#include <iostream>

#include "fuzz_run.hpp"

namespace neap::lifetimes {
namespace {

TEST(LifetimesTest, RandomProgramsDoAsTheReferenceModelSays) {
#if defined(NEAP_CHECKED)
  constexpr std::int64_t kPrograms = 10'000;
#else
  constexpr std::int64_t kPrograms = 100'000;
#endif
  Mix mix;
  const std::string failure = run_fuzz(1, kPrograms, mix);
  EXPECT_TRUE(failure.empty()) << failure;
  std::cout << mix.text();
  EXPECT_GE(mix.performed() - mix.idle, 30 * mix.programs);
}

}  // namespace
}  // namespace neap::lifetimes
