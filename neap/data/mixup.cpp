// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/mixup.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "neap/base/philox.hpp"
#include "neap/data/draw_key.hpp"

namespace neap::data {
namespace {

// Blocks of four words for each of a batch's two draws. A try takes two blocks
// and fails once in twenty times at most.
constexpr std::uint64_t kBlocks = 64;

// In (0, 1].
double positive(std::uint32_t first, std::uint32_t second) noexcept {
  return 1.0 - base::uniform_f64(first, second);
}

// The logarithm of a draw of Gamma(alpha, 1), which may be too small for a
// number: Marsaglia and Tsang, "A simple method for generating gamma variables"
// (2000), for alpha + 1, times u^(1 / alpha).
double log_gamma_draw(const base::DrawKey& key, std::uint64_t block,
                      double alpha) noexcept {
  const double d = alpha + 1.0 - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  double log_drawn = std::log(d);
  const auto last = key.block(block + kBlocks - 1);
  for (std::uint64_t i = 0; i + 2 < kBlocks; i += 2) {
    const auto words = key.block(block + i);
    const auto more = key.block(block + i + 1);
    const double normal =
        std::sqrt(-2.0 * std::log(positive(words[0], words[1]))) *
        std::cos(2.0 * std::numbers::pi *
                 base::uniform_f64(words[2], words[3]));
    const double root = 1.0 + c * normal;
    const double v = root * root * root;
    if (v > 0.0 && std::log(positive(more[0], more[1])) <
                       0.5 * normal * normal + d - d * v + d * std::log(v)) {
      log_drawn = std::log(d * v);
      break;
    }
  }
  return log_drawn + std::log(positive(last[0], last[1])) / alpha;
}

}  // namespace

double mixup_share(double alpha, std::uint64_t seed, std::int64_t epoch,
                   std::int64_t batch) noexcept {
  const base::DrawKey key = draw_key(seed, Purpose::kMixup, epoch);
  const std::uint64_t first = static_cast<std::uint64_t>(batch) * 2 * kBlocks;
  const double a = log_gamma_draw(key, first, alpha);
  const double b = log_gamma_draw(key, first + kBlocks, alpha);
  return 1.0 / (1.0 + std::exp(b - a));
}

// The last row is mixed first: each needs the one before as it was.
void mix_rows(std::span<float> input, std::span<float> spare,
              double share) noexcept {
  const auto own = static_cast<float>(share);
  const float other = 1.0F - own;
  const auto mix = [&](std::span<float> row, std::span<const float> before) {
    std::transform(row.begin(), row.end(), before.begin(), row.begin(),
                   [&](float x, float y) { return own * x + other * y; });
  };
  const std::size_t width = spare.size();
  const auto last = input.last(width);
  std::copy(last.begin(), last.end(), spare.begin());
  for (std::size_t end = input.size(); end > width; end -= width) {
    mix(input.subspan(end - width, width),
        input.subspan(end - 2 * width, width));
  }
  mix(input.first(width), spare);
}

void mix_labels(std::span<const std::int64_t> labels, std::int64_t classes,
                double share, std::span<float> targets) noexcept {
  const auto own = static_cast<float>(share);
  std::fill(targets.begin(), targets.end(), 0.0F);
  std::int64_t before = labels.back();
  std::int64_t row = 0;
  for (const std::int64_t label : labels) {
    targets[static_cast<std::size_t>(row + label)] += own;
    targets[static_cast<std::size_t>(row + before)] += 1.0F - own;
    before = label;
    row += classes;
  }
}

}  // namespace neap::data
