// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// An undefined or revoked handle as an operand of a traced step, or one that is
// revoked between two calls, ended the process.
#include <gmock/gmock.h>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile_for_test.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/memory/scope.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

using ::testing::Each;

TEST(StepUndefinedHandlesTest, AnUndefinedOperandIsATypedError) {
  const Tensor none;
  auto step = neap::compile([&](const Tensor& x) { return x + none; });
  EXPECT_THROW(step(ones({2})), UseAfterRelease);
  auto write = neap::compile([&](const Tensor& x) { copy_(none, x); });
  EXPECT_THROW(write(ones({2})), UseAfterRelease);
  auto result = neap::compile([&](const Tensor&) { return none; });
  EXPECT_THROW(result(ones({2})), TraceError);
}

TEST(StepUndefinedHandlesTest, AnOperandThatAScopeRevokedIsATypedError) {
  Tensor gone;
  {
    const memory::Scope scope("inner");
    gone = ones({2});
  }
  auto step = neap::compile([&](const Tensor& x) { return x * gone; });
  EXPECT_THROW(step(ones({2})), UseAfterRelease);
}

TEST(StepUndefinedHandlesTest, AHandleRevokedBetweenCallsIsATypedError) {
  Tensor w;
  auto step = neap::compile([&](const Tensor& x) { return x * w; });
  {
    const memory::Scope scope("inner");
    w = full({2}, 3.0);
    EXPECT_THAT(floats(step(ones({2}))), Each(3.0F));
  }
  EXPECT_THROW(step(ones({2})), UseAfterRelease);
  w = full({2}, 4.0);
  EXPECT_THAT(floats(step(ones({2}))), Each(4.0F));
}

TEST(StepUndefinedHandlesTest, AStateRevokedBetweenCallsIsATypedError) {
  Tensor h = zeros({2});
  auto step = neap::compile([&](const Tensor& x) { h = h + x; });
  step(ones({2}));
  {
    const memory::Scope scope("inner");
    step(ones({2}));
  }
  EXPECT_FALSE(h.defined());
  EXPECT_THROW(step(ones({2})), UseAfterRelease);
  h = zeros({2});
  step(ones({2}));
  EXPECT_THAT(floats(h), Each(1.0F));
}

TEST(StepUndefinedHandlesTest, AGradientOfAnUndefinedTensorIsATypedError) {
  EXPECT_THROW(set_grad(Tensor(), ones({2})), UseAfterRelease);
  EXPECT_THROW(requires_grad_(Tensor()), UseAfterRelease);
}

}  // namespace
}  // namespace neap::compiler
