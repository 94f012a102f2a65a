// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/optim/clip.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "neap/optim/parameters_test.hpp"
#include "neap/optim/recorded_test.hpp"
#include "neap/tensor/door_test.hpp"

namespace neap::optim {
namespace {

using ::testing::ElementsAre;

class ClipTest : public DoorTest {
 protected:
  ClipTest() {
    set_grad(a, from_values({3, 0}, {2}));
    set_grad(b, from_values({4}, {1}));
  }
  Tensor a = parameter({1, 1});
  Tensor b = parameter({1});
  Tensor without = parameter({1});
  ParameterList list = named({{"a", a}, {"b", b}, {"without", without}});

  void TearDown() override {
    list = ParameterList();
    a = b = without = Tensor();
    DoorTest::TearDown();
  }
};

TEST_F(ClipTest, ScalesAllGradientsToTheNormTogether) {
  EXPECT_EQ(clip_grad_norm(list, 1.0).item(), 5.0);
  const double factor = 1.0 / (5.0 + 1e-6);
  EXPECT_NEAR(a.grad().at({0}), 3.0 * factor, 1e-6);
  EXPECT_NEAR(b.grad().at({0}), 4.0 * factor, 1e-6);
}

TEST_F(ClipTest, LeavesGradientsBelowTheNorm) {
  const std::uint32_t version = a.grad().array()->storage()->version();
  EXPECT_EQ(clip_grad_norm(list, 6.0).item(), 5.0);
  EXPECT_THAT(a.grad().to_vector(), ElementsAre(3, 0));
  EXPECT_EQ(a.grad().array()->storage()->version(), version);
}

TEST_F(ClipTest, SumsFloatsThatOverflowWhenSquared) {
  set_grad(b, from_values({1e30}, {1}));
  EXPECT_NEAR(clip_grad_norm(list, 1e31).item(), 1e30, 1e24);
}

TEST_F(ClipTest, LeavesGradientsOfANormThatIsNotFinite) {
  set_grad(b, from_values({NAN}, {1}));
  EXPECT_TRUE(std::isnan(clip_grad_norm(list, 1.0).item()));
  EXPECT_THROW(clip_grad_norm(list, 1.0, {.throw_if_not_finite = true}),
               ValueError);
  EXPECT_THAT(a.grad().to_vector(), ElementsAre(3, 0));
}

TEST_F(ClipTest, RefusesBadLimits) {
  EXPECT_THROW(clip_grad_norm(list, -1.0), ValueError);
  EXPECT_THROW(clip_grad_norm(list, NAN), ValueError);
  EXPECT_THROW(clip_grad_value(list, -1.0), ValueError);
}

TEST_F(ClipTest, FindsNothingToDoWithoutGradients) {
  EXPECT_EQ(clip_grad_norm(named({{"without", without}}), 1.0).item(), 0.0);
  clip_grad_value(named({{"without", without}}), 1.0);
}

TEST_F(ClipTest, BringsValuesIntoTheirRangeAndKeepsNaN) {
  set_grad(a, from_values({-3, NAN}, {2}));
  clip_grad_value(list, 2.0);
  EXPECT_EQ(a.grad().at({0}), -2.0);
  EXPECT_TRUE(std::isnan(a.grad().at({1})));
  EXPECT_EQ(b.grad().at({0}), 2.0);
}

TEST_F(ClipTest, LeavesAllGradientsWhereverItFails) {
  for (int n = 1;; ++n) {
    domain_->fail_at(n);
    try {
      clip_grad_norm(list, 1.0);
      domain_->fail_at(0);
      EXPECT_GT(n, 3);
      break;
    } catch (const OutOfMemory&) {
      domain_->fail_at(0);
      EXPECT_THAT(a.grad().to_vector(), ElementsAre(3, 0)) << n;
      EXPECT_THAT(b.grad().to_vector(), ElementsAre(4)) << n;
    }
  }
  EXPECT_NEAR(a.grad().at({0}), 0.6, 1e-6);
}

TEST_F(ClipTest, TheNormIsANumberInDoubles) {
  const Tensor norm = clip_grad_norm(list, 1.0);
  EXPECT_EQ(norm.rank(), 0);
  EXPECT_EQ(norm.dtype(), f64);
  EXPECT_FALSE(norm.requires_grad());
}

// The factor is known when the program runs: the writes are always there.
TEST_F(ClipTest, ATracedCallRecordsItsWritesAndLeavesGradients) {
  RecordedWrites trace;
  {
    const graph::UseTrace use(&trace);
    clip_grad_norm(list, 1.0);
    clip_grad_value(list, 0.5);
  }
  EXPECT_THAT(a.grad().to_vector(), ElementsAre(3, 0));
  ASSERT_EQ(trace.writes.size(), 4U);
  EXPECT_EQ(trace.writes[0].name, "scale");
  EXPECT_EQ(trace.writes[2].name, "clip");
  const auto factor = trace.writes[0].in[0].to_vector();
  EXPECT_THAT(factor, ElementsAre(1.0 / (5.0 + 1e-6)));
  trace.run();
  const auto traced = a.grad().to_vector();
  set_grad(a, from_values({3, 0}, {2}));
  set_grad(b, from_values({4}, {1}));
  clip_grad_norm(list, 1.0);
  clip_grad_value(list, 0.5);
  EXPECT_EQ(a.grad().to_vector(), traced);
}

TEST_F(ClipTest, ATracedFactorIsOneWhereNothingIsToBeDone) {
  const auto factor_for = [&](double max_norm) {
    RecordedWrites trace;
    const graph::UseTrace use(&trace);
    clip_grad_norm(list, max_norm);
    return *trace.writes[0].in[0].array()->strided().as<double>();
  };
  EXPECT_EQ(factor_for(6.0), 1.0);
  EXPECT_EQ(factor_for(5.0 + 1e-6), 1.0);
  set_grad(b, from_values({NAN}, {1}));
  EXPECT_EQ(factor_for(1.0), 1.0);
  set_grad(b, from_values({INFINITY}, {1}));
  EXPECT_EQ(factor_for(1.0), 1.0);
}

}  // namespace
}  // namespace neap::optim
