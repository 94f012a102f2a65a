// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Attention and its gradients by plain loops, for the tests of both. Operands
// are (h, t, d), with any leading extents as more heads.
#pragma once

#include <array>
#include <cmath>
#include <limits>

#include "neap/base/philox.hpp"
#include "neap/testing/op_table.hpp"

namespace neap::testing {

struct AttentionCase {
  bool is_causal = false;
  bool is_masked = false;  // the last operand is a mask, of (1 or h, t, s)
  bool is_bool = false;
  double scale = 0.5;
  double dropout = 0.0;
};

class PlainAttention {
  // Element i of a row.
  template <class Values>
  static auto& at(Values& values, std::int64_t row, std::int64_t width,
                  std::int64_t i) {
    return values[static_cast<std::size_t>(row * width + i)];
  }

 public:
  /// The result's width is that of v; without v, no result.
  PlainAttention(const AttentionCase& of, const HostArray& q,
                 const HostArray& k, const HostArray* mask)
      : of_(of),
        q_(q),
        k_(k),
        rows_(q.shape.back(2)),
        keys_(k.shape.back(2)),
        width_(q.shape.back(1)),
        heads_(heads_of(q.shape)) {
    for (std::int64_t row = 0; row < heads_ * rows_; ++row) {
      add_row(row, mask);
    }
  }

  std::vector<double> result(const HostArray& v) const {
    const std::int64_t e = v.shape.back(1);
    std::vector<double> y(static_cast<std::size_t>(heads_ * rows_ * e));
    for_each([&](std::int64_t row, std::int64_t key, std::size_t w) {
      for (std::int64_t i = 0; i < e; ++i) {
        at(y, row, e, i) += weights_[w] * factors_[w] * at(v.values, key, e, i);
      }
    });
    return y;
  }

  /// dq, dk and dv.
  std::array<std::vector<double>, 3> gradients(const HostArray& dy,
                                               const HostArray& v) const {
    const std::int64_t e = v.shape.back(1);
    std::array<std::vector<double>, 3> d{std::vector<double>(q_.values.size()),
                                         std::vector<double>(k_.values.size()),
                                         std::vector<double>(v.values.size())};
    std::vector<double> g(weights_.size());
    std::vector<double> means(static_cast<std::size_t>(heads_ * rows_));
    for_each([&](std::int64_t row, std::int64_t key, std::size_t w) {
      for (std::int64_t i = 0; i < e; ++i) {
        g[w] +=
            factors_[w] * at(dy.values, row, e, i) * at(v.values, key, e, i);
        at(d[2], key, e, i) +=
            weights_[w] * factors_[w] * at(dy.values, row, e, i);
      }
      means[static_cast<std::size_t>(row)] += weights_[w] * g[w];
    });
    for_each([&](std::int64_t row, std::int64_t key, std::size_t w) {
      const double ds = of_.scale * weights_[w] *
                        (g[w] - means[static_cast<std::size_t>(row)]);
      for (std::int64_t i = 0; i < width_; ++i) {
        at(d[0], row, width_, i) += ds * at(k_.values, key, width_, i);
        at(d[1], key, width_, i) += ds * at(q_.values, row, width_, i);
      }
    });
    return d;
  }

 private:
  static std::int64_t heads_of(const Shape& shape) {
    std::int64_t count = 1;
    for (int axis = 0; axis + 2 < shape.rank(); ++axis) {
      count *= shape[axis];
    }
    return count;
  }

  /// Body(row, key, weight) with the numbers of all heads' rows and keys.
  template <class Body>
  void for_each(const Body& body) const {
    for (std::int64_t row = 0; row < heads_ * rows_; ++row) {
      // Heads that share keys share as many rows.
      const std::int64_t each =
          heads_ / std::max<std::int64_t>(heads_of(k_.shape), 1);
      const std::int64_t first = row / rows_ / each * keys_;
      for (std::int64_t key = 0; key < keys_; ++key) {
        body(row, first + key, static_cast<std::size_t>(row * keys_ + key));
      }
    }
  }

  double masked(double score, std::int64_t row, std::int64_t key,
                const HostArray* mask) const {
    if (of_.is_causal && key > row % rows_) {
      return -std::numeric_limits<double>::infinity();
    }
    if (mask == nullptr) {
      return score;
    }
    const auto count = static_cast<std::int64_t>(mask->values.size());
    const double m =
        mask->values[static_cast<std::size_t>((row * keys_ + key) % count)];
    if (!of_.is_bool) {
      return score + m;
    }
    return m != 0 ? score : -std::numeric_limits<double>::infinity();
  }

  void add_row(std::int64_t row, const HostArray* mask) {
    const std::int64_t each =
        heads_ / std::max<std::int64_t>(heads_of(k_.shape), 1);
    const std::int64_t first = row / rows_ / each * keys_;
    double sum = 0.0;
    const std::size_t start = weights_.size();
    for (std::int64_t key = 0; key < keys_; ++key) {
      double score = 0.0;
      for (std::int64_t i = 0; i < width_; ++i) {
        score += at(q_.values, row, width_, i) *
                 at(k_.values, first + key, width_, i);
      }
      weights_.push_back(std::exp(masked(of_.scale * score, row, key, mask)));
      sum += weights_.back();
      const auto index = static_cast<std::uint64_t>(row * keys_ + key);
      const bool keeps =
          base::uniform_f32(base::DrawKey{7, 0}.word(index)) >= of_.dropout;
      factors_.push_back(keeps ? 1.0 / (1.0 - of_.dropout) : 0.0);
    }
    for (std::size_t w = start; sum > 0.0 && w < weights_.size(); ++w) {
      weights_[w] /= sum;
    }
  }

  AttentionCase of_;
  const HostArray& q_;
  const HostArray& k_;
  std::int64_t rows_, keys_, width_, heads_;
  std::vector<double> weights_;
  std::vector<double> factors_;  // of dropout, first draw of seed 7
};

}  // namespace neap::testing
