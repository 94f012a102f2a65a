// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/adapter_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "neap/base/shown.hpp"
#include "neap/files/whole_file.hpp"
#include "neap/formats/whole_text.hpp"
#include "neap/graph/recorder.hpp"
#include "neap/models/bert.hpp"
#include "neap/models/gpt.hpp"
#include "neap/models/json_config.hpp"
#include "neap/models/llama.hpp"
#include "neap/models/vit.hpp"
#include "neap/ops/elementwise/assign.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/ops/operators.hpp"
#include "neap/tensor/create.hpp"
#include "neap/train/save.hpp"

namespace neap::models {
namespace {

constexpr const char* kConfig = "/adapter_config.json";
constexpr const char* kWeights = "/adapter_model.safetensors";
constexpr Bytes kMostConfig = kMiB;

// Members that do not change what an adapter computes.
constexpr std::string_view kOfNoAccount[] = {
    "auto_mapping",        "base_model_name_or_path",
    "inference_mode",      "init_lora_weights",
    "peft_version",        "revision",
    "task_type",           "fan_in_fan_out",
    "ensure_weight_tying", "megatron_core",
    "qalora_group_size"};

// The names of peft begin so, of a model of transformers.
std::string prefix_of(const nn::Layer& model) {
  return dynamic_cast<const Gpt*>(&model) != nullptr
             ? "base_model.model.transformer."
             : "base_model.model.";
}

std::string quoted_list(std::span<const std::string> texts) {
  return fmt::format("[\"{}\"]", fmt::join(texts, "\", \""));
}

// Components of layers' names, as peft knows them.
std::vector<std::string> targets_of(const nn::Layer& model,
                                    const AdapterOptions& options) {
  if (!options.targets.empty()) {
    return options.targets;
  }
  if (dynamic_cast<const Gpt*>(&model) != nullptr) {
    return {"c_attn", "c_proj", "c_fc"};
  }
  if (dynamic_cast<const Llama*>(&model) != nullptr) {
    return {"q_proj",    "k_proj",  "v_proj",   "o_proj",
            "gate_proj", "up_proj", "down_proj"};
  }
  return {"query", "key", "value", "dense"};  // a Bert or a Vit
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
    }
    if (static_cast<unsigned char>(c) < ' ') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out;
}

// Peft's name for what a model does; it has none for images.
std::string_view task_of(const nn::Layer& model) {
  if (dynamic_cast<const Vit*>(&model) != nullptr) {
    return "null";
  }
  const auto* bert = dynamic_cast<const Bert*>(&model);
  if (bert == nullptr) {
    return "\"CAUSAL_LM\"";
  }
  return bert->options().head == BertHead::kClasses ? "\"SEQ_CLS\""
                                                    : "\"FEATURE_EXTRACTION\"";
}

std::string config_text(const nn::Layer& model, const AdapterOptions& options,
                        const std::string& base) {
  const nn::LoraOptions& lora = options.lora;
  return fmt::format(
      R"({{
  "base_model_name_or_path": {},
  "bias": "none",
  "fan_in_fan_out": {},
  "inference_mode": true,
  "lora_alpha": {},
  "lora_dropout": {},
  "modules_to_save": {},
  "peft_type": "LORA",
  "r": {},
  "target_modules": {},
  "task_type": {},
  "use_dora": false,
  "use_rslora": {}
}}
)",
      base.empty() ? "null" : fmt::format("\"{}\"", escaped(base)),
      dynamic_cast<const Gpt*>(&model) != nullptr, lora.alpha, lora.dropout,
      options.whole.empty() ? "null" : quoted_list(options.whole), lora.rank,
      quoted_list(targets_of(model, options)), task_of(model), lora.by_root);
}

Result<void> write_text(files::Door& door, const std::string& path,
                        std::string_view text) {
  return files::write_atomically(door, path, [&](files::File& file) {
    return files::write_all(file, std::as_bytes(std::span(text)));
  });
}

bool is_of_adapter(std::string_view name,
                   const AdapterOptions& options) noexcept {
  return name.ends_with(".lora_A.weight") || name.ends_with(".lora_B.weight") ||
         is_whole(name, options.whole);
}

// A text is a regular expression there.
void read_targets(JsonConfig& config, AdapterOptions& options) {
  constexpr std::string_view kKey = "target_modules";
  if (!config.is_text(kKey)) {
    config.strings(kKey, [&](std::string_view target) {
      options.targets.emplace_back(target);
    });
    if (options.targets.empty()) {
      config.complain("target_modules is empty");
    }
  } else if (config.text(kKey, "") != "all-linear") {
    config.complain("target_modules is a pattern, a list is implemented");
  }
}

void read_lora(JsonConfig& config, AdapterOptions& options) {
  nn::LoraOptions& lora = options.lora;
  lora.rank = config.number("r", 8);
  lora.alpha = config.real("lora_alpha", 8.0);
  lora.dropout = config.real("lora_dropout", 0.0);
  lora.by_root = config.boolean("use_rslora", false);
  if (!(lora.dropout >= 0.0 && lora.dropout < 1.0)) {
    config.complain(fmt::format("lora_dropout is {}", lora.dropout));
  }
  if (config.text("bias", "none") != "none") {
    config.complain("bias is not none");
  }
  read_targets(config, options);
  config.strings("modules_to_save", [&](std::string_view module) {
    options.whole.emplace_back(module);
  });
  // Others change the weights that the adapter is for.
  if (config.is_text("init_lora_weights") &&
      config.text("init_lora_weights", "") != "gaussian") {
    config.complain("init_lora_weights is neither true, false nor gaussian");
  }
}

}  // namespace

Result<void> save_adapter(const nn::Layer& model, const AdapterOptions& options,
                          const std::string& folder, const std::string& base,
                          files::Door& door) {
  const nn::ParameterList parameters = model.parameters();
  const std::string prefix = prefix_of(model);
  std::vector<std::string> names;
  memory::Vector<formats::NamedTensor> named;
  names.reserve(parameters.size());
  for (const nn::Parameter& parameter : parameters) {
    if (is_of_adapter(parameter.name, options)) {
      names.push_back(prefix + std::string(parameter.name));
      named.push_back({names.back(), parameter.tensor});
    }
  }
  return door.make_directory(folder)
      .and_then([&] {
        return formats::write_safetensors(door, folder + kWeights, named,
                                          {{"format", "pt"}});
      })
      .and_then([&] {
        return write_text(door, folder + kConfig,
                          config_text(model, options, base));
      });
}

Result<AdapterOptions> read_adapter_config(const std::string& folder,
                                           files::Door& door) {
  const std::string path = folder + kConfig;
  const auto text = formats::read_whole_text(door, path, kMostConfig);
  if (!text) {
    return tl::make_unexpected(text.error());
  }
  auto config = JsonConfig::parse(*text, path);
  if (!config) {
    return tl::make_unexpected(std::move(config.error()));
  }
  AdapterOptions options;
  if (const std::string type = config->text("peft_type", ""); type != "LORA") {
    config->complain(fmt::format("peft_type is '{}', LORA is implemented",
                                 base::shown(type)));
  }
  read_lora(*config, options);
  for (const std::string_view key : kOfNoAccount) {
    config->pass(key);
  }
  return config->finish(path).map([&] { return options; });
}

Result<AdapterOptions> load_adapter(nn::Layer& model, const std::string& folder,
                                    files::Door& door, CallSite site) {
  auto options = read_adapter_config(folder, door);
  if (!options) {
    return tl::make_unexpected(options.error());
  }
  const auto mismatch = [&](std::string_view what) {
    return failure(
        FailureKind::kMismatch,
        fmt::format("{}: {}", base::shown_path(folder + kWeights), what));
  };
  try {
    add_adapter(model, *options, site);
  } catch (const ValueError& error) {
    return mismatch(error.what());
  }
  const auto report = train::load(model, folder + kWeights,
                                  {.strict = false,
                                   .door = &door,
                                   .convert = true,
                                   .in_place = true,
                                   .prefix = prefix_of(model)},
                                  site);
  if (!report) {
    return tl::make_unexpected(report.error());
  }
  for (const memory::String& name : report->missing) {
    if (is_of_adapter(name, *options)) {
      return mismatch(fmt::format("\"{}\" is not there", base::shown(name)));
    }
  }
  if (!report->unexpected.empty()) {
    return mismatch(fmt::format("\"{}\" is not known here",
                                base::shown(report->unexpected.front())));
  }
  return options;
}

namespace {

// A layer to merge into, and the factors in the file.
struct Merging {
  nn::Linear* layer;
  const formats::SafetensorsEntry* a;
  const formats::SafetensorsEntry* b;
};

const formats::SafetensorsEntry* factor(const formats::SafetensorsFile& file,
                                        std::string_view path, char which,
                                        const Shape& shape) {
  const auto* entry = file.find(fmt::format("{}.lora_{}.weight", path, which));
  return entry != nullptr && entry->shape == shape ? entry : nullptr;
}

Result<void> merge(formats::SafetensorsFile& file, const Merging& merging,
                   double scale, const CallSite& site) {
  const Tensor& weight = merging.layer->weight();
  const Tensor a = empty(merging.a->shape, weight.dtype(), site);
  const Tensor b = empty(merging.b->shape, weight.dtype(), site);
  return file.read_into(*merging.a, a.array()->strided())
      .and_then(
          [&] { return file.read_into(*merging.b, b.array()->strided()); })
      .map([&] {
        const NoGrad guard;
        copy_(weight, weight + matmul(b, a) * scale, site);
      });
}

}  // namespace

Result<void> merge_adapter(nn::Layer& model, const std::string& folder,
                           files::Door& door, CallSite site) {
  const auto options = read_adapter_config(folder, door);
  if (!options) {
    return tl::make_unexpected(options.error());
  }
  if (!options->whole.empty()) {
    return failure(
        FailureKind::kUnsupported,
        fmt::format("{}: modules_to_save has {}, which are no sums of weights; "
                    "load the adapter, and use it as it is",
                    base::shown_path(folder + kConfig),
                    base::shown(quoted_list(options->whole))));
  }
  auto file = formats::SafetensorsFile::open(door, folder + kWeights);
  if (!file) {
    return tl::make_unexpected(std::move(file.error()));
  }
  memory::Vector<Merging> all;
  std::string lacking;
  bool is_half = false;
  each_linear(model, [&](nn::Linear& layer) {
    const memory::String path = layer.registry().path_from(model.registry());
    if (!is_target(path, options->targets)) {
      return;
    }
    is_half |= layer.weight().dtype() == bf16;
    const std::string name = prefix_of(model) + std::string(path);
    const Shape& shape = layer.weight().shape();
    const std::int64_t rank = options->lora.rank;
    const Merging one{&layer, factor(*file, name, 'A', {rank, shape[1]}),
                      factor(*file, name, 'B', {shape[0], rank})};
    if (one.a == nullptr || one.b == nullptr) {
      lacking = name;
    }
    all.push_back(one);
  });
  if (!lacking.empty() || all.size() * 2 != file->entries().size()) {
    return failure(
        FailureKind::kMismatch,
        fmt::format(
            "{}: {} tensors for {} layers of the model{}", file->name(),
            file->entries().size(), all.size(),
            lacking.empty() ? "" : ", none that fits " + base::shown(lacking)));
  }
  if (is_half) {  // the sums would be rounded
    return failure(FailureKind::kUnsupported,
                   fmt::format("{}: merged into weights in bf16; read the "
                               "model in f32",
                               file->name()));
  }
  for (const Merging& one : all) {
    if (auto merged = merge(*file, one, options->lora.scale(), site); !merged) {
      return merged;
    }
  }
  return {};
}

}  // namespace neap::models
