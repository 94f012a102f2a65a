// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>

#include "neap/ops/elementwise/exponential.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/program/passes.hpp"
#include "neap/program/programs_for_test.hpp"
#include "neap/program/run_for_test.hpp"
#include "neap/program/verify.hpp"

namespace neap::compiler {
namespace {

// A copy read first and last; the peak lies between.
struct Step {
  Step() : source(maker.argument({16, 16})) {
    const std::array in{maker.turned(source)};
    copied = maker.call_on(ops::kCopy, in);
    const ValueId first = maker.call(ops::kMatmul, {copied, copied});
    const ValueId wide = maker.call(ops::kExp, {first});
    const ValueId wider = maker.call(ops::kMatmul, {first, wide});
    last = maker.call(ops::kMatmul, {wider, copied});
  }
  ProgramMaker maker;
  ValueId source;
  ValueId copied;
  ValueId last;
};

TEST(CopyAgainPassTest, BackwardHasItsOwn) {
  Step step;
  step.maker.result(step.last);
  const std::array x{full({16, 16}, 0.01)};
  TestRun before(step.maker.program, x);
  const auto expected = before.run();
  rematerialise_copies(step.maker.program);
  EXPECT_EQ(fault_of(step.maker.program), "");
  EXPECT_EQ(names_of(step.maker.program), "copy matmul exp matmul copy matmul");
  TestRun after(step.maker.program, x);
  EXPECT_EQ(after.run(), expected);
}

TEST(CopyAgainPassTest, WhatIsWrittenIsCopiedOnce) {
  Step step;
  step.maker.result(step.last);
  step.maker.update(step.source, step.last);
  rematerialise_copies(step.maker.program);
  EXPECT_EQ(names_of(step.maker.program), "copy matmul exp matmul matmul sgd");
}

TEST(CopyAgainPassTest, WhatIsAResultIsCopiedOnce) {
  Step step;
  step.maker.result(step.last);
  step.maker.result(step.copied);
  rematerialise_copies(step.maker.program);
  EXPECT_EQ(names_of(step.maker.program), "copy matmul exp matmul matmul");
}

TEST(CopyAgainPassTest, WhatTheStepMadeIsCopiedOnce) {
  ProgramMaker maker;
  const ValueId made = maker.call(ops::kExp, {maker.argument({16, 16})});
  const std::array in{maker.turned(made)};
  const ValueId copied = maker.call_on(ops::kCopy, in);
  const ValueId first = maker.call(ops::kMatmul, {copied, copied});
  const ValueId wide = maker.call(ops::kExp, {first});
  const ValueId wider = maker.call(ops::kMatmul, {first, wide});
  maker.result(maker.call(ops::kMatmul, {wider, copied}));
  rematerialise_copies(maker.program);
  EXPECT_EQ(names_of(maker.program), "exp copy matmul exp matmul matmul");
}

}  // namespace
}  // namespace neap::compiler
