// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Folders that ask for what is not there, or lie: each is refused in one line,
// before memory is asked for by its numbers.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <optional>

#include "neap/files/temporary_folder.hpp"
#include "neap/memory/out_of_memory.hpp"
#include "neap/models/pretrained.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/door_test.hpp"

namespace neap::models {
namespace {

using ::testing::HasSubstr;

constexpr const char* kSizes =
    R"("vocab_size": 11, "hidden_size": 8, "intermediate_size": 12,
       "num_hidden_layers": 1, "num_attention_heads": 2,
       "num_key_value_heads": 1, "max_position_embeddings": 16)";

class PretrainedHostileTest : public DoorTest {
 protected:
  // A config of a small Llama and further members.
  void put_config(const std::string& more,
                  const std::string& type = "llama") const {
    put_text(fmt::format(R"({{"model_type": "{}", {}{}{}}})", type, kSizes,
                         more.empty() ? "" : ", ", more));
  }
  void put_text(const std::string& text) const {
    folder_.put("config.json", text);
  }
  Result<PretrainedConfig> read(const PretrainedOptions& options = {}) const {
    return read_config(folder_.path(), options);
  }
  LlamaOptions llama() const { return std::get<LlamaOptions>(read().value()); }
  void refuse(const std::string& says,
              FailureKind kind = FailureKind::kUnsupported) const {
    domain_->reset_peak();
    const auto config = read();
    ASSERT_FALSE(config.has_value()) << says;
    EXPECT_EQ(config.error().kind, kind) << config.error().message;
    EXPECT_THAT(config.error().message, HasSubstr(says));
    EXPECT_THAT(config.error().message, HasSubstr("config.json: "));
    EXPECT_EQ(config.error().message.find('\n'), std::string::npos);
    EXPECT_LT(config.error().message.size(), 1600U);
    EXPECT_LT(domain_->stats().live_peak, 4 * kMiB);
  }

  std::vector<std::int64_t> ends() const {
    return read_stop_tokens(folder_.path()).value();
  }

  files::TemporaryFolder folder_;
};

TEST_F(PretrainedHostileTest, NamesOfClassesAreInTheOrderOfTheirNumbers) {
  const auto names = [&] { return read_class_names(folder_.path()); };
  EXPECT_EQ(names().error().kind, FailureKind::kNotFound);
  put_config("");
  EXPECT_EQ(names().value(), std::vector<std::string>{});
  put_config(R"("id2label": {"1": "calm", "0": "rough"})");
  EXPECT_EQ(names().value(), (std::vector<std::string>{"rough", "calm"}));
  put_config(R"("id2label": {"0": 3})");
  EXPECT_EQ(names().error().kind, FailureKind::kUnsupported);
}

TEST_F(PretrainedHostileTest, TheEndsOfATextAreThoseOfEitherFile) {
  using Ends = std::vector<std::int64_t>;
  EXPECT_EQ(read_stop_tokens(folder_.path()).error().kind,
            FailureKind::kNotFound);
  put_config("");
  EXPECT_EQ(ends(), Ends{});
  put_config(R"("eos_token_id": 2)");
  EXPECT_EQ(ends(), Ends{2});
  folder_.put("generation_config.json", R"({"bos_token_id": 1})");
  EXPECT_EQ(ends(), Ends{2});
  folder_.put("generation_config.json", R"({"eos_token_id": [3, 4, 4]})");
  EXPECT_EQ(ends(), (Ends{3, 4, 4}));
  for (const char* bad : {"-1", "1.5", "[1, \"x\"]", "[1", "{}", "true"}) {
    folder_.put("generation_config.json",
                fmt::format(R"({{"eos_token_id": {}}})", bad));
    const auto read = read_stop_tokens(folder_.path());
    ASSERT_FALSE(read.has_value()) << bad;
    EXPECT_THAT(read.error().message, HasSubstr("generation_config.json"));
  }
}

TEST_F(PretrainedHostileTest, AConfigIsReadAsItIs) {
  put_config(R"("rms_norm_eps": 1e-05, "rope_theta": 5e5,
                "tie_word_embeddings": true, "torch_dtype": "bfloat16",
                "bos_token_id": 1, "use_cache": true, "rope_scaling": null)");
  const LlamaOptions options = llama();
  EXPECT_EQ(options.vocab, 11);
  EXPECT_EQ(options.kv_heads, 1);
  EXPECT_EQ(options.width(), 4);
  EXPECT_EQ(options.block, 16);
  EXPECT_EQ(options.norm_eps, 1e-5);
  EXPECT_EQ(options.rope.base, 5e5);
  EXPECT_TRUE(options.tie);
  EXPECT_FALSE(options.qkv_bias);
  EXPECT_FALSE(options.is_drawn);
}

TEST_F(PretrainedHostileTest, ScalingsAreReadInTheirTwoForms) {
  put_config(R"("rope_scaling": {"type": "linear", "factor": 4.0})");
  EXPECT_EQ(llama().rope.scaling, RotaryScaling::kLinear);
  EXPECT_EQ(llama().rope.factor, 4.0);
  put_config(R"("rope_parameters": {"rope_type": "dynamic", "factor": 2.0,
                 "rope_theta": 100.0})");
  EXPECT_EQ(llama().rope.base, 100.0);
  EXPECT_EQ(llama().rope.trained, 16);
  EXPECT_EQ(llama().block, 32);
  put_config(R"("rope_scaling": {"rope_type": "llama3", "factor": 8.0,
                 "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                 "original_max_position_embeddings": 8})");
  EXPECT_EQ(llama().rope.low, 8.0);
  EXPECT_EQ(llama().rope.high, 2.0);
}

TEST_F(PretrainedHostileTest, Qwen2HasBiasesAndWindowsWhereItSaysSo) {
  put_config(R"("sliding_window": 4, "use_sliding_window": false)", "qwen2");
  EXPECT_TRUE(llama().qkv_bias);
  EXPECT_FALSE(llama().out_bias);
  EXPECT_EQ(llama().window, 0);
  put_config(R"("sliding_window": 4, "use_sliding_window": true,
                "max_window_layers": 0)",
             "qwen2");
  EXPECT_EQ(llama().window, 4);
  EXPECT_EQ(llama().window_from, 0);
}

TEST_F(PretrainedHostileTest, NothingIsNotNull) {
  put_config("", "mistral");
  EXPECT_EQ(llama().window, 4096);
  put_config(R"("sliding_window": null)", "mistral");
  EXPECT_EQ(llama().window, 0);
  put_config(R"("sliding_window": 4, "layer_types": ["full_attention"])",
             "mistral");
  EXPECT_EQ(llama().window, 4);
  EXPECT_EQ(llama().window_from, 0);
  put_config(R"("use_sliding_window": true, "max_window_layers": 0)", "qwen2");
  EXPECT_EQ(llama().window, 4096);
  const auto heads = [&](const char* type, const char* said) {
    put_text(fmt::format(
        R"({{"model_type": "{}", "vocab_size": 11, "hidden_size": 128,
             "num_attention_heads": 32, "intermediate_size": 12,
             "num_hidden_layers": 1, "max_position_embeddings": 16{}}})",
        type, said));
    return llama().kv_heads;
  };
  constexpr const char* kNull = R"(, "num_key_value_heads": null)";
  EXPECT_EQ(heads("mistral", ""), 8);
  EXPECT_EQ(heads("mistral", kNull), 32);
  EXPECT_EQ(heads("qwen2", kNull), 32);
  EXPECT_EQ(heads("llama", ""), 32);
}

TEST_F(PretrainedHostileTest, WhatIsLackingIsNamedAtOnce) {
  put_config(R"("hidden_act": "gelu", "quantization_config": {"bits": 4},
                "rope_scaling": {"rope_type": "longrope", "factor": 2.0},
                "logit_scale": 0.5)");
  refuse("hidden_act is gelu, silu is implemented");
  refuse("quantization_config is not known here");
  refuse("positions of the type longrope");
  refuse("logit_scale is not known here");
}

TEST_F(PretrainedHostileTest, UnknownMembersPassWhereToldOrEmpty) {
  put_config(R"("unheard_of": 3, "also": null, "and_this": false)");
  refuse("unheard_of is not known here");
  EXPECT_TRUE(read({.pass = {"unheard_of"}}).has_value());
}

TEST_F(PretrainedHostileTest, OtherModelsAreNamed) {
  put_config("", "t5");
  refuse("model_type t5; llama, mistral, qwen2, gpt2, bert and vit");
  put_text("{}");
  refuse("model_type is missing");
  put_config(R"("architectures": ["LlamaForSequenceClassification"])");
  refuse("architectures has LlamaForSequenceClassification");
}

TEST_F(PretrainedHostileTest, WhatIsNoConfigIsRefused) {
  const auto corrupt = FailureKind::kCorrupt;
  for (const char* text : {"", "[]", "{", "{}{}", "nul", R"({"a": })",
                           R"({"a": 1,})", "{'a': 1}"}) {
    put_text(text);
    refuse("at byte", corrupt);
  }
  put_text(R"({"model_type": "llama", "model_type": "gpt2"})");
  refuse("\"model_type\" twice", corrupt);
  put_text(R"({"a": )" + std::string(100'000, '['));
  refuse("at byte", corrupt);
  put_text(std::string(2 * kMiB, ' '));
  refuse("at most", FailureKind::kTooLarge);
}

TEST_F(PretrainedHostileTest, NumbersThatCannotBeAreRefused) {
  const auto with = [&](const char* key, const char* value) {
    put_text(fmt::format(R"({{"model_type": "llama", "{}": {}}})", key, value));
  };
  for (const char* value : {"0", "-1", "1.5", "1e3", "\"7\"", "[]", "16777217",
                            "9223372036854775808"}) {
    with("num_hidden_layers", value);
    refuse("num_hidden_layers is ");
  }
  with("rope_theta", "0");
  refuse("rotary positions");
  with("rope_theta", "1e999");
  refuse("rope_theta is 1e999");
  with("rms_norm_eps", "\"x\"");
  refuse("rms_norm_eps is ");
  with("head_dim", "7");
  refuse("do not go together");
  with("attention_dropout", "1.0");
  refuse("a dropout of 1");
  put_config(R"("rope_scaling": {"rope_type": "linear", "factor": -2.0})");
  refuse("rotary positions");
  put_config(R"("rope_scaling": [1])");
  refuse("rope_scaling is [1], expected an object");
}

TEST_F(PretrainedHostileTest, Gpt2IsReadOrRefusedByName) {
  put_text(R"({"model_type": "gpt2", "n_embd": 12, "n_head": 3,
               "resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0,
               "layer_norm_epsilon": 1e-3, "activation_function": "gelu"})");
  const auto options = std::get<GptOptions>(read().value());
  EXPECT_EQ(options.dim, 12);
  EXPECT_EQ(options.norm_eps, 1e-3);
  EXPECT_EQ(options.gelu, GeluForm::kExact);
  put_text(R"({"model_type": "gpt2", "n_inner": 5, "embd_pdrop": 0.5,
               "scale_attn_by_inverse_layer_idx": true})");
  refuse("n_inner is 5");
  refuse("embd_pdrop is not resid_pdrop");
  refuse("scale_attn_by_inverse_layer_idx is true");
}

TEST_F(PretrainedHostileTest, EncodersAreReadOrRefusedByName) {
  put_text(R"({"model_type": "bert", "architectures": ["BertForMaskedLM"],
               "hidden_size": 12, "num_attention_heads": 3})");
  const auto bert = std::get<BertOptions>(read().value());
  EXPECT_EQ(bert.head, BertHead::kTokens);
  EXPECT_EQ(bert.dropout, 0.1);
  EXPECT_EQ(bert.padding, 0);
  put_text(R"({"model_type": "bert", "hidden_size": 13, "is_decoder": true,
               "architectures": ["BertForTokenClassification"],
               "hidden_act": "relu", "position_embedding_type": "relative_key",
               "tie_word_embeddings": false, "pad_token_id": 30522,
               "hidden_dropout_prob": 1.0})");
  for (const char* fact :
       {"BertForTokenClassification", "hidden_act is relu",
        "12 heads do not divide", "relative_key", "pad_token_id 30522",
        "tie_word_embeddings is false", "is_decoder", "a dropout of 1"}) {
    refuse(fact);
  }
  put_text(R"({"model_type": "vit", "image_size": 30, "patch_size": 16,
               "architectures": ["ViTForMaskedImageModeling"]})");
  refuse("patches of 16 do not divide images of 30");
  refuse("ViTForMaskedImageModeling");
  put_text(R"({"model_type": "vit", "image_size": [224, 224]})");
  refuse("image_size is [224, 224]");
  put_text(R"({"architecture": "resnet50", "num_classes": 7,
               "pretrained_cfg": {"mean": [0.5, 0.5, 0.5]}})");
  EXPECT_EQ(std::get<ResNetOptions>(read().value()).layers, 50);
  EXPECT_EQ(std::get<ResNetOptions>(read().value()).classes, 7);
  put_text(R"({"architecture": "resnet50d", "model_args": {"x": 1}})");
  refuse("architecture is resnet50d");
  refuse("model_args is not known here");
}

TEST_F(PretrainedHostileTest, AClaimWithoutWeightsCostsNoMemory) {
  const Tensor x = ones({2});
  ASSERT_TRUE(formats::write_safetensors(
                  files::system_door(), folder_.at("model.safetensors"),
                  std::array{formats::NamedTensor{"x", x}})
                  .has_value());
  for (const char* sizes : {R"("num_hidden_layers": 16777216)",
                            R"("num_hidden_layers": 1, "vocab_size": 16777216,
           "hidden_size": 16777152, "intermediate_size": 16777216)"}) {
    for (const char* type : {"llama", "bert", "vit"}) {
      put_text(fmt::format(R"({{"model_type": "{}", {}}})", type, sizes));
      domain_->reset_peak();
      const auto model = from_pretrained(folder_.path());
      ASSERT_FALSE(model.has_value());
      EXPECT_EQ(model.error().kind, FailureKind::kMismatch)
          << model.error().message;
      EXPECT_LT(domain_->stats().live_peak, kMiB);
    }
  }
}

TEST_F(PretrainedHostileTest, MissingAndSuperfluousTensorsAreNamed) {
  put_config("");
  const Tensor x = ones({2});
  ASSERT_TRUE(formats::write_safetensors(
                  files::system_door(), folder_.at("model.safetensors"),
                  std::array{formats::NamedTensor{"x", x},
                             formats::NamedTensor{"y", x}})
                  .has_value());
  const auto model = from_pretrained(folder_.path());
  ASSERT_FALSE(model.has_value());
  EXPECT_THAT(model.error().message,
              HasSubstr(R"("model.embed_tokens.weight" is not there)"));
  EXPECT_THAT(model.error().message, HasSubstr("more"));
}

}  // namespace
}  // namespace neap::models
