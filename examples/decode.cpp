// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Two texts continued by a model with a cache of keys and values; and one of
// them alone, which has the same tokens.
#include <cstdio>
#include <vector>

#include "neap/neap.hpp"

namespace {

bool continues_texts() {
  neap::models::Llama model({.vocab = 64,
                             .block = 128,
                             .layers = 2,
                             .heads = 4,
                             .kv_heads = 2,
                             .dim = 32,
                             .hidden = 48});
  model.eval();

  neap::models::Decoder decoder(model, {.samples = 2, .length = 128});
  const auto need =
      decoder.prepare(5, 45);  // of the prompt's tokens, and of all
  std::printf("%s\n", neap::format_bytes(need.peak()).c_str());

  const std::vector<std::vector<std::int64_t>> prompts{{1, 2, 3, 4, 5}, {6, 7}};
  const auto texts =
      neap::models::generate(decoder, prompts,
                             {.sampling = {.temperature = 0.8, .top_p = 0.9},
                              .tokens = 40,
                              .seed = 1});

  neap::models::Decoder one(model);
  const auto alone =
      neap::models::generate(one, std::span(prompts).first(1),
                             {.sampling = {.temperature = 0.8, .top_p = 0.9},
                              .tokens = 40,
                              .seed = 1});
  return texts[0].size() == 40 && alone[0] == texts[0] &&
         texts[1] != texts[0] && decoder.traces() == 2;
}

}  // namespace

int main() {
  const bool is_good = continues_texts();
  return is_good && neap::memory::domain().stats().live == 0 ? 0 : 1;
}
