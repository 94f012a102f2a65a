// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A deep network trained twice, the second time with its blocks as
// rematerialised segments: the same losses to the bit, a lower peak.
#include <cstdio>
#include <vector>

#include "neap/neap.hpp"

namespace {

using neap::Keep;
using neap::Tensor;

constexpr int kDepth = 16;
constexpr std::int64_t kWidth = 64;
constexpr std::int64_t kBatch = 512;

struct Block {
  Tensor w = requires_grad_(
      neap::nn::normal_(neap::zeros({kWidth, kWidth}), 0.0, 0.1));

  Tensor operator()(const Tensor& x) const {
    return x + gelu(dropout(tanh(matmul(x, w)), 0.1));
  }
};

struct Outcome {
  neap::Bytes peak = 0;
  double loss = 0.0;
};

enum class Form { kPlain, kSegments, kSegmentsWithProducts };

// Some steps of gradient descent, and the highest live bytes above weights.
Outcome train(Form form) {
  neap::seed(7);
  std::vector<Block> blocks(kDepth);
  const Tensor x = neap::nn::normal_(neap::zeros({kBatch, kWidth}));
  neap::memory::Domain& door = neap::memory::domain();
  const neap::Bytes before = door.stats().live;
  door.reset_peak();
  Outcome outcome;
  for (int step = 0; step < 3; ++step) {
    Tensor y = x;
    for (const Block& block : blocks) {
      if (form == Form::kPlain) {
        y = block(y);
      } else {
        const bool keeps = form == Form::kSegmentsWithProducts;
        const auto segment = neap::rematerialise(
            [&block](const Tensor& in) { return block(in); },
            {.keep = keeps ? Keep::kComputeBound : Keep::kNothing});
        y = segment(y);
      }
    }
    const Tensor loss = mean(square(y));
    outcome.loss = loss.item();
    y = Tensor();
    backward(loss);
    for (Block& block : blocks) {
      const neap::NoGrad guard;
      copy_(block.w, block.w - block.w.grad() * 0.1);
      set_grad(block.w, {});
    }
  }
  outcome.peak = door.stats().live_peak - before;
  return outcome;
}

void print(const char* name, const Outcome& outcome) {
  std::printf("%-23s  loss %.9g, peak above weights %s\n", name, outcome.loss,
              neap::format_bytes(outcome.peak).c_str());
}

bool run() {
  const Outcome plain = train(Form::kPlain);
  const Outcome segments = train(Form::kSegments);
  const Outcome with_products = train(Form::kSegmentsWithProducts);
  print("everything kept", plain);
  print("segments", segments);
  print("segments, products kept", with_products);
  return plain.loss == segments.loss && plain.loss == with_products.loss &&
         segments.peak < with_products.peak && with_products.peak < plain.peak;
}

}  // namespace

int main() {
  const bool is_right = run();
  const neap::Bytes live = neap::memory::domain().stats().live;
  std::printf("live at exit: %s\n", neap::format_bytes(live).c_str());
  return is_right && live == 0 ? 0 : 1;
}
