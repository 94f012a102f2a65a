// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// config.json as options of a Llama.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "neap/base/shown.hpp"
#include "neap/models/config_forms.hpp"

namespace neap::models {
namespace {

// --- positions
// -----------------------------------------------------------------

// YaRN's limits: the pairs that turn so often in the row trained on.
void read_yarn(JsonConfig& scaling, LlamaOptions& options, double trained) {
  LlamaRope& rope = options.rope;
  const auto d = static_cast<double>(options.width());
  const auto pair_of = [&](double turns) {
    return d * std::log(trained / (turns * 2.0 * std::numbers::pi)) /
           (2.0 * std::log(rope.base));
  };
  double low = pair_of(scaling.real("beta_fast", 32.0));
  double high = pair_of(scaling.real("beta_slow", 1.0));
  if (scaling.boolean("truncate", true)) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  rope.low = std::max(low, 0.0);
  rope.high = std::min(high, d - 1.0);
  rope.high += rope.low == rope.high ? 0.001 : 0.0;
  const auto stretch_of = [&](double scale) {
    return rope.factor <= 1.0 ? 1.0 : 0.1 * scale * std::log(rope.factor) + 1.0;
  };
  const double scale = scaling.real("mscale", 0.0);
  const double all_scale = scaling.real("mscale_all_dim", 0.0);
  const double usual = scale != 0.0 && all_scale != 0.0
                           ? stretch_of(scale) / stretch_of(all_scale)
                           : stretch_of(1.0);
  rope.scaling = RotaryScaling::kRamp;
  rope.stretch = scaling.real("attention_factor", usual);
}

void read_llama3(JsonConfig& scaling, LlamaRope& rope, double trained) {
  rope.scaling = RotaryScaling::kWavelengths;
  rope.low = trained / scaling.real("low_freq_factor", 1.0);
  rope.high = trained / scaling.real("high_freq_factor", 4.0);
}

// `scaling`: the object that says it, in its form of today or of before.
void read_scaling(JsonConfig& scaling, LlamaOptions& options) {
  LlamaRope& rope = options.rope;
  const std::string type =
      scaling.text("rope_type", scaling.text("type", "default"));
  scaling.pass("type");
  rope.base = scaling.real("rope_theta", rope.base);
  rope.factor = scaling.real("factor", 1.0);
  const auto trained = static_cast<double>(
      scaling.number("original_max_position_embeddings", options.block));
  if (type == "linear") {
    rope.scaling = RotaryScaling::kLinear;
  } else if (type == "dynamic") {
    rope.trained = static_cast<std::int64_t>(trained);
    options.block = std::max(
        options.block,
        static_cast<std::int64_t>(std::min(rope.factor, 1e6) * trained));
  } else if (type == "llama3") {
    read_llama3(scaling, rope, trained);
  } else if (type == "yarn") {
    read_yarn(scaling, options, trained);
  } else if (type != "default") {
    scaling.complain(fmt::format(
        "positions of the type {}; default, linear, dynamic, llama3 and yarn "
        "are implemented",
        base::shown(type)));
  }
  if (scaling.real("partial_rotary_factor", 1.0) != 1.0) {
    scaling.complain("partial_rotary_factor is not 1");
  }
  scaling.complain_of_rest();
}

void check_rope(JsonConfig& config, const LlamaRope& rope) {
  if (!(rope.base > 0.0) || !(rope.factor >= 1.0) || !(rope.stretch > 0.0) ||
      (rope.scaling == RotaryScaling::kWavelengths &&
       !(0.0 < rope.high && rope.high < rope.low)) ||
      (rope.scaling == RotaryScaling::kRamp && !(rope.low < rope.high))) {
    config.complain("the numbers of its rotary positions do not go together");
  }
}

void read_rope(JsonConfig& config, LlamaOptions& options) {
  options.rope.base = config.real("rope_theta", 10000.0);
  for (const std::string_view key : {"rope_parameters", "rope_scaling"}) {
    const bool is_there = config.has(key);
    JsonConfig scaling = config.object(key);
    if (is_there) {
      read_scaling(scaling, options);
      config.take_complaints(scaling);
    }
  }
  expect_choice(config, "rope_interleaved", false);
  check_rope(config, options.rope);
}

// --- windows
// --------------------------------------------------------------------

// Layers that have one must be the last ones, as Qwen2 has them.
void read_layer_types(JsonConfig& config, LlamaOptions& options) {
  std::int64_t count = 0;
  std::int64_t full = 0;
  bool is_in_order = true;
  config.strings("layer_types", [&](std::string_view type) {
    ++count;
    if (type == "full_attention") {
      is_in_order &= full == count - 1;
      ++full;
    } else if (type != "sliding_attention") {
      is_in_order = false;
    }
  });
  if (count == 0) {
    return;
  }
  if (!is_in_order || count != options.layers) {
    config.complain(
        "layer_types is not one of full_attention or sliding_attention for "
        "each layer, the former first");
  }
  options.window_from = full;
}

// By Transformers a window is 4096 where nothing is said; null means none.
void read_window(JsonConfig& config, LlamaOptions& options, bool is_qwen) {
  options.window = config.is_null("sliding_window") ? 0 : 4096;
  options.window = config.number("sliding_window", options.window, 0);
  if (is_qwen) {
    const bool is_used = config.boolean("use_sliding_window", false);
    options.window = is_used ? options.window : 0;
    options.window_from = config.number("max_window_layers", 28, 0);
    read_layer_types(config, options);
  } else {
    config.pass("layer_types");  // a Mistral has its window in every layer
  }
  if (options.window == 0) {
    options.window_from = 0;
  }
}

}  // namespace

LlamaOptions read_llama(JsonConfig& config, std::string_view type,
                        const PretrainedOptions& options) {
  const bool is_qwen = type == "qwen2";
  LlamaOptions o;
  check_architecture(config, is_qwen             ? "Qwen2ForCausalLM"
                             : type == "mistral" ? "MistralForCausalLM"
                                                 : "LlamaForCausalLM");
  o.vocab = config.number("vocab_size", is_qwen ? 151936 : 32000);
  o.block =
      config.number("max_position_embeddings", is_qwen             ? 32768
                                               : type == "mistral" ? 131072
                                                                   : 2048);
  o.layers = config.number("num_hidden_layers", 32);
  o.heads = config.number("num_attention_heads", 32);
  const bool has_own_heads =
      type == "llama" || config.is_null("num_key_value_heads");
  o.kv_heads = config.number("num_key_value_heads", has_own_heads ? o.heads
                                                    : is_qwen     ? 32
                                                                  : 8);
  o.dim = config.number("hidden_size", 4096);
  o.head_dim = config.number("head_dim", 0);
  o.hidden = config.number("intermediate_size", is_qwen             ? 22016
                                                : type == "mistral" ? 14336
                                                                    : 11008);
  o.norm_eps = config.real("rms_norm_eps", 1e-6);
  if (o.heads % o.kv_heads != 0 || (o.head_dim == 0 && o.dim % o.heads != 0) ||
      o.width() < 4 || o.width() % 2 != 0 || !(o.norm_eps >= 0.0)) {
    config.complain(
        fmt::format("{} heads of {} over {} of keys in {} do not go together",
                    o.heads, o.width(), o.kv_heads, o.dim));
    return o;
  }
  o.qkv_bias = config.boolean("attention_bias", false) || is_qwen;
  o.out_bias = o.qkv_bias && !is_qwen;
  o.mlp_bias = config.boolean("mlp_bias", false);
  o.tie = config.boolean("tie_word_embeddings", false);
  o.dropout = read_dropout(config, "attention_dropout", 0.0, options);
  if (const std::string act = config.text("hidden_act", "silu");
      act != "silu" && act != "swish") {
    config.complain(
        fmt::format("hidden_act is {}, silu is implemented", base::shown(act)));
  }
  if (type != "llama") {
    read_window(config, o, is_qwen);
  }
  read_rope(config, o);
  check_block(config, options, o.block);
  o.block = options.block > 0 ? options.block : o.block;
  o.keep_layers = options.keep_layers;
  o.dtype = options.dtype;
  o.is_drawn = false;
  return o;
}

}  // namespace neap::models
