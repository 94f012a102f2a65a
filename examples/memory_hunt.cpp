// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Trains a classifier and, with "faults", holds more than it must in two ways:
// for a hunt with the memory page (docs/memory-page.md).
//
//   NEAP_PAGE=hunt.html memory_hunt faults    # opened in a browser
//   neap doctor -- memory_hunt faults
#include <cstdio>
#include <string_view>
#include <vector>

#include "neap/neap.hpp"

namespace {

using neap::Tensor;

constexpr std::int64_t kSamples = 4096;
constexpr std::int64_t kClasses = 256;

bool has_faults = false;  // NOLINT: set once, by main

// Numbers of the past, for a curve.
std::vector<Tensor>& history() {
  static auto* const all = new std::vector<Tensor>;  // NOLINT: a fault
  return *all;
}

double mean_of_largest(const Tensor& probabilities) {
  return mean(amax(probabilities, {1})).item();
}

struct Classifier {
  neap::nn::Linear layer{64, kClasses};
  neap::optim::SGD optimizer{layer.parameters(), {.lr = 0.1}};
  double confidence = 0.0;

  void step(const Tensor& x, const Tensor& labels) {
    const Tensor logits = layer(x);
    Tensor probabilities = softmax(logits.detach(), 1);
    if (!has_faults) {
      confidence = mean_of_largest(probabilities);
      probabilities = Tensor();
    }
    const Tensor loss = cross_entropy(logits, labels);
    backward(loss);
    optimizer.step({.release_gradients = true});
    if (has_faults) {
      confidence = mean_of_largest(probabilities);  // which waited for it
      history().push_back(loss.detach());           // and is never emptied
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  has_faults = argc > 1 && std::string_view(argv[1]) == "faults";
  {
    Classifier classifier;
    const Tensor x = neap::rand({kSamples, 64});
    const Tensor labels = neap::zeros({kSamples}, neap::i64);
    for (int i = 0; i < 4; ++i) {
      classifier.step(x, labels);
    }
    std::printf("confidence %.4f\n", classifier.confidence);
  }
  const bool is_empty = neap::memory::domain().stats().live == 0;
  return is_empty || has_faults ? 0 : 1;
}
