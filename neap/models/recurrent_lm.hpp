// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// LstmLm, GruLm: recurrent language models (Zaremba, Sutskever and Vinyals,
// "Recurrent neural network regularization", arXiv 1409.2329), with the names
// of PyTorch's example:
//
//   encoder  embeddings of tokens
//   rnn      nn::LSTM or nn::GRU
//   decoder  to a score for every token; its weight is the encoder's if tied
//
// Dropout acts on the embeddings, between the layers and on the last one's
// output. A sequence may have any length; one too long for memory is processed
// in pieces, each from the state that the one before left:
//
//   auto [loss, state] = model.loss_from(tokens, targets, state);
//   backward(loss);
//   state = models::detached(state);
#pragma once

#include "neap/nn/embedding.hpp"
#include "neap/nn/linear.hpp"
#include "neap/nn/recurrent.hpp"

namespace neap::models {

struct RecurrentLmOptions {
  std::int64_t vocab = 256;
  std::int64_t dim = 128;     // width of an embedding
  std::int64_t hidden = 128;  // dim, if tied
  std::int64_t layers = 1;
  double dropout = 0.0;  // probability, in [0, 1)
  bool tie = false;
  DType dtype = f32;
};

/// The state of Net, of all layers: (layers, b, hidden).
template <class Net>
struct NetState;
template <>
struct NetState<nn::LSTM> {
  using Type = LstmState;
};
template <>
struct NetState<nn::GRU> {
  using Type = Tensor;
};

/// The values of a state, without their graph.
NEAP_API LstmState detached(const LstmState& state);
NEAP_API Tensor detached(const Tensor& state);

template <class Net>
class NEAP_API RecurrentLm final : public nn::Cloneable<RecurrentLm<Net>> {
 public:
  using State = typename NetState<Net>::Type;
  struct Scored {
    Tensor scores;  // (b, t, vocab)
    State state;
  };
  struct Loss {
    Tensor loss;
    State state;
  };

  /// Weights as the layers initialise them. THROWS: ValueError for a size below
  /// 1, a dropout outside [0, 1), or a tie where hidden is not dim; DTypeError
  /// unless f32 or f64; OutOfMemory.
  explicit RecurrentLm(const RecurrentLmOptions& options,
                       CallSite site = CallSite::here());
  RecurrentLm(const RecurrentLm& other, nn::Cloning& cloning);

  /// Tokens (b, t), i32 or i64 -> scores (b, t, vocab) of what follows each.
  /// THROWS: ShapeError; ValueError for no such token.
  Tensor forward(const Tensor& tokens) const override;
  /// The scores from a state (undefined: zeros) on, and the next state.
  Scored run(const Tensor& tokens, const State& state,
             CallSite site = CallSite::here()) const;

  /// The mean cross-entropy of the scores and the targets (b, t), i64.
  /// THROWS: as forward and cross_entropy.
  Tensor loss(const Tensor& tokens, const Tensor& targets,
              CallSite site = CallSite::here()) const;
  /// The loss from a state on, and the next state.
  Loss loss_from(const Tensor& tokens, const Tensor& targets,
                 const State& state, CallSite site = CallSite::here()) const;

  const RecurrentLmOptions& options() const noexcept { return options_; }

 private:
  void name_parts();
  Scored by_time(const Tensor& tokens, const State& state) const;

  RecurrentLmOptions options_;
  nn::Embedding encoder_;
  Net rnn_;
  nn::Linear decoder_;
};

extern template class RecurrentLm<nn::LSTM>;
extern template class RecurrentLm<nn::GRU>;

using LstmLm = RecurrentLm<nn::LSTM>;
using GruLm = RecurrentLm<nn::GRU>;

}  // namespace neap::models
