// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// An eager step in a rehearsal asked for no scratch of kernels, so that the
// peak that it foretold was too low.
#include <gtest/gtest.h>

#include "neap/autograd/backward.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/memory/context.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

using memory::Domain;
using memory::Stats;

struct Peaks {
  Bytes held;
  Bytes live;
  friend bool operator==(const Peaks&, const Peaks&) = default;
};

void PrintTo(const Peaks& peaks, std::ostream* out) {
  *out << peaks.held << " B held, " << peaks.live << " B live";
}

template <class Step>
Peaks peaks_of(bool is_rehearsal, const Step& step) {
  const auto domain = Domain::create(
      {.host = memory::HostAllocator::kPooled, .is_rehearsal = is_rehearsal});
  const UseDomain use(*domain);
  step();
  const Stats stats = domain->stats();
  EXPECT_EQ(stats.live, 0);
  return {stats.peak, stats.live_peak};
}

template <class Step>
void expect_foretold(const Step& step) {
  EXPECT_EQ(peaks_of(true, step), peaks_of(false, step));
}

TEST(RehearsedScratchTest, OfAProductIsForetold) {
  expect_foretold([] {
    const Tensor a = requires_grad_(full({300, 200}, 0.5, f32));
    const Tensor b = requires_grad_(full({200, 500}, 0.25, f32));
    backward(sum(matmul(a, b)));
  });
}

TEST(RehearsedScratchTest, OfAConvolutionIsForetold) {
  expect_foretold([] {
    const Tensor x = requires_grad_(full({4, 8, 20, 20}, 0.5, f32));
    const Tensor w = requires_grad_(full({16, 8, 3, 3}, 0.25, f32));
    backward(sum(square(conv2d(x, w))));
  });
}

TEST(RehearsedScratchTest, OfSortingIsForetold) {
  expect_foretold([] {
    const Tensor x = requires_grad_(full({50, 4000}, 0.5, f32));
    const auto sorted = sort(x);
    backward(sum(square(sorted.values)));
  });
}

TEST(RehearsedScratchTest, OfReductionsAndLossesIsForetold) {
  expect_foretold([] {
    const Tensor x = requires_grad_(full({64, 1000}, 0.5, f32));
    const Tensor labels = full({64}, 3, i64);
    backward(cross_entropy(x, labels) + var(x) + mean(x));
  });
}

}  // namespace
}  // namespace neap
