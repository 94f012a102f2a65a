// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/sequence/attention.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/engine/targets.hpp"
#include "neap/kernels/sequence/attention_reference.hpp"
#include "neap/kernels/sequence/attention_room.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/sequence/attention.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/sequence/attention-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

/// Rows [begin, end) of one head.
template <class MicroKernels>
class AttentionRows {
  using T = typename MicroKernels::Element;
  using Factor = typename MicroKernels::Factor;

 public:
  AttentionRows(const Args& args, std::byte* scratch)
      : args_(args),
        attrs_(args.attrs_as<AttentionAttrs>()),
        sizes_(args.in[0], args.in[1], args.out[0]),
        room_(sizes_, attrs_, scratch) {}

  void run(std::int64_t batch, std::int64_t head, Range rows) {
    batch_ = batch;
    head_ = head;
    rows_ = rows;
    const std::int64_t of_keys = head / sizes_.group();
    const auto k = head_of<const T>(args_.in[1], batch, of_keys);
    const auto v = head_of<const T>(args_.in[2], batch, of_keys);
    y_ = head_of<T>(args_.out[0], batch, head);
    begin();
    const std::int64_t last =
        seen_by(attrs_.is_causal, rows.end - 1, sizes_.keys);
    for (std::int64_t key = 0; key < last; key += kKeyBlock) {
      keys_ = {key, std::min(key + kKeyBlock, last)};
      k_ = pack_right<MicroKernels>(k.from_row(key).transposed(), sizes_.width,
                                    keys_.size(), room_.k);
      v_ = values(v.from_row(key));
      const std::int64_t first =
          attrs_.is_causal ? std::max(rows.begin, key) : rows.begin;
      const std::int64_t step = balanced_piece(rows.end - first, kRowBlock);
      for (std::int64_t row = first; row < rows.end; row += step) {
        add_block({row, std::min(row + step, rows.end)});
      }
    }
    finish();
  }

 private:
  void begin() {
    for (std::int64_t i = 0; i < rows_.size(); ++i) {
      room_.largest[i] = -std::numeric_limits<T>::infinity();
      room_.sums[i] = 0.0;
      if (sizes_.keys == 0) {
        T* y = y_.from_row(rows_.begin + i).data;
        std::fill(y, y + sizes_.value_width, T{0});
      }
    }
  }

  Right<Factor> values(const HeadView<const T>& v) const {
    if constexpr (MicroKernels::kConverts) {
      return pack_right<MicroKernels>(v, keys_.size(), sizes_.value_width,
                                      room_.v);
    } else {
      copy_rows(v, keys_.size(), sizes_.value_width, room_.value_step, T{1},
                room_.v);
      return right_of(room_.v, room_.value_step);
    }
  }

  Left<Factor> queries(Range rows) const {
    const auto q = head_of<const T>(args_.in[0], batch_, head_);
    copy_rows(q.from_row(rows.begin), rows.size(), sizes_.width, sizes_.width,
              static_cast<T>(attrs_.scale), room_.scaled_q);
    const std::int64_t step = parts_of(sizes_.width, MicroKernels::kElements);
    if constexpr (MicroKernels::kConverts) {
      MicroKernels::pack_rows(room_.scaled_q, sizes_.width, rows.size(),
                              sizes_.width, room_.q, step);
    }
    return along(room_.q, step);
  }

  /// How many of the keys at hand a row sees.
  std::int64_t seen(std::int64_t row) const {
    return std::clamp<std::int64_t>(
        seen_by(attrs_.is_causal, row, sizes_.keys) - keys_.begin, 0,
        keys_.size());
  }

  /// The part of these rows' results that the keys at hand make.
  void add_block(Range rows) {
    const std::int64_t count = rows.size();
    const std::int64_t width = seen(rows.end - 1);
    const std::int64_t whole =
        parts_of(width, kLanes<T>) * kLanes<T>;  // the rest is of zeros
    if constexpr (HWY_TARGET == HWY_SCALAR) {
      // A lane skips what no row sees, and the next product reads it, without
      // effect.
      for (std::int64_t i = 0; i < count; ++i) {
        std::fill_n(room_.scores + i * room_.score_step, whole, T{0});
      }
    }
    multiply<MicroKernels>(
        count, whole, queries(rows), k_, room_.scores, room_.score_step,
        Onto::kNothing,
        [&](std::int64_t row, std::int64_t some, std::int64_t column) {
          const bool sees = column < seen(rows.begin + row + some - 1);
          return sees ? Range{0, sizes_.width} : kSkipped;
        });
    for (std::int64_t i = 0; i < count; ++i) {
      T* scores = room_.scores + i * room_.score_step;
      weigh(rows.begin + i, width, scores);
      if constexpr (MicroKernels::kConverts) {
        MicroKernels::pack_rows(scores, 0, 1,
                                end_of_reads(seen(rows.begin + i), width),
                                room_.weights + i * room_.weight_step, 0);
      }
    }
    multiply<MicroKernels>(
        count, sizes_.value_width, along(room_.weights, room_.weight_step), v_,
        y_.from_row(rows.begin).data, y_.row_stride,
        keys_.begin == 0 ? Onto::kNothing : Onto::kWhatIsThere,
        [&](std::int64_t row, std::int64_t some, std::int64_t /*column*/) {
          return Range{0, seen(rows.begin + row + some - 1)};
        });
  }

  /// Scores of a row become exponentials above the largest so far; what was
  /// summed above a smaller one is made smaller.
  void weigh(std::int64_t row, std::int64_t width, T* x) {
    const std::int64_t count = seen(row);
    const std::int64_t at = row - rows_.begin;
    if (attrs_.has_mask) {
      add_mask(args_.in[3], batch_, head_, row, keys_.begin, count, x);
    }
    const T before = room_.largest[at];
    const T largest = largest_of_block(count, x, before);
    // Where all is hidden so far, differences from it would be no numbers.
    const T level =
        largest == -std::numeric_limits<T>::infinity() ? T{0} : largest;
    const auto sum = static_cast<double>(exp_and_sum(count, level, x));
    if (keys_.begin > 0) {
      const T factor = exp_of_one(before - level);
      room_.sums[at] *= static_cast<double>(factor);
      scale_result(row, factor);
    }
    room_.sums[at] += sum;
    room_.largest[at] = largest;
    if (attrs_.dropout > 0) {
      drop_factors(attrs_, index_of(row) + keys_.begin, count, room_.factors);
      map_block(Product(), count, x, static_cast<const T*>(x),
                static_cast<const T*>(room_.factors));
    }
    close_row(count, width, x);
  }

  /// Index of the row's first weight among all (B, H, T, S).
  std::int64_t index_of(std::int64_t row) const {
    return ((batch_ * sizes_.heads + head_) * sizes_.rows + row) * sizes_.keys;
  }

  void scale_result(std::int64_t row, T factor) {
    T* y = y_.from_row(row).data;
    map_block(Times<T>{factor}, sizes_.value_width, y,
              static_cast<const T*>(y));
  }

  void finish() {
    T* lse = args_.out[1].as<T>() +
             (batch_ * sizes_.heads + head_) * sizes_.rows + rows_.begin;
    for (std::int64_t i = 0; i < rows_.size(); ++i) {
      const double sum = room_.sums[i];
      const bool is_blind = sum == 0.0;
      scale_result(rows_.begin + i,
                   is_blind ? T{0} : static_cast<T>(1.0 / sum));
      lse[i] = is_blind ? std::numeric_limits<T>::infinity()
                        : room_.largest[i] + log_of_one(static_cast<T>(sum));
    }
  }

  const Args& args_;
  const AttentionAttrs& attrs_;
  const AttentionSizes sizes_;
  const AttentionRoom<T, Factor> room_;
  std::int64_t batch_ = 0;
  std::int64_t head_ = 0;
  Range rows_;
  Range keys_;  // at hand
  HeadView<T> y_;
  Right<Factor> k_;
  Right<Factor> v_;
};

template <class MicroKernels>
void run_tasks(const Args& args, const AttentionTasks& tasks,
               std::int64_t begin, std::int64_t end, std::byte* scratch) {
  const AttentionSizes sizes(args.in[0], args.in[1], args.out[0]);
  AttentionRows<MicroKernels> rows(args, scratch);
  for (std::int64_t task = begin; task < end; ++task) {
    const std::int64_t head = task / tasks.per_head;
    const std::int64_t first = task % tasks.per_head * tasks.task_rows;
    rows.run(head / sizes.heads, head % sizes.heads,
             {first, std::min(first + tasks.task_rows, sizes.rows)});
  }
}

}  // namespace

using TasksFunction = void (*)(const Args&, const AttentionTasks&, std::int64_t,
                               std::int64_t, std::byte*);

TasksFunction attention_tasks(DType dtype, bool is_bf16) {
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

float attention_exp_of_score(float x) {
  const hn::ScalableTag<float> d;
  return hn::GetLane(exp_of_score(d, hn::Set(d, x)));
}
float attention_exp(float x) {
  return exp_of_one(x);
}
float attention_log(float x) {
  return log_of_one(x);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(attention_tasks);
HWY_EXPORT(attention_exp_of_score);
HWY_EXPORT(attention_exp);
HWY_EXPORT(attention_log);

Bytes part_bytes(const Args& args) noexcept {
  const AttentionSizes sizes(args.in[0], args.in[1], args.out[0]);
  const auto& attrs = args.attrs_as<AttentionAttrs>();
  if (is_attention_in_bf16(args)) {
    return AttentionRoom<float, Bf16Pair>(sizes, attrs, nullptr).bytes;
  }
  return args.in[0].dtype == f32
             ? AttentionRoom<float>(sizes, attrs, nullptr).bytes
             : AttentionRoom<double>(sizes, attrs, nullptr).bytes;
}

AttentionTasks tasks_of(const Args& args) noexcept {
  return {AttentionSizes(args.in[0], args.in[1], args.out[0]),
          args.executor->threads()};
}

Bytes attention_scratch(const Args& args) noexcept {
  return tasks_of(args).parts * part_bytes(args);
}

void attention(const Args& args) noexcept {
  run_attention_tasks(args, tasks_of(args), part_bytes(args),
                      HWY_DYNAMIC_DISPATCH(attention_tasks)(
                          args.in[0].dtype, is_attention_in_bf16(args)));
}

constexpr std::array kKernels = float_rows<"attention">(
    {.run = attention,
     .accepts = has_dot_of_attention,
     .scratch = attention_scratch},
    {.run = attention, .scratch = attention_scratch},
    {.run = attention_reference<float>, .scratch = attention_reference_scratch},
    {.run = attention_reference<double>,
     .scratch = attention_reference_scratch});

}  // namespace

float RowMath::exp_of_score(float x) noexcept {
  return HWY_DYNAMIC_DISPATCH(attention_exp_of_score)(x);
}
float RowMath::exp(float x) noexcept {
  return HWY_DYNAMIC_DISPATCH(attention_exp)(x);
}
float RowMath::log(float x) noexcept {
  return HWY_DYNAMIC_DISPATCH(attention_log)(x);
}

constinit const KernelList attention_kernels{"attention", kKernels};

}  // namespace neap::kernels
#endif  // HWY_ONCE
