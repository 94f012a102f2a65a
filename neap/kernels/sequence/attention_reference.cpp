// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/sequence/attention_reference.hpp"

#include <cmath>
#include <limits>

#include "neap/kernels/sequence/attention_problem.hpp"

namespace neap::kernels {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A row of one head.
template <class T>
class ReferenceRow {
 public:
  ReferenceRow(const Args& args, const Strided& q, const Strided& k,
               const AttentionSizes& sizes, std::int64_t number)
      : args_(args),
        attrs_(args.attrs_as<AttentionAttrs>()),
        k_(k),
        sizes_(sizes),
        batch_(number / sizes.rows / sizes.heads),
        head_(number / sizes.rows % sizes.heads),
        row_(number % sizes.rows),
        q_(of_row<const T>(q)) {}

  std::int64_t key_head() const { return head_ / sizes_.group(); }

  /// This row of an operand (B, T, H, columns).
  template <class U>
  HeadView<U> of_row(const Strided& x) const {
    return head_of<U>(x, batch_, head_).from_row(row_);
  }
  /// Row j of what belongs to keys.
  template <class U>
  HeadView<U> of_key(const Strided& x, std::int64_t j) const {
    return head_of<U>(x, batch_, key_head()).from_row(j);
  }
  template <class U>
  static double dot(const HeadView<U>& a, const HeadView<U>& b,
                    std::int64_t count) {
    double sum = 0.0;
    for (std::int64_t i = 0; i < count; ++i) {
      sum += static_cast<double>(a.data[i * a.column_stride]) *
             static_cast<double>(b.data[i * b.column_stride]);
    }
    return sum;
  }

  /// The score of key j, -infinity where the row does not see it.
  double score(std::int64_t j) const {
    if (j >= seen_by(attrs_.is_causal, row_, sizes_.keys)) {
      return -kInfinity;
    }
    const double scaled =
        attrs_.scale * dot(q_, of_key<const T>(k_, j), sizes_.width);
    if (!attrs_.has_mask) {
      return scaled;
    }
    const Strided& mask = args_.in.back();
    if (mask.dtype == DType::kBool) {
      return at<std::uint8_t>(mask, j) != 0 ? scaled : -kInfinity;
    }
    return scaled + static_cast<double>(at<T>(mask, j));
  }

  /// The factor by which dropout multiplies the weight of key j.
  double drop_factor(std::int64_t j) const {
    if (attrs_.dropout == 0.0) {
      return 1.0;
    }
    const std::int64_t index =
        ((batch_ * sizes_.heads + head_) * sizes_.rows + row_) * sizes_.keys +
        j;
    const auto word =
        attrs_.key.word(static_cast<std::uint64_t>(attrs_.first + index));
    return static_cast<double>(base::uniform_f32(word)) >= attrs_.dropout
               ? 1.0 / (1.0 - attrs_.dropout)
               : 0.0;
  }

  /// The place of this row among all (B, H, T).
  std::int64_t place() const {
    return (batch_ * sizes_.heads + head_) * sizes_.rows + row_;
  }

 private:
  template <class U>
  U at(const Strided& mask, std::int64_t j) const {
    const auto row = mask_of<U>(mask, batch_, head_).from_row(row_);
    return row.data[j * row.column_stride];
  }

  const Args& args_;
  const AttentionAttrs& attrs_;
  const Strided& k_;
  const AttentionSizes& sizes_;
  std::int64_t batch_;
  std::int64_t head_;
  std::int64_t row_;
  HeadView<const T> q_;
};

template <class T>
void clear(const Strided& x) noexcept {
  if (x.shape.element_count() != 0) {
    std::fill_n(x.as<T>(), x.shape.element_count(), T{0});
  }
}

template <class T>
void add_to(const HeadView<T>& sum, double factor, const HeadView<const T>& x,
            std::int64_t count) noexcept {
  for (std::int64_t i = 0; i < count; ++i) {
    sum.data[i * sum.column_stride] += static_cast<T>(
        factor * static_cast<double>(x.data[i * x.column_stride]));
  }
}

}  // namespace

Bytes attention_reference_scratch(const Args& args) noexcept {
  return args.in[1].shape[1] * static_cast<Bytes>(sizeof(double));
}

Bytes attention_grad_reference_scratch(const Args& args) noexcept {
  return is_attention_in_bf16(args)
             ? 4 * args.in[3].shape[1] * static_cast<Bytes>(sizeof(float))
             : 0;
}

template <class T>
void attention_reference(const Args& args) noexcept {
  if (is_attention_in_bf16(args)) {
    attention_bf16_reference(args);
    return;
  }
  const AttentionSizes sizes(args.in[0], args.in[1], args.out[0]);
  auto* weights = reinterpret_cast<double*>(args.scratch.data());
  for (std::int64_t i = 0; i < sizes.batch * sizes.heads * sizes.rows; ++i) {
    const ReferenceRow<T> row(args, args.in[0], args.in[1], sizes, i);
    double largest = -kInfinity;
    double sum = 0.0;
    for (std::int64_t j = 0; j < sizes.keys; ++j) {
      weights[j] = row.score(j);
      largest = std::fmax(largest, weights[j]);
    }
    const double level = largest == -kInfinity ? 0.0 : largest;
    for (std::int64_t j = 0; j < sizes.keys; ++j) {
      weights[j] = std::exp(weights[j] - level);
      sum += weights[j];
    }
    const auto y = row.template of_row<T>(args.out[0]);
    for (std::int64_t e = 0; e < sizes.value_width; ++e) {
      double total = 0.0;
      for (std::int64_t j = 0; j < sizes.keys; ++j) {
        const auto v = row.template of_key<const T>(args.in[2], j);
        total += weights[j] * row.drop_factor(j) *
                 static_cast<double>(v.data[e * v.column_stride]);
      }
      y.data[e * y.column_stride] =
          static_cast<T>(sum == 0.0 ? 0.0 : total / sum);
    }
    args.out[1].as<T>()[row.place()] =
        static_cast<T>(sum == 0.0 ? kInfinity : level + std::log(sum));
  }
}

template <class T>
void attention_grad_reference(const Args& args) noexcept {
  if (is_attention_in_bf16(args)) {
    attention_grad_bf16_reference(args);
    return;
  }
  const auto& attrs = args.attrs_as<AttentionAttrs>();
  const AttentionSizes sizes = grad_sizes(args);
  for (const Strided& gradient : args.out) {
    clear<T>(gradient);
  }
  for (std::int64_t i = 0; i < sizes.batch * sizes.heads * sizes.rows; ++i) {
    const ReferenceRow<T> row(args, args.in[2], args.in[3], sizes, i);
    const auto dy = row.template of_row<const T>(args.in[0]);
    const auto lse = static_cast<double>(element<T>(args.in[4], row.place()));
    const bool derives = attrs.dq || attrs.dk;
    const double mean =
        derives ? row.dot(dy, row.template of_row<const T>(args.in[5]),
                          sizes.value_width)
                : 0.0;
    for (std::int64_t j = 0; j < sizes.keys; ++j) {
      const double weight = std::exp(row.score(j) - lse);
      const double factor = row.drop_factor(j);
      if (attrs.dv) {
        add_to(row.template of_key<T>(args.out[2], j), weight * factor, dy,
               sizes.value_width);
      }
      if (!derives) {
        continue;
      }
      const auto v = row.template of_key<const T>(args.in[1], j);
      const double dp = factor * row.dot(dy, v, sizes.value_width);
      const double ds = attrs.scale * weight * (dp - mean);
      if (attrs.dq) {
        add_to(row.template of_row<T>(args.out[0]), ds,
               row.template of_key<const T>(args.in[3], j), sizes.width);
      }
      if (attrs.dk) {
        add_to(row.template of_key<T>(args.out[1], j), ds,
               row.template of_row<const T>(args.in[2]), sizes.width);
      }
    }
  }
}

template void attention_reference<float>(const Args&) noexcept;
template void attention_reference<double>(const Args&) noexcept;
template void attention_grad_reference<float>(const Args&) noexcept;
template void attention_grad_reference<double>(const Args&) noexcept;

}  // namespace neap::kernels
