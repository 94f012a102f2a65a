// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Heads in pieces of rows have the bits of the whole, or are left whole.
#include <gmock/gmock.h>

#include <functional>
#include <string>

#include "neap/autograd/backward.hpp"
#include "neap/compile/trace_test.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/ops.hpp"
#include "neap/ops/precision.hpp"
#include "neap/program/head_region.hpp"
#include "neap/program/passes.hpp"
#include "neap/program/programs_for_test.hpp"
#include "neap/threads/pool.hpp"

namespace neap::compiler {
namespace {

constexpr std::int64_t kIgnored = -100;

struct Case {
  std::int64_t rows = 12;
  std::int64_t width = 5;
  std::int64_t classes = 7;
  DType dtype = DType::kF32;
  bool has_bias = true;
  bool is_linear = true;  // else a matmul with w (width, classes)
  Precision precision = Precision::kF32;
  CrossEntropyOptions loss{};
  double scale = 1.0;
  std::int64_t ignored_to = 0;  // labels [0, ignored_to) are to be ignored
};

Tensor noise(const Shape& shape, DType dtype) {
  const NoGrad guard;
  Tensor t = cast(randn(shape), dtype);
  return requires_grad_(t);
}

// The features, weights and labels of a head.
struct World {
  explicit World(const Case& c)
      : x(noise({c.rows, c.width}, c.dtype)),
        w(noise(
            c.is_linear ? Shape{c.classes, c.width} : Shape{c.width, c.classes},
            c.dtype)),
        b(noise({c.classes}, c.dtype)),
        labels(zeros({c.rows}, i64)) {
    for (std::int64_t i = 0; i < c.rows; ++i) {
      labels.mutable_values<std::int64_t>()[static_cast<std::size_t>(i)] =
          i < c.ignored_to ? kIgnored : (i * 5 + 3) % c.classes;
    }
  }
  Tensor x, w, b, labels;
};

Tensor logits_of(const Case& c, const World& world) {
  if (!c.is_linear) {
    return matmul(world.x, world.w);
  }
  return c.has_bias ? linear(world.x, world.w, world.b)
                    : linear(world.x, world.w);
}

using Body = std::function<void(const Tensor& labels, Many& out)>;

// The loss and all its gradients.
Body body_of(const Case& c, const World& world) {
  return [&](const Tensor& labels, Many& out) {
    const UsePrecision precision(c.precision);
    const Tensor loss = cross_entropy(logits_of(c, world), labels, c.loss);
    const Tensor scaled = c.scale == 1.0 ? loss : loss * c.scale;
    Gradients grads = c.is_linear && c.has_bias
                          ? grad(scaled, {world.x, world.w, world.b})
                          : grad(scaled, {world.x, world.w});
    out.push_back(loss.detach());
    for (std::size_t i = 0; i < grads.size(); ++i) {
      out.push_back(grads.take(i));
    }
  };
}

Program traced(const Body& body, const Tensor& labels) {
  Program program = trace([&](In in, Many& out) { body(in[0], out); },
                          std::array{labels.spec()});
  remove_dead_code(program);
  return program;
}

std::size_t count_of(const Program& program, std::string_view name) {
  return static_cast<std::size_t>(
      std::ranges::count_if(program.calls, [&](const Call& call) {
        return call.kind != CallKind::kCheck && call.name == name;
      }));
}

// The program in k pieces is valid, and gives the bits of the whole.
void expect_same_in(std::uint32_t k, const Program& whole, const Many& expected,
                    const Tensor& labels, std::int64_t rows) {
  SCOPED_TRACE(testing::Message() << k << " pieces");
  Program program = whole.copy();
  const EffectOrder order(program);
  ASSERT_EQ(cut_into_pieces(program, k), 1U);
  EXPECT_EQ(fault_of(program), "");
  EXPECT_EQ(order.fault_of(program), "");
  EXPECT_EQ(count_of(program, "cross_entropy"), 0U);
  EXPECT_EQ(count_of(program, "cross_entropy_rows"), program.fitting.pieces);
  EXPECT_LE(program.fitting.pieces, std::min<std::int64_t>(k, rows));
  expect_same(interpret(program, std::span(&labels, 1)), expected);
  Program passed = whole.copy();
  run_passes(passed, Passes{.pieces = k});
  EXPECT_EQ(fault_of(passed), "");
  EXPECT_EQ(passed.fitting.pieces, program.fitting.pieces);
  expect_same(interpret(passed, std::span(&labels, 1)), expected);
}

void expect_same_bits(const Case& c) {
  SCOPED_TRACE(testing::Message()
               << c.rows << " x " << c.width << " x " << c.classes);
  seed(3);
  const World world(c);
  const Program whole = traced(body_of(c, world), world.labels);
  const Many expected = interpret(whole, std::span(&world.labels, 1));
  for (std::uint32_t k = 2; k <= static_cast<std::uint32_t>(c.rows) + 2; ++k) {
    expect_same_in(k, whole, expected, world.labels, c.rows);
    if (testing::Test::HasFailure()) {
      return;
    }
  }
}

TEST(PiecesTest, EveryNumberOfPiecesHasTheBitsOfTheWhole) {
  expect_same_bits({});
  expect_same_bits({.rows = 13});
  expect_same_bits({.rows = 3, .classes = 1});
  expect_same_bits({.dtype = DType::kF64});
  expect_same_bits({.has_bias = false});
  expect_same_bits({.has_bias = false, .is_linear = false});
  expect_same_bits({.rows = 7, .classes = 300});  // rows of their own
}

TEST(PiecesTest, SumsMeansAndSmoothedLabels) {
  expect_same_bits({.loss = {.reduction = Reduction::kSum}});
  expect_same_bits({.loss = {.label_smoothing = 0.1}});
  expect_same_bits({.classes = 300, .loss = {.label_smoothing = 0.1}});
  expect_same_bits(
      {.dtype = DType::kF64,
       .loss = {.reduction = Reduction::kSum, .label_smoothing = 0.2}});
}

TEST(PiecesTest, TheMeanIsOverTheRowsOfTheWholeThatCount) {
  expect_same_bits({.ignored_to = 5});
  expect_same_bits({.loss = {.label_smoothing = 0.1}, .ignored_to = 6});
  expect_same_bits({.ignored_to = 12});  // none counts
}

TEST(PiecesTest, ALossThatIsScaled) {
  expect_same_bits({.scale = 0.125});
  expect_same_bits({.loss = {.reduction = Reduction::kSum}, .scale = 3.0});
}

TEST(PiecesTest, ProductsInBf16) {
  expect_same_bits({.precision = Precision::kBf16});
  expect_same_bits({.rows = 11, .precision = Precision::kBf16});
  expect_same_bits(
      {.has_bias = false, .is_linear = false, .precision = Precision::kBf16});
}

// A bias' gradient is a sum in blocks of 1024 rows.
TEST(PiecesTest, SumsGoOnAcrossTheirBlocks) {
  for (const int threads : {1, 2}) {
    threads::Pool pool(threads);
    const tensor::ExecutionGuard guard(
        [&](tensor::Execution& e) { e.executor = &pool; });
    const Case c{.rows = 2'500, .width = 9, .classes = 70};
    seed(3);
    const World world(c);
    const Program whole = traced(body_of(c, world), world.labels);
    const Many expected = interpret(whole, std::span(&world.labels, 1));
    for (const std::uint32_t k : {2U, 3U, 7U, 10U, 1'250U}) {
      expect_same_in(k, whole, expected, world.labels, c.rows);
    }
  }
}

// --- what a piece reads and makes ------------------------------------------

TEST(PiecesTest, NoValueHasTheLogitsOfAllRows) {
  const Case c{.rows = 64, .width = 2, .classes = 100};
  const World world(c);
  Program program = traced(body_of(c, world), world.labels);
  const auto largest = [](const Program& some) {
    Bytes bytes = 0;
    for (const Value& value : some.values) {
      bytes = std::max(bytes, value.spec->size);
    }
    return bytes;
  };
  EXPECT_EQ(largest(program), 64 * 100 * 4);
  ASSERT_EQ(cut_into_pieces(program, 8), 1U);
  EXPECT_EQ(largest(program), 8 * 100 * 4);
  EXPECT_EQ(program.fitting.pieces, 8U);
}

TEST(PiecesTest, ALossWithoutBackward) {
  const Case c;
  seed(3);
  const World world(c);
  const Body body = [&](const Tensor& labels, Many& out) {
    out.push_back(cross_entropy(logits_of(c, world), labels).detach());
  };
  const Program whole = traced(body, world.labels);
  const Many expected = interpret(whole, std::span(&world.labels, 1));
  expect_same_in(4, whole, expected, world.labels, c.rows);
}

// The weight is a table of features, too: its gradient is a sum over both
// uses, the head's first.
TEST(PiecesTest, AWeightThatIsTiedIsAddedToUseByUse) {
  const Case c{.has_bias = false};
  seed(3);
  const World world(c);
  const Tensor tokens = cast(arange(12) * 0.5, i64);
  const Body body = [&](const Tensor& labels, Many& out) {
    const Tensor x = tanh(embedding(world.w, tokens)) + world.x;
    const Tensor loss = cross_entropy(linear(x, world.w), labels);
    Gradients grads = grad(loss, {world.x, world.w});
    out.push_back(grads.take(0));
    out.push_back(grads.take(1));
  };
  const Program whole = traced(body, world.labels);
  const Many expected = interpret(whole, std::span(&world.labels, 1));
  for (const std::uint32_t k : {2U, 3U, 5U}) {
    expect_same_in(k, whole, expected, world.labels, c.rows);
  }
}

// Backward comes to the later use of a weight first; the other adds to it.
TEST(PiecesTest, AProductThatIsAddedToAnother) {
  const Case c{.has_bias = false};
  seed(3);
  const World world(c);
  for (const bool head_is_last : {true, false}) {
    const Body body = [&](const Tensor& labels, Many& out) {
      Tensor side;
      if (head_is_last) {
        side = linear(world.x, world.w);
      }
      const Tensor loss = cross_entropy(linear(world.x, world.w), labels);
      if (!head_is_last) {
        side = linear(world.x, world.w);
      }
      Gradients grads = grad(loss + sum(side * 0.5), {world.x, world.w});
      out.push_back(grads.take(0));
      out.push_back(grads.take(1));
    };
    const Program whole = traced(body, world.labels);
    EXPECT_EQ(count_of(whole, "matmul_add"), 2U);
    const Many expected = interpret(whole, std::span(&world.labels, 1));
    for (const std::uint32_t k : {2U, 3U, 5U}) {
      expect_same_in(k, whole, expected, world.labels, c.rows);
    }
  }
}

TEST(PiecesTest, TwoHeadsAreCutBoth) {
  const Case c;
  seed(3);
  const World world(c);
  const Body body = [&](const Tensor& labels, Many& out) {
    const Tensor a = cross_entropy(linear(world.x, world.w), labels);
    const Tensor b = cross_entropy(linear(tanh(world.x), world.w), labels);
    Gradients grads = grad(a + b * 0.5, {world.x, world.w});
    out.push_back(grads.take(0));
    out.push_back(grads.take(1));
  };
  const Program whole = traced(body, world.labels);
  const Many expected = interpret(whole, std::span(&world.labels, 1));
  Program program = whole.copy();
  EXPECT_EQ(cut_into_pieces(program, 3), 2U);
  EXPECT_EQ(fault_of(program), "");
  expect_same(interpret(program, std::span(&world.labels, 1)), expected);
}

TEST(PiecesTest, ALossThatIsReadTwiceIsCutAsLongAsItsCotangentIsThere) {
  const Case c;
  seed(3);
  const World world(c);
  const Body body = [&](const Tensor& labels, Many& out) {
    const Tensor loss = cross_entropy(logits_of(c, world), labels);
    out.push_back((loss * 2.0 + loss).detach());
    Gradients grads = grad(loss * 2.0 + loss, {world.x, world.w});
    out.push_back(grads.take(0));
    out.push_back(grads.take(1));
  };
  const Program whole = traced(body, world.labels);
  const Many expected = interpret(whole, std::span(&world.labels, 1));
  expect_same_in(3, whole, expected, world.labels, c.rows);
}

TEST(PiecesTest, EveryPassMayFollow) {
  const Case c{.rows = 40, .scale = 0.5};
  seed(3);
  const World world(c);
  const Program whole = traced(body_of(c, world), world.labels);
  const Many expected = interpret(whole, std::span(&world.labels, 1));
  Program program = whole.copy();
  ASSERT_EQ(cut_into_pieces(program, 5), 1U);
  for (void (*pass)(Program&) :
       {remove_dead_code, merge_common, fold_constants, fuse_relu,
        fuse_elementwise, release_gradients, reorder_for_peak,
        rematerialise_copies, take_over_inputs}) {
    run_checked(pass, program);
    expect_same(interpret(program, std::span(&world.labels, 1)), expected);
  }
}

// --- what is left whole ------------------------------------------------------

std::size_t heads_cut(const Body& body, const World& world) {
  Program program = traced(body, world.labels);
  const std::string before = names_of(program);
  const std::size_t cut = cut_into_pieces(program, 3);
  if (cut == 0) {
    EXPECT_EQ(names_of(program), before);
    EXPECT_EQ(program.fitting.pieces, 0U);
  }
  EXPECT_EQ(fault_of(program), "");
  return cut;
}

TEST(PiecesTest, ACotangentThatDependsOnTheLossLeavesTheHeadWhole) {
  const Case c;
  const World world(c);
  EXPECT_EQ(heads_cut(
                [&](const Tensor& labels, Many& out) {
                  const Tensor loss =
                      cross_entropy(logits_of(c, world), labels);
                  out.push_back(grad(loss * loss, {world.w}).take(0));
                },
                world),
            0U);
}

TEST(PiecesTest, LogitsThatAreReadElsewhereLeaveTheHeadWhole) {
  const Case c;
  const World world(c);
  const auto with = [&](const std::function<void(const Tensor&, const Tensor&,
                                                 Many&)>& more) {
    return heads_cut(
        [&](const Tensor& labels, Many& out) {
          const Tensor logits = logits_of(c, world);
          const Tensor loss = cross_entropy(logits, labels);
          more(logits, loss, out);
          out.push_back(grad(loss, {world.w}).take(0));
        },
        world);
  };
  EXPECT_EQ(with([](const Tensor&, const Tensor&, Many&) {}), 1U);
  EXPECT_EQ(with([](const Tensor& logits, const Tensor&, Many& out) {
              out.push_back(logits.detach());
            }),
            0U);
  EXPECT_EQ(with([](const Tensor& logits, const Tensor&, Many& out) {
              out.push_back(argmax(logits, 1));
            }),
            0U);
  EXPECT_EQ(with([&](const Tensor& logits, const Tensor&, Many& out) {
              out.push_back(cross_entropy(logits, world.labels).detach());
            }),
            0U);
}

TEST(PiecesTest, LossesThatAreNotReducedLeaveTheHeadWhole) {
  const Case c{.loss = {.reduction = Reduction::kNone}};
  const World world(c);
  EXPECT_EQ(heads_cut(
                [&](const Tensor& labels, Many& out) {
                  const Tensor loss =
                      mean(cross_entropy(logits_of(c, world), labels, c.loss));
                  out.push_back(grad(loss, {world.w}).take(0));
                },
                world),
            0U);
}

// --- what verify() sees ------------------------------------------------------

std::string fault_after(const std::function<void(Program&)>& change) {
  const Case c;
  const World world(c);
  Program program = traced(body_of(c, world), world.labels);
  EXPECT_EQ(cut_into_pieces(program, 3), 1U);
  change(program);
  return fault_of(program);
}

std::uint32_t nth(const Program& program, std::string_view name, int n) {
  for (std::uint32_t i = 0; i < program.calls.size(); ++i) {
    const Call& call = program.calls[i];
    if (call.kind != CallKind::kCheck && call.name == name && n-- == 0) {
      return i;
    }
  }
  return kNoCall;
}

Value& made_by(Program& program, std::uint32_t call) {
  return program[program.out(program.calls[call])[0].value];
}

TEST(PiecesTest, PlantedFaultsAreFound) {
  EXPECT_EQ(fault_after([](Program&) {}), "");
  // Rows of a value that nobody filled.
  EXPECT_THAT(fault_after([](Program& p) {
                made_by(p, nth(p, "cross_entropy_rows", 0)).over = kNoValue;
              }),
              testing::HasSubstr("sets only a part of"));
  // A product that does not go on with the piece before.
  EXPECT_THAT(fault_after([](Program& p) {
                made_by(p, nth(p, "matmul_add", 1)).over =
                    made_by(p, nth(p, "matmul_add", 0)).over;
              }),
              testing::HasSubstr("takes over what is not there"));
  // A product that goes on with a piece to come.
  EXPECT_THAT(fault_after([](Program& p) {
                p.calls.swap(nth(p, "matmul_add", 0), nth(p, "matmul_add", 1));
              }),
              testing::HasSubstr("before it is set"));
  // A sum that is read while it is still added to.
  EXPECT_THAT(fault_after([](Program& p) {
                const Call end = p.calls[nth(p, "sum_rows_end", 0)];
                Operand& state = p.operands[end.inputs.first];
                state.value = p[state.value].over;
              }),
              testing::HasSubstr("after another value took its memory over"));
}

TEST(PiecesTest, OnePieceIsTheWhole) {
  const Case c;
  const World world(c);
  Program program = traced(body_of(c, world), world.labels);
  EXPECT_EQ(cut_into_pieces(program, 0), 0U);
  EXPECT_EQ(cut_into_pieces(program, 1), 0U);
  const Case few{.rows = 2};  // a piece has two rows at least
  const World small(few);
  program = traced(body_of(few, small), small.labels);
  EXPECT_EQ(cut_into_pieces(program, 2), 0U);
}

}  // namespace
}  // namespace neap::compiler
