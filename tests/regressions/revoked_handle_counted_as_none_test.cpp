// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A handle that a scope gave back stood for "none" wherever a tensor may be
// left out, and the numbers were those of the call without it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/autograd/functional.hpp"
#include "neap/graph/hooks.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/memory/scope.hpp"
#include "neap/nn/recurrent.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/loss/binary_cross_entropy.hpp"
#include "neap/ops/norm/batch_norm.hpp"
#include "neap/ops/norm/group_norm.hpp"
#include "neap/ops/norm/layer_norm.hpp"
#include "neap/ops/norm/rms_norm.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/sequence/attention.hpp"
#include "neap/ops/sequence/gru.hpp"
#include "neap/ops/sequence/lstm.hpp"
#include "neap/ops/sequence/rnn.hpp"
#include "neap/ops/sequence/rotary_embedding.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

Tensor given_back() {
  Tensor handle;
  {
    const Scope scope("inner");
    handle = ones({4});
  }
  return handle;
}

struct Place {
  std::string name;
  // Puts the handle where a tensor may be left out.
  std::function<void(const Tensor&)> use;
};

Tensor leaf() {
  return requires_grad_(full({3, 4}, 0.5));
}

RecurrentWeights weights(std::int64_t gates) {
  return {full({gates * 2, 4}, 0.1), full({gates * 2, 2}, 0.1)};
}

std::vector<Place> norms() {
  const Tensor x = full({2, 4, 3}, 0.5);
  const Tensor rows = full({3, 4}, 0.5);
  const auto batch = [x](const Tensor& mean, const Tensor& var,
                         const Tensor& weight, const Tensor& bias,
                         const Tensor& count) {
    batch_norm(x, mean, var, weight, bias,
               {.training = true, .num_batches_tracked = count});
  };
  return {
      {"layer_norm weight", [=](const Tensor& t) { layer_norm(rows, {4}, t); }},
      {"layer_norm bias",
       [=](const Tensor& t) { layer_norm(rows, {4}, ones({4}), t); }},
      {"layer_norm bias alone",
       [=](const Tensor& t) { layer_norm(rows, {4}, {}, t); }},
      {"rms_norm weight", [=](const Tensor& t) { rms_norm(rows, {4}, t); }},
      {"group_norm weight", [=](const Tensor& t) { group_norm(x, 2, t); }},
      {"group_norm bias",
       [=](const Tensor& t) { group_norm(x, 2, ones({4}), t); }},
      {"instance_norm weight", [=](const Tensor& t) { instance_norm(x, t); }},
      {"instance_norm bias",
       [=](const Tensor& t) { instance_norm(x, ones({4}), t); }},
      {"batch_norm means", [=](const Tensor& t) { batch(t, t, {}, {}, {}); }},
      {"batch_norm variance",
       [=](const Tensor& t) { batch(zeros({4}), t, {}, {}, {}); }},
      {"batch_norm weight", [=](const Tensor& t) { batch({}, {}, t, {}, {}); }},
      {"batch_norm bias", [=](const Tensor& t) { batch({}, {}, {}, t, {}); }},
      {"batch_norm count",
       [=](const Tensor& t) { batch(zeros({4}), ones({4}), {}, {}, t); }}};
}

std::vector<Place> operands() {
  const Tensor x = full({3, 1, 4}, 0.5);
  const Tensor heads = full({1, 2, 3, 4}, 0.5);
  const Tensor p = full({3, 4}, 0.5);
  return {
      {"attention mask",
       [=](const Tensor& t) {
         scaled_dot_product_attention(heads, heads, heads, {.mask = t});
       }},
      {"rotary positions",
       [=](const Tensor& t) { rotary_embedding(heads, {.positions = t}); }},
      {"pos_weight",
       [=](const Tensor& t) {
         binary_cross_entropy_with_logits(p, p, Reduction::kMean, t);
       }},
      {"rnn state", [=](const Tensor& t) { rnn(x, weights(1), t); }},
      {"rnn biases",
       [=](const Tensor& t) {
         RecurrentWeights w = weights(1);
         w.b_ih = w.b_hh = t;
         rnn(x, w);
       }},
      {"gru state", [=](const Tensor& t) { gru(x, weights(3), t); }},
      {"lstm state",
       [=](const Tensor& t) { lstm(x, weights(4), {.h = t, .c = t}); }},
      {"lstm half a state",
       [=](const Tensor& t) { lstm(x, weights(4), {.h = t}); }},
      {"a layer's state", [=](const Tensor& t) { nn::GRU(4, 2).run(x, t); }}};
}

std::vector<Place> derivatives() {
  const auto value = [](const Tensor& x) { return sum(mul(x, x)); };
  return {{"backward's cotangent",
           [=](const Tensor& t) { backward(value(leaf()), {.cotangent = t}); }},
          {"backward's cotangents",
           [=](const Tensor& t) {
             const std::vector<Tensor> results{value(leaf())};
             backward(results, std::vector<Tensor>{t});
           }},
          {"grad's cotangents",
           [=](const Tensor& t) {
             const std::vector<Tensor> given{t};
             const Tensor x = leaf();
             grad(value(x), {x}, {.cotangents = given});
           }},
          {"a pullback's cotangent",
           [=](const Tensor& t) { vjp(value, leaf()).pullback(t); }},
          {"jvp's tangent", [=](const Tensor& t) { jvp(value, leaf(), t); }},
          {"hvp's direction", [=](const Tensor& t) { hvp(value, leaf(), t); }},
          {"a hook's gradient",
           [=](const Tensor& t) {
             const Tensor x = leaf();
             register_hook(x, [t](const Tensor&) { return t; });
             backward(value(x));
           }},
          {"set_grad", [](const Tensor& t) { set_grad(leaf(), t); }}};
}

TEST(RevokedHandleTest, IsRefusedWhereverATensorMayBeLeftOut) {
  const Tensor revoked = given_back();
  for (const auto& places : {norms(), operands(), derivatives()}) {
    for (const Place& place : places) {
      try {
        place.use(revoked);
        ADD_FAILURE() << place.name << " took it for none";
      } catch (const UseAfterRelease& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("inner")) << place.name;
      }
    }
  }
}

TEST(RevokedHandleTest, ADefaultMadeHandleStandsForNone) {
  for (const auto& places : {norms(), operands(), derivatives()}) {
    for (const Place& place : places) {
      if (place.name == "batch_norm variance") {
        continue;  // half of the statistics is another error
      }
      EXPECT_NO_THROW(place.use(Tensor())) << place.name;
    }
  }
}

TEST(RevokedHandleTest, SetGradOfAnUndefinedTensorIsRefused) {
  EXPECT_THROW(set_grad(Tensor(), ones({4})), UseAfterRelease);
  EXPECT_THROW(set_grad(given_back(), ones({4})), UseAfterRelease);
}

}  // namespace
}  // namespace neap
