// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <array>

#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/engine/targets.hpp"
#include "neap/kernels/sequence/attention.hpp"
#include "neap/kernels/sequence/attention_reference.hpp"
#include "neap/kernels/sequence/attention_room.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/sequence/attention_grad.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/sequence/attention-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

/// A row of scores s and what their weights were given, g: p = e^(s - lse)
/// and ds = p (f g - mean) of the first `count`, p times f, with f the factors
/// of dropout. Zeros up to whole vectors.
template <bool kDerives, bool kDrops, class T>
void weigh_row(std::int64_t count, T lse, T mean, const T* factors, T* weights,
               T* slopes) {
  const hn::ScalableTag<T> d;
  const auto level = hn::Set(d, lse);
  const auto middle = hn::Set(d, mean);
  for (std::int64_t i = 0; i < count; i += kLanes<T>) {
    auto p = exp_of_score(d, hn::Sub(hn::LoadU(d, weights + i), level));
    const auto f = kDrops ? hn::LoadU(d, factors + i) : p;
    const bool is_last = i + kLanes<T> > count;
    if constexpr (kDerives) {
      auto g = hn::LoadU(d, slopes + i);
      g = hn::Sub(kDrops ? hn::Mul(g, f) : g, middle);
      auto ds = hn::Mul(p, g);
      if (is_last) {
        ds = hn::IfThenElseZero(below(d, i, count), ds);
      }
      hn::StoreU(ds, d, slopes + i);
    }
    p = kDrops ? hn::Mul(p, f) : p;
    if (is_last) {
      p = hn::IfThenElseZero(below(d, i, count), p);
    }
    hn::StoreU(p, d, weights + i);
  }
}

/// The gradients of some keys and rows of one k and v.
template <class MicroKernels>
class AttentionBack {
  using T = typename MicroKernels::Element;
  using Factor = typename MicroKernels::Factor;

 public:
  AttentionBack(const Args& args, std::byte* scratch)
      : args_(args),
        attrs_(args.attrs_as<AttentionAttrs>()),
        sizes_(grad_sizes(args)),
        room_(sizes_, attrs_, scratch) {}

  /// Computes the wanted gradients of the keys, of the rows or of both.
  void run(std::int64_t batch, std::int64_t key_head, Range keys, Range rows,
           bool of_keys, bool of_rows) {
    batch_ = batch;
    key_head_ = key_head;
    gives_dk_ = of_keys && attrs_.dk;
    gives_dv_ = of_keys && attrs_.dv;
    gives_dq_ = of_rows && attrs_.dq;
    clear(keys, rows);
    first_key_ = keys.begin;
    for (std::int64_t key = keys.begin; key < keys.end; key += kGradBlock) {
      keys_ = {key, std::min(key + kGradBlock, keys.end)};
      take_keys();
      for (std::int64_t h = 0; h < sizes_.group(); ++h) {
        head_ = key_head * sizes_.group() + h;
        const std::int64_t first =
            attrs_.is_causal ? std::max(rows.begin, key) : rows.begin;
        const std::int64_t step =  // pairs of rows stay together
            parts_of(balanced_piece(rows.end - first, kGradBlock),
                     MicroKernels::kElements) *
            MicroKernels::kElements;
        for (std::int64_t row = first; row < rows.end; row += step) {
          is_first_ = h == 0 && row == first;
          add_block({row, std::min(row + step, rows.end)});
        }
      }
    }
  }

 private:
  HeadView<T> out_of(std::size_t k, std::int64_t head) const {
    return head_of<T>(args_.out[k], batch_, head);
  }
  bool derives() const { return gives_dq_ || gives_dk_; }

  static void clear_rows(const HeadView<T>& x, Range rows,
                         std::int64_t columns) {
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      T* at = x.from_row(row).data;
      std::fill(at, at + columns, T{0});
    }
  }

  /// Sets to zero the rows of the gradients that no block begins.
  void clear(Range keys, Range rows) {
    const Range unseen{attrs_.is_causal
                           ? std::max(keys.begin, std::min(keys.end, rows.end))
                           : (rows.size() > 0 ? keys.end : keys.begin),
                       keys.end};
    if (gives_dk_) {
      clear_rows(out_of(1, key_head_), unseen, sizes_.width);
    }
    if (gives_dv_) {
      clear_rows(out_of(2, key_head_), unseen, sizes_.value_width);
    }
    for (std::int64_t h = 0; gives_dq_ && h < sizes_.group(); ++h) {
      if (keys.size() == 0) {
        clear_rows(out_of(0, key_head_ * sizes_.group() + h), rows,
                   sizes_.width);
      }
    }
  }

  void take_keys() {
    const std::int64_t count = keys_.size();
    const auto k =
        head_of<const T>(args_.in[3], batch_, key_head_).from_row(keys_.begin);
    k_ = pack_right<MicroKernels>(k.transposed(), sizes_.width, count,
                                  room_.packed_k);
    if (gives_dq_) {
      copy_rows(k, count, sizes_.width, room_.step, scale(), room_.k);
      scaled_k_ = as_right(room_.k, count, room_.step, sizes_.width,
                           room_.pairs.right_k);
    }
    if (derives()) {
      const auto v = head_of<const T>(args_.in[1], batch_, key_head_)
                         .from_row(keys_.begin);
      v_ = pack_right<MicroKernels>(v.transposed(), sizes_.value_width, count,
                                    room_.packed_v);
    }
  }

  /// Rows in scratch as the right operand of a sum over them; as the left one
  /// of a sum along them.
  static Right<Factor> as_right(const T* rows, std::int64_t count,
                                std::int64_t step, std::int64_t columns,
                                [[maybe_unused]] Factor* pairs) {
    if constexpr (MicroKernels::kConverts) {
      return pack_right<MicroKernels>({rows, step, 1}, count, columns, pairs);
    } else {
      return right_of(rows, step);
    }
  }
  static Left<Factor> as_left(const T* rows, std::int64_t count,
                              std::int64_t step, std::int64_t columns,
                              [[maybe_unused]] Factor* pairs) {
    if constexpr (MicroKernels::kConverts) {
      MicroKernels::pack_rows(rows, step, count, columns, pairs, step / 2);
      return along(pairs, step / 2);
    } else {
      return along(rows, step);
    }
  }

  T scale() const { return static_cast<T>(attrs_.scale); }

  /// How many of the keys at hand a row sees.
  std::int64_t seen(std::int64_t row) const {
    return std::clamp<std::int64_t>(
        seen_by(attrs_.is_causal, row, sizes_.keys) - keys_.begin, 0,
        keys_.size());
  }

  void add_block(Range rows) {
    const std::int64_t count = rows.size();
    const auto& pairs = room_.pairs;
    take_rows(rows);
    multiply_by(k_,
                as_left(room_.q, count, room_.step, sizes_.width, pairs.left_q),
                sizes_.width, rows, room_.weights);
    if (derives()) {
      multiply_by(v_,
                  as_left(room_.dy, count, room_.value_step, sizes_.value_width,
                          pairs.left_dy),
                  sizes_.value_width, rows, room_.slopes);
    }
    for (std::int64_t i = 0; i < count; ++i) {
      weigh(rows.begin + i, i);
    }
    if (gives_dv_) {
      add_to_keys(out_of(2, key_head_),
                  as_transpose(room_.weights, pairs.weights, rows),
                  as_right(room_.dy, count, room_.value_step,
                           sizes_.value_width, pairs.right_dy),
                  sizes_.value_width, rows);
    }
    if (gives_dk_) {
      add_to_keys(
          out_of(1, key_head_), as_transpose(room_.slopes, pairs.slopes, rows),
          as_right(room_.q, count, room_.step, sizes_.width, pairs.right_q),
          sizes_.width, rows);
    }
    if (gives_dq_) {
      add_to_rows(rows);
    }
  }

  void take_rows(Range rows) {
    const auto of = [&](std::size_t i) {
      return head_of<const T>(args_.in[i], batch_, head_).from_row(rows.begin);
    };
    copy_rows(of(2), rows.size(), sizes_.width, room_.step, scale(), room_.q);
    copy_rows(of(0), rows.size(), sizes_.value_width, room_.value_step, T{1},
              room_.dy);
  }

  /// A row of products for each row, as far as it sees.
  void multiply_by(const Right<Factor>& right, const Left<Factor>& left,
                   std::int64_t depth, Range rows, T* to) {
    const std::int64_t whole = parts_of(seen(rows.end - 1), kLanes<T>) *
                               kLanes<T>;  // the rest is of zeros
    multiply<MicroKernels>(
        rows.size(), whole, left, right, to, room_.score_step, Onto::kNothing,
        [&](std::int64_t row, std::int64_t some, std::int64_t column) {
          const bool sees = column < seen(rows.begin + row + some - 1);
          return sees ? Range{0, depth} : kSkipped;
        });
  }

  /// The transpose of a block of weights or slopes.
  Left<Factor> as_transpose(const T* block, [[maybe_unused]] Factor* pairs,
                            [[maybe_unused]] Range rows) const {
    const std::int64_t step = room_.score_step;
    if constexpr (MicroKernels::kConverts) {
      for (std::int64_t i = 0; i < rows.size(); i += 2) {
        const std::int64_t some = std::min<std::int64_t>(2, rows.size() - i);
        const std::int64_t seen_last = seen(rows.begin + i + some - 1);
        MicroKernels::pack_columns(block + i * step, step, some,
                                   end_of_reads(seen_last, keys_.size()),
                                   pairs + i / 2 * step, step);
      }
      return across(pairs, step);
    } else {
      return across(block, step);
    }
  }

  /// Row `row`, number i of the block: scores become weights, what the weights
  /// were given becomes what the scores are.
  void weigh(std::int64_t row, std::int64_t i) {
    T* p = room_.weights + i * room_.score_step;
    T* ds = room_.slopes + i * room_.score_step;
    const std::int64_t count = seen(row);
    const bool drops = attrs_.dropout > 0;
    if (attrs_.has_mask) {
      add_mask(args_.in.back(), batch_, head_, row, keys_.begin, count, p);
    }
    if (drops) {
      const std::int64_t place =
          (batch_ * sizes_.heads + head_) * sizes_.rows + row;
      drop_factors(attrs_, place * sizes_.keys + keys_.begin, count,
                   room_.factors);
    }
    const T lse = lse_of(row);
    if (derives()) {
      const T mean = mean_of(row, room_.dy + i * room_.value_step);
      (drops
           ? weigh_row<true, true, T>
           : weigh_row<true, false, T>)(count, lse, mean, room_.factors, p, ds);
      close_row(count, keys_.size(), ds);
    } else {
      (drops ? weigh_row<false, true, T>
             : weigh_row<false, false, T>)(count, lse, T{0}, room_.factors, p,
                                           ds);
    }
    close_row(count, keys_.size(), p);
  }

  /// The sum of dy y over a row.
  T mean_of(std::int64_t row, const T* dy) {
    const auto y = head_of<const T>(args_.in[5], batch_, head_).from_row(row);
    if (y.column_stride == 1) {
      return sum_of_block(Product(), sizes_.value_width, dy, y.data);
    }
    copy_rows(y, 1, sizes_.value_width, room_.value_step, T{1}, room_.y);
    return sum_of_block(Product(), sizes_.value_width, dy,
                        static_cast<const T*>(room_.y));
  }

  T lse_of(std::int64_t row) const {
    const Strided& lse = args_.in[4];
    return lse.as<const T>()[batch_ * lse.strides[0] + head_ * lse.strides[1] +
                             row * lse.strides[2]];
  }

  /// sum += left right, for keys at hand and these rows.
  void add_to_keys(const HeadView<T>& sum, const Left<Factor>& left,
                   const Right<Factor>& right, std::int64_t columns,
                   Range rows) {
    const std::int64_t past = keys_.begin - rows.begin;
    // The first block sets what it does not see too.
    multiply<MicroKernels>(
        is_first_ ? keys_.size() : seen(rows.end - 1), columns, left, right,
        sum.from_row(keys_.begin).data, sum.row_stride,
        is_first_ ? Onto::kNothing : Onto::kWhatIsThere,
        [&](std::int64_t key, std::int64_t /*some*/, std::int64_t /*column*/) {
          const std::int64_t first =
              attrs_.is_causal ? std::max<std::int64_t>(past + key, 0) : 0;
          return Range{std::min(first, rows.size()), rows.size()};
        });
  }

  /// dq += slopes k, for these rows and the keys at hand.
  void add_to_rows(Range rows) {
    const HeadView<T> dq = out_of(0, head_);
    multiply<MicroKernels>(
        rows.size(), sizes_.width,
        as_left(room_.slopes, rows.size(), room_.score_step, seen(rows.end - 1),
                room_.pairs.left_slopes),
        scaled_k_, dq.from_row(rows.begin).data, dq.row_stride,
        keys_.begin == first_key_ ? Onto::kNothing : Onto::kWhatIsThere,
        [&](std::int64_t row, std::int64_t some, std::int64_t /*column*/) {
          return Range{0, seen(rows.begin + row + some - 1)};
        });
  }

  const Args& args_;
  const AttentionAttrs& attrs_;
  const AttentionSizes sizes_;
  const AttentionGradRoom<T, Factor> room_;
  std::int64_t batch_ = 0;
  std::int64_t key_head_ = 0;
  std::int64_t head_ = 0;
  bool gives_dq_ = false;
  bool gives_dk_ = false;
  bool gives_dv_ = false;
  bool is_first_ = false;       // of the blocks that add to the keys at hand
  std::int64_t first_key_ = 0;  // of the task
  Range keys_;                  // at hand
  Right<Factor> k_;
  Right<Factor> scaled_k_;
  Right<Factor> v_;
};

template <class MicroKernels>
void run_tasks(const Args& args, const AttentionGradTasks& tasks,
               std::int64_t begin, std::int64_t end, std::byte* scratch) {
  const AttentionSizes sizes = grad_sizes(args);
  AttentionBack<MicroKernels> back(args, scratch);
  const std::int64_t per_unit = tasks.of_keys + tasks.of_rows;
  for (std::int64_t task = begin; task < end; ++task) {
    const std::int64_t batch = task / per_unit / sizes.key_heads;
    const std::int64_t head = task / per_unit % sizes.key_heads;
    const std::int64_t kind = task % per_unit;
    Range keys{0, sizes.keys};
    Range rows{0, sizes.rows};
    const bool is_of_keys = kind < tasks.of_keys;
    if (is_of_keys) {
      keys.begin = std::min(kind * tasks.key_step, sizes.keys);
      keys.end = std::min(keys.begin + tasks.key_step, sizes.keys);
    } else {
      rows.begin =
          std::min((kind - tasks.of_keys) * tasks.row_step, sizes.rows);
      rows.end = std::min(rows.begin + tasks.row_step, sizes.rows);
    }
    back.run(batch, head, keys, rows, is_of_keys,
             !is_of_keys || tasks.of_rows == 0);
  }
}

}  // namespace

using GradTasksFunction = void (*)(const Args&, const AttentionGradTasks&,
                                   std::int64_t, std::int64_t, std::byte*);

GradTasksFunction attention_grad_tasks(DType dtype, bool is_bf16) {
#if HWY_TARGET == HWY_AVX3 && HWY_ARCH_X86_64
  if (is_bf16) {
    return run_tasks<Bf16MicroKernels>;
  }
#else
  static_cast<void>(is_bf16);  // has_bf16_dot() is false
#endif
  return dtype == f32 ? run_tasks<PlainMicroKernels<float>>
                      : run_tasks<PlainMicroKernels<double>>;
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(attention_grad_tasks);

Bytes part_bytes(const Args& args) noexcept {
  const AttentionSizes sizes = grad_sizes(args);
  const auto& attrs = args.attrs_as<AttentionAttrs>();
  if (is_attention_in_bf16(args)) {
    return AttentionGradRoom<float, Bf16Pair>(sizes, attrs, nullptr).bytes;
  }
  return args.in[0].dtype == f32
             ? AttentionGradRoom<float>(sizes, attrs, nullptr).bytes
             : AttentionGradRoom<double>(sizes, attrs, nullptr).bytes;
}

AttentionGradTasks tasks_of(const Args& args) noexcept {
  return {grad_sizes(args), args.attrs_as<AttentionAttrs>(),
          args.executor->threads()};
}

Bytes grad_scratch(const Args& args) noexcept {
  return tasks_of(args).parts * part_bytes(args);
}

void attention_grad(const Args& args) noexcept {
  run_attention_tasks(args, tasks_of(args), part_bytes(args),
                      HWY_DYNAMIC_DISPATCH(attention_grad_tasks)(
                          args.in[0].dtype, is_attention_in_bf16(args)));
}

constexpr std::array kKernels = float_rows<"attention_grad">(
    {.run = attention_grad,
     .accepts = has_dot_of_attention,
     .scratch = grad_scratch},
    {.run = attention_grad, .scratch = grad_scratch},
    {.run = attention_grad_reference<float>,
     .scratch = attention_grad_reference_scratch},
    {attention_grad_reference<double>});

}  // namespace

constinit const KernelList attention_grad_kernels{"attention_grad", kKernels};

}  // namespace neap::kernels
#endif  // HWY_ONCE
