// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "neap/kernels/gemm/bf16_dot.hpp"
#include "neap/kernels/sequence/attention_problem.hpp"
#include "neap/kernels/sequence/attention_reference.hpp"

namespace neap::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Element i of a row, 0 from `count` on.
float at(const HeadView<const float>& row, std::int64_t i,
         std::int64_t count) noexcept {
  return i < count ? row.data[i * row.column_stride] : 0.0F;
}

/// The sum of the products of scaled x and y.
float dot(const HeadView<const float>& x, float scale,
          const HeadView<const float>& y, std::int64_t count) noexcept {
  float sum = 0.0F;
  for (std::int64_t i = 0; i < count; i += 2) {
    sum = bf16_dot(at(x, i, count) * scale, at(y, i, count),
                   at(x, i + 1, count) * scale, at(y, i + 1, count), sum);
  }
  return sum;
}

/// A row of a matrix and what it is multiplied by.
struct Term {
  float weight = 0.0F;
  HeadView<const float> row;
};

/// sum += the weighted rows, times `scale`, of an even k and of the next.
void add_pair(const HeadView<float>& sum, std::int64_t count, float scale,
              const Term& even, const Term& odd) noexcept {
  for (std::int64_t i = 0; i < count; ++i) {
    float& s = sum.data[i * sum.column_stride];
    s = bf16_dot(even.weight, at(even.row, i, count) * scale, odd.weight,
                 at(odd.row, i, count) * scale, s);
  }
}

/// The sum of element(0), element(1), ... by sixteen partials.
template <class Element>
float sum_of(std::int64_t count, const Element& element) noexcept {
  std::array<float, 16> partials{};
  for (std::int64_t j = 0; j < count; ++j) {
    partials[static_cast<std::size_t>(j % 16)] += element(j);
  }
  for (std::size_t half = 8; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) {
      partials[i] += partials[i + half];
    }
  }
  return partials[0];
}

/// A row of one head.
class Bf16Row {
 public:
  Bf16Row(const Args& args, const Strided& q, const Strided& k,
          const AttentionSizes& sizes, std::int64_t number) noexcept
      : args_(args),
        attrs_(args.attrs_as<AttentionAttrs>()),
        q_(q),
        k_(k),
        sizes_(sizes),
        number_(number),
        batch_(number / sizes.rows / sizes.heads),
        head_(number / sizes.rows % sizes.heads),
        row_(number % sizes.rows) {}

  std::int64_t number() const noexcept { return number_; }
  float scale() const noexcept { return static_cast<float>(attrs_.scale); }
  std::int64_t seen() const noexcept {
    return seen_by(attrs_.is_causal, row_, sizes_.keys);
  }
  /// This row of an operand; row j of what belongs to keys.
  template <class T>
  HeadView<T> of_row(const Strided& x) const noexcept {
    return head_of<T>(x, batch_, head_).from_row(row_);
  }
  template <class T>
  HeadView<T> of_key(const Strided& x, std::int64_t j) const noexcept {
    return head_of<T>(x, batch_, head_ / sizes_.group()).from_row(j);
  }

  float score(std::int64_t j) const noexcept {
    const float product = dot(of_row<const float>(q_), scale(),
                              of_key<const float>(k_, j), sizes_.width);
    if (!attrs_.has_mask) {
      return product;
    }
    const Strided& mask = args_.in.back();
    if (mask.dtype == DType::kBool) {
      return of_mask<std::uint8_t>(mask, j) != 0 ? product : -kInfinity;
    }
    return product + of_mask<float>(mask, j);
  }

  bool drops() const noexcept { return attrs_.dropout > 0.0; }
  /// The factor by which dropout multiplies the weight of key j.
  float drop_factor(std::int64_t j) const noexcept {
    const auto word = attrs_.key.word(
        static_cast<std::uint64_t>(attrs_.first + number_ * sizes_.keys + j));
    return static_cast<double>(base::uniform_f32(word)) >= attrs_.dropout
               ? static_cast<float>(1.0 / (1.0 - attrs_.dropout))
               : 0.0F;
  }

 private:
  template <class T>
  T of_mask(const Strided& mask, std::int64_t j) const noexcept {
    const auto row = mask_of<T>(mask, batch_, head_).from_row(row_);
    return row.data[j * row.column_stride];
  }

  const Args& args_;
  const AttentionAttrs& attrs_;
  const Strided& q_;
  const Strided& k_;
  const AttentionSizes& sizes_;
  std::int64_t number_;  // among all (B, H, T)
  std::int64_t batch_;
  std::int64_t head_;
  std::int64_t row_;
};

void multiply_by(const HeadView<float>& x, std::int64_t count,
                 float factor) noexcept {
  for (std::int64_t i = 0; i < count; ++i) {
    x.data[i * x.column_stride] *= factor;
  }
}

/// Results so far of a row, whose keys go by in blocks.
struct RowState {
  HeadView<float> y;
  float* weights = nullptr;  // room for a block's
  float largest = -kInfinity;
  double sum = 0.0;
};

/// Adds the keys [first, end) of one block to y.
void add_block(const Bf16Row& row, const Strided& values,
               const AttentionSizes& sizes, std::int64_t first,
               std::int64_t end, RowState& state) noexcept {
  float* const weights = state.weights;
  const float before = state.largest;
  for (std::int64_t j = first; j < end; ++j) {
    weights[j - first] = row.score(j);
    state.largest = std::fmax(state.largest, weights[j - first]);
  }
  const float level = state.largest == -kInfinity ? 0.0F : state.largest;
  for (std::int64_t j = 0; j < end - first; ++j) {
    weights[j] = RowMath::exp_of_score(weights[j] - level);
  }
  const auto sum = static_cast<double>(
      sum_of(end - first, [&](std::int64_t j) { return weights[j]; }));
  if (first > 0) {
    const float factor = RowMath::exp(before - level);
    state.sum *= static_cast<double>(factor);
    multiply_by(state.y, sizes.value_width, factor);
  }
  state.sum += sum;
  for (std::int64_t j = first; row.drops() && j < end; ++j) {
    weights[j - first] *= row.drop_factor(j);
  }
  for (std::int64_t j = first; j < end; j += 2) {
    const Term even{weights[j - first], row.of_key<const float>(values, j)};
    const Term odd = j + 1 < end ? Term{weights[j - first + 1],
                                        row.of_key<const float>(values, j + 1)}
                                 : Term{0.0F, even.row};
    add_pair(state.y, sizes.value_width, 1.0F, even, odd);
  }
}

/// Weights and slopes of the scores of a row, zeros where it sees nothing.
void derive(const Args& args, const Bf16Row& row, const AttentionSizes& sizes,
            float* weights, float* slopes) noexcept {
  const auto dy = row.of_row<const float>(args.in[0]);
  const float lse = element<float>(args.in[4], row.number());
  const auto& attrs = args.attrs_as<AttentionAttrs>();
  const bool derives = attrs.dq || attrs.dk;
  float mean = 0.0F;
  if (derives) {
    const auto y = row.of_row<const float>(args.in[5]);
    mean = sum_of(sizes.value_width, [&](std::int64_t e) {
      return at(dy, e, sizes.value_width) * at(y, e, sizes.value_width);
    });
  }
  for (std::int64_t j = 0; j < sizes.keys; ++j) {
    weights[j] = slopes[j] = 0.0F;
    if (j >= row.seen()) {
      continue;
    }
    const float p = RowMath::exp_of_score(row.score(j) - lse);
    const float factor = row.drops() ? row.drop_factor(j) : 1.0F;
    weights[j] = p * factor;
    if (derives) {
      const float g = dot(dy, 1.0F, row.of_key<const float>(args.in[1], j),
                          sizes.value_width);
      slopes[j] = p * (g * factor - mean);
    }
  }
}

/// Adds the terms of two neighbouring rows to the gradients of the keys;
/// `second` may be the first again, with zeros for weights and slopes.
void add_to_keys(const Args& args, const AttentionSizes& sizes,
                 const Bf16Row& first, const Bf16Row& second,
                 const float* weights, const float* slopes) noexcept {
  const auto& attrs = args.attrs_as<AttentionAttrs>();
  const std::int64_t seen = std::max(first.seen(), second.seen());
  for (std::int64_t j = 0; j < seen; ++j) {
    const std::int64_t odd = sizes.keys + j;
    if (attrs.dv) {
      add_pair(first.of_key<float>(args.out[2], j), sizes.value_width, 1.0F,
               {weights[j], first.of_row<const float>(args.in[0])},
               {weights[odd], second.of_row<const float>(args.in[0])});
    }
    if (attrs.dk) {
      add_pair(first.of_key<float>(args.out[1], j), sizes.width, first.scale(),
               {slopes[j], first.of_row<const float>(args.in[2])},
               {slopes[odd], second.of_row<const float>(args.in[2])});
    }
  }
}

void add_to_row(const Args& args, const AttentionSizes& sizes,
                const Bf16Row& row, const float* slopes) noexcept {
  const std::int64_t seen = row.seen();
  for (std::int64_t j = 0; j < seen; j += 2) {
    const Term even{slopes[j], row.of_key<const float>(args.in[3], j)};
    const Term odd =
        j + 1 < seen
            ? Term{slopes[j + 1], row.of_key<const float>(args.in[3], j + 1)}
            : Term{0.0F, even.row};
    add_pair(row.of_row<float>(args.out[0]), sizes.width, row.scale(), even,
             odd);
  }
}

}  // namespace

void attention_bf16_reference(const Args& args) noexcept {
  const AttentionSizes sizes(args.in[0], args.in[1], args.out[0]);
  auto* weights = reinterpret_cast<float*>(args.scratch.data());
  for (std::int64_t i = 0; i < sizes.batch * sizes.heads * sizes.rows; ++i) {
    const Bf16Row row(args, args.in[0], args.in[1], sizes, i);
    const auto y = row.of_row<float>(args.out[0]);
    std::fill_n(y.data, sizes.value_width, 0.0F);
    RowState state{.y = y, .weights = weights};
    for (std::int64_t first = 0; first < row.seen(); first += kKeyBlock) {
      add_block(row, args.in[2], sizes, first,
                std::min(first + kKeyBlock, row.seen()), state);
    }
    const bool is_blind = state.sum == 0.0;
    multiply_by(y, sizes.value_width,
                is_blind ? 0.0F : static_cast<float>(1.0 / state.sum));
    args.out[1].as<float>()[i] =
        is_blind ? kInfinity
                 : state.largest + RowMath::log(static_cast<float>(state.sum));
  }
}

void attention_grad_bf16_reference(const Args& args) noexcept {
  const AttentionSizes sizes = grad_sizes(args);
  for (const Strided& gradient : args.out) {
    if (gradient.shape.element_count() != 0) {
      std::fill_n(gradient.as<float>(), gradient.shape.element_count(), 0.0F);
    }
  }
  auto* weights = reinterpret_cast<float*>(args.scratch.data());
  float* slopes = weights + 2 * sizes.keys;
  const std::int64_t heads = sizes.batch * sizes.heads;
  for (std::int64_t i = 0; i < heads * sizes.rows;) {
    const Bf16Row first(args, args.in[2], args.in[3], sizes, i);
    const bool has_second = i % sizes.rows + 1 < sizes.rows;
    const Bf16Row second(args, args.in[2], args.in[3], sizes,
                         has_second ? i + 1 : i);
    derive(args, first, sizes, weights, slopes);
    if (has_second) {
      derive(args, second, sizes, weights + sizes.keys, slopes + sizes.keys);
    } else {
      std::fill_n(weights + sizes.keys, sizes.keys, 0.0F);
      std::fill_n(slopes + sizes.keys, sizes.keys, 0.0F);
    }
    add_to_keys(args, sizes, first, second, weights, slopes);
    if (args.attrs_as<AttentionAttrs>().dq) {
      add_to_row(args, sizes, first, slopes);
      if (has_second) {
        add_to_row(args, sizes, second, slopes + sizes.keys);
      }
    }
    i += has_second ? 2 : 1;
  }
}

}  // namespace neap::kernels
