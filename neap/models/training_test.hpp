// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// For the tests of models: what every one of them must do in training.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/graph/recorder.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/nn/module.hpp"
#include "neap/ops/elementwise/assign.hpp"
#include "neap/optim/adam.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/generator.hpp"
#include "neap/threads/pool.hpp"

namespace neap::models::testing {

inline std::vector<std::string> names_of(const nn::ParameterList& parameters) {
  std::vector<std::string> names;
  for (const nn::Parameter& parameter : parameters) {
    names.emplace_back(parameter.name);
  }
  return names;
}

/// Every element of every parameter.
inline std::vector<double> values_of(const nn::Module& model) {
  std::vector<double> all;
  for (const nn::Parameter& parameter : model.parameters()) {
    const auto values = parameter.tensor.to_vector();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

/// Gradients agree with central differences along one direction a parameter.
/// `loss_of`: a function of nothing.
template <class LossOf>
void expect_true_gradients(const nn::Module& model, const LossOf& loss_of) {
  backward(loss_of());
  for (const nn::Parameter& parameter : model.parameters()) {
    const Tensor& w = parameter.tensor;
    const memory::Vector<double> start = w.to_vector();
    const memory::Vector<double> gradient = w.grad().to_vector();
    const auto direction = [](std::size_t i) {
      return std::cos(0.7 * static_cast<double>(i));
    };
    const auto loss_at = [&](double distance) {
      const NoGrad guard;
      std::vector<double> moved(start.begin(), start.end());
      for (std::size_t i = 0; i < moved.size(); ++i) {
        moved[i] += distance * direction(i);
      }
      copy_(w, from_values(moved, w.shape(), f64));
      return loss_of().item();
    };
    double slope = 0;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      slope += gradient[i] * direction(i);
    }
    constexpr double kStep = 1e-5;
    const double difference = (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep);
    loss_at(0);
    EXPECT_NEAR(slope, difference, 1e-8 + 1e-6 * std::abs(slope))
        << std::string_view(parameter.name);
  }
}

/// Some steps of training. `loss_of`: a function of the model.
template <class Model, class LossOf>
void train_for(Model& model, optim::Optimizer& optimizer, int steps,
               const LossOf& loss_of) {
  for (int i = 0; i < steps; ++i) {
    optimizer.zero_grad();
    backward(loss_of(model));
    optimizer.step();
  }
}

/// The parameters after three steps at one thread, two and three.
template <class Make, class LossOf>
void expect_same_bits(const Make& make, const LossOf& loss_of) {
  std::vector<double> first;
  for (int threads = 1; threads <= 3; ++threads) {
    threads::set_default_threads(threads);
    Generator generator(7);
    const UseGenerator use(generator);
    auto model = make();
    optim::AdamW optimizer(model.parameters());
    train_for(model, optimizer, 3, loss_of);
    if (threads == 1) {
      first = values_of(model);
    } else {
      EXPECT_EQ(values_of(model), first) << threads;
    }
  }
  threads::set_default_threads(1);
}

/// From the third step on, nothing grows.
template <class Model, class LossOf>
void expect_flat(memory::Domain& domain, Model& model, const LossOf& loss_of) {
  optim::AdamW optimizer(model.parameters());
  train_for(model, optimizer, 3, loss_of);
  const memory::Stats before = domain.stats();
  train_for(model, optimizer, 20, loss_of);
  const memory::Stats after = domain.stats();
  EXPECT_EQ(after.live, before.live);
  EXPECT_EQ(after.live_blocks, before.live_blocks);
  EXPECT_EQ(after.held, before.held);
  EXPECT_EQ(after.peak, before.peak);
}

}  // namespace neap::models::testing
