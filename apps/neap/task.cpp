// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "task.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "image_task.hpp"
#include "line_task.hpp"
#include "neap/data/text_set.hpp"
#include "neap/files/door.hpp"
#include "neap/models/gpt.hpp"
#include "neap/models/recurrent_lm.hpp"
#include "neap/ops/loss/cross_entropy.hpp"
#include "neap/ops/shape/views.hpp"
#include "photo_task.hpp"
#include "pretrained_task.hpp"
#include "table_task.hpp"

namespace neap::app {
namespace {

class TextTask final : public Task {
 public:
  TextTask(const TrainSettings& settings, data::TextParts parts)
      : settings_(settings), parts_(std::move(parts)) {}

  data::AnyDataset train() const override { return parts_.train; }
  data::AnyDataset test() const override { return parts_.validation; }
  std::unique_ptr<nn::Layer> make_model() const override {
    return make_language_model(settings_, parts_.train.vocabulary().size());
  }
  train::Loss loss() const override { return language_loss(); }
  Bytes data_bytes() const override { return parts_.train.bytes(); }
  std::string describe_data() const override {
    return fmt::format("{} + {} tokens, {} different ones, {}",
                       format_grouped(parts_.train.tokens()),
                       format_grouped(parts_.validation.tokens()),
                       format_grouped(parts_.train.vocabulary().size()),
                       format_bytes(data_bytes()));
  }
  const data::Vocabulary* vocabulary() const override {
    return &parts_.train.vocabulary();
  }
  bool has_accuracy() const override { return false; }

 private:
  const TrainSettings& settings_;
  data::TextParts parts_;
};

models::GptKeep keep_of(const TrainSettings& s) {
  using models::GptKeep;
  return s.keep == "all" || s.keep == "everything" ? GptKeep::kEverything
         : s.keep == "none" || s.keep == "nothing" ? GptKeep::kNothing
                                                   : GptKeep::kProducts;
}

Result<std::unique_ptr<Task>> make_text_task(const TrainSettings& s) {
  auto parts = data::read_text(
      files::system_door(), s.path,
      {.symbols = s.symbols == "bytes" ? data::Symbols::kBytes
                                       : data::Symbols::kCharacters,
       .block = s.block,
       .validation = s.validation,
       .seed = s.seed});
  if (!parts) {
    return tl::unexpected(parts.error());
  }
  return std::make_unique<TextTask>(s, std::move(*parts));
}

}  // namespace

Result<std::unique_ptr<Task>> make_task(const TrainSettings& settings) {
  if (settings.data == "csv") {
    return make_table_task(settings);
  }
  if (settings.data == "images") {
    return make_photo_task(settings, ClassTest::kShare);
  }
  if (settings.data == "jsonl") {
    return make_line_task(settings, ClassTest::kShare);
  }
  if (!settings.from.empty()) {
    return make_pretrained_task(settings);
  }
  return is_language_model(settings.model) ? make_text_task(settings)
                                           : make_image_task(settings);
}

std::int64_t test_batch(std::int64_t batch, const Task& task) {
  return std::min(batch, task.train().size());
}

Result<void> check_tests(const TrainSettings& settings, const Task& task) {
  if (settings.eval_steps == 0 || task.test().size() > 0) {
    return {};
  }
  return failure(FailureKind::kMismatch,
                 "--eval-every: the data have no part to test on; leave some "
                 "for it with --validation");
}

std::unique_ptr<nn::Layer> make_language_model(const TrainSettings& s,
                                               std::int64_t vocabulary) {
  if (!s.from.empty()) {
    return make_pretrained_model(s);
  }
  const models::RecurrentLmOptions recurrent{.vocab = vocabulary,
                                             .dim = s.dim,
                                             .hidden = s.dim,
                                             .layers = s.layers,
                                             .dropout = s.dropout};
  if (s.model == "lstm") {
    return std::make_unique<models::LstmLm>(recurrent, CallSite::here());
  }
  if (s.model == "gru") {
    return std::make_unique<models::GruLm>(recurrent, CallSite::here());
  }
  const models::GptOptions options{.vocab = vocabulary,
                                   .block = s.block,
                                   .layers = s.layers,
                                   .heads = s.heads,
                                   .dim = s.dim,
                                   .dropout = s.dropout,
                                   .keep = keep_of(s)};
  return std::make_unique<models::Gpt>(options, CallSite::here());
}

train::Loss language_loss() {
  return [](const Tensor& scores, const Tensor& targets) {
    return cross_entropy(reshape(scores, {-1, scores.size(-1)}),
                         reshape(targets, {-1}));
  };
}

}  // namespace neap::app
