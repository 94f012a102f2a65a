// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/print.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "neap/ops/activation/relu.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/ops/precision.hpp"
#include "neap/ops/shape/concat.hpp"
#include "neap/program/dot.hpp"
#include "neap/program/json.hpp"
#include "neap/program/passes.hpp"
#include "neap/program/programs_for_test.hpp"

namespace neap::compiler {
namespace {

struct Step : ProgramMaker {
  Step() {
    const ValueId x = argument({2, 3});
    const ValueId w = parameter({3, 4});
    const ValueId y = call(ops::kMatmul, {x, w});
    check(y);
    result(call(ops::kRelu, {y}));
    const ValueId dw = call_on(ops::kMatmul, std::array{turned(x), all_of(y)});
    update(w, dw);
    program.calls[0].scratch = 2048;
    program.calls[1].name = "labels";
  }
};

std::string without_first_line(const memory::String& text) {
  return std::string(text.substr(text.find('\n') + 1));
}

TEST(PrintTest, OneLineACall) {
  Step step;
  EXPECT_EQ(without_first_line(print(step.program)),
            R"(value  what        elements    bytes
%0     argument 0  f32 [2, 3]     24
%1     captured    f32 [3, 4]     48  written
#  call                              value       bytes  lives  over  scratch  call site
0  %2 = matmul(%0[2, 3], %1[3, 4])   f32 [2, 4]     32  0-3            2 048  unknown
1  check labels(%2[2, 4])                                                     unknown
2  %3 = relu(%2[2, 4])               f32 [2, 4]     32  2-end                 unknown
3  %4 = matmul(%0[3, 2]', %2[2, 4])  f32 [3, 4]     48  3-4                   unknown
4  %5 = sgd(%4[3, 4])                f32 [3, 4]     48  4-end  %1             unknown
result %3[2, 4] f32
)");
}

TEST(PrintTest, AProductSaysThatItIsInBf16) {
  ProgramMaker maker;
  const ValueId x = maker.argument({3, 3});
  const kernels::ProductAttrs attrs{.precision = Precision::kBf16};
  maker.result(maker.call(ops::kMatmul, {x, x}, attrs));
  maker.result(maker.call(ops::kMatmul, {x, x}));
  const memory::String text = print(maker.program);
  EXPECT_NE(text.find("%1 = matmul in bf16(%0[3, 3]"), memory::String::npos)
      << text;
  EXPECT_NE(text.find("%2 = matmul(%0[3, 3]"), memory::String::npos) << text;
}

TEST(PrintTest, EveryOutputHasALine) {
  ProgramMaker maker;
  maker.result(maker.call(ops::kReluBits, {maker.argument({16})}));
  maker.result(maker.call(ops::kRelu, {ValueId{1}}));
  const memory::String text = print(maker.program);
  EXPECT_NE(
      text.find("0  %1 = relu_bits(%0[16])  f32 [16]     64  0-end  unknown\n"
                "   %2                      u8 [2]        2  0-0\n"
                "1  %3 = relu(%1[16])       f32 [16]     64  1-end  unknown\n"),
      memory::String::npos)
      << text;
}

TEST(PrintTest, TheRestIsCounted) {
  Step step;
  const memory::String text = print(step.program, {.max_calls = 2});
  EXPECT_NE(text.find("... and 3 more calls\n"), memory::String::npos);
  EXPECT_EQ(text.find("relu"), memory::String::npos);
}

TEST(PrintTest, ACallOfManyInputsShowsTheFirst) {
  ProgramMaker maker;
  const Operand x = maker.all_of(maker.argument({2}));
  const memory::Vector<Operand> many(20, x);
  maker.call_on(ops::kConcat, many, kernels::AxisAttrs{.axis = 0});
  const memory::String text = print(maker.program);
  EXPECT_NE(text.find("%0[2], %0[2], and 12 more)"), memory::String::npos)
      << text;
}

TEST(PrintTest, AnEmptyProgramIsPrinted) {
  const Program program;
  EXPECT_NE(print(program).find("program: 0 calls"), memory::String::npos);
  EXPECT_NE(to_dot(program).find("digraph"), memory::String::npos);
  EXPECT_TRUE(nlohmann::json::accept(to_json(program)));
}

TEST(JsonTest, HoldsWhatTheProgramHolds) {
  Step step;
  const auto json = nlohmann::json::parse(to_json(step.program));
  ASSERT_EQ(json["calls"].size(), 5U);
  EXPECT_EQ(json["calls"][0]["name"], "matmul");
  EXPECT_EQ(json["calls"][0]["scratch"], 2048);
  EXPECT_EQ(json["calls"][1]["kind"], "check");
  EXPECT_EQ(json["calls"][3]["inputs"][0]["shape"], nlohmann::json({3, 2}));
  EXPECT_EQ(json["calls"][3]["inputs"][0]["strides"], nlohmann::json({1, 3}));
  EXPECT_EQ(json["values"][5]["over"], 1);
  EXPECT_TRUE(json["values"][4]["over"].is_null());
  EXPECT_EQ(json["values"][1]["origin"], "external");
  EXPECT_EQ(json["externals"][0]["is_written"], true);
  EXPECT_EQ(json["results"][0]["operand"]["value"], 3);
  EXPECT_EQ(json["arguments"][0]["dtype"], "f32");
}

TEST(JsonTest, NamesOfUsersEndNothing) {
  Step step;
  step.program.calls[0].name = "a \"quoted\\\n\x01 name";
  const auto json = nlohmann::json::parse(to_json(step.program));
  EXPECT_EQ(json["calls"][0]["name"], "a \"quoted\\\n\x01 name");
  EXPECT_NE(to_dot(step.program).find("a \\\"quoted\\\\ "),
            memory::String::npos);
}

TEST(DotTest, DrawsCallsValuesAndTakeovers) {
  Step step;
  const memory::String dot = to_dot(step.program);
  for (const char* line :
       {"  c2 [label=\"2 relu\\n%3 32 B\\nunknown\"];\n",
        "  c0 -> c2 [label=\"%2 [2, 4]\"];\n",
        "  v0 -> c3 [label=\"%0 [3, 2]\"];\n", "  v1 -> c4 [style=dotted];\n",
        "  v0 [label=\"%0 argument 0\\n24 B\", shape=ellipse];\n"}) {
    EXPECT_NE(dot.find(line), memory::String::npos) << line << dot;
  }
  const memory::String some = to_dot(step.program, {.max_calls = 2});
  EXPECT_NE(some.find("... and 3 more calls"), memory::String::npos);
}

}  // namespace
}  // namespace neap::compiler
