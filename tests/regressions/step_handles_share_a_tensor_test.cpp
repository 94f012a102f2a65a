// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Captured handles that mean one tensor when a compiled step begins, or
// nothing, and that the step assigns to: a run took what one of them meant for
// the other, or left a handle as it was.
#include <gmock/gmock.h>

#include <functional>
#include <utility>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile_for_test.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/memory/scope.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

struct Handles {
  Tensor a = full({2}, 1.0);
  Tensor b = full({2}, 2.0);
  Tensor c = full({2}, 3.0);
};

std::vector<float> elements_of(const Tensor& tensor) {
  return tensor.defined() ? floats(tensor) : std::vector<float>{};
}

class StepHandlesShareATensorTest : public ::testing::Test {
 protected:
  using Step = std::function<Tensor(Handles&, const Tensor&)>;
  using Change = std::function<void(Handles&, int)>;

  // The step over twins: plain and compiled, with `change` before each call.
  void compare(const Step& step, const Change& change, int most_traces) {
    Handles plain;
    Handles state;
    auto compiled =
        neap::compile([&](const Tensor& x) { return step(state, x); });
    for (int i = 0; i < 8; ++i) {
      SCOPED_TRACE(i);
      change(plain, i);
      change(state, i);
      const Tensor x = full({2}, 0.5 * i);
      EXPECT_EQ(floats(compiled(x)), floats(step(plain, x)));
      EXPECT_EQ(elements_of(state.a), elements_of(plain.a));
      EXPECT_EQ(elements_of(state.b), elements_of(plain.b));
      EXPECT_EQ(elements_of(state.c), elements_of(plain.c));
    }
    EXPECT_LE(compiled.traces(), most_traces);
  }
  static void no_change(Handles& /*handles*/, int /*call*/) {}
};

TEST_F(StepHandlesShareATensorTest, ASwapOfTwoThatMeanOneTensorOnce) {
  compare(
      [](Handles& h, const Tensor& x) {
        std::swap(h.a, h.b);
        h.c = x.detach();
        return h.b + x;
      },
      [](Handles& h, int call) {
        if (call == 1) {
          h.a = h.c;
        }
      },
      3);
}

TEST_F(StepHandlesShareATensorTest, ASwapOfTheSameTensorIsASwap) {
  compare(
      [](Handles& h, const Tensor& x) {
        std::swap(h.a, h.b);
        h.b = h.c;
        return x * 2.0;
      },
      [](Handles& h, int call) {
        if (call == 1) {
          h.b = full({2}, 5.0);
          h.a = h.b;
        }
      },
      4);
}

TEST_F(StepHandlesShareATensorTest, AnAssignmentOfWhatItMeansIsOne) {
  compare(
      [](Handles& h, const Tensor& x) {
        h.a = h.b;
        return x * 2.0;
      },
      [](Handles& h, int call) {
        if (call == 0) {
          h.a = h.b;
        } else if (call == 3) {
          const Scope scope;
          h.a = zeros({2});
        }
      },
      2);
}

TEST_F(StepHandlesShareATensorTest, AnUndefinedOneMovesOn) {
  compare(
      [](Handles& h, const Tensor& x) {
        std::swap(h.a, h.b);
        h.b = x.detach();
        return x * 2.0;
      },
      [](Handles& h, int call) {
        if (call == 0 || call == 4) {
          h.b = Tensor();
        }
      },
      3);
}

// A handle that was assigned to got its first tensor back, from the other one:
// the read was taken for one of what it meant itself.
TEST_F(StepHandlesShareATensorTest, ASwapBackToTheFirstTensorReadsTheOther) {
  const auto share_at_first = [](Handles& h, int call) {
    if (call == 0) {
      h.b = h.a;
    }
  };
  compare(
      [](Handles& h, const Tensor& x) {
        h.a = x * 2.0;
        std::swap(h.b, h.a);
        h.a = h.a.detach() * 0.5 + x;
        return x * 1.0;
      },
      share_at_first, 2);
  compare(
      [](Handles& h, const Tensor& x) {
        h.a = x * 2.0;
        std::swap(h.b, h.a);
        h.a = h.a.alias() * 0.5 + x;
        return x * 1.0;
      },
      share_at_first, 2);
  compare(
      [](Handles& h, const Tensor& x) {
        h.a = x * 2.0;
        h.a = h.b;
        h.a = slice(h.a.detach(), 0, 0, 2) * 0.5 + x;
        h.b = x * 3.0;
        return h.a + h.b;
      },
      share_at_first, 2);
}

TEST_F(StepHandlesShareATensorTest, AVectorOfOneTensorIsSwapped) {
  std::vector<Tensor> plain(2, full({2}, 10.0));
  std::vector<Tensor> states(2, full({2}, 10.0));
  const auto run = [](std::vector<Tensor>& d, const Tensor& x) {
    d[0] = x * 2.0;
    std::swap(d[0], d[1]);
    d[0] = d[0].detach() * 0.5 + x;
  };
  auto step = neap::compile([&](const Tensor& x) { run(states, x); });
  for (int i = 0; i < 4; ++i) {
    const Tensor x = full({2}, 1.0 + i);
    run(plain, x);
    step(x);
    EXPECT_EQ(floats(states[0]), floats(plain[0])) << i;
    EXPECT_EQ(floats(states[1]), floats(plain[1])) << i;
  }
}

// The handle decides, and not its elements alone: only a spec is asked for.
TEST_F(StepHandlesShareATensorTest, AShapeIsThatOfTheOther) {
  const auto run = [](Tensor& a, Tensor& b, const Tensor& x) {
    a = x * 2.0;
    std::swap(b, a);
    const double rows = static_cast<double>(a.size(0));
    a = x * 3.0;
    b = slice(x, 0, 0, 1);
    return x * rows;
  };
  Tensor a = full({2}, 1.0);
  Tensor b = a;
  Tensor plain_a = full({2}, 1.0);
  Tensor plain_b = plain_a;
  auto step = neap::compile([&](const Tensor& x) { return run(a, b, x); });
  for (int i = 0; i < 3; ++i) {
    const Tensor x = full({2}, 1.0 + i);
    EXPECT_EQ(floats(step(x)), floats(run(plain_a, plain_b, x))) << i;
  }
}

// States that lie on one storage in every call settle, too.
TEST_F(StepHandlesShareATensorTest, AViewOfAnotherStateSettles) {
  compare(
      [](Handles& h, const Tensor& x) {
        const Tensor sum = h.a + h.b;
        h.a = x.detach();
        h.b = slice(h.a, 0, 0, 1);
        return sum;
      },
      no_change, 2);
}

TEST(StepHandlesShareAGradientTest, AStateThatMeansAGradientIsRefused) {
  const Tensor w = requires_grad_(full({2}, 3.0));
  backward(sum(square(w)));
  Tensor h = w.grad();
  auto step = neap::compile([&](const Tensor& x) {
    const Tensor y = w * x + h;
    backward(sum(y));
    h = y.detach();
  });
  EXPECT_THAT(
      [&] { step(full({2}, 1.0)); },
      ThrowsMessage<TraceError>(HasSubstr("assign a copy() to the handle")));
  EXPECT_THAT(floats(w.grad()), Each(6.0F));
  h = copy(h);
  step(full({2}, 1.0));
  EXPECT_THAT(floats(h), Each(9.0F));
}

// It was that of the latest run, for all copies of the handle.
TEST(StepHandlesShareAGradientTest, AnOlderCopyKeepsItsRetainedGradient) {
  const Tensor w = requires_grad_(full({2}, 3.0));
  Tensor hidden;
  auto step = neap::compile([&](const Tensor& x) {
    set_grad(w, {});
    hidden = w * x;
    retain_grad(hidden);
    backward(sum(square(hidden)));
    return hidden;
  });
  Tensor older;
  for (int i = 1; i <= 4; ++i) {
    const Tensor result = step(full({2}, static_cast<double>(i)));
    EXPECT_THAT(floats(hidden.grad()), Each(6.0F * static_cast<float>(i)));
    EXPECT_THAT(floats(result.grad()), Each(6.0F * static_cast<float>(i)));
    if (i == 2) {
      older = hidden;
    }
    if (i > 2) {
      EXPECT_THAT(floats(older.grad()), Each(12.0F));
    }
  }
}

}  // namespace
}  // namespace neap::compiler
