// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/optim/clip.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "neap/optim/parameters_test.hpp"
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
  EXPECT_EQ(clip_grad_norm(list, 1.0), 5.0);
  const double factor = 1.0 / (5.0 + 1e-6);
  EXPECT_NEAR(a.grad().at({0}), 3.0 * factor, 1e-6);
  EXPECT_NEAR(b.grad().at({0}), 4.0 * factor, 1e-6);
}

TEST_F(ClipTest, LeavesGradientsBelowTheNorm) {
  const std::uint32_t version = a.grad().array()->storage()->version();
  EXPECT_EQ(clip_grad_norm(list, 6.0), 5.0);
  EXPECT_THAT(a.grad().to_vector(), ElementsAre(3, 0));
  EXPECT_EQ(a.grad().array()->storage()->version(), version);
}

TEST_F(ClipTest, SumsFloatsThatOverflowWhenSquared) {
  set_grad(b, from_values({1e30}, {1}));
  EXPECT_NEAR(clip_grad_norm(list, 1e31), 1e30, 1e24);
}

TEST_F(ClipTest, LeavesGradientsOfANormThatIsNotFinite) {
  set_grad(b, from_values({NAN}, {1}));
  EXPECT_TRUE(std::isnan(clip_grad_norm(list, 1.0)));
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
  EXPECT_EQ(clip_grad_norm(named({{"without", without}}), 1.0), 0.0);
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

}  // namespace
}  // namespace neap::optim
