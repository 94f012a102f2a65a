// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Adafactor and Muon: beside PyTorch, by hand, and what becomes of their state.
#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include "neap/graph/vertex.hpp"
#include "neap/kernels/engine/kernel_testing.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/optim/adafactor.hpp"
#include "neap/optim/adam.hpp"
#include "neap/optim/muon.hpp"
#include "neap/optim/parameters_test.hpp"
#include "neap/tensor/door_test.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::optim {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

using Figures = std::vector<std::vector<double>>;
#include "neap/optim/matrix_optimizer_figures.inc"

class MatrixOptimizersTest : public DoorTest {};

using Make =
    std::function<std::unique_ptr<Optimizer>(const ParameterList& parameters)>;

template <class O, class Options>
Make maker(const Options& options) {
  return [options](const ParameterList& parameters) {
    return std::unique_ptr<Optimizer>(std::make_unique<O>(parameters, options));
  };
}

struct Case {
  const char* name;
  const Figures& figures;
  Shape shape;
  Make make;
};

std::vector<Case> cases() {
  const AdafactorOptions own{.lr = 0.3,
                             .beta2_decay = -0.5,
                             .eps1 = 1e-4,
                             .eps2 = 1e-2,
                             .clip = 1.2,
                             .weight_decay = 0.05};
  return {
      {"adafactor vector",
       kAdafactorVector,
       {5},
       maker<Adafactor>(AdafactorOptions{})},
      {"adafactor matrix",
       kAdafactorMatrix,
       {3, 4},
       maker<Adafactor>(AdafactorOptions{})},
      {"adafactor own", kAdafactorOwn, {3, 4}, maker<Adafactor>(own)},
      {"adafactor stack",
       kAdafactorStack,
       {2, 3, 2},
       maker<Adafactor>(AdafactorOptions{.lr = 0.05, .maximize = true})},
      {"adafactor vector own",
       kAdafactorVectorOwn,
       {5},
       maker<Adafactor>(
           AdafactorOptions{.lr = 0.3, .clip = 1.1, .weight_decay = 0.05})},
      {"muon wide", kMuonWide, {3, 4}, maker<Muon>(MuonOptions{.lr = 0.05})},
      {"muon tall",
       kMuonTall,
       {5, 2},
       maker<Muon>(MuonOptions{.lr = 0.05, .momentum = 0.8})},
      {"muon plain",
       kMuonPlain,
       {4, 4},
       maker<Muon>(MuonOptions{
           .lr = 0.05, .weight_decay = 0.0, .nesterov = false, .ns_steps = 3})},
      {"muon as AdamW",
       kMuonAsAdamW,
       {2, 6},
       maker<Muon>(MuonOptions{.lr = 0.05, .rate = MuonRate::kAdamW})}};
}

template <class F>
Tensor wave(const Shape& shape, DType dtype, const F& element) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < shape.element_count(); ++i) {
    values.push_back(element(static_cast<double>(i)));
  }
  return from_values(values, shape, dtype);
}

Tensor start(const Shape& shape, DType dtype) {
  return requires_grad_(
      wave(shape, dtype, [](double i) { return std::cos(1.7 * i + 0.3); }));
}

// The gradient that the figures were recorded with: 0.5 w + sin(0.7 t + i).
void give_gradient(const Tensor& w, std::size_t step) {
  const auto now = w.to_vector();
  set_grad(w, wave(w.shape(), w.dtype(), [&](double i) {
             return 0.5 * now[static_cast<std::size_t>(i)] +
                    std::sin(0.7 * static_cast<double>(step) + i);
           }));
}

void expect_figures(const Case& c, DType dtype, double tolerance) {
  const Tensor w = start(c.shape, dtype);
  const auto optimizer = c.make(named({{"w", w}}));
  for (std::size_t step = 0; step < c.figures.size(); ++step) {
    give_gradient(w, step);
    optimizer->step();
    const auto now = w.to_vector();
    for (std::size_t i = 0; i < now.size(); ++i) {
      EXPECT_NEAR(now[i], c.figures[step][i], tolerance)
          << c.name << ", step " << step << ", element " << i;
    }
  }
}

TEST_F(MatrixOptimizersTest, FollowPyTorchInDoubles) {
  for (const Case& c : cases()) {
    expect_figures(c, f64, 1e-13);
  }
}

TEST_F(MatrixOptimizersTest, FollowPyTorchInFloats) {
  for (const Case& c : cases()) {
    // Adafactor's epsilon is the dtype's own.
    expect_figures(c, f32, 2e-5);
  }
}

// Large enough for several threads; what a number of them leaves.
std::vector<double> trained(const Make& make, const Shape& shape, int threads,
                            bool turned) {
  kernels::testing::BackwardExecutor executor(threads);
  const tensor::ExecutionGuard guard(
      [&](tensor::Execution& e) { e.executor = &executor; });
  const Tensor w = start(shape, f32);
  const auto optimizer = make(named({{"w", w}}));
  for (std::size_t step = 0; step < 2; ++step) {
    const Tensor g = wave(shape, f32, [&](double i) {
      return std::sin(0.7 * static_cast<double>(step) + 0.37 * i);
    });
    if (turned) {  // the same numbers in another order of memory
      const Shape other{shape[1], shape[0]};
      const Tensor memory = wave(other, f32, [&](double i) {
        const auto at = static_cast<std::int64_t>(i);
        return g.at({at % shape[0], at / shape[0]});
      });
      set_grad(w, transpose(memory, 0, 1));
    } else {
      set_grad(w, g);
    }
    optimizer->step();
  }
  const auto now = w.to_vector();
  return {now.begin(), now.end()};
}

TEST_F(MatrixOptimizersTest, LeaveTheSameBitsForAnyNumberOfThreads) {
  for (const Shape& shape : {Shape{190, 260}, Shape{300, 70}}) {
    for (const Make& make :
         {maker<Adafactor>(AdafactorOptions{}), maker<Muon>(MuonOptions{})}) {
      const auto one = trained(make, shape, 1, false);
      EXPECT_EQ(trained(make, shape, 3, false), one);
      EXPECT_EQ(trained(make, shape, 2, true), one);
    }
  }
}

TEST_F(MatrixOptimizersTest, AdafactorKeepsARowAndAColumnOfAMatrix) {
  const Tensor matrix = start({30, 50}, f32);
  const Tensor vector = start({7}, f32);
  Adafactor optimizer(named({{"m", matrix}, {"v", vector}}));
  give_gradient(matrix, 0);
  give_gradient(vector, 0);
  optimizer.step();
  EXPECT_EQ(optimizer.state_bytes(), (30 + 50 + 7) * 4);
  std::vector<std::string> names;
  std::vector<Shape> shapes;
  optimizer.visit_state([&](std::string_view name, const Tensor& state) {
    names.emplace_back(name);
    shapes.push_back(state.shape());
  });
  EXPECT_EQ(names,
            (std::vector<std::string>{"m.row_var", "m.col_var", "v.row_var"}));
  EXPECT_EQ(shapes, (std::vector<Shape>{{30, 1}, {1, 50}, {7}}));
}

TEST_F(MatrixOptimizersTest, ContinueFromTheirState) {
  for (const Make& make :
       {maker<Adafactor>(AdafactorOptions{}), maker<Muon>(MuonOptions{})}) {
    const Tensor a = start({3, 4}, f64);
    const auto first = make(named({{"w", a}}));
    give_gradient(a, 0);
    first->step();
    const Tensor b = requires_grad_(wave({3, 4}, f64, [&](double i) {
      return a.to_vector()[static_cast<std::size_t>(i)];
    }));
    const auto second = make(named({{"w", b}}));
    second->set_state(first->state());
    for (const auto& [w, optimizer] :
         {std::pair(a, first.get()), std::pair(b, second.get())}) {
      give_gradient(w, 1);
      optimizer->step();
    }
    EXPECT_EQ(a.to_vector(), b.to_vector());
    EXPECT_EQ(second->step_count(), 2);
  }
}

TEST_F(MatrixOptimizersTest, RefuseStateOfAnotherShape) {
  const Tensor w = start({3, 4}, f64);
  Adafactor optimizer(named({{"w", w}}));
  OptimizerState state = optimizer.zero_state();
  state.slots[0].tensors[1] = zeros({3, 4}, f64);
  EXPECT_THAT([&] { optimizer.set_state(state); },
              ThrowsMessage<ShapeError>(HasSubstr(
                  "col_var of \"w\" has shape [3, 4], expected [1, 4]")));
}

// The singular values of a step are near 1 whatever those of the gradient: the
// sum of their squares is |x|^2, and each is in the band of the iteration.
TEST_F(MatrixOptimizersTest, MuonStepsAreNearlyOrthogonal) {
  const Tensor w = requires_grad_(zeros({2, 2}, f64));
  Muon muon(named({{"w", w}}), {.lr = 1.0, .weight_decay = 0.0});
  set_grad(w, from_values({1.0, 0.02, 0.0, 0.05}, {2, 2}, f64));
  muon.step();
  const double a = w.at({0, 0});
  const double b = w.at({0, 1});
  const double c = w.at({1, 0});
  const double d = w.at({1, 1});
  const double sum = a * a + b * b + c * c + d * d;
  const double product = std::abs(a * d - b * c);
  const double largest =
      std::sqrt((sum + std::sqrt(sum * sum - 4 * product * product)) / 2);
  EXPECT_LT(largest, 1.3);
  EXPECT_GT(product / largest, 0.6);  // the gradient's ratio is 20
  EXPECT_LT(a, 0.0);                  // downhill
}

TEST_F(MatrixOptimizersTest, MuonTakesAConvolutionsWeightsAsAMatrix) {
  const Tensor w = start({3, 2, 2}, f64);
  const Tensor flat = start({3, 4}, f64);
  Muon muon(named({{"w", w}}));
  Muon of_flat(named({{"w", flat}}));
  give_gradient(w, 0);
  give_gradient(flat, 0);
  muon.step();
  of_flat.step();
  EXPECT_EQ(w.to_vector(), flat.to_vector());
}

TEST_F(MatrixOptimizersTest, MuonGivesAGroupToAdamW) {
  const Tensor w = start({3, 4}, f64);
  const Tensor mine = start({5}, f64);
  const Tensor other = start({5}, f64);
  Muon muon(named({{"w", w}}), {.lr = 0.05});
  muon.add_group(named({{"b", mine}}), {.lr = 0.1,
                                        .weight_decay = 0.02,
                                        .by_adam = true,
                                        .beta1 = 0.8,
                                        .beta2 = 0.95,
                                        .adam_eps = 1e-6});
  AdamW adam(named({{"b", other}}), AdamOptions{.lr = 0.1,
                                                .beta1 = 0.8,
                                                .beta2 = 0.95,
                                                .eps = 1e-6,
                                                .weight_decay = 0.02});
  for (std::size_t step = 0; step < kMuonWide.size(); ++step) {
    for (const Tensor& one : {w, mine, other}) {
      give_gradient(one, step);
    }
    muon.step();
    adam.step();
    EXPECT_EQ(mine.to_vector(), other.to_vector());
    EXPECT_NEAR(w.at({1, 1}), kMuonWide[step][5], 1e-13);
  }
  EXPECT_EQ(muon.state_bytes(), (12 + 2 * 5) * 8);
}

TEST_F(MatrixOptimizersTest, MuonRefusesAVector) {
  const Tensor b = start({5}, f64);
  EXPECT_THAT(
      [&] {
        Muon(named({{"b", b}}));
      },
      ThrowsMessage<ShapeError>(HasSubstr("\"b\" has shape [5]")));
  Muon muon(named({{"b", b}}), {.by_adam = true});
  EXPECT_THROW(muon.set_options(0, {}), ValueError);
}

TEST_F(MatrixOptimizersTest, RefuseBadSettings) {
  const ParameterList list = named({{"w", start({2, 2}, f32)}});
  EXPECT_THROW(Adafactor(list, {.lr = -1}), ValueError);
  EXPECT_THROW(Adafactor(list, {.beta2_decay = 0.1}), ValueError);
  EXPECT_THROW(Adafactor(list, {.clip = 0}), ValueError);
  EXPECT_THROW(Muon(list, {.momentum = 1}), ValueError);
  EXPECT_THROW(Muon(list, {.ns_steps = 100}), ValueError);
  EXPECT_THROW(Muon(list, {.beta2 = 1}), ValueError);
}

TEST_F(MatrixOptimizersTest, LeaveEmptyParameters) {
  for (const Shape& shape : {Shape{0, 3}, Shape{3, 0}}) {
    const Tensor w = requires_grad_(zeros(shape));
    set_grad(w, zeros(shape));
    Adafactor adafactor(named({{"w", w}}));
    adafactor.step();
    Muon muon(named({{"w", w}}));
    muon.step();
    EXPECT_EQ(muon.step_count(), 1);
  }
}

}  // namespace
}  // namespace neap::optim
