// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/engine/precision.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {
namespace {

TEST(PrecisionTest, HasNames) {
  EXPECT_STREQ(name_of(Precision::kF32), "f32");
  EXPECT_STREQ(name_of(Precision::kBf16), "bf16");
}

TEST(PrecisionTest, HasBf16DotProductsWhereTheProcessorAndTheLevelHave) {
  std::ifstream file("/proc/cpuinfo");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  if (text.empty()) {
    GTEST_SKIP() << "no /proc/cpuinfo";
  }
  const bool is_listed = text.find(" avx512_bf16") != std::string::npos;
  EXPECT_EQ(has_bf16_dot(), is_listed && std::string_view(isa()) == "avx512");
}

}  // namespace
}  // namespace neap::kernels
