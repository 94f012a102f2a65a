// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/debug_run.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "neap/compile/compile.hpp"
#include "neap/ops/custom_op.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

using testing::HasSubstr;

// Writes `at` elements away from its output's begin.
struct Careless {
  static constexpr std::string_view name = "careless";
  static constexpr int inputs = 1;
  std::int64_t at = 0;
  static void shape(CustomOp::Specs in, CustomOp::OutSpecs out) {
    out[0] = in[0];
  }
  void forward(const CustomOp::Forward& c) const noexcept {
    auto* y = reinterpret_cast<float*>(c.output(0).data);
    std::fill_n(y, c.output(0).shape[0], 1.0F);
    y[at] = 2.0F;
  }
};

std::string error_with(std::int64_t at) {
  const CustomOp careless(Careless{.at = at});
  CompileOptions options;
  options.debug.guards = true;
  auto step = neap::compile(
      [&](const Tensor& x) { return exp(careless(exp(x))); }, options);
  try {
    step(zeros({16}));
    return "";
  } catch (const InternalError& error) {
    return error.what();
  }
}

TEST(DebugRunTest, GuardsNameTheCallThatWroteBesideItsOutput) {
  EXPECT_THAT(error_with(16), HasSubstr("'careless'"));
  EXPECT_THAT(error_with(16), HasSubstr("beyond"));
  EXPECT_THAT(error_with(-1), HasSubstr("before"));
  EXPECT_EQ(error_with(15), "");
}

TEST(DebugRunTest, PoisonIsAllThatIsLeftOfWhatEnded) {
  alignas(64) std::array<std::byte, 1024> memory{};
  CompileOptions options;
  options.memory = memory;
  options.debug.poison = true;
  options.passes.in_place = false;
  auto step =
      neap::compile([&](const Tensor& x) { return sum(exp(exp(x))); }, options);
  const Tensor total = step(zeros({16}));
  EXPECT_NEAR(total.item(), 16 * 2.718281828, 1e-4);
  const auto* result =
      reinterpret_cast<const std::byte*>(total.values<float>().data());
  std::size_t poisoned = 0;
  for (Bytes i = 0; i < step.plan().arena_bytes(); ++i) {
    const std::byte* at = memory.data() + i;
    if (at < result || at >= result + kUnit) {
      EXPECT_EQ(*at, std::byte{0xFF}) << i;
      ++poisoned;
    }
  }
  EXPECT_GE(poisoned, 64U);
}

}  // namespace
}  // namespace neap::compiler
