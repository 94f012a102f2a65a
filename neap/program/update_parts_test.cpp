// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/update_parts.hpp"

#include <gmock/gmock.h>

#include <vector>

#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/program/programs_for_test.hpp"

namespace neap::compiler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// %0: argument, %1: a parameter; %2 = mul(%0, %1); %3 over %1 = sgd(%2).
struct OneUpdate : ProgramMaker {
  OneUpdate() {
    const ValueId x = argument({10});
    w = parameter({10});
    after = update(w, call(ops::kMul, {x, w}));
  }
  // The weight, as it is found to be away.
  memory::Vector<AwayMoves> moves() const {
    memory::Vector<AwayMoves> out;
    out.push_back({.what = {.external = 0,
                            .update = 1,
                            .size = 40,
                            .uses = {0, 1},
                            .before = w,
                            .after = after},
                   .is_weight = true});
    return out;
  }
  ValueId w = kNoValue;
  ValueId after = kNoValue;
};

constexpr UpdateCut kByFour{.call = 1, .each = 4};

// Where it is at home, it is written where it lies, one part after the other.
TEST(UpdateParts, OfWhatIsAtHome) {
  OneUpdate made;
  memory::Vector<AwayMoves> none;
  const auto from = cut_updates(made.program, std::span(&kByFour, 1), none);
  EXPECT_THAT(from, ElementsAre(0, 1, 1, 1));
  EXPECT_EQ(names_of(made.program), "mul sgd sgd sgd");
  EXPECT_EQ(fault_of(made.program), "");
  const Operand last = made.program.out(made.program.calls[3])[0];
  EXPECT_EQ(last.value, made.after);
  EXPECT_EQ(last.layout->offset, 8);
  EXPECT_EQ(last.layout->shape, Shape{2});
}

// Where it is away, a part is there for its own update alone.
TEST(UpdateParts, OfWhatIsAway) {
  OneUpdate made;
  memory::Vector<AwayMoves> moves = made.moves();
  cut_updates(made.program, std::span(&kByFour, 1), moves);
  ASSERT_EQ(moves.size(), 4U);
  EXPECT_EQ(moves[0].what.update, kNoCall);  // the product that reads it
  EXPECT_EQ(moves[2].what.offset, 16);
  EXPECT_EQ(moves[3].what.size, 8);
  EXPECT_FALSE(moves[3].what.is_counted);
  for (AwayMoves& one : moves) {
    const std::uint32_t use = one.what.uses[0];
    one.groups.push_back({use, use, use});
    one.await = use + 1;
  }
  keep_away(made.program, moves);
  EXPECT_EQ(names_of(made.program),
            "fetch await mul"
            " fetch await sgd spill await"
            " fetch await sgd spill await"
            " fetch await sgd spill await");
  EXPECT_EQ(fault_of(made.program), "");
  EXPECT_EQ(made.program.away_bytes(), 40);
}

// A part whose fetch begins while the whole is still on its way would take the
// place of that in the file's books.
TEST(UpdateParts, BytesMoveOnceAtATime) {
  OneUpdate made;
  memory::Vector<AwayMoves> moves = made.moves();
  cut_updates(made.program, std::span(&kByFour, 1), moves);
  for (AwayMoves& one : moves) {
    const std::uint32_t use = one.what.uses[0];
    one.groups.push_back({0, use, use});
    one.await = use + 1;
  }
  keep_away(made.program, moves);
  EXPECT_THAT(fault_of(made.program), HasSubstr("still moved"));
}

TEST(UpdateParts, OperandsLieDenseAndAreEqual) {
  OneUpdate made;
  EXPECT_EQ(elements_of_update(made.program, made.program.calls[1]), 10);
  Operand& gradient = made.program.operands[made.program.calls[1].inputs.first];
  made.relayout(gradient,
                [](tensor::Layout& layout) { layout.strides[0] = 0; });
  EXPECT_EQ(elements_of_update(made.program, made.program.calls[1]), 0);
}

}  // namespace
}  // namespace neap::compiler
