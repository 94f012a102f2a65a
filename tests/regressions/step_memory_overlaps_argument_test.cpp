// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A borrowed argument that begins before the memory that a step was lent, and
// runs into it, was written over while the step read it: wrong numbers.
#include <gtest/gtest.h>

#include <array>
#include <span>

#include "neap/compile/compile_for_test.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

class StepMemoryOverlapsArgumentTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kArgument = 1000;
  static constexpr std::size_t kBlock = 8192;

  // The argument begins so many floats after the buffer does.
  Tensor argument_at(std::size_t begin) {
    return Tensor::borrow(std::span(buffer_).subspan(begin, kArgument),
                          {kArgument});
  }
  CompileOptions lent_from(std::size_t begin) {
    CompileOptions how;
    how.memory =
        std::as_writable_bytes(std::span(buffer_).subspan(begin, kBlock));
    return how;
  }

  alignas(64) std::array<float, 12288> buffer_{};
};

TEST_F(StepMemoryOverlapsArgumentTest, IsRefused) {
  for (const std::size_t block : {1000U, 1001U, 1016U}) {
    auto step = neap::compile([](const Tensor& x) { return sum(tanh(x)); },
                              lent_from(block));
    EXPECT_THROW(step(argument_at(block - 8)), ValueError) << block;
    EXPECT_THROW(step(argument_at(block + 8)), ValueError) << block;
  }
}

TEST_F(StepMemoryOverlapsArgumentTest, BesideTheMemoryIsAllowed) {
  auto step = neap::compile([](const Tensor& x) { return sum(tanh(x)); },
                            lent_from(1008));
  EXPECT_EQ(step(argument_at(0)).item(), 0.0);
  EXPECT_EQ(step(argument_at(1008 + kBlock)).item(), 0.0);
}

TEST_F(StepMemoryOverlapsArgumentTest, SoIsACapturedTensor) {
  const Tensor captured = argument_at(992);
  auto step = neap::compile([&](const Tensor& x) { return sum(captured * x); },
                            lent_from(1008));
  EXPECT_THROW(step(ones({kArgument})), ValueError);
}

}  // namespace
}  // namespace neap::compiler
