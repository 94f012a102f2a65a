// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Examples of ops whose call cannot be found by trying: they take labels,
// masks, products of matrices, attributes with a meaning, or are gradients.
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

void embed(const Extents& e) {
  differentiate(embedding(with_grad(matrix(e)), labels({e.rows}, e.rows), 0));
}

void put_by_index(const Extents& e) {
  const Tensor index = labels({e.rows, e.columns}, e.rows);
  differentiate(gather(with_grad(matrix(e)), 0, index));
  differentiate(scatter(with_grad(matrix(e)), 0, index, with_grad(matrix(e))));
}

}  // namespace

const std::vector<Example>& examples() {
  static const std::vector<Example> all{
      {"cast", [](const Extents& e) { cast(matrix(e), f64); }},
      {"clip clip_grad",
       [](const Extents& e) {
         differentiate(clip(with_grad(matrix(e)), 0.25, 0.75));
       }},
      {"cross_entropy cross_entropy_grad",
       [](const Extents& e) {
         backward(
             cross_entropy(with_grad(matrix(e)), labels({e.rows}, e.columns)));
       }},
      {"dropout", [](const Extents& e) { dropout(matrix(e), 0.5); }},
      {"fill",
       [](const Extents& e) {
         ops::filled({.dtype = f32, .shape = {e.rows, e.columns}}, 1.0,
                     CallSite::here());
       }},
      {"frozen_row gather scatter_add", embed},
      {"gather scatter scatter_add scatter_take", put_by_index},
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
      {"one_hot",
       [](const Extents& e) {
         one_hot(labels({e.rows}, e.columns), e.columns);
       }},
      {"relu_bits relu_grad",
       [](const Extents& e) { differentiate(relu(with_grad(matrix(e)))); }},
      {"rms_norm rms_norm_grad",
       [](const Extents& e) {
         differentiate(rms_norm(with_grad(matrix(e)), {e.columns},
                                with_grad(numbers({e.columns}))));
       }},
      {"sigmoid_grad",
       [](const Extents& e) { differentiate(sigmoid(with_grad(matrix(e)))); }},
      {"slice_put",
       [](const Extents& e) {
         differentiate(slice(with_grad(matrix(e)), 1, e.columns / 2));
       }},
      {"tanh_grad",
       [](const Extents& e) { differentiate(tanh(with_grad(matrix(e)))); }},
      {"where",
       [](const Extents& e) {
         const Tensor x = matrix(e);
         where(gt(x, 0.5), x, numbers({e.rows, e.columns}));
       }},
  };
  return all;
}

}  // namespace neap::bench
