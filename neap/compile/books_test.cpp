// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The bookkeeping of a compiled step, in bytes a call: an unrolled recurrent
// cell on very few elements, at two lengths, so that what does not grow with
// the calls does not count.
#include <gtest/gtest.h>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile_for_test.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

struct Recurrent {
  explicit Recurrent(std::int64_t count) : cells(count) {}
  std::int64_t cells;
  Tensor w = requires_grad_(full({4, 4}, 0.1));
  Tensor u = requires_grad_(full({4, 4}, 0.1));
  Tensor b = requires_grad_(full({4}, 0.1));

  Tensor operator()(const Tensor& x) const {
    Tensor h = zeros({2, 4});
    for (std::int64_t i = 0; i < cells; ++i) {
      h = tanh(matmul(select(x, 0, i), w) + matmul(h, u) + b);
    }
    const Tensor loss = sum(h);
    const std::array leaves{w, u, b};
    const auto grads = grad(std::span(&loss, 1), leaves);
    return loss + sum(grads[0]) + sum(grads[1]) + sum(grads[2]);
  }
};

struct Books {
  Bytes traced = 0;  // at the most, while it is traced and planned
  Bytes steady = 0;
  std::int64_t calls_traced = 0;
  std::int64_t calls = 0;
};

Books books_of(std::int64_t cells) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  const Recurrent body(cells);
  const std::array specs{tensor::Spec{f32, {cells, 2, 4}}};
  Books out;
  out.calls_traced =
      static_cast<std::int64_t>(trace(as_step<1>(body), specs).calls.size());
  const Bytes before = domain->stats().live;
  auto step = neap::compile(body);
  domain->reset_peak();
  step.prepare({specs[0]});
  const memory::Stats stats = domain->stats();
  out.traced = stats.live_peak - before;
  out.steady = stats.live - before - step.arena_bytes();
  out.calls = static_cast<std::int64_t>(step.program().calls.size());
  return out;
}

// Bytes that so many cells more take, for each of the calls that they add.
struct BytesPerCall {
  std::int64_t steady;
  std::int64_t traced;
};

BytesPerCall bytes_per_call() {
  const Books few = books_of(500);
  const Books many = books_of(1000);
  return {(many.steady - few.steady) / (many.calls - few.calls),
          (many.traced - few.traced) / (many.calls_traced - few.calls_traced)};
}

TEST(BooksTest, ACallTakesAtMost256BytesAsLongAsTheStepIsThere) {
  EXPECT_LE(bytes_per_call().steady, 256);
}

TEST(BooksTest, ACallTakesAtMost640BytesWhileItIsTracedAndPlanned) {
  EXPECT_LE(bytes_per_call().traced, 640);
}

TEST(BooksTest, CallsThatAreAlikeAreThereOnce) {
  const Recurrent body(100);
  auto step = neap::compile(body);
  step.prepare({tensor::Spec{f32, {100, 2, 4}}});
  const Program& program = step.program();
  EXPECT_GT(program.calls.size(), 1000U);
  EXPECT_LT(program.calls.bytes(),
            static_cast<Bytes>(40 * program.calls.size()));
}

}  // namespace
}  // namespace neap::compiler
