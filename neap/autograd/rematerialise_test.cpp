// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <thread>
#include <utility>
#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/autograd/jvp.hpp"
#include "neap/autograd/rematerialise_test.hpp"
#include "neap/ops/ops.hpp"
#include "neap/ops/precision.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/generator.hpp"
#include "neap/testing/fail_sweep.hpp"

namespace neap {
namespace {

std::vector<double> values_of(const Tensor& x) {
  const auto values = x.to_vector();
  return {values.begin(), values.end()};
}

// --- a small network, with and without segments ------------------------------

enum class Form { kPlain, kSegments, kNested, kKept, kKeptAndNested };

// Numbers without a pattern in [-scale, scale).
Tensor noise(const Shape& shape, double scale, std::uint64_t seed) {
  Tensor out = zeros(shape);
  std::uint64_t state = seed;
  for (float& value : out.mutable_values<float>()) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    value = static_cast<float>(scale * (static_cast<double>(state >> 40U) /
                                            static_cast<double>(1U << 23U) -
                                        1.0));
  }
  return out;
}

struct Network {
  std::vector<Tensor> weights;
  Tensor shared;  // used in every block and after them

  Network() {
    for (std::uint64_t i = 0; i < 6; ++i) {
      weights.push_back(requires_grad_(noise({24, 24}, 0.5, i)));
    }
    shared = requires_grad_(noise({24}, 1.0, 10));
  }
  std::vector<Tensor> parameters() const {
    std::vector<Tensor> all = weights;
    all.push_back(shared);
    return all;
  }

  Tensor half(const Tensor& x, const Tensor& w) const {
    return dropout(tanh(add(matmul(x, w), shared)), 0.25);
  }
  Tensor block(const Tensor& x, std::size_t i, Form form) const {
    const auto first = [this, i](const Tensor& in) {
      return mul(half(in, weights[i]), shared);
    };
    const auto both = [this, i, first, form](const Tensor& in) {
      const bool nests = form == Form::kNested || form == Form::kKeptAndNested;
      const Tensor middle = nests ? rematerialise(first)(in) : first(in);
      return add(half(middle, weights[i + 1]), in);
    };
    if (form == Form::kPlain) {
      return both(x);
    }
    const bool keeps = form == Form::kKept || form == Form::kKeptAndNested;
    return rematerialise(
        both, {.keep = keeps ? Keep::kComputeBound : Keep::kNothing})(x);
  }
  Tensor loss(const Tensor& x, Form form) const {
    Tensor y = x;
    for (std::size_t i = 0; i < 6; i += 2) {
      y = block(y, i, form);
    }
    return mean(square(mul(y, shared)));
  }
};

// Losses and all gradients of some steps of gradient descent.
std::vector<double> train(Form form) {
  const Network network;
  Generator generator(5);
  const UseGenerator use(generator);
  std::vector<double> out;
  const Tensor x = noise({16, 24}, 1.0, 20);
  for (int step = 0; step < 4; ++step) {
    const Tensor loss = network.loss(x, form);
    out.push_back(loss.item());
    backward(loss);
    for (Tensor& p : network.parameters()) {
      const auto gradient = values_of(p.grad());
      out.insert(out.end(), gradient.begin(), gradient.end());
      const NoGrad guard;
      copy_(p, sub(p, mul(p.grad(), 0.1)));
      set_grad(p, {});
    }
  }
  out.push_back(static_cast<double>(generator.state().draw));
  return out;
}

TEST_F(RematerialiseTest, TheBitsAreThoseWithoutSegments_B9) {
  const std::vector<double> wanted = train(Form::kPlain);
  EXPECT_EQ(train(Form::kSegments), wanted);
  EXPECT_EQ(train(Form::kNested), wanted);
  EXPECT_EQ(train(Form::kKept), wanted);
  EXPECT_EQ(train(Form::kKeptAndNested), wanted);
}

// --- memory ------------------------------------------------------------------

constexpr std::int64_t kElements = 1 << 16;
constexpr Bytes kArray = 8 * kElements;

Tensor four_tanh(const Tensor& x) {
  return tanh(tanh(tanh(tanh(x))));
}

// Arrays that are live at the highest instant of a forward and backward of a
// chain of eight times four_tanh, beside x.
template <class Block>
Bytes arrays_at_peak(memory::Domain& domain, const Block& block) {
  const Tensor x = requires_grad_(zeros({kElements}, f64));
  const Bytes before = domain.stats().live;
  domain.reset_peak();
  Tensor y = x;
  for (int i = 0; i < 8; ++i) {
    y = block(y);
  }
  backward(y, {.cotangent = ones_like(y)});
  return (domain.stats().live_peak - before) / kArray;
}

TEST_F(RematerialiseTest, OnlyOneSegmentsInnerValuesAreLiveAtATime_B9) {
  // Every tanh keeps its result: 32, a cotangent and one that is being made.
  EXPECT_EQ(arrays_at_peak(*domain_, four_tanh), 34);
  // A segment keeps its input: 8 results of segments (the last is y), the
  // cotangent, and the 4 results of the segment that is run again.
  EXPECT_EQ(arrays_at_peak(*domain_, rematerialise(four_tanh)), 8 + 1 + 4 + 1);
}

TEST_F(RematerialiseTest, KeepsResultsOfComputeBoundOpsWhenAskedTo) {
  const Tensor w = requires_grad_(full({128, 128}, 0.01));
  const auto layer = [&w](const Tensor& x) { return tanh(matmul(x, w)); };
  const auto kept_by = [&](Keep keep) {
    const Tensor x = requires_grad_(full({128, 128}, 0.5));
    const auto segment = rematerialise(layer, {.keep = keep});
    const Bytes before = live();
    const Tensor y = segment(x);
    const Bytes kept = live() - before - 4 * 128 * 128;  // without y
    backward(sum(y));
    return kept / (4 * 128 * 128);
  };
  EXPECT_EQ(kept_by(Keep::kNothing), 0);
  EXPECT_EQ(kept_by(Keep::kComputeBound), 1);
  zero_grad(std::span(&w, 1));
}

TEST_F(RematerialiseTest, NothingIsLeftWhenTheResultIsDropped) {
  const Tensor w = leaf(2.0);
  const Bytes before = live();
  {
    const auto held = full({1000}, 1.0, f64);
    const auto segment = rematerialise(
        [&w, held](const Tensor& x) { return mul(x, mul(w, held)); });
    const Tensor y = segment(leaf(3.0));
  }
  EXPECT_EQ(live(), before);
}

TEST_F(RematerialiseTest, TheClosureGoesWithTheBackward) {
  const Tensor x = leaf(3.0);
  const Bytes before = live();
  Tensor y;
  {
    const auto held = full({1000}, 1.0, f64);
    y = sum(
        rematerialise([held](const Tensor& in) { return mul(in, held); })(x));
  }
  EXPECT_GT(live(), before + 8000);
  backward(y);
  zero_grad(std::span(&x, 1));
  EXPECT_LT(live(), before + 2000);
  EXPECT_THROW(backward(y), GraphError);
}

// --- gradients ---------------------------------------------------------------

TEST_F(RematerialiseTest, CapturedLeavesAndResultsGetTheirGradients) {
  const Tensor w = leaf(2.0);
  const Tensor v = leaf(5.0);
  const Tensor made = mul(v, v);  // recorded outside
  const Tensor x = leaf(3.0);
  const auto segment =
      rematerialise([&](const Tensor& in) { return mul(mul(in, w), made); });
  backward(segment(x));
  EXPECT_EQ(x.grad().item(), 50.0);
  EXPECT_EQ(w.grad().item(), 75.0);
  EXPECT_EQ(v.grad().item(), 60.0);
}

TEST_F(RematerialiseTest, GradAsksForResultsOnBothSidesOfASegment) {
  const Tensor w = leaf(2.0);
  const Tensor x = leaf(3.0);
  const Tensor h = mul(x, x);
  const Tensor y =
      rematerialise([&](const Tensor& in) { return mul(in, w); })(h);
  const auto g = grad(mul(y, y), {h, y, w});
  EXPECT_EQ(g[0].item(), 72.0);
  EXPECT_EQ(g[1].item(), 36.0);
  EXPECT_EQ(g[2].item(), 324.0);
  EXPECT_FALSE(x.grad().defined());
}

TEST_F(RematerialiseTest, AnInputOrACapturedTensorMayBeReturned) {
  const Tensor w = leaf(2.0);
  const Tensor x = leaf(3.0);
  const auto segment = rematerialise([&w](const Tensor& in) {
    return std::array<Tensor, 3>{in, w, mul(in, w)};
  });
  const auto all = segment(x);
  EXPECT_EQ(all[0].identity(), x.identity());
  EXPECT_EQ(all[1].identity(), w.identity());
  backward(mul(mul(all[0], all[1]), all[2]));  // x^2 w^2
  EXPECT_EQ(x.grad().item(), 24.0);
  EXPECT_EQ(w.grad().item(), 36.0);
}

TEST_F(RematerialiseTest, TakesAndReturnsWhatTheFunctionDoes) {
  const Tensor a = leaf(2.0);
  const Tensor b = leaf(3.0);
  const auto pair = rematerialise([](const Tensor& p, const Tensor& q) {
    return std::pair(mul(p, q), add(p, q));
  });
  const auto [product, total] = pair(a, b);
  backward(mul(product, total));
  EXPECT_EQ(a.grad().item(), 21.0);
  zero_grad(std::span(&a, 1));
  const auto list = rematerialise([](std::span<const Tensor> in) {
    memory::Vector<Tensor> out;
    for (const Tensor& t : in) {
      out.push_back(mul(t, t));
    }
    return out;
  });
  const std::array both{a, b};
  const auto squares = list(both);
  backward(mul(squares[0], squares[1]));
  EXPECT_EQ(a.grad().item(), 36.0);
  const auto none = rematerialise([&] { return mul(a, 4.0); });
  zero_grad(std::span(&a, 1));
  backward(none());
  EXPECT_EQ(a.grad().item(), 4.0);
}

TEST_F(RematerialiseTest, OneTensorMayBeGivenTwice) {
  const Tensor x = leaf(3.0);
  const auto segment = rematerialise(
      [](const Tensor& p, const Tensor& q) { return mul(mul(p, q), q); });
  backward(segment(x, x));
  EXPECT_EQ(x.grad().item(), 27.0);
}

TEST_F(RematerialiseTest, RunsAgainForEveryBackwardOfARetainedGraph) {
  const Tensor x = leaf(3.0);
  const Tensor y =
      rematerialise([](const Tensor& in) { return mul(in, in); })(x);
  backward(y, {.retain_graph = true});
  backward(y);
  EXPECT_EQ(x.grad().item(), 12.0);
}

TEST_F(RematerialiseTest, RunsAgainInThePrecisionOfItsForward) {
  if (!kernels::has_bf16_dot()) {
    GTEST_SKIP() << "no other precision here";
  }
  for (const Precision forward : {Precision::kF32, Precision::kBf16}) {
    std::vector<Precision> seen;
    const auto segment = rematerialise([&seen](const Tensor& x) {
      seen.push_back(current_precision());
      return tanh(x);
    });
    const Tensor x = requires_grad_(ones({2}));
    Tensor y;
    {
      const UsePrecision guard(forward);
      y = sum(segment(x));
    }
    const UsePrecision other(forward == Precision::kF32 ? Precision::kBf16
                                                        : Precision::kF32);
    backward(y);
    EXPECT_EQ(seen, std::vector(2, forward));
    EXPECT_NE(current_precision(), forward);
  }
}

TEST_F(RematerialiseTest, SecondDerivativesGoThrough) {
  const Tensor w = leaf(2.0);
  const Tensor x = leaf(3.0);
  const auto cube = [&w](const Tensor& in) {
    return mul(mul(mul(in, in), in), w);
  };
  const auto derivatives = [&](const auto& f) {
    const auto first = grad(f(mul(x, 1.0)), {x}, {.create_graph = true});
    const auto second = grad(first[0], {x, w}, {.create_graph = true});
    const auto third = grad(second[0], {x});
    return std::vector{first[0].item(), second[0].item(), second[1].item(),
                       third[0].item()};
  };
  EXPECT_EQ(derivatives(cube), (std::vector{54.0, 36.0, 27.0, 12.0}));
  EXPECT_EQ(derivatives(rematerialise(cube)), derivatives(cube));
  const auto nested = [&](const Tensor& in) {
    return mul(rematerialise(cube)(in), 1.0);
  };
  EXPECT_EQ(derivatives(rematerialise(nested)), derivatives(cube));
}

// The sums that a segment goes on with have a graph of their own then.
TEST_F(RematerialiseTest, SecondDerivativesOfWhatIsUsedOutsideToo) {
  const Tensor w = leaf(2.0);
  const Tensor x = leaf(3.0);
  const auto derivatives = [&](const auto& f) {
    const Tensor h = mul(x, x);
    const Tensor y = mul(mul(f(h), h), w);  // x^6 w^2
    const auto first = grad(y, {x, w}, {.create_graph = true});
    const auto second = grad(add(first[0], first[1]), {x, w});
    return std::vector{first[0].item(), first[1].item(), second[0].item(),
                       second[1].item()};
  };
  const auto f = [&w](const Tensor& in) { return mul(mul(in, in), w); };
  EXPECT_EQ(derivatives(f), (std::vector{5832.0, 2916.0, 15552.0, 7290.0}));
  EXPECT_EQ(derivatives(rematerialise(f)), derivatives(f));
}

// A function holds the result before it: their ends do not nest.
TEST_F(RematerialiseTest, AChainThroughClosuresEndsOnAConstantStack) {
  for (const bool walks : {false, true}) {
    const Tensor x = leaf(1.0);
    Tensor y = mul(x, 1.0);
    for (int i = 0; i < 100'000; ++i) {
      y = rematerialise([y] { return mul(y, 1.0); })();
    }
    if (walks) {
      backward(y);
      EXPECT_EQ(x.grad().item(), 1.0);
    }
  }
}

TEST_F(RematerialiseTest, SeveralThreadsDifferentiateOneSegment) {
  const Tensor w = leaf(2.0);
  const auto segment =
      rematerialise([&w](const Tensor& in) { return mul(mul(in, w), in); });
  const auto work = [&] {
    const UseDomain use(*domain_);
    Generator generator;
    const UseGenerator draws(generator);
    for (int i = 0; i < 50; ++i) {
      backward(segment(leaf(3.0)));
    }
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(w.grad().item(), 900.0);
}

TEST_F(RematerialiseTest, TangentsGoThrough) {
  const Tensor w = leaf(2.0);
  const Tensor x = scalar(3.0, f64);
  const Tensor u = scalar(1.0, f64);
  const auto cube = rematerialise(
      [&w](const Tensor& in) { return mul(mul(mul(in, in), in), w); });
  const auto f = [&](std::span<const Tensor> in) { return cube(in[0]); };
  const JvpResult result = jvp(f, std::span(&x, 1), std::span(&u, 1));
  EXPECT_EQ(result.tangent.item(), 54.0);
  backward(result.tangent);  // reverse over forward
  EXPECT_EQ(w.grad().item(), 27.0);
  zero_grad(std::span(&w, 1));
  const auto slope = [&](std::span<const Tensor> in) {  // forward over reverse
    const Tensor own = requires_grad_(in[0]);
    return grad(cube(own), {own}, {.create_graph = true})[0];
  };
  EXPECT_EQ(jvp(slope, std::span(&x, 1), std::span(&u, 1)).tangent.item(),
            36.0);
  const auto inner = rematerialise([&](const Tensor& in) {
    const auto plain = [](std::span<const Tensor> t) {
      return mul(t[0], t[0]);
    };
    return jvp(plain, std::span(&in, 1), std::span(&u, 1)).tangent;
  });
  const Tensor y = leaf(3.0);
  backward(inner(y));
  EXPECT_EQ(y.grad().item(), 2.0);
}

TEST_F(RematerialiseTest, IsThePlainFunctionUnderNoGrad) {
  const Tensor x = leaf(3.0);
  const NoGrad guard;
  const Tensor y =
      rematerialise([](const Tensor& in) { return mul(in, in); })(x);
  EXPECT_EQ(y.item(), 9.0);
  EXPECT_FALSE(y.requires_grad());
}

TEST_F(RematerialiseTest, NeedsNoGradientAtAll) {
  const Tensor x = scalar(3.0, f64);
  const Tensor y =
      rematerialise([](const Tensor& in) { return mul(in, in); })(x);
  EXPECT_EQ(y.item(), 9.0);
  EXPECT_FALSE(y.requires_grad());
}

TEST_F(RematerialiseTest, SurvivesEveryFailedAllocation) {
  const Network network;
  const Tensor x = zeros({16, 24});
  for (const Form form : {Form::kKept, Form::kNested}) {
    Generator generator(5);
    const UseGenerator use(generator);
    const auto result = testing::sweep_allocation_failures(*domain_, [&] {
      const Tensor loss = network.loss(x, form);
      const std::vector<Tensor> parameters = network.parameters();
      const auto gradients = grad(std::span(&loss, 1), parameters);
      EXPECT_EQ(gradients.size(), parameters.size());
    });
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.problems[0]);
    EXPECT_GT(result.failures, 100);
  }
}

}  // namespace
}  // namespace neap
