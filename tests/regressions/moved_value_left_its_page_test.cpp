// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A result of its own block took over the memory of a value that had been read
// back from the spill file. Moves fill whole pages, which that block had not:
// the run failed, or wrote beyond the block.
#include <gtest/gtest.h>

#include <utility>

#include "neap/compile/compile_for_test.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

constexpr std::int64_t kRows = 24;  // 2304 bytes a value: less than a page
constexpr std::int64_t kWidth = 24;

// Two values wait for the end of something wider.
struct Waits {
  std::pair<Tensor, Tensor> operator()(const Tensor& x) const {
    const Tensor early = x * 2.0;
    const Tensor other = x * 3.0;
    const Tensor wide = unsqueeze(x, 1) * columns;
    const Tensor total = sum(sin(wide) * wide);
    return {exp(early), total + sum(other)};
  }
  Tensor columns = randn({30, kWidth});
};

TEST(MovedValueLeftItsPageTest, AResultHasABlockOfItsOwn) {
  const files::TemporaryFolder folder;
  seed(3);
  const Waits waits;
  const Tensor x = randn({kRows, kWidth});
  const auto plain = waits(x);
  compiler::Passes in_order{.micro_batches = 1};
  in_order.reorder = false;
  in_order.fuse = false;
  auto whole = compile(waits, {.keep_all = true, .passes = in_order});
  whole(x);
  CompileOptions options{
      .arena_limit = whole.arena_bytes() - memory::kAlignment,
      .spill = {.folder = folder.path(),
                .write_rate = 1'000'000'000'000,
                .fetch_rate = 1'000'000'000'000,
                .least = 64},
      .recompute = false,
      .keep_all = true,
      .passes = in_order};
  auto step = compile(waits, options);
  const auto results = step(x);
  const compiler::Program& program = step.program();
  EXPECT_EQ(program.fitting.spilled, 2U);
  EXPECT_EQ(program[program.results[0].operand.value].over, compiler::kNoValue);
  EXPECT_EQ(compiler::floats(results.first), compiler::floats(plain.first));
  EXPECT_EQ(compiler::floats(results.second), compiler::floats(plain.second));
}

}  // namespace
}  // namespace neap
