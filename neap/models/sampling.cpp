// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/sampling.hpp"

#include <algorithm>
#include <cmath>

#include "neap/base/raise.hpp"

namespace neap::models {

using base::raise;

// The first of equals is the likelier one.
bool TokenSampler::is_less(const Token& a, const Token& b) noexcept {
  return a.score < b.score || (a.score == b.score && a.number > b.number);
}

TokenSampler::TokenSampler(const SamplingOptions& options, std::uint64_t seed)
    : options_(options), key_{seed, 0} {
  if (!std::isfinite(options.temperature) || options.temperature < 0.0) {
    raise<ValueError>("sampling: temperature {}, expected a number from 0 on",
                      options.temperature);
  }
  if (options.top_k < 0) {
    raise<ValueError>("sampling: top_k {}, expected 0 or more", options.top_k);
  }
  if (!(options.top_p > 0.0 && options.top_p <= 1.0)) {
    raise<ValueError>("sampling: top_p {}, expected 0 < p <= 1", options.top_p);
  }
}

std::int64_t TokenSampler::choose(std::span<const float> scores) {
  return choose_among(scores);
}

std::int64_t TokenSampler::choose(std::span<const double> scores) {
  return choose_among(scores);
}

std::int64_t TokenSampler::choose(const Tensor& scores, std::int64_t row) {
  const Shape& shape = scores.shape();
  if (shape.rank() != 2 || row < 0 || row >= shape[0]) {
    raise<ShapeError>("sampling: row {} of scores {}, expected (rows, vocab)",
                      row, format_shape(shape));
  }
  const auto width = static_cast<std::size_t>(shape[1]);
  const std::size_t first = static_cast<std::size_t>(row) * width;
  return scores.dtype() == f64
             ? choose(scores.values<double>().subspan(first, width))
             : choose(scores.values<float>().subspan(first, width));
}

template <class T>
std::int64_t TokenSampler::choose_among(std::span<const T> scores) {
  tokens_.clear();
  tokens_.reserve(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const auto score = static_cast<double>(scores[i]);
    if (std::isnan(score) || score == HUGE_VAL) {
      raise<ValueError>("sampling: the score of token {} is {}", i, score);
    }
    if (score > -HUGE_VAL) {
      tokens_.push_back({score, static_cast<std::int64_t>(i)});
    }
  }
  if (tokens_.empty()) {
    raise<ValueError>("sampling: {} scores, none of them above -infinity",
                      scores.size());
  }
  const auto best = std::ranges::max_element(tokens_, is_less);
  if (options_.temperature == 0.0) {
    return best->number;
  }
  best_ = best->score;
  left_ = tokens_.size();
  std::ranges::make_heap(tokens_, is_less);
  return draw();
}

// The i-th token by score; of these before it, all must have been asked for.
const TokenSampler::Token& TokenSampler::likeliest(std::size_t i) {
  if (i == tokens_.size() - left_) {
    const auto end = tokens_.begin() + static_cast<std::ptrdiff_t>(left_);
    std::ranges::pop_heap(tokens_.begin(), end, is_less);
    --left_;
  }
  return tokens_[tokens_.size() - 1 - i];
}

double TokenSampler::share_of(const Token& token) const noexcept {
  return std::exp((token.score - best_) / options_.temperature);
}

// No more tokens are put in order than the choice looks at.
std::int64_t TokenSampler::draw() {
  std::size_t count = tokens_.size();
  double total = 0.0;
  if (options_.top_k > 0 && static_cast<std::size_t>(options_.top_k) < count) {
    count = static_cast<std::size_t>(options_.top_k);
    for (std::size_t i = 0; i < count; ++i) {
      total += share_of(likeliest(i));
    }
  } else {
    for (const Token& token : tokens_) {
      total += share_of(token);
    }
  }
  if (options_.top_p < 1.0) {
    const double wanted = options_.top_p * total;
    std::size_t taken = 0;
    total = 0.0;
    while (taken < count && total < wanted) {
      total += share_of(likeliest(taken++));
    }
    count = taken;
  }
  const base::PhiloxBlock words = key_.block(0);
  ++key_.draw;
  double left = base::uniform_f64(words[0], words[1]) * total;
  std::size_t at = 0;
  while (at + 1 < count && left >= share_of(likeliest(at))) {
    left -= share_of(likeliest(at++));
  }
  return likeliest(at).number;
}

}  // namespace neap::models
