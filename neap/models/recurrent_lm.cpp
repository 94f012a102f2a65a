// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/recurrent_lm.hpp"

#include "neap/base/raise.hpp"
#include "neap/models/parts.hpp"
#include "neap/ops/elementwise/dropout.hpp"
#include "neap/ops/loss/cross_entropy.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap::models {

using base::raise;

namespace {

RecurrentLmOptions checked(const RecurrentLmOptions& o) {
  if (o.tie && o.dim != o.hidden) {
    raise<ValueError>(
        "recurrent_lm: tied weights with dim {} and hidden {}, expected equal "
        "ones",
        o.dim, o.hidden);
  }
  return o;
}

Tensor detached_or_none(const Tensor& x) {
  return x.is_given() ? x.detach() : x;
}

// Runs the recurrent net; both forms return its output and its state.
LstmResult run_net(const nn::LSTM& net, const Tensor& x,
                   const LstmState& state) {
  return net.run(x, state);
}
struct GruResult {
  Tensor output;
  Tensor state;
};
GruResult run_net(const nn::GRU& net, const Tensor& x, const Tensor& state) {
  RecurrentResult result = net.run(x, state);
  return {std::move(result.output), std::move(result.h)};
}

}  // namespace

LstmState detached(const LstmState& state) {
  return {detached_or_none(state.h), detached_or_none(state.c)};
}

Tensor detached(const Tensor& state) {
  return detached_or_none(state);
}

template <class Net>
RecurrentLm<Net>::RecurrentLm(const RecurrentLmOptions& options, CallSite site)
    : options_(checked(options)),
      encoder_(options.vocab, options.dim, std::nullopt, options.dtype, site),
      rnn_(options.dim, options.hidden,
           {.num_layers = options.layers, .dropout = options.dropout},
           options.dtype, site),
      decoder_(options.hidden, options.vocab, true, options.dtype, site) {
  name_parts();
  if (options.tie) {
    this->tie("decoder.weight", encoder_.weight());
  }
}

template <class Net>
RecurrentLm<Net>::RecurrentLm(const RecurrentLm& other, nn::Cloning& cloning)
    : nn::Cloneable<RecurrentLm>(other, cloning),
      options_(other.options_),
      encoder_(other.encoder_, cloning),
      rnn_(other.rnn_, cloning),
      decoder_(other.decoder_, cloning) {
  name_parts();
}

template <class Net>
void RecurrentLm<Net>::name_parts() {
  this->register_module("encoder", encoder_);
  this->register_module("rnn", rnn_);
  this->register_module("decoder", decoder_);
}

// Scores (t, b, vocab): time comes first all the way, so that only the tokens
// are turned.
template <class Net>
auto RecurrentLm<Net>::by_time(const Tensor& tokens, const State& state) const
    -> Scored {
  if (tokens.rank() != 2) {
    raise<ShapeError>("recurrent_lm: tokens {}, expected (samples, steps)",
                      format_shape(tokens.shape()));
  }
  const bool is_training = this->is_training();
  Tensor x = encoder_(transpose(tokens));
  x = dropout(std::move(x), options_.dropout, is_training);
  auto result = run_net(rnn_, x, state);
  x = {};
  result.output =
      dropout(std::move(result.output), options_.dropout, is_training);
  return {.scores = decoder_(result.output), .state = std::move(result.state)};
}

template <class Net>
Tensor RecurrentLm<Net>::forward(const Tensor& tokens) const {
  return transpose(by_time(tokens, {}).scores, 0, 1);
}

template <class Net>
auto RecurrentLm<Net>::run(const Tensor& tokens, const State& state,
                           CallSite site) const -> Scored {
  const nn::ModuleScope scope(*this, site);
  Scored scored = by_time(tokens, state);
  scored.scores = transpose(scored.scores, 0, 1);
  scope.note(scored.scores, tokens);
  return scored;
}

template <class Net>
auto RecurrentLm<Net>::loss_from(const Tensor& tokens, const Tensor& targets,
                                 const State& state, CallSite site) const
    -> Loss {
  check_targets("recurrent_lm", targets, tokens);
  const nn::ModuleScope scope(*this, site);
  Scored scored = by_time(tokens, state);
  Tensor loss =
      cross_entropy(reshape(std::move(scored.scores), {-1, options_.vocab}),
                    reshape(transpose(targets), {-1}));
  scope.note(loss, tokens, targets);
  return {.loss = std::move(loss), .state = std::move(scored.state)};
}

template <class Net>
Tensor RecurrentLm<Net>::loss(const Tensor& tokens, const Tensor& targets,
                              CallSite site) const {
  return loss_from(tokens, targets, {}, site).loss;
}

template class RecurrentLm<nn::LSTM>;
template class RecurrentLm<nn::GRU>;

}  // namespace neap::models
