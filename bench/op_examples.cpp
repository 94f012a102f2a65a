// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Examples of ops whose call cannot be found by trying: they take labels,
// masks, products of matrices, attributes with a meaning, or are gradients.
#include <algorithm>

#include "neap/kernels/conv/conv.hpp"
#include "neap/neap.hpp"
#include "neap/ops/conv/conv2d_relu.hpp"
#include "op_calls.hpp"

namespace neap::bench {
namespace {

Tensor matrix(const Extents& e) {
  return numbers({e.rows, e.columns});
}

Tensor square_matrix(const Extents& e) {
  return numbers({e.side, e.side});
}

Tensor with_grad(Tensor x) {
  return requires_grad_(std::move(x));
}

// Makes the gradient's ops pass by.
void differentiate(const Tensor& y) {
  backward(y, {.cotangent = ones_like(y)});
}

// As many small matrices as the extents hold, with a heavy diagonal, so that
// they are positive definite as far as a triangle says.
Tensor systems(const Extents& e) {
  constexpr std::int64_t kSide = 32;
  const std::int64_t count =
      std::max<std::int64_t>(e.rows * e.columns / (kSide * kSide), 1);
  return numbers({count, kSide, kSide}) + eye(kSide) * 64;
}

void solve_systems(const Extents& e) {
  const Tensor a = systems(e);
  solve(a, a);
  triangular_solve(a, a);
}

void move_diagonals(const Extents& e) {
  const Tensor x = numbers({e.rows * e.columns / 64, 8, 8});
  differentiate(diagonal(with_grad(x), 0, 1, 2));
}

void take_by_mask(const Extents& e) {
  const Tensor x = matrix(e);
  const Tensor mask = gt(x, 0.5);
  unpack(pack(x, mask), mask);
}

void embed(const Extents& e) {
  differentiate(embedding(with_grad(matrix(e)), labels({e.rows}, e.rows), 0));
}

void put_by_index(const Extents& e) {
  const Tensor index = labels({e.rows, e.columns}, e.rows);
  differentiate(gather(with_grad(matrix(e)), 0, index));
  differentiate(scatter(with_grad(matrix(e)), 0, index, with_grad(matrix(e))));
}

// Four heads as wide as an eighth of a side, as many rows as a side.
void attend(const Extents& e, double dropout) {
  const auto heads = [&e] {
    return with_grad(
        numbers({1, 4, e.side, std::max<std::int64_t>(e.side / 8, 2)}));
  };
  differentiate(scaled_dot_product_attention(
      heads(), heads(), heads(), {.is_causal = true, .dropout = dropout}));
}

// As many images of eight channels as the extents hold.
Tensor images(const Extents& e) {
  constexpr std::int64_t kSide = 16;
  const std::int64_t count =
      std::max<std::int64_t>(e.rows * e.columns / (8 * kSide * kSide), 2);
  return numbers({count, 8, kSide, kSide});
}

void convolve(const Extents& e) {
  differentiate(conv2d(with_grad(images(e)), with_grad(numbers({8, 8, 3, 3})),
                       {.padding = 1}));
}

void pool_most(const Extents& e) {
  const Tensor x = images(e);
  const auto pooled = [](const Tensor& at) {
    return max_pool2d(at, {.kernel = 2});
  };
  differentiate(pooled(with_grad(x)));
  jvp(pooled, x, x);
}

void norm_channels(const Extents& e) {
  const auto channels = [] { return with_grad(numbers({8})); };
  differentiate(batch_norm(with_grad(images(e)), {}, {}, channels(), channels(),
                           {.training = true}));
  differentiate(group_norm(with_grad(images(e)), 2, channels(), channels()));
}

// Eight steps, as many samples as a side has, `gates` blocks of weights.
template <class Run>
void recur(const Extents& e, std::int64_t gates, const Run& run) {
  const std::int64_t hidden = std::max<std::int64_t>(e.side / 8, 2);
  const auto weight = [&] {
    return with_grad(numbers({gates * hidden, hidden}));
  };
  differentiate(run(with_grad(numbers({8, e.side, hidden})),
                    RecurrentWeights{weight(), weight()}));
}

const Example kExamples[] = {
    {"attention attention_grad", [](const Extents& e) { attend(e, 0.0); }},
    {"attention_dropout attention_dropout_grad",
     [](const Extents& e) { attend(e, 0.1); }},
    {"avg_pool2d avg_pool2d_grad",
     [](const Extents& e) {
       differentiate(avg_pool2d(with_grad(images(e)), {.kernel = 2}));
     }},
    {"batch_norm batch_norm_grad group_norm group_norm_grad", norm_channels},
    {"cast", [](const Extents& e) { cast(matrix(e), f64); }},
    {"causal_softmax",
     [](const Extents& e) { causal_softmax(square_matrix(e), 0.125); }},
    {"cholesky", [](const Extents& e) { cholesky(systems(e)); }},
    {"clip clip_grad",
     [](const Extents& e) {
       differentiate(clip(with_grad(matrix(e)), 0.3, 0.9));
     }},
    {"concat",
     [](const Extents& e) {
       concat({matrix(e), matrix(e)}, 0);
     }},
    {"conv2d conv_transpose2d conv2d_weight", convolve},
    {"conv2d_relu conv2d_relu_bits",
     [](const Extents& e) {
       const Tensor x = images(e);
       const Tensor w = numbers({8, x.size(1), 3, 3});
       const kernels::ConvAttrs attrs{.padding = {1, 1},
                                      .x_extent = {x.size(2), x.size(3)},
                                      .kernel = {3, 3},
                                      .y_extent = {x.size(2), x.size(3)}};
       ops::conv2d_relu(x, w, {}, attrs);
       ops::conv2d_relu_bits(x, w, {}, attrs);
     }},
    {"cross_entropy cross_entropy_grad",
     [](const Extents& e) {
       backward(
           cross_entropy(with_grad(matrix(e)), labels({e.rows}, e.columns)));
     }},
    {"det", [](const Extents& e) { det(systems(e)); }},
    {"diagonal_put", move_diagonals},
    {"dropout", [](const Extents& e) { dropout(matrix(e), 0.5); }},
    {"fill",
     [](const Extents& e) {
       ops::filled({.dtype = f32, .shape = {e.rows, e.columns}}, 1.0,
                   CallSite::here());
     }},
    {"flip", [](const Extents& e) { flip(matrix(e), {1}); }},
    {"frozen_row gather scatter_add", embed},
    {"gather scatter scatter_add scatter_take", put_by_index},
    {"gelu_linear",
     [](const Extents& e) {
       gelu_linear(square_matrix(e), square_matrix(e), numbers({e.side}));
     }},
    {"linear_cross_entropy linear_cross_entropy_grad",
     [](const Extents& e) {
       backward(linear_cross_entropy(with_grad(matrix(e)),
                                     with_grad(numbers({e.side, e.columns})),
                                     {}, labels({e.rows}, e.side)));
     }},
    {"gru gru_grad",
     [](const Extents& e) {
       recur(e, 3, [](const Tensor& x, const RecurrentWeights& w) {
         return gru(x, w).output;
       });
     }},
    {"interpolate interpolate_grad",
     [](const Extents& e) {
       differentiate(
           interpolate(with_grad(images(e)),
                       {.scale = 2.0, .mode = Interpolation::kBilinear}));
     }},
    {"inverse", [](const Extents& e) { inverse(systems(e)); }},
    {"layer_norm layer_norm_grad",
     [](const Extents& e) {
       differentiate(layer_norm(with_grad(matrix(e)), {e.columns},
                                with_grad(numbers({e.columns})),
                                with_grad(numbers({e.columns}))));
     }},
    {"linear",
     [](const Extents& e) {
       linear(square_matrix(e), square_matrix(e), numbers({e.side}));
     }},
    {"log_softmax log_softmax_grad",
     [](const Extents& e) {
       differentiate(log_softmax(with_grad(matrix(e)), 1));
     }},
    {"lstm lstm_grad",
     [](const Extents& e) {
       recur(e, 4, [](const Tensor& x, const RecurrentWeights& w) {
         return lstm(x, w).output;
       });
     }},
    {"matmul",
     [](const Extents& e) { matmul(square_matrix(e), square_matrix(e)); }},
    {"max_pool2d max_pool2d_grad max_pool2d_take", pool_most},
    {"norm", [](const Extents& e) { norm(matrix(e), 2.0, {1}); }},
    {"one_hot",
     [](const Extents& e) { one_hot(labels({e.rows}, e.columns), e.columns); }},
    {"pack unpack", take_by_mask},
    {"pad",
     [](const Extents& e) {
       pad(matrix(e), {1, 1, 1, 1});
     }},
    {"relu_bits relu_grad",
     [](const Extents& e) { differentiate(relu(with_grad(matrix(e)))); }},
    {"rms_norm rms_norm_grad",
     [](const Extents& e) {
       differentiate(rms_norm(with_grad(matrix(e)), {e.columns},
                              with_grad(numbers({e.columns}))));
     }},
    {"rnn rnn_grad",
     [](const Extents& e) {
       recur(e, 1, [](const Tensor& x, const RecurrentWeights& w) {
         return rnn(x, w).output;
       });
     }},
    {"rotary_embedding",
     [](const Extents& e) { rotary_embedding(square_matrix(e)); }},
    {"sigmoid_grad",
     [](const Extents& e) { differentiate(sigmoid(with_grad(matrix(e)))); }},
    {"slice_put slice_add",
     [](const Extents& e) {
       const Tensor x = with_grad(matrix(e));
       const std::int64_t half = e.columns / 2;
       differentiate(slice(x, 1, half) + slice(x, 1, 0, half));
     }},
    {"slogdet", [](const Extents& e) { slogdet(systems(e)); }},
    {"softmax softmax_grad",
     [](const Extents& e) { differentiate(softmax(with_grad(matrix(e)), 1)); }},
    {"solve triangular_solve", solve_systems},
    {"tanh_grad",
     [](const Extents& e) { differentiate(tanh(with_grad(matrix(e)))); }},
    {"sort", [](const Extents& e) { sort(matrix(e), 1); }},
    {"topk", [](const Extents& e) { topk(matrix(e), e.columns / 8, 1); }},
    {"triangle", [](const Extents& e) { tril(square_matrix(e)); }},
    {"where",
     [](const Extents& e) {
       const Tensor x = matrix(e);
       where(gt(x, 0.5), x, numbers({e.rows, e.columns}));
     }},
};

}  // namespace

std::span<const Example> examples() {
  return kExamples;
}

}  // namespace neap::bench
