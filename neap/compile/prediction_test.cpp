// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/prediction.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/exponential.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/program/bind.hpp"
#include "neap/program/passes.hpp"
#include "neap/program/print.hpp"
#include "neap/program/programs_for_test.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::compiler {
namespace {

using memory::Category;

Tensor tensor_of(Category category, const char* path, const Shape& shape) {
  const memory::Tag tag{
      category, memory::kHost, memory::domain().owner(path), {}};
  return Tensor(
      tensor::Array::allocate({DType::kF32, shape}, tag, memory::domain()));
}

// exp(x w) with an update of w by x^T x, a gradient that is left, a result
// that is kept and a constant.
struct Step : ProgramMaker {
  void own(ValueId id, memory::OwnerId owner) {
    program.respec(id, [&](ValueSpec& spec) { spec.owner = owner; });
  }
  Step() {
    const memory::OwnerId layer = memory::domain().owner("fc");
    const ValueId x = argument({16, 16});
    const ValueId w =
        external(tensor_of(Category::kParameters, "fc.weight", {16, 16}));
    external(tensor_of(Category::kOptimizerState, "fc.weight", {16, 16}));
    const ValueId one = constant(1.0);
    const ValueId y = call(ops::kMatmul, {x, w});
    const ValueId z = call(ops::kExp, {y});
    const ValueId sum = call(ops::kAdd, {y, z});
    const ValueId dw = call(ops::kMatmul, {sum, z});
    result(call(ops::kAdd, {dw, one}), true);
    update(w, dw);
    LeafGrad& grad = program.grads.emplace_back();
    grad.is_set = true;
    grad.last = all_of(dw);
    for (std::size_t i = 0; i < program.calls.size(); ++i) {
      program.calls.change(i, [&](Call& each) { each.owner = layer; });
    }
    for (std::uint32_t v = 0; v < program.values.size(); ++v) {
      own({v}, layer);
    }
    own(dw, memory::domain().owner("fc.weight"));
  }
};

constexpr Bytes kMatrix = 16 * 16 * 4;

struct Planned {
  Program program;
  Plan plan;
  Prediction prediction;
};

Planned planned() {
  Step step;
  take_over_inputs(step.program);
  bind(step.program, tensor::executor());
  Plan made = plan(step.program, tensor::executor().threads());
  Prediction said = predict(step.program, made);
  return {std::move(step.program), std::move(made), std::move(said)};
}

TEST(PredictionTest, WhatStaysIsCountedByWhatItIs) {
  const Planned p = planned();
  const auto of = [&](Category category) {
    return p.prediction
        .persistent_by_category[static_cast<std::size_t>(category)];
  };
  EXPECT_EQ(of(Category::kParameters), kMatrix);
  EXPECT_EQ(of(Category::kOptimizerState), kMatrix);
  EXPECT_EQ(of(Category::kGradients), kMatrix);
  EXPECT_EQ(of(Category::kActivations), kMatrix);  // the kept result
  EXPECT_EQ(p.prediction.constants, 4);
  EXPECT_EQ(p.prediction.persistent, 4 * kMatrix + 4);
  EXPECT_EQ(p.prediction.arguments, kMatrix);
  Bytes sum = 0;
  for (const Bytes bytes : p.prediction.persistent_by_category) {
    sum += bytes;
  }
  EXPECT_EQ(sum, p.prediction.persistent);
}

TEST(PredictionTest, ThePeakIsThePlans) {
  const Planned p = planned();
  EXPECT_EQ(p.prediction.arena, p.plan.arena_bytes());
  EXPECT_EQ(p.prediction.gap(), 0);
  EXPECT_EQ(p.prediction.live_at_peak, p.prediction.arena);
  Bytes live = 0;
  Bytes scratch = 0;
  for (const PeakLine& line : p.prediction.at_peak) {
    live += line.bytes;
    scratch += line.value == kNoValue ? line.bytes : 0;
    EXPECT_EQ(line.layer, "fc");
  }
  EXPECT_EQ(live, p.prediction.live_at_peak);
  EXPECT_EQ(scratch, p.prediction.workspace);
  EXPECT_EQ(p.prediction.peak(), p.prediction.persistent + p.prediction.arena +
                                     p.prediction.program);
  EXPECT_EQ(p.prediction.peak_op, p.program.calls[p.prediction.peak_call].name);
  EXPECT_EQ(p.prediction.peak_layer, "fc");
}

TEST(PredictionTest, LayersHaveTheirTensorsAndTheirPartOfThePeak) {
  const Planned p = planned();
  ASSERT_EQ(p.prediction.by_layer.size(), 2U);
  EXPECT_EQ(p.prediction.by_layer[0].layer, "");  // the constant
  EXPECT_EQ(p.prediction.by_layer[0].persistent, 4);
  EXPECT_EQ(p.prediction.by_layer[1].layer, "fc");
  EXPECT_EQ(p.prediction.by_layer[1].persistent, 4 * kMatrix);
  EXPECT_EQ(p.prediction.by_layer[1].at_peak, p.prediction.live_at_peak);
}

TEST(PredictionTest, TextHasWhatWasMeasuredBesideIt) {
  const Planned p = planned();
  const Measured measured{.arena = p.prediction.arena + 64};
  const memory::String text =
      format(p.prediction, {.max_lines = 1, .measured = &measured});
  EXPECT_NE(text.find("  optimizer state"), memory::String::npos) << text;
  const std::size_t arena = text.find("\narena");
  ASSERT_NE(arena, memory::String::npos) << text;
  const std::size_t end = text.find('\n', arena + 1);
  EXPECT_EQ(text.substr(end - 4, 4), "  64") << text;
  EXPECT_NE(text.find("... and "), memory::String::npos) << text;
  EXPECT_EQ(format(p.prediction).find("measured"), memory::String::npos);
}

TEST(PredictionTest, JsonHasTheNamesThatToolsLookFor) {
  const Planned p = planned();
  const Measured measured{.peak = 7};
  const auto json =
      nlohmann::json::parse(to_json(p.prediction, {.measured = &measured}));
  for (const char* name : {"peak_bytes", "arena_bytes", "lower_bound_bytes",
                           "persistent_bytes", "workspace_bytes", "by_category",
                           "by_layer", "peak_step", "ops", "plan_seconds"}) {
    EXPECT_TRUE(json.contains(name)) << name;
  }
  EXPECT_EQ(json["peak_bytes"], p.prediction.peak());
  EXPECT_EQ(json["by_category"]["parameters"], kMatrix);
  EXPECT_EQ(json["peak_step"]["op"], std::string(p.prediction.peak_op));
  EXPECT_EQ(json["measured"]["peak_bytes"], 7);
  EXPECT_FALSE(json["measured"].contains("arena_bytes"));
  Bytes layers = 0;
  for (const auto& [name, bytes] : json["by_layer"].items()) {
    layers += bytes.get<Bytes>();
  }
  EXPECT_EQ(layers, p.prediction.persistent + p.prediction.live_at_peak);
}

TEST(PrintTest, APlanSaysWhereValuesLie) {
  const Planned p = planned();
  const memory::String text =
      print(p.program, {.offsets = value_offsets(p.plan)});
  EXPECT_NE(text.find("  offset"), memory::String::npos);
  EXPECT_EQ(print(p.program).find("  offset"), memory::String::npos);
}

TEST(PredictionTest, AnEmptyProgramNeedsNothing) {
  Program program;
  const Prediction prediction = predict(program, plan(program, 1));
  EXPECT_EQ(prediction.persistent + prediction.arena, 0);
  EXPECT_TRUE(nlohmann::json::accept(to_json(prediction)));
  EXPECT_NE(format(prediction).find("peak"), memory::String::npos);
}

}  // namespace
}  // namespace neap::compiler
