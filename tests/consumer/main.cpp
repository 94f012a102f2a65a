// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Uses an installed Neap as a stranger would: by its headers and one library.
#include <cstdio>

#include "neap/formats/idx.hpp"
#include "neap/neap.hpp"
#include "neap/text/tokenizer.hpp"

int main() {
  const neap::Shape shape = {60000, 28, 28};
  std::printf("neap %s: %s has %s\n", neap::version(),
              neap::format_shape(shape).c_str(),
              neap::format_bytes(shape.element_count()).c_str());

  neap::nn::Linear layer(3, 1);
  neap::optim::SGD sgd(layer.parameters(), {.lr = 0.1});
  auto step = neap::compile([&](const neap::Tensor& x) {
    neap::Tensor loss = mean(square(layer(x) - 1));
    backward(loss);
    sgd.step();
    sgd.zero_grad();
    return loss;
  });
  const neap::Tensor x = neap::ones({4, 3});
  const double first = step(x).item();
  const double second = step(x).item();
  std::printf("loss %.3f, then %.3f\n", first, second);

  const auto tokenizer = neap::text::Tokenizer::parse(
      R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2},)"
      R"( "merges": ["a b"]}, "normalizer": {"type": "NFC"}})");
  std::printf("tokens of abab: %zu\n", tokenizer.value().encode("abab").size());

  try {
    neap::matmul(x, x);
  } catch (const neap::ShapeError& error) {
    std::printf("%s\n", error.what());
    return second < first ? 0 : 1;
  }
  return 1;
}
