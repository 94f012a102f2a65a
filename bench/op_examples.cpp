// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Examples of ops whose call cannot be found by trying: they take labels,
// masks, products of matrices, attributes with a meaning, or are gradients.
#include <algorithm>

#include "neap/neap.hpp"
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

const Example kExamples[] = {
    {"attention attention_grad", [](const Extents& e) { attend(e, 0.0); }},
    {"attention_dropout attention_dropout_grad",
     [](const Extents& e) { attend(e, 0.1); }},
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
    {"matmul",
     [](const Extents& e) { matmul(square_matrix(e), square_matrix(e)); }},
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
