// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Known: a small program that once showed a fault of tracing. Each test runs
// one: the compiled step gives the plain step's bits, or refuses the call.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "twins.hpp"

namespace neap::steps {

// Whether the call may be refused.
enum class Refusal : bool { kNever, kAllowed };

struct Known {
  const char* name;
  Refusal refusal;
  const char* program;
};

inline void PrintTo(const Known& known, std::ostream* out) {
  *out << known.name;
}

class KnownFaultsTest : public ::testing::TestWithParam<Known> {};

inline constexpr auto kNever = Refusal::kNever;
inline constexpr auto kAllowed = Refusal::kAllowed;

inline std::string name_of(const ::testing::TestParamInfo<Known>& info) {
  return info.param.name;
}

}  // namespace neap::steps
