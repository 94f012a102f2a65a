// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// config.json as options of a model, and what the readers of its forms share.
#include <fmt/format.h>

#include <algorithm>

#include "neap/base/shown.hpp"
#include "neap/formats/safetensors_folder.hpp"
#include "neap/formats/whole_text.hpp"
#include "neap/models/config_forms.hpp"

namespace neap::models {
namespace {

constexpr Bytes kMostConfig = kMiB;

// Members that do not change what a model computes.
constexpr std::string_view kOfNoAccount[] = {"_name_or_path",
                                             "architectures",
                                             "bos_token_id",
                                             "decoder_start_token_id",
                                             "dtype",
                                             "eos_token_id",
                                             "head_dim",
                                             "id2label",
                                             "initializer_range",
                                             "is_llama_config",
                                             "label2id",
                                             "layer_norm_eps",
                                             "max_window_layers",
                                             "n_ctx",
                                             "pad_token_id",
                                             "pretraining_tp",
                                             "problem_type",
                                             "reorder_and_upcast_attn",
                                             "return_dict",
                                             "sep_token_id",
                                             "summary_activation",
                                             "summary_first_dropout",
                                             "summary_proj_to_labels",
                                             "summary_type",
                                             "summary_use_proj",
                                             "task_specific_params",
                                             "torch_dtype",
                                             "transformers.js_config",
                                             "transformers_version",
                                             "unk_token_id",
                                             "use_cache",
                                             "use_sliding_window",
                                             "vocab_size"};

}  // namespace

void expect_choice(JsonConfig& config, std::string_view key, bool wanted) {
  if (config.boolean(key, wanted) != wanted) {
    config.complain(
        fmt::format("{} is {}, {} alone is implemented", key, !wanted, wanted));
  }
}

// The class that the weights are of: others have another head.
void check_architecture(JsonConfig& config, std::string_view expected) {
  config.strings("architectures", [&](std::string_view name) {
    if (name != expected && !name.ends_with("Model")) {
      config.complain(fmt::format("architectures has {}, {} is implemented",
                                  base::shown(name), expected));
    }
  });
}

GeluForm read_gelu(JsonConfig& config, std::string_view key,
                   std::string_view usual) {
  const std::string act = config.text(key, usual);
  if (act != "gelu" && act != "gelu_new" && act != "gelu_pytorch_tanh") {
    config.complain(fmt::format(
        "{} is {}; gelu, gelu_new and gelu_pytorch_tanh are implemented", key,
        base::shown(act)));
  }
  return act == "gelu" ? GeluForm::kExact : GeluForm::kTanh;
}

std::int64_t read_classes(JsonConfig& config,
                          const PretrainedOptions& options) {
  const std::int64_t named = config.object("id2label").size();
  const std::int64_t told = config.number("num_labels", named > 0 ? named : 2);
  return options.classes > 0 ? options.classes : told;
}

double read_dropout(JsonConfig& config, std::string_view key, double usual,
                    const PretrainedOptions& options) {
  const double said = config.real(key, usual);
  const double dropout = options.dropout.value_or(said);
  if (!(dropout >= 0.0 && dropout < 1.0)) {
    config.complain(fmt::format("a dropout of {}", dropout));
  }
  return dropout;
}

void check_block(JsonConfig& config, const PretrainedOptions& options,
                 std::int64_t positions) {
  if (options.block > positions) {
    config.complain(fmt::format("block {} where it has {} positions",
                                options.block, positions));
  }
}

namespace {

// The form that model_type names; timm's folders have an "architecture"
// instead.
PretrainedConfig read_form(JsonConfig& config, const std::string& type,
                           const PretrainedOptions& options) {
  if (type == "gpt2") {
    return read_gpt(config, options);
  }
  if (type == "bert") {
    return read_bert(config, options);
  }
  if (type == "vit") {
    return read_vit(config, options);
  }
  if (type.empty()) {
    return read_resnet(config, config.text("architecture", ""), options);
  }
  return read_llama(config, type, options);
}

files::Door& door_of(const PretrainedOptions& options) {
  return options.door != nullptr ? *options.door : files::system_door();
}

constexpr const char* kKeepHalf = "keep_half";

struct Widths {
  int bf16 = 0;  // matrices that are in it
  int f16 = 0;
  int matrices = 0;
};

Result<Widths> widths_in(files::Door& door, const std::string& folder) {
  return formats::open_shards(door, folder, formats::Verify::kOff)
      .map([](const memory::Vector<formats::SafetensorsFile>& files) {
        Widths widths;
        for (const formats::SafetensorsFile& file : files) {
          for (const formats::SafetensorsEntry& entry : file.entries()) {
            if (entry.shape.rank() == 2) {
              ++widths.matrices;
              widths.bf16 += entry.stored == formats::StoredType::kBF16 ? 1 : 0;
              widths.f16 += entry.stored == formats::StoredType::kF16 ? 1 : 0;
            }
          }
        }
        return widths;
      });
}

// Whether matrices stay in BF16. Complains of what has no such form.
bool keeps_half(JsonConfig& config, const PretrainedConfig& form,
                const Widths& widths, const PretrainedOptions& options) {
  if (!is_language_model(form)) {
    config.complain(
        fmt::format("{} of a model that writes no text", kKeepHalf));
  }
  if (widths.f16 > 0) {
    config.complain(
        fmt::format("{} of weights in F16, which are widened to "
                    "f32 alone",
                    kKeepHalf));
  } else if (widths.bf16 > 0 && widths.bf16 < widths.matrices) {
    config.complain(fmt::format("{} where {} of {} matrices are in BF16",
                                kKeepHalf, widths.bf16, widths.matrices));
  }
  if (widths.bf16 > 0 && options.dtype != f32) {
    config.complain(
        fmt::format("{} beside {}", kKeepHalf, name_of(options.dtype)));
  }
  return widths.bf16 > 0;
}

void set_half_weights(PretrainedConfig& form, bool value) {
  std::visit(
      [value](auto& o) {
        if constexpr (requires { o.has_half_weights; }) {
          o.has_half_weights = value;
        }
      },
      form);
}

// The tokens that a file of settings says are the last of a text.
Result<std::vector<std::int64_t>> ends_in(files::Door& door,
                                          const std::string& path) {
  const auto text = formats::read_whole_text(door, path, kMostConfig);
  if (!text) {
    return tl::make_unexpected(text.error());
  }
  auto config = JsonConfig::parse(*text, path);
  if (!config) {
    return tl::make_unexpected(std::move(config.error()));
  }
  std::vector<std::int64_t> ends;
  config->numbers("eos_token_id",
                  [&](std::int64_t token) { ends.push_back(token); });
  return config->said(path).map([&] { return ends; });
}

}  // namespace

Result<std::vector<std::int64_t>> read_stop_tokens(
    const std::string& folder, const PretrainedOptions& options) {
  files::Door& door = door_of(options);
  auto ends = ends_in(door, folder + "/generation_config.json");
  const bool is_absent = !ends && ends.error().kind == FailureKind::kNotFound;
  if ((ends && ends->empty()) || is_absent) {
    ends = ends_in(door, folder + "/config.json");
  }
  return ends;
}

Result<std::vector<std::string>> read_class_names(
    const std::string& folder, const PretrainedOptions& options) {
  const std::string path = folder + "/config.json";
  const auto text =
      formats::read_whole_text(door_of(options), path, kMostConfig);
  if (!text) {
    return tl::make_unexpected(text.error());
  }
  auto config = JsonConfig::parse(*text, path);
  if (!config) {
    return tl::make_unexpected(std::move(config.error()));
  }
  JsonConfig within = config->object("id2label");
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < within.size(); ++i) {
    names.push_back(within.text(fmt::format("{}", i), ""));
  }
  config->take_complaints(within);
  return config->said(path).map([&] { return names; });
}

Result<PretrainedConfig> read_config(const std::string& folder,
                                     const PretrainedOptions& options) {
  const std::string path = folder + "/config.json";
  const auto text =
      formats::read_whole_text(door_of(options), path, kMostConfig);
  if (!text) {
    return tl::make_unexpected(text.error());
  }
  auto config = JsonConfig::parse(*text, path);
  if (!config) {
    return tl::make_unexpected(std::move(config.error()));
  }
  const std::string type = config->text("model_type", "");
  constexpr std::string_view kTypes[] = {"llama", "mistral", "qwen2",
                                         "gpt2",  "bert",    "vit"};
  const bool is_known =
      type.empty() ? config->has("architecture")
                   : std::ranges::find(kTypes, type) != std::end(kTypes);
  if (!is_known) {
    return tl::unexpected(cannot_be_done(
        path, fmt::format("model_type {}; llama, mistral, qwen2, gpt2, bert "
                          "and vit are implemented, and timm's resnet",
                          type.empty() ? "is missing" : base::shown(type))));
  }
  PretrainedConfig form = read_form(*config, type, options);
  if (options.keep_half) {
    const auto widths = widths_in(door_of(options), folder);
    if (!widths) {
      return tl::make_unexpected(widths.error());
    }
    set_half_weights(form, keeps_half(*config, form, *widths, options));
  }
  if (options.classes < 0 || (options.classes > 0 && is_language_model(form))) {
    config->complain(fmt::format("a classifier of {} classes on top of it",
                                 options.classes));
  }
  for (const std::string_view key : kOfNoAccount) {
    config->pass(key);
  }
  for (const std::string& key : options.pass) {
    config->pass(key);
  }
  return config->finish(path).map([&] { return form; });
}

}  // namespace neap::models
