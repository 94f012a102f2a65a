// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Rows T1, T2, T5 to T7, T9 and T10: memory without a collector and without
// disposing by name. Scopes are in torchsharp_scope_test.cpp.
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>

#include "support.hpp"

namespace neap::four_systems {
namespace {

TEST(FourSystemsTest, DestructionOfTheLastHandleFreesEveryTime_T1) {
  const Bytes before = live();
  for (int i = 0; i < 100; ++i) {
    Tensor x = ones({1000});
    const Tensor also = x;
    x = Tensor();
    EXPECT_GT(live(), before);
    EXPECT_EQ(also.at({999}), 1);
    if (i % 2 == 0) {
      continue;  // however the block is left
    }
    EXPECT_EQ(live_of(memory::Category::kOther), 4000);
  }
  EXPECT_EQ(live(), before);
}

Tensor of_wrong_shapes() {
  const Tensor x = leaf({1, 2, 3});
  const Tensor y = tanh(x) * x;
  return matmul(y, ones({4}, f64));
}

TEST(FourSystemsTest, AnExceptionFreesToo_T1) {
  const Bytes before = live();
  EXPECT_THROW(of_wrong_shapes(), ShapeError);
  EXPECT_EQ(live(), before);
}

TEST(FourSystemsTest, TemporariesInAnExpressionNeedNoName_T2) {
  const Tensor predicted = requires_grad_(rand({64, 10}));
  const Tensor labels = randint(0, 10, {64});
  const Bytes before = live();
  double total = 0;
  for (int i = 0; i < 3; ++i) {
    total += sum(eq(argmax(predicted, 1), labels)).item();
    ASSERT_EQ(live(), before);
  }
  EXPECT_GE(total, 0);
}

TEST(FourSystemsTest, TemporariesGoEarlierWhereTheyCan_T2) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  const Tensor x = ones({1000}, f64);
  domain->reset_peak();
  const Bytes before = domain->stats().live;
  // Six ops, whose temporaries hand one block on.
  const Tensor y = neg(exp(sqrt(abs(x * 2.0 + 1.0))));
  EXPECT_LT(domain->stats().live_peak - before, 2 * 8000);
}

Tensor or_itself(const Tensor& x) {
  return x.rank() == 1 ? x : flatten(x);
}

TEST(FourSystemsTest, AFunctionMayReturnItsInput_T5) {
  Tensor x = row({1, 2});
  Tensor same = or_itself(x);
  EXPECT_TRUE(same.is_alias_of(x));
  x = Tensor();
  EXPECT_THAT(numbers(same), ElementsAre(1, 2));
}

TEST(FourSystemsTest, StorageLivesUntilTheLastAliasGoes_T5) {
  const Bytes before = live();
  Tensor last;
  {
    const Tensor x = row({1, 2, 3, 4});
    const Tensor alias = x.alias();
    const Tensor view = reshape(slice(alias, 0, 2), {1, 2});
    EXPECT_TRUE(view.is_alias_of(x));
    EXPECT_FALSE(copy(x).is_alias_of(x));
    last = view;
  }
  EXPECT_THAT(numbers(last), ElementsAre(3, 4));
  EXPECT_GT(live(), before);
  last = Tensor();
  EXPECT_EQ(live(), before);
}

// Two activations at a time, however many layers.
template <class Composition>
Bytes peak_of(const Composition& run) {
  memory::Domain& door = memory::domain();
  door.reset_peak();
  const Bytes before = door.stats().live;
  run();
  return door.stats().live_peak - before;
}

TEST(FourSystemsTest, SequentialFreesIntermediates_T6) {
  const NoGrad guard;
  nn::Sequential net(nn::Linear(256, 256), nn::Tanh(), nn::Linear(256, 256),
                     nn::Tanh(), nn::Linear(256, 256), nn::Tanh(),
                     nn::Linear(256, 256), nn::Tanh());
  const Tensor x = ones({256, 256});
  const Bytes one = 256 * 256 * 4;
  const Bytes peak = peak_of([&] { net(x); });
  EXPECT_LT(peak, 4 * one);  // two, and the packing of a matrix product
}

TEST(FourSystemsTest, SoDoesEveryOtherComposition_T6) {
  const NoGrad guard;
  const Tensor x = ones({256, 256});
  const Bytes one = 256 * 256 * 4;
  EXPECT_LT(peak_of([&] {
              Tensor y = x;
              for (int i = 0; i < 10; ++i) {
                y = tanh(y) + x;
              }
            }),
            3 * one);
}

TEST(FourSystemsTest, AHandleThatMeansNothingRaises_T7) {
  Tensor moved = row({1});
  const Tensor taken = std::move(moved);
  const Tensor never;
  for (const Tensor& x : {moved, never}) {  // NOLINT(bugprone-use-after-move)
    EXPECT_FALSE(x.defined());
    EXPECT_THROW(x.shape(), UseAfterRelease);
    EXPECT_THROW(x.item(), UseAfterRelease);
    EXPECT_THROW(x.to_vector(), UseAfterRelease);
    EXPECT_THROW(x + 1.0, UseAfterRelease);
    EXPECT_THROW(backward(x), UseAfterRelease);
    EXPECT_THROW(requires_grad_(x), UseAfterRelease);
  }
}

class Counting {
 public:
  std::int64_t size() const { return 100; }
  data::SampleSpec spec() const {
    return {
        .input = {50}, .input_dtype = f32, .target = {}, .target_dtype = i64};
  }
  void load(std::int64_t index, std::span<std::byte> input,
            std::span<std::byte> target) const noexcept {
    std::memset(input.data(), 0, input.size());
    std::memcpy(target.data(), &index, sizeof(index));
  }
};

TEST(FourSystemsTest, BatchesComeInARingInsideTheBudget_T9) {
  const Counting set;
  const Bytes before = live();
  data::Loader loader(set, {.batch = 8});
  const Bytes with_ring = live();
  const Budget budget(memory::domain().stats().held +
                      memory::domain().stats().external);
  for (int epoch = 0; epoch < 3; ++epoch) {
    loader.start(epoch);
    while (const data::Batch* batch = loader.next()) {
      ASSERT_LE(batch->size(), 8);
      ASSERT_EQ(live(), with_ring);
    }
  }
  EXPECT_GE(with_ring - before, data::Loader::kRing * 8 * (50 * 4 + 8));
}

// Resident memory of this process, as the system counts it.
Bytes resident() {
  Bytes total = 0;
  Bytes pages = 0;
  std::ifstream("/proc/self/statm") >> total >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

TEST(FourSystemsTest, TrimReturnsPagesToTheSystemAndProvesIt_T10) {
  { const Tensor large = ones({1 << 22}); }
  const memory::Stats before = memory::domain().stats();
  const Bytes resident_before = resident();
  const Bytes given_back = memory::trim();
  const memory::Stats after = memory::domain().stats();
  EXPECT_EQ(given_back, before.idle);  // 0 where each block is a malloc
  EXPECT_EQ(after.idle, 0);
  EXPECT_EQ(before.held - after.held, given_back);
  EXPECT_EQ(after.live, before.live);
  EXPECT_LE(resident(), resident_before - given_back / 2 + kMiB);
}

}  // namespace
}  // namespace neap::four_systems
