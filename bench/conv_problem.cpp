// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "conv_problem.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace neap::bench {
namespace {

using kernels::ConvMakes;

// All three of one layer; of a first layer no gradient of x.
void add(std::vector<ConvProblem>& to, ConvProblem p, bool is_first = false) {
  for (const ConvMakes makes : {ConvMakes::kY, ConvMakes::kX, ConvMakes::kW}) {
    if (makes != ConvMakes::kX || !is_first) {
      p.makes = makes;
      p.group = makes == ConvMakes::kY   ? "forward"
                : makes == ConvMakes::kX ? "data"
                                         : "weights";
      to.push_back(p);
    }
  }
}

ConvProblem layer(std::int64_t n, std::int64_t c, std::int64_t o,
                  std::int64_t size, std::int64_t stride = 1,
                  std::int64_t kernel = 3) {
  return {.group = "",
          .n = n,
          .c = c,
          .o = o,
          .size = size,
          .kernel = kernel,
          .stride = stride,
          .padding = kernel / 2};
}

}  // namespace

std::string ConvProblem::name() const {
  return fmt::format("{} {}->{} {}x{} at {}{}{}", n, c, o, kernel, kernel, size,
                     stride == 1 ? "" : fmt::format(" by {}", stride),
                     groups == 1 ? "" : ", each channel");
}

std::vector<ConvProblem> all_conv_problems() {
  std::vector<ConvProblem> all;
  add(all, layer(64, 1, 32, 28), true);  // the CNN for 28x28
  add(all, layer(64, 32, 64, 28));
  add(all, layer(32, 3, 64, 32), true);  // ResNet-18 for 32x32
  add(all, layer(32, 64, 64, 32));
  add(all, layer(32, 64, 128, 32, 2));
  add(all, layer(32, 128, 128, 16));
  add(all, layer(32, 128, 256, 16, 2));
  add(all, layer(32, 256, 256, 8));
  add(all, layer(32, 256, 512, 8, 2));
  add(all, layer(32, 512, 512, 4));
  add(all, layer(32, 64, 128, 32, 2, 1));
  add(all, layer(32, 256, 512, 8, 2, 1));
  add(all, layer(32, 64, 128, 16));  // VGG-11
  add(all, layer(32, 512, 512, 2));
  add(all, layer(16, 128, 64, 32));  // U-Net
  add(all, layer(32, 64, 256, 16, 1, 1));
  add(all, layer(32, 16, 32, 14, 1, 5));
  ConvProblem depthwise = layer(32, 128, 128, 16);
  depthwise.groups = 128;
  add(all, depthwise);
  ConvProblem halved = layer(32, 128, 128, 28, 2);
  halved.groups = 128;
  add(all, halved);
  add(all, layer(8, 3, 64, 112, 2, 7), true);  // a first layer for large images
  std::ranges::stable_sort(
      all, {}, [](const ConvProblem& p) { return static_cast<int>(p.makes); });
  const std::size_t in_f32 = all.size();
  for (std::size_t i = 0; i < in_f32; ++i) {
    if (all[i].has_pairs()) {
      all.push_back(all[i]);
      all.back().group = "bf16 " + all[i].group;
      all.back().is_bf16 = true;
    }
  }
  return all;
}

}  // namespace neap::bench
