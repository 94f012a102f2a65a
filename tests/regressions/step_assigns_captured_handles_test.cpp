// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A compiled step that assigns to a handle which it captured went on with the
// handle's first value for ever. Such a handle is a state of the program.
#include <gmock/gmock.h>

#include <optional>
#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile_for_test.hpp"
#include "neap/graph/hooks.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/nn/linear.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

class StepAssignsCapturedHandlesTest : public ::testing::Test {
 protected:
  Tensor x_ = from_values({1, 2}, {2});
};

TEST_F(StepAssignsCapturedHandlesTest, ARunningAverageGoesOn) {
  Tensor plain = zeros({2});
  Tensor h = zeros({2});
  auto step = neap::compile([&](const Tensor& x) {
    h = h * 0.5 + x;
    return h * 2.0;
  });
  for (int i = 0; i < 6; ++i) {
    plain = plain * 0.5 + x_;
    EXPECT_EQ(floats(step(x_)), floats(plain * 2.0)) << i;
    EXPECT_EQ(floats(h), floats(plain)) << i;
  }
  EXPECT_LE(step.traces(), 2);
}

TEST_F(StepAssignsCapturedHandlesTest, TheHandleMayBeMovedIntoTheOp) {
  Tensor plain = zeros({2});
  Tensor h = zeros({2});
  auto step =
      neap::compile([&](const Tensor& x) { h = tanh(std::move(h) + x); });
  for (int i = 0; i < 5; ++i) {
    plain = tanh(plain + x_);
    step(x_);
    EXPECT_EQ(floats(h), floats(plain)) << i;
  }
  EXPECT_LE(step.traces(), 2);
}

// Copies of the state that the user keeps between calls stay unchanged.
TEST_F(StepAssignsCapturedHandlesTest, CopiesOfTheStateKeepTheirValues) {
  Tensor h = zeros({2});
  auto step = neap::compile([&](const Tensor& x) {
    h = h + x;
    return h;
  });
  std::vector<Tensor> kept;
  for (int i = 0; i < 5; ++i) {
    step(x_);
    kept.push_back(h);
  }
  for (int i = 0; i < 5; ++i) {
    const float n = static_cast<float>(i + 1);
    EXPECT_THAT(floats(kept[static_cast<std::size_t>(i)]),
                ElementsAre(n, 2.0F * n));
  }
}

TEST_F(StepAssignsCapturedHandlesTest, AnotherTensorMayBeAssignedBetweenCalls) {
  Tensor h = zeros({2});
  const Tensor start = h;
  auto step = neap::compile([&](const Tensor& x) { h = h + x; });
  step(x_);
  step(x_);
  h = start;
  step(x_);
  EXPECT_THAT(floats(h), ElementsAre(1, 2));
  h = full({2}, 10.0);
  step(x_);
  EXPECT_THAT(floats(h), ElementsAre(11, 12));
  EXPECT_THAT(floats(start), Each(0.0F));
}

TEST_F(StepAssignsCapturedHandlesTest, TwoStatesAreNotMixedUp) {
  Tensor h = zeros({2});
  Tensor c = ones({2});
  const auto plain = [](Tensor& hidden, Tensor& cell, const Tensor& x) {
    const Tensor next = tanh(hidden + x) * cell;
    cell = cell * 0.5 + hidden;
    hidden = next;
  };
  Tensor plain_h = zeros({2});
  Tensor plain_c = ones({2});
  auto step = neap::compile([&](const Tensor& x) { plain(h, c, x); });
  for (int i = 0; i < 6; ++i) {
    plain(plain_h, plain_c, x_);
    step(x_);
    EXPECT_EQ(floats(h), floats(plain_h)) << i;
    EXPECT_EQ(floats(c), floats(plain_c)) << i;
  }
  EXPECT_LE(step.traces(), 3);
}

TEST_F(StepAssignsCapturedHandlesTest, HandlesMayBeSwapped) {
  Tensor a = zeros({2});
  Tensor b = ones({2});
  auto step = neap::compile([&](const Tensor& x) {
    a = a + x;
    std::swap(a, b);
  });
  Tensor plain_a = zeros({2});
  Tensor plain_b = ones({2});
  for (int i = 0; i < 6; ++i) {
    plain_a = plain_a + x_;
    std::swap(plain_a, plain_b);
    step(x_);
    EXPECT_EQ(floats(a), floats(plain_a)) << i;
    EXPECT_EQ(floats(b), floats(plain_b)) << i;
  }
}

TEST_F(StepAssignsCapturedHandlesTest, AStateAndAParameterMayBeginAsOne) {
  const Tensor start = zeros({2});
  Tensor h = start.detach();
  auto step = neap::compile([&](const Tensor& x) { h = h + x + start + 1.0; });
  for (int i = 1; i <= 4; ++i) {
    step(x_);
    EXPECT_THAT(floats(h), ElementsAre(2.0F * static_cast<float>(i),
                                       3.0F * static_cast<float>(i)));
  }
}

TEST_F(StepAssignsCapturedHandlesTest, TruncatedBackpropagationDetaches) {
  const auto train = [&](nn::Linear& cell, Tensor& h) {
    const Tensor y = tanh(cell(h) + x_);
    zero_grad(std::vector<Tensor>{cell.weight(), cell.bias()});
    backward(sum(square(y)));
    h = y.detach();
  };
  seed(3);
  nn::Linear plain_cell(2, 2);
  Tensor plain_h = zeros({2});
  seed(3);
  nn::Linear cell(2, 2);
  Tensor h = zeros({2});
  auto step = neap::compile([&](const Tensor&) { train(cell, h); });
  for (int i = 0; i < 5; ++i) {
    train(plain_cell, plain_h);
    step(x_);
    EXPECT_EQ(floats(h), floats(plain_h)) << i;
    EXPECT_EQ(floats(cell.weight().grad()), floats(plain_cell.weight().grad()));
  }
}

TEST_F(StepAssignsCapturedHandlesTest, AStateWithItsGraphIsRefused) {
  const Tensor w = requires_grad_(ones({2}));
  Tensor h = zeros({2});
  auto step = neap::compile([&](const Tensor& x) { h = tanh(h * w + x); });
  EXPECT_THAT(message_of([&] { step(x_); }), ::testing::HasSubstr("detach()"));
  EXPECT_THAT(floats(h), Each(0.0F));
}

TEST_F(StepAssignsCapturedHandlesTest, AHandleThatWasUndefinedIsLazilyMade) {
  Tensor cache;
  auto step = neap::compile([&](const Tensor& x) {
    if (!cache.defined()) {
      cache = x * 10.0;
    }
    return cache + x;
  });
  EXPECT_THAT(floats(step(x_)), ElementsAre(11, 22));
  EXPECT_THAT(floats(step(ones({2}))), ElementsAre(11, 21));
  EXPECT_THAT(floats(step(zeros({2}))), ElementsAre(10, 20));
  cache = Tensor();
  EXPECT_THAT(floats(step(ones({2}))), Each(11.0F));
}

TEST_F(StepAssignsCapturedHandlesTest, AHandleThatBecomesDefinedIsNoticed) {
  Tensor mask;
  auto step = neap::compile(
      [&](const Tensor& x) { return mask.defined() ? x * mask : x + 0.0; });
  EXPECT_THAT(floats(step(x_)), ElementsAre(1, 2));
  mask = zeros({2});
  EXPECT_THAT(floats(step(x_)), Each(0.0F));
  mask = Tensor();
  EXPECT_THAT(floats(step(x_)), ElementsAre(1, 2));
}

// Somebody else still holds the tensor that the handle meant.
TEST_F(StepAssignsCapturedHandlesTest, AHandleAssignedOutsideIsNoticed) {
  Tensor w = full({2}, 3.0);
  const Tensor held = w;
  auto step = neap::compile([&](const Tensor& x) { return x * w; });
  EXPECT_THAT(floats(step(x_)), ElementsAre(3, 6));
  w = full({2}, 5.0);
  EXPECT_THAT(floats(step(x_)), ElementsAre(5, 10));
  EXPECT_THAT(step.why(), ::testing::HasSubstr("refers to another tensor"));
}

TEST_F(StepAssignsCapturedHandlesTest, AHandleThatIsClearedIsCleared) {
  Tensor h = ones({2});
  auto step = neap::compile([&](const Tensor& x) {
    const Tensor y = h.defined() ? h + x : x * 5.0;
    h = Tensor();
    return y;
  });
  EXPECT_THAT(floats(step(x_)), ElementsAre(2, 3));
  EXPECT_FALSE(h.defined());
  EXPECT_THAT(floats(step(x_)), ElementsAre(5, 10));
}

TEST_F(StepAssignsCapturedHandlesTest, AContainerThatGrowsIsRefused) {
  std::vector<Tensor> kept;
  auto step = neap::compile([&](const Tensor& x) {
    kept.push_back(x * 2.0);
    return x + 1.0;
  });
  EXPECT_THAT(message_of([&] { step(x_); }),
              ::testing::HasSubstr("outlives the step"));
  std::optional<Tensor> last;
  auto other = neap::compile([&](const Tensor& x) { last = x * 2.0; });
  EXPECT_THROW(other(x_), TraceError);
}

TEST_F(StepAssignsCapturedHandlesTest, ElementsOfAVectorAreHandles) {
  std::vector<Tensor> states(2, zeros({2}));
  auto step = neap::compile([&](const Tensor& x) {
    states[0] = states[0] + x;
    states[1] = states[1] + states[0];
  });
  Tensor a = zeros({2});
  Tensor b = zeros({2});
  for (int i = 0; i < 5; ++i) {
    a = a + x_;
    b = b + a;
    step(x_);
    EXPECT_EQ(floats(states[0]), floats(a)) << i;
    EXPECT_EQ(floats(states[1]), floats(b)) << i;
    if (i == 2) {
      states.reserve(100);  // the handles lie elsewhere from now on
    }
  }
}

TEST_F(StepAssignsCapturedHandlesTest, ARetainedGradientIsReadAfterTheCall) {
  const Tensor w = requires_grad_(full({2}, 3.0));
  Tensor hidden;
  auto step = neap::compile([&](const Tensor& x) {
    set_grad(w, {});
    hidden = w * x;
    retain_grad(hidden);
    backward(sum(square(hidden)));
  });
  for (int i = 1; i <= 3; ++i) {
    step(full({2}, static_cast<double>(i)));
    EXPECT_THAT(floats(hidden), Each(3.0F * static_cast<float>(i)));
    EXPECT_THAT(floats(hidden.grad()), Each(6.0F * static_cast<float>(i)));
  }
}

TEST_F(StepAssignsCapturedHandlesTest, ACallThatThrowsLeavesTheState) {
  Tensor h = zeros({2});
  auto step = neap::compile([&](const Tensor& labels) {
    h = h + 1.0;
    return nll_loss(log_softmax(reshape(h, {1, 2}), 1), labels);
  });
  step(from_values({1}, {1}, i64));
  const std::vector<float> before = floats(h);
  EXPECT_THROW(step(from_values({7}, {1}, i64)), Error);
  EXPECT_EQ(floats(h), before);
}

}  // namespace
}  // namespace neap::compiler
