// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// TokenSampler: chooses the next token by its score.
#pragma once

#include <span>

#include "neap/base/philox.hpp"
#include "neap/memory/containers.hpp"
#include "neap/tensor/tensor.hpp"

namespace neap::models {

/// A token is as likely as its share of exp(score / temperature), among the
/// top_k likeliest and, of these, the fewest whose shares add up to top_p
/// (nucleus sampling: Holtzman et al., arXiv 1904.09751).
struct SamplingOptions {
  double temperature = 1.0;  // finite; 0: the likeliest, the first of equals
  std::int64_t top_k = 0;    // 0: all
  double top_p = 1.0;        // in (0, 1]
};

class NEAP_API TokenSampler {
 public:
  /// THROWS: ValueError for options out of range.
  explicit TokenSampler(const SamplingOptions& options, std::uint64_t seed = 0);

  /// The token chosen by its score, one draw further unless the temperature is
  /// 0. Allocates nothing after the first call with as many scores. THROWS:
  /// ValueError where there is no score, or one is NaN or infinity, or all are
  /// -infinity (a token with -infinity is never chosen); OutOfMemory.
  std::int64_t choose(std::span<const float> scores);
  std::int64_t choose(std::span<const double> scores);
  /// The same of one row of scores (rows, vocab), f32 or f64. THROWS also:
  /// ShapeError, DTypeError, as Tensor::values.
  std::int64_t choose(const Tensor& scores, std::int64_t row);

 private:
  struct Token {
    double score;
    std::int64_t number;
  };

  static bool is_less(const Token& a, const Token& b) noexcept;
  template <class T>
  std::int64_t choose_among(std::span<const T> scores);
  const Token& likeliest(std::size_t i);
  double share_of(const Token& token) const noexcept;
  std::int64_t draw();

  SamplingOptions options_;
  base::DrawKey key_;
  // A heap of those not yet taken, and behind it those that were, the
  // likeliest last.
  memory::Vector<Token> tokens_;
  std::size_t left_ = 0;  // in the heap
  double best_ = 0.0;
};

}  // namespace neap::models
