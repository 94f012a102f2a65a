// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A compiled step that assigned a captured tensor to a handle, or returned it,
// gave another tensor on the same elements. What the caller then did to it
// (requires_grad_, the end of a scope) did not reach the captured tensor, as it
// does after the plain step: the next gradients were others, in silence.
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
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

using Results = memory::Vector<Tensor>;

class StepGivesTheSameTensorTest : public ::testing::Test {
 protected:
  struct World {
    Tensor a = full({2}, 1.0);
    Tensor b = full({2}, 2.0);
    Tensor c = full({2}, 3.0);
    Tensor w = requires_grad_(full({2}, 0.5));
    Tensor x = full({2}, 4.0);  // the argument of the latest call
    Results results;

    // Pairs that are one tensor, and gradients.
    std::vector<std::pair<int, int>> same() const {
      std::vector<Tensor> all{a, b, c, w, x, a.grad(), b.grad(), w.grad()};
      all.insert(all.end(), results.begin(), results.end());
      std::vector<std::pair<int, int>> pairs;
      for (std::size_t i = 0; i < all.size(); ++i) {
        for (std::size_t k = 0; k < i; ++k) {
          if (all[i].defined() && all[k].defined() &&
              all[i].identity() == all[k].identity()) {
            pairs.emplace_back(k, i);
          }
        }
      }
      return pairs;
    }
    std::vector<std::vector<float>> elements() const {
      std::vector<std::vector<float>> out;
      for (const Tensor& each : {a, b, c, w, a.grad(), b.grad(), w.grad()}) {
        out.push_back(each.defined() ? floats(each) : std::vector<float>());
      }
      for (const Tensor& each : results) {
        out.push_back(floats(each));
      }
      return out;
    }
  };
  using Step = std::function<Results(World&, const Tensor&)>;
  using Change = std::function<void(World&, int)>;

  // The step over twins: plain and compiled, with `change` before each call.
  static void compare(const Step& step, const Change& change) {
    World plain;
    World world;
    auto compiled = neap::compile(
        [&](const Tensor& x) { return step(world, x); }, {.keep_all = true});
    for (int i = 0; i < 6; ++i) {
      SCOPED_TRACE(i);
      for (World* each : {&plain, &world}) {
        change(*each, i);
        each->x = full({2}, 0.5 * i);
      }
      world.results = compiled(world.x);
      plain.results = step(plain, plain.x);
      ASSERT_EQ(world.same(), plain.same());
      ASSERT_EQ(world.elements(), plain.elements());
    }
    EXPECT_LE(compiled.traces(), 4);
  }
  static void no_change(World& /*world*/, int /*call*/) {}
};

TEST_F(StepGivesTheSameTensorTest, AHandleThatIsAssignedACapturedTensorIsIt) {
  compare(
      [](World& s, const Tensor& x) {
        s.a = s.b;
        return Results{x * 2.0};
      },
      [](World& s, int call) {
        if (call == 1) {
          requires_grad_(s.a);
        }
        if (call > 1) {
          backward(sum(s.b * s.c));
        }
      });
}

TEST_F(StepGivesTheSameTensorTest, HandlesThatAreAssignedOneResultAreOne) {
  compare(
      [](World& s, const Tensor& x) {
        s.a = tanh(x);
        s.b = s.a;
        return Results{s.b, x + s.c};
      },
      no_change);
}

TEST_F(StepGivesTheSameTensorTest, HandlesThatChangePlacesKeepTheirTensors) {
  compare(
      [](World& s, const Tensor& x) {
        Tensor first = s.a;
        s.a = s.b;
        s.b = s.c;
        s.c = std::move(first);
        return Results{s.a, x * 2.0};
      },
      [](World& s, int call) {
        if (call == 2) {
          requires_grad_(s.a);
          backward(sum(s.a * s.w));
        }
      });
}

TEST_F(StepGivesTheSameTensorTest, AResultThatIsAnArgumentIsIt) {
  compare(
      [](World& s, const Tensor& x) {
        s.a = x;
        return Results{x, s.c, x, s.w};
      },
      no_change);
  auto step = neap::compile([](const Tensor& x) { return x; });
  const Tensor x = full({2}, 1.0);
  requires_grad_(step(x));
  EXPECT_TRUE(x.requires_grad());
}

TEST_F(StepGivesTheSameTensorTest, AResultThatIsACapturedOneOutlivesTheScope) {
  const Tensor captured = full({2}, 1.0);
  auto step = neap::compile(
      [&](const Tensor& x) { return std::pair(captured, captured + x); });
  step(full({2}, 1.0));  // traced outside of scopes
  Tensor given;
  Tensor sum;
  {
    const Scope scope;
    std::tie(given, sum) = step(full({2}, 1.0));
  }
  EXPECT_THAT(floats(given), Each(1.0F));
  EXPECT_FALSE(sum.defined());
}

TEST_F(StepGivesTheSameTensorTest, AResultThatIsAGradientIsThatOfTheLeaf) {
  compare(
      [](World& s, const Tensor& x) {
        s.a = s.w.grad();
        set_grad(s.w, {});
        backward(sum(s.w * x));
        return Results{s.w.grad(), x * 2.0};
      },
      [](World& s, int call) {
        if (call == 0) {
          backward(sum(s.w));
        }
      });
}

// The step's handle is known among two even while both are one tensor.
TEST_F(StepGivesTheSameTensorTest, HandlesThatWereOneTensorAreToldApart) {
  compare(
      [](World& s, const Tensor& x) {
        Tensor next = s.b * x;
        s.c = s.a;
        s.a = std::move(next);
        return Results{x * 2.0};
      },
      [](World& s, int call) {
        if (call == 0) {
          s.a = s.b;
        } else if (call == 2) {
          s.a = s.b.detach();
        }
      });
}

// Such a handle counted as read: .verify refused, or the step was.
TEST_F(StepGivesTheSameTensorTest, AHandleIsReadOnlyWhereItIs) {
  const Tensor w = requires_grad_(full({2}, 0.5));
  const Tensor a = full({2}, 1.0);
  Tensor b = full({2}, 2.0);
  Tensor gradient;
  auto step = neap::compile(
      [&](const Tensor& x) {
        backward(sum(w * x));
        gradient = w.grad();
        b = a + x;
        return b;
      },
      {.verify = 1});
  for (int i = 1; i <= 4; ++i) {
    EXPECT_THAT(floats(step(full({2}, 2.0))), Each(3.0F));
    EXPECT_THAT(floats(gradient), Each(2.0F * static_cast<float>(i)));
    EXPECT_EQ(gradient.identity(), w.grad().identity());
    b = a;
  }
}

// Each had a copy of its own.
TEST_F(StepGivesTheSameTensorTest, ResultsOnOneConstantShareIt) {
  compare(
      [](World& s, const Tensor& x) {
        const Tensor constant = from_values({1, 2, 3, 4}, {4});
        s.a = slice(constant, 0, 1, 3);
        s.b = slice(constant, 0, 0, 2);
        return Results{constant, constant.detach(), x * 2.0};
      },
      [](World& s, int call) {
        if (call > 0) {
          const NoGrad none;
          fill_(s.a, 9.0);
          EXPECT_THAT(floats(s.b), ElementsAre(1, 9));
          EXPECT_THAT(floats(s.results[0]), ElementsAre(1, 9, 9, 4));
          fill_(s.results[1], 5.0);
        }
      });
}

// The handle had another tensor by then, and nobody looked at the first.
TEST_F(StepGivesTheSameTensorTest, AHandleThatChangedPlacesIsMadeNoLeaf) {
  Tensor a = full({2}, 1.0);
  Tensor b = full({2}, 2.0);
  auto step = neap::compile([&](const Tensor& x) {
    std::swap(a, b);
    requires_grad_(a);
    return x * 2.0;
  });
  EXPECT_THAT([&] { step(full({2}, 1.0)); },
              ThrowsMessage<TraceError>(HasSubstr("requires_grad_: the step")));
  EXPECT_FALSE(a.requires_grad());
  EXPECT_FALSE(b.requires_grad());
  EXPECT_THAT(floats(a), Each(1.0F));
}

}  // namespace
}  // namespace neap::compiler
