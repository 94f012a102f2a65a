// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Steps over batches of fields: a compiled one has a program for each length of
// the buckets, and the bits of the plain one.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/base/philox.hpp"
#include "neap/compile/compile.hpp"
#include "neap/data/fields/field_loader.hpp"
#include "neap/nn/embedding.hpp"
#include "neap/nn/linear.hpp"
#include "neap/ops/ops.hpp"
#include "neap/optim/sgd.hpp"

namespace neap::train {
namespace {

// Sentence i has 1 + i * 7 % 20 tokens below 10; its label says whether one of
// them is 0. Token 0 pads, too: without the mask all would have one.
struct Sentences {
  std::array<data::FieldSpec, 2> specs = {
      {{.shape = {}, .dtype = i64, .is_variable = true},
       {.shape = {}, .dtype = i64}}};

  std::int64_t size() const { return 120; }
  std::span<const data::FieldSpec> fields() const { return specs; }
  std::int64_t length(std::int64_t index) const noexcept {
    return 1 + index * 7 % 20;
  }
  void load(data::SampleId id, std::span<data::FieldRow> rows) const noexcept {
    const base::DrawKey key{1, static_cast<std::uint64_t>(id.index)};
    std::int64_t label = 0;
    for (std::int64_t i = 0; i < length(id.index); ++i) {
      const std::int64_t token = key.word(static_cast<std::uint64_t>(i)) % 10;
      label = token == 0 ? 1 : label;
      std::memcpy(&rows[0].bytes[static_cast<std::size_t>(i) * sizeof(token)],
                  &token, sizeof(token));
    }
    std::memcpy(rows[1].bytes.data(), &label, sizeof(label));
  }
};

struct Trained {
  std::vector<double> losses;  // of each batch
  int programs = 0;
};

template <class Step>
void train(data::FieldLoader& loader, Step& step, Trained& run) {
  for (std::int64_t epoch = 0; epoch < 12; ++epoch) {
    loader.start(epoch);
    while (const data::FieldBatch* batch = loader.next()) {
      run.losses.push_back(
          step(batch->fields[0], batch->masks[0], batch->fields[1]).item());
    }
  }
}

Trained train_sentences(bool is_compiled) {
  Generator generator{7};
  const UseGenerator use_generator{generator};
  const Sentences sentences;
  data::FieldLoader loader(sentences, {.batch = 8,
                                       .buckets = 3,
                                       .shuffle = true,
                                       .seed = 1,
                                       .drop_last = true,
                                       .prefetch = is_compiled ? 2 : 0});
  nn::Embedding embedding(10, 4);
  nn::Linear out(4, 2);
  auto parameters = embedding.parameters();
  for (auto& parameter : out.parameters()) {
    parameters.push_back(parameter);
  }
  optim::SGD sgd(parameters, {.lr = 0.1});
  const auto plain = [&](const Tensor& tokens, const Tensor& own,
                         const Tensor& labels) {
    const Tensor mask = unsqueeze(cast(own, f32), 2);
    const Tensor loss =
        cross_entropy(out(sum(mul(embedding(tokens), mask), {1})), labels);
    backward(loss);
    sgd.step();
    sgd.zero_grad();
    return loss;
  };
  Trained run;
  if (is_compiled) {
    auto step = neap::compile(plain);
    train(loader, step, run);
    run.programs = step.programs();
  } else {
    train(loader, plain, run);
  }
  return run;
}

TEST(FieldsTest, ACompiledStepHasAProgramForEachLength) {
  const Trained plain = train_sentences(false);
  const Trained compiled = train_sentences(true);
  EXPECT_EQ(compiled.losses, plain.losses);
  EXPECT_EQ(compiled.programs, 3);
  const std::size_t each = plain.losses.size() / 12;
  double first = 0.0;
  double last = 0.0;
  for (std::size_t i = 0; i < each; ++i) {
    first += plain.losses[i];
    last += plain.losses[plain.losses.size() - 1 - i];
  }
  EXPECT_LT(last, 0.6 * first);
}

}  // namespace
}  // namespace neap::train
