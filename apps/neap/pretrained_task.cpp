// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "pretrained_task.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "class_head.hpp"
#include "neap/base/shown.hpp"
#include "neap/data/read_error.hpp"
#include "neap/files/door.hpp"
#include "neap/formats/digest.hpp"
#include "neap/formats/whole_text.hpp"
#include "neap/models/image_form.hpp"
#include "saved_model.hpp"

namespace neap::app {
namespace {

constexpr Bytes kMostText = 4 * kGiB;

class PretrainedTask final : public Task {
 public:
  PretrainedTask(const TrainSettings& settings, data::TextParts parts,
                 std::int64_t vocab)
      : settings_(settings), parts_(std::move(parts)), vocab_(vocab) {}

  data::AnyDataset train() const override { return parts_.train; }
  data::AnyDataset test() const override { return parts_.validation; }
  std::unique_ptr<nn::Layer> make_model() const override {
    return make_pretrained_model(settings_);
  }
  train::Loss loss() const override { return language_loss(); }
  Bytes data_bytes() const override { return parts_.train.bytes(); }
  std::string describe_data() const override {
    return fmt::format("{} + {} tokens of {}, {}",
                       format_grouped(parts_.train.tokens()),
                       format_grouped(parts_.validation.tokens()),
                       format_grouped(vocab_), format_bytes(data_bytes()));
  }
  bool has_accuracy() const override { return false; }

 private:
  const TrainSettings& settings_;
  data::TextParts parts_;
  std::int64_t vocab_;  // tokens that the model has
};

// Modules that an adapter leaves as they are: new heads.
std::vector<std::string> whole_of(const TrainSettings& s) {
  if (s.data == "images") {
    return {"classifier"};
  }
  if (s.data != "jsonl") {
    return {};
  }
  const auto is_there = has_pooler(s.from);
  return is_there && !*is_there
             ? std::vector<std::string>{"classifier", "bert.pooler"}
             : std::vector<std::string>{"classifier"};
}

// An adapter without the head would leave it as it was drawn.
Result<void> check_whole(const models::AdapterOptions& options,
                         const TrainSettings& s) {
  for (const std::string& module : whole_of(s)) {
    if (std::ranges::find(options.whole, module) == options.whole.end()) {
      return failure(
          FailureKind::kMismatch,
          fmt::format("{}: its modules_to_save have no {}, so that it is no "
                      "adapter of a classifier; give --adapter lora:RANK",
                      base::shown_path(s.adapter), module));
    }
  }
  return {};
}

// Adds a new adapter, or one of a folder. Failures: as models::load_adapter.
Result<void> adapt(nn::Layer& model, const TrainSettings& s) {
  if (s.adapter.empty()) {
    return {};
  }
  if (!parse_lora(s.adapter)) {
    return models::load_adapter(model, s.adapter)
        .and_then([&](const models::AdapterOptions& options) {
          return check_whole(options, s);
        });
  }
  return adapter_options(s).map([&](const models::AdapterOptions& options) {
    models::add_adapter(model, options);
  });
}

// The data that a form of model is trained on, as they are asked for.
std::string_view data_of(const models::PretrainedConfig& config) {
  return models::is_image_model(config)      ? "images --path FOLDER"
         : models::is_language_model(config) ? "text --path FILE"
                                             : "jsonl --path FILE";
}

Result<void> check_form(const models::PretrainedConfig& config,
                        const TrainSettings& s) {
  const std::string_view own = data_of(config);
  const std::string asked = is_for_pretrained(s.data) ? s.data : "text";
  if (own.starts_with(asked)) {
    return {};
  }
  const std::string_view fact = asked == "images" ? "takes no images"
                                : asked == "text" ? "writes no text"
                                                  : "tells no texts apart";
  return failure(FailureKind::kUnsupported,
                 fmt::format("{}: its model {}; it is for --data {}",
                             base::shown_path(s.from), fact, own));
}

// A ResNet has one linear layer, no dropout, and no layers that run again.
Result<void> check_network(const models::PretrainedConfig& config,
                           const TrainSettings& s) {
  if (!std::holds_alternative<models::ResNetOptions>(config)) {
    return {};
  }
  for (const auto& [is_asked, option] :
       {std::pair(!s.adapter.empty(), "adapter"),
        std::pair(s.dropout != 0.0, "dropout"),
        std::pair(s.given.contains("keep"), "keep")}) {
    if (is_asked) {
      return failure(
          FailureKind::kUnsupported,
          fmt::format("--{}: the ResNet of {} has none; leave it out", option,
                      base::shown_path(s.from)));
    }
  }
  return {};
}

// Tries the adapter on a model without elements.
Result<void> look_at_adapter(const models::PretrainedConfig& config,
                             const TrainSettings& s) {
  if (s.adapter.empty()) {
    return {};
  }
  const auto domain =
      memory::Domain::create({.name = "sizes", .is_rehearsal = true});
  const memory::UseDomain use(*domain);
  Generator generator(0);
  const UseGenerator use_generator(generator);
  const memory::Owned<nn::Layer> model = models::make_model(config);
  return adapt(*model, s);
}

}  // namespace

Result<models::AdapterOptions> adapter_options(const TrainSettings& s) {
  if (const auto made = parse_lora(s.adapter)) {
    return models::AdapterOptions{
        .lora = {.rank = made->rank, .alpha = made->alpha},
        .whole = whole_of(s)};
  }
  return models::read_adapter_config(s.adapter);
}

models::PretrainedOptions pretrained_options(const TrainSettings& s,
                                             std::int64_t classes) {
  return {.keep_half = s.weights == "file",
          .dropout = s.dropout,
          .block = s.block,
          .classes = classes,
          .keep_layers = s.keep != "none" && s.keep != "nothing",
          .verify = verify_of(s.verify)};
}

Result<models::PretrainedConfig> look_at_config(const TrainSettings& s,
                                                std::int64_t classes) {
  const models::PretrainedOptions options = pretrained_options(s, classes);
  models::PretrainedOptions any_block = options;
  any_block.block = 0;  // what is for other data is told so before its sizes
  return models::read_config(s.from, any_block)
      .and_then([&](const models::PretrainedConfig& config) {
        return check_form(config, s).and_then(
            [&] { return check_network(config, s); });
      })
      .and_then([&] { return models::read_config(s.from, options); });
}

Result<models::PretrainedConfig> look_at_pretrained(const TrainSettings& s,
                                                    std::int64_t classes) {
  const models::PretrainedOptions options = pretrained_options(s, classes);
  // Before there are classes: another form would be told that it has none.
  return look_at_config(s)
      .and_then([&](const models::PretrainedConfig&) {
        return look_at_config(s, classes);
      })
      .and_then([&](models::PretrainedConfig&& config) {
        return models::check_weights(s.from, config, options)
            .and_then([&] { return look_at_adapter(config, s); })
            .map([&] { return config; });
      });
}

namespace {

template <class Model, class Options>
std::unique_ptr<nn::Layer> made(const Options& options) {
  return std::make_unique<Model>(options, CallSite::here());
}

std::unique_ptr<nn::Layer> unique_model(
    const models::PretrainedConfig& config) {
  if (const auto* gpt = std::get_if<models::GptOptions>(&config)) {
    return made<models::Gpt>(*gpt);
  }
  if (const auto* bert = std::get_if<models::BertOptions>(&config)) {
    return made<models::Bert>(*bert);
  }
  if (const auto* vit = std::get_if<models::VitOptions>(&config)) {
    return made<models::Vit>(*vit);
  }
  if (const auto* resnet = std::get_if<models::ResNetOptions>(&config)) {
    return made<models::ResNet>(*resnet);
  }
  return made<models::Llama>(std::get<models::LlamaOptions>(config));
}

}  // namespace

std::unique_ptr<nn::Layer> make_pretrained_model(const TrainSettings& s,
                                                 std::int64_t classes) {
  const models::PretrainedOptions options = pretrained_options(s, classes);
  const auto config = look_at_config(s, classes);
  if (!config) {
    throw data::ReadError(config.error());
  }
  std::unique_ptr<nn::Layer> model = unique_model(*config);
  const auto loaded =
      train::load(*model, s.from, models::weights_of(*config, options));
  if (!loaded) {
    throw data::ReadError(loaded.error());
  }
  if (const auto adapted = adapt(*model, s); !adapted) {
    throw data::ReadError(adapted.error());
  }
  return model;
}

Result<text::Tokenizer> open_tokenizer(const std::string& folder) {
  return text::Tokenizer::open(folder + "/tokenizer.json");
}

Result<text::Tokenizer> open_tokenizer(const TrainSettings& s,
                                       std::int64_t vocab) {
  return open_tokenizer(s.from).and_then(
      [&](text::Tokenizer&& tokenizer) -> Result<text::Tokenizer> {
        if (tokenizer.id_limit() <= vocab) {
          return std::move(tokenizer);
        }
        return failure(
            FailureKind::kMismatch,
            fmt::format(
                "{}: its tokenizer has ids up to {}, its model {} tokens",
                base::shown_path(s.from), tokenizer.id_limit() - 1, vocab));
      });
}

Result<data::Text> read_ids(const TrainSettings& s,
                            const models::PretrainedConfig& config) {
  const std::int64_t vocab = models::vocab_of(config);
  const auto tokenizer = open_tokenizer(s, vocab);
  if (!tokenizer) {
    return tl::unexpected(tokenizer.error());
  }
  return formats::read_whole_text(files::system_door(), s.path, kMostText)
      .map([&](const memory::String& content) {
        return data::text_of_ids(tokenizer->encode(content), vocab);
      });
}

Result<std::unique_ptr<Task>> make_pretrained_task(const TrainSettings& s) {
  const auto config = look_at_pretrained(s);
  if (!config) {
    return tl::unexpected(config.error());
  }
  auto parts = read_ids(s, *config).and_then([&](const data::Text& text) {
    return data::split_text(
        text, {.block = s.block, .validation = s.validation, .seed = s.seed});
  });
  if (!parts) {
    return tl::unexpected(parts.error());
  }
  return std::make_unique<PretrainedTask>(s, std::move(*parts),
                                          models::vocab_of(*config));
}

Result<void> save_adapter(const TrainSettings& s, const nn::Layer& model) {
  if (s.save_adapter.empty()) {
    return {};
  }
  return adapter_options(s).and_then(
      [&](const models::AdapterOptions& options) {
        return models::save_adapter(model, options, s.save_adapter, s.from);
      });
}

std::string config_digest(const TrainSettings& s) {
  const auto text = formats::read_whole_text(files::system_door(),
                                             s.from + "/config.json", kMiB);
  if (!text) {
    return {};
  }
  formats::Digest digest;
  digest.update(std::as_bytes(std::span(*text)));
  const formats::DigestText shown = formats::digest_text(digest.value());
  return {shown.data(), shown.size()};
}

}  // namespace neap::app
