// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Pretrained models whose matrices stay in bf16 beside the same that are
// widened as they are read: scores, adapters that are trained and texts have
// the same bits, in the bytes that were said.
#include <gmock/gmock.h>

#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/formats/safetensors_folder.hpp"
#include "neap/models/adapter.hpp"
#include "neap/models/generate.hpp"
#include "neap/models/pretrained.hpp"
#include "neap/ops/elementwise/cast.hpp"
#include "neap/ops/loss/cross_entropy.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/optim/adam.hpp"
#include "neap/tensor/create.hpp"
#include "neap/threads/pool.hpp"

namespace neap::models {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kVocab = 37;

// A golden folder, with all or some of its tensors in another dtype.
void write_folder(const files::TemporaryFolder& to, const std::string& name,
                  const std::function<DType(const std::string&)>& dtype_of) {
  const std::string from = std::string(NEAP_MODELS_GOLDEN "/") + name;
  std::ifstream config(from + "/config.json");
  to.put("config.json",
         std::string{std::istreambuf_iterator<char>(config), {}});
  auto files = formats::open_shards(files::system_door(), from).value();
  std::vector<formats::NamedTensor> tensors;
  for (formats::SafetensorsFile& file : files) {
    for (const formats::SafetensorsEntry& entry : file.entries()) {
      const Tensor read = file.read(entry).value();
      tensors.push_back(
          {entry.name, is_floating(read.dtype())
                           ? cast(read, dtype_of(std::string(entry.name)))
                           : read});
    }
  }
  ASSERT_TRUE(formats::write_safetensors(files::system_door(),
                                         to.at("model.safetensors"), tensors)
                  .has_value());
}

std::vector<double> values_of(const nn::ParameterList& parameters) {
  std::vector<double> all;
  for (const nn::Parameter& parameter : parameters) {
    const auto some = parameter.tensor.to_vector();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

class HalfWeightsTest : public ::testing::TestWithParam<const char*> {
 protected:
  HalfWeightsTest() {
    write_folder(folder_, GetParam(), [](const std::string&) { return bf16; });
  }
  ~HalfWeightsTest() override { threads::set_default_threads(1); }

  memory::Owned<nn::Layer> read(bool keeps_half) const {
    return from_pretrained(folder_.path(), {.keep_half = keeps_half}).value();
  }

  memory::Domain::Handle domain_ = memory::Domain::create();
  memory::UseDomain use_{*domain_};
  Generator generator_{7};
  UseGenerator use_generator_{generator_};
  files::TemporaryFolder folder_;
  Tensor tokens_ = randint(0, kVocab, {4, 8});
  Tensor targets_ = randint(0, kVocab, {4, 8});
};

// The elements of all parameters of a dtype.
Bytes elements_in(const nn::Module& model, DType dtype) {
  Bytes elements = 0;
  for (const nn::Parameter& parameter : model.parameters()) {
    elements += parameter.tensor.dtype() == dtype
                    ? parameter.tensor.element_count()
                    : 0;
  }
  return elements;
}

TEST_P(HalfWeightsTest, TakesTwoBytesForAnElementOfAMatrix) {
  const Bytes before = domain_->stats().live;
  const auto wide = read(false);
  const Bytes wide_bytes = domain_->stats().live - before;
  const auto half = read(true);
  const Bytes half_bytes = domain_->stats().live - before - wide_bytes;
  const Bytes elements = elements_in(*half, bf16);
  EXPECT_GT(elements, elements_in(*half, f32));
  EXPECT_EQ(half->parameter_count(), wide->parameter_count());
  EXPECT_EQ(half->parameter_bytes(), wide->parameter_bytes() - 2 * elements);
  EXPECT_LT(half_bytes, wide_bytes);
  for (const nn::Parameter& parameter : half->parameters()) {
    const bool is_half = parameter.tensor.dtype() == bf16;
    EXPECT_NE(parameter.tensor.requires_grad(), is_half) << parameter.name;
    if (parameter.tensor.rank() == 1) {
      EXPECT_FALSE(is_half) << parameter.name;  // norms and biases
    }
  }
}

TEST_P(HalfWeightsTest, ScoresHaveTheBitsOfWidenedWeights) {
  const NoGrad guard;
  const auto want = (*read(false))(tokens_).to_vector();
  const auto half = read(true);
  for (int threads = 1; threads <= 3; ++threads) {
    threads::set_default_threads(threads);
    EXPECT_EQ((*half)(tokens_).to_vector(), want) << threads;
  }
}

struct Way {
  bool is_compiled = true;
  int threads = 1;
  CompileOptions options{};
  double arena = 1.0;  // of what it takes without a limit
};

// An adapter that is trained.
class Tuning {
 public:
  explicit Tuning(memory::Owned<nn::Layer> model) : model_(std::move(model)) {
    add_adapter(*model_, {.lora = {.rank = 2, .dropout = 0.1}});
    model_->train();
    optimizer_.emplace(trainable(*model_), optim::AdamOptions{.lr = 1e-2});
  }

  Tensor step(const Tensor& tokens, const Tensor& targets) {
    const Tensor loss = cross_entropy(reshape((*model_)(tokens), {-1, kVocab}),
                                      reshape(targets, {-1}));
    backward(loss);
    optimizer_->step({.release_gradients = true});
    return loss.detach();
  }

  std::vector<double> trained() const { return values_of(trainable(*model_)); }

 private:
  memory::Owned<nn::Layer> model_;
  std::optional<optim::AdamW> optimizer_;
};

// Losses of some steps, and the adapter after them.
std::vector<double> tuned(memory::Owned<nn::Layer> model, const Tensor& tokens,
                          const Tensor& targets, const Way& way) {
  threads::set_default_threads(way.threads);
  Generator generator(7);
  const UseGenerator use(generator);
  Tuning tuning(std::move(model));
  const auto step = [&](const Tensor& x, const Tensor& y) {
    return tuning.step(x, y);
  };
  auto compiled = compile(step, way.options);
  std::vector<double> all;
  for (int i = 0; i < 3; ++i) {
    all.push_back(
        (way.is_compiled ? compiled(tokens, targets) : step(tokens, targets))
            .item());
  }
  const auto values = tuning.trained();
  all.insert(all.end(), values.begin(), values.end());
  if (way.is_compiled && way.options.arena_limit != kUnlimited) {
    EXPECT_LE(compiled.arena_bytes(), way.options.arena_limit);
  }
  return all;
}

// The arena of a step without a limit.
Bytes arena_of(memory::Owned<nn::Layer> model, const Tensor& tokens,
               const Tensor& targets, const CompileOptions& options) {
  Tuning tuning(std::move(model));
  auto compiled = compile(
      [&](const Tensor& x, const Tensor& y) { return tuning.step(x, y); },
      options);
  compiled.prepare({tokens.spec(), targets.spec()});
  return compiled.arena_bytes();
}

TEST_P(HalfWeightsTest, AnAdapterIsTrainedToTheBitsOfWidenedWeights) {
  const auto want =
      tuned(read(false), tokens_, targets_, {.is_compiled = false});
  for (int threads = 1; threads <= 3; ++threads) {
    for (const bool is_compiled : {false, true}) {
      EXPECT_EQ(tuned(read(true), tokens_, targets_,
                      {.is_compiled = is_compiled, .threads = threads}),
                want)
          << threads << " threads, compiled " << is_compiled;
    }
  }
  const Bytes arena = arena_of(read(true), tokens_, targets_, {});
  EXPECT_EQ(tuned(read(true), tokens_, targets_,
                  {.options = {.arena_limit = arena * 3 / 4}}),
            want);
  EXPECT_EQ(tuned(read(true), tokens_, targets_, {.options = {.paged = true}}),
            want);
}

TEST_P(HalfWeightsTest, ShardsHaveTheBitsOfThoseOfWidenedWeights) {
  for (const int shards : {2, 4}) {
    const auto want =
        tuned(read(false), tokens_, targets_, {.options = {.shards = shards}});
    EXPECT_EQ(tuned(read(true), tokens_, targets_,
                    {.threads = 2, .options = {.shards = shards}}),
              want)
        << shards;
  }
}

TEST_P(HalfWeightsTest, ADryRunTellsThePeakToTheByte) {
  const auto measure = [&](bool is_rehearsal) {
    const auto domain = memory::Domain::create(
        {.host = memory::HostAllocator::kPooled, .is_rehearsal = is_rehearsal});
    const memory::UseDomain use(*domain);
    Generator generator(7);
    const UseGenerator use_generator(generator);
    const Tensor x = randint(0, kVocab, {4, 8});
    const Tensor y = randint(0, kVocab, {4, 8});
    Tuning tuning(read(true));
    auto step = compile(
        [&](const Tensor& a, const Tensor& b) { return tuning.step(a, b); });
    step.prepare({x.spec(), y.spec()});
    for (int i = 0; i < 3; ++i) {
      step(x, y);
    }
    return domain->stats();
  };
  const memory::Stats told = measure(true);
  const memory::Stats measured = measure(false);
  EXPECT_EQ(told.peak, measured.peak);
  EXPECT_EQ(told.live_peak, measured.live_peak);
}

TEST_P(HalfWeightsTest, TextsAreThoseOfWidenedWeights) {
  const auto texts = [&](bool keeps_half) {
    const auto model = read(keeps_half);
    Decoder decoder(*model, {.samples = 2, .length = 14});
    const DecoderNeed need = decoder.prepare(3, 14);
    const auto made = generate(
        decoder, std::vector<std::vector<std::int64_t>>{{3, 1, 4}, {2}},
        {.sampling = {.temperature = 0.8}, .tokens = 10, .seed = 5});
    EXPECT_LE(decoder.arena_bytes(), need.arena);
    return made;
  };
  EXPECT_EQ(texts(true), texts(false));
}

TEST_P(HalfWeightsTest, ACloneKeepsThemAsTheyAre) {
  const auto half = read(true);
  const auto copy = nn::clone_layer(*half);
  EXPECT_EQ(values_of(copy->parameters()), values_of(half->parameters()));
  EXPECT_EQ(copy->parameter_bytes(), half->parameter_bytes());
  for (const nn::Parameter& parameter : copy->parameters()) {
    EXPECT_NE(parameter.tensor.requires_grad(),
              parameter.tensor.dtype() == bf16)
        << parameter.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, HalfWeightsTest,
                         ::testing::Values("llama3", "qwen2", "smollm", "gpt2"),
                         [](const auto& at) { return at.param; });

class HalfWeightsRefusalTest : public ::testing::Test {
 protected:
  void refuse(const PretrainedOptions& options, const char* says) const {
    const auto model = from_pretrained(folder_.path(), options);
    ASSERT_FALSE(model.has_value()) << says;
    EXPECT_EQ(model.error().kind, FailureKind::kUnsupported);
    EXPECT_THAT(model.error().message, HasSubstr(says));
    EXPECT_EQ(model.error().message.find('\n'), std::string::npos);
  }
  files::TemporaryFolder folder_;
};

TEST_F(HalfWeightsRefusalTest, WhatHasNoSuchFormIsNamed) {
  write_folder(folder_, "bert_first", [](const std::string&) { return bf16; });
  refuse({.keep_half = true}, "keep_half of a model that writes no text");
  write_folder(folder_, "gpt2", [](const std::string& name) {
    return name == "wte.weight" || name == "transformer.wte.weight" ? f32
                                                                    : bf16;
  });
  refuse({.keep_half = true}, "matrices are in BF16");
  write_folder(folder_, "gpt2", [](const std::string&) { return bf16; });
  refuse({.dtype = f64, .keep_half = true}, "keep_half beside f64");
  const auto f16 =
      from_pretrained(NEAP_MODELS_GOLDEN "/mistral", {.keep_half = true});
  ASSERT_FALSE(f16.has_value());
  EXPECT_THAT(f16.error().message,
              HasSubstr("keep_half of weights in F16, which are widened"));
}

TEST_F(HalfWeightsRefusalTest, WeightsInF32StayThat) {
  const auto model =
      from_pretrained(NEAP_MODELS_GOLDEN "/gpt2", {.keep_half = true}).value();
  EXPECT_EQ(elements_in(*model, bf16), 0);
}

TEST_F(HalfWeightsRefusalTest, AnAdapterIsNotMergedIntoThem) {
  write_folder(folder_, "llama", [](const std::string&) { return bf16; });
  const auto model =
      from_pretrained(folder_.path(), {.keep_half = true}).value();
  const auto before = values_of(model->parameters());
  const auto merged = merge_adapter(*model, NEAP_MODELS_GOLDEN "/llama_lora");
  ASSERT_FALSE(merged.has_value());
  EXPECT_THAT(merged.error().message, HasSubstr("merged into weights in bf16"));
  EXPECT_EQ(values_of(model->parameters()), before);
}

TEST_F(HalfWeightsRefusalTest, OneThatIsThawedIsRefusedInItsCall) {
  write_folder(folder_, "llama3", [](const std::string&) { return bf16; });
  const auto model =
      from_pretrained(folder_.path(), {.keep_half = true}).value();
  model->unfreeze();
  EXPECT_THROW((*model)(zeros({1, 4}, i64)), DTypeError);
}

TEST_F(HalfWeightsRefusalTest, DrawnWeightsAreF32) {
  EXPECT_THROW(Gpt({.has_half_weights = true}), ValueError);
  EXPECT_THROW(Llama({.has_half_weights = true}), ValueError);
  EXPECT_THROW(
      Llama({.dtype = f64, .is_drawn = false, .has_half_weights = true}),
      DTypeError);
}

}  // namespace
}  // namespace neap::models
