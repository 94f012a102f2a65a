// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/decoder.hpp"

#include <algorithm>
#include <utility>

#include "neap/base/raise.hpp"
#include "neap/graph/trace.hpp"
#include "neap/models/llama.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/tensor/create.hpp"

namespace neap::models {

using base::raise;

namespace {

constexpr std::int64_t kLeastPrompt = 16;  // tokens that a prompt is padded to
constexpr std::int64_t kLeastSlots = 64;   // that attention looks at

// The next power of two from `least` on, but no more than `most`.
std::int64_t rounded(std::int64_t count, std::int64_t least,
                     std::int64_t most) noexcept {
  std::int64_t size = std::min(least, most);
  while (size < count) {
    size = size > most / 2 ? most : 2 * size;
  }
  return size;
}

const CausalModel& checked(const CausalModel& model,
                           const DecoderOptions& options) {
  if (!model.decode || model.vocab < 1 || model.block < 1) {
    raise<ValueError>("decoder: a model without decode, vocab or block");
  }
  if (options.samples < 1) {
    raise<ValueError>("decoder: {} samples, expected at least 1",
                      options.samples);
  }
  if (options.length < 0 || options.length > model.block) {
    raise<ValueError>("decoder: {} tokens, expected at most the model's {}",
                      options.length, model.block);
  }
  return model;
}

void refuse_trace(const char* function, const CallSite& site) {
  if (graph::trace() != nullptr) {
    raise<TraceError>(
        "{}: at {} the step being traced has a text that grows, which it would "
        "in the trace alone; call it between steps",
        function, base::format_site(base::intern(site)));
  }
}

template <class Model>
CausalModel of(const Model& model, const KvSizes& sizes) {
  const auto& options = model.options();
  return {
      .cache = sizes,
      .vocab = options.vocab,
      .block = options.block,
      .dtype = options.dtype,
      .decode = [&model](const Tensor& tokens,
                         KvPass& pass) { return model.decode(tokens, pass); },
      .module = &model};
}

}  // namespace

CausalModel causal_model(const nn::Layer& model) {
  if (const auto* llama = dynamic_cast<const Llama*>(&model)) {
    const LlamaOptions& o = llama->options();
    return of(*llama, {o.layers, o.kv_heads, o.width()});
  }
  if (const auto* gpt = dynamic_cast<const Gpt*>(&model)) {
    const GptOptions& o = gpt->options();
    return of(*gpt, {o.layers, o.heads, o.dim / o.heads});
  }
  raise<ValueError>("decoder: the model is neither a Gpt nor a Llama");
}

Tensor Decoder::Pass::operator()(const Tensor& tokens, const Tensor& positions,
                                 const Tensor& slots) const {
  const NoGrad no_grad;
  KvPass pass = tokens.shape()[1] == 1 ? KvPass::next(*cache, positions, slots)
                                       : KvPass::first(*cache, positions);
  return model->decode(tokens, pass);
}

Decoder::Decoder(CausalModel model, const DecoderOptions& options,
                 CallSite site)
    : model_((checked(model, options), std::move(model))),
      cache_(model_.cache, options.samples,
             options.length > 0 ? options.length : model_.block, model_.dtype,
             site),
      lengths_(static_cast<std::size_t>(options.samples)),
      step_(Pass{&model_, &cache_}, options.compile, site),
      all_slots_(arange(cache_.length(), i64, site)),
      tokens_(zeros({options.samples, 1}, i64, site)),
      positions_(zeros({options.samples}, i64, site)) {
  use_slots(slots_for(1));
}

Decoder::Decoder(const nn::Layer& model, const DecoderOptions& options,
                 CallSite site)
    : Decoder(causal_model(model), options, site) {}

std::int64_t Decoder::padded(std::int64_t tokens) const noexcept {
  return tokens == 1 ? 1 : rounded(tokens, kLeastPrompt, capacity());
}

std::int64_t Decoder::slots_for(std::int64_t tokens) const noexcept {
  return rounded(tokens, kLeastSlots, capacity());
}

void Decoder::use_slots(std::int64_t count) {
  if (!slots_.is_given() || slots_.shape()[0] != count) {
    slots_ = narrow(all_slots_, 0, 0, count);
  }
}

void Decoder::check_ready() const {
  if (model_.module != nullptr && model_.module->is_training()) {
    raise<ValueError>(
        "decoder: the model is in training mode, call eval() first");
  }
}

void Decoder::check_token(std::int64_t token) const {
  if (token < 0 || token >= model_.vocab) {
    raise<ValueError>("decoder: no token {}, the model has {}", token,
                      model_.vocab);
  }
}

void Decoder::check_next(std::span<const std::int64_t> tokens) const {
  check_ready();
  if (tokens.size() != lengths_.size()) {
    raise<ValueError>("decoder: {} tokens for {} samples", tokens.size(),
                      lengths_.size());
  }
  if (lengths_[0] == 0) {
    raise<ValueError>("decoder: next() before start()");
  }
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] == kRest) {
      continue;
    }
    check_token(tokens[i]);
    if (lengths_[i] == capacity()) {
      raise<ValueError>("decoder: sample {} has all of its {} tokens", i,
                        capacity());
    }
  }
}

DecoderNeed Decoder::prepare(std::int64_t prompt, std::int64_t tokens) {
  check_ready();
  if (prompt < 1 || tokens < prompt || tokens > capacity()) {
    raise<ValueError>(
        "decoder: {} tokens after a prompt of {}, expected at least 0 and at "
        "most {} in all",
        tokens - prompt, prompt, capacity());
  }
  DecoderNeed need;
  Bytes shared = 0;  // by all programs
  const auto plan = [&](std::int64_t t, std::int64_t slots) {
    step_.prepare({tensor::Spec{i64, {samples(), t}},
                   tensor::Spec{i64, {samples()}}, tensor::Spec{i64, {slots}}});
    const compiler::Prediction said = step_.prediction();
    shared = std::max(shared, said.persistent - said.constants);
    need.persistent += said.constants;
    need.programs += said.program;
  };
  if (prompt > 1) {
    plan(padded(prompt), slots_for(1));
  }
  std::int64_t slots = slots_for(prompt);
  plan(1, slots);
  while (slots < tokens) {
    slots = slots_for(slots + 1);
    plan(1, slots);
  }
  need.persistent += shared;
  need.arena = step_.arena_bytes();
  return need;
}

Tensor Decoder::start(std::span<const std::vector<std::int64_t>> prompts,
                      CallSite site) {
  refuse_trace("start", site);
  std::ranges::fill(lengths_, 0);
  check_ready();
  if (prompts.size() != lengths_.size()) {
    raise<ValueError>("decoder: {} prompts for {} samples", prompts.size(),
                      lengths_.size());
  }
  std::size_t longest = 0;
  for (const auto& prompt : prompts) {
    if (prompt.empty() ||
        prompt.size() > static_cast<std::size_t>(capacity())) {
      raise<ValueError>("decoder: a prompt of {} tokens, expected 1 to {}",
                        prompt.size(), capacity());
    }
    std::ranges::for_each(prompt, [this](auto token) { check_token(token); });
    longest = std::max(longest, prompt.size());
  }
  const std::int64_t t = padded(static_cast<std::int64_t>(longest));
  Tensor tokens = zeros({samples(), t}, i64);
  const std::span<std::int64_t> to = tokens.mutable_values<std::int64_t>();
  const std::span<std::int64_t> last =
      positions_.mutable_values<std::int64_t>();
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    std::ranges::copy(prompts[i],
                      to.begin() + static_cast<std::int64_t>(i) * t);
    last[i] = static_cast<std::int64_t>(prompts[i].size()) - 1;
  }
  use_slots(slots_for(1));
  Tensor scores = step_(tokens, positions_, slots_);
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    lengths_[i] = last[i] + 1;
  }
  return scores;
}

// A sample that rests has its next token's slot written, or, full, its last
// one's: nothing sees either before a token of its own is there.
Tensor Decoder::next(std::span<const std::int64_t> tokens, CallSite site) {
  refuse_trace("next", site);
  check_next(tokens);
  const std::span<std::int64_t> given = tokens_.mutable_values<std::int64_t>();
  const std::span<std::int64_t> at = positions_.mutable_values<std::int64_t>();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    given[i] = std::max<std::int64_t>(tokens[i], 0);
    at[i] = std::min(lengths_[i], capacity() - 1);
  }
  use_slots(slots_for(std::ranges::max(at) + 1));
  Tensor scores = step_(tokens_, positions_, slots_);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    lengths_[i] += tokens[i] == kRest ? 0 : 1;
  }
  return scores;
}

}  // namespace neap::models
