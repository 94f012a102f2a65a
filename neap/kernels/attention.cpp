// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/attention.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "neap/kernels/attention_problem.hpp"
#include "neap/kernels/attention_reference.hpp"
#include "neap/kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/attention.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/attention-inl.hpp"

#ifndef NEAP_KERNELS_ATTENTION_ONCE
#define NEAP_KERNELS_ATTENTION_ONCE
namespace neap::kernels {
namespace {

constexpr std::int64_t kRowBlock = 36;   // rows of scores in hand, at most
constexpr std::int64_t kTaskRows = 768;  // rows of one task, at most

/// One head's rows [begin, end) at a time.
struct AttentionTasks {
  AttentionTasks(const AttentionSizes& sizes, int threads) noexcept {
    const std::int64_t heads = sizes.batch * sizes.heads;
    const std::int64_t wanted = worth_threads(sizes, threads);
    const bool is_empty = heads == 0 || sizes.rows == 0;
    const std::int64_t most = is_empty
                                  ? 1
                                  : std::min(parts_of(wanted, heads),
                                             parts_of(sizes.rows, kRowBlock));
    const std::int64_t share =
        std::max<std::int64_t>(parts_of(sizes.rows, most), 1);
    task_rows = std::min(balanced_piece(sizes.rows, kTaskRows),
                         balanced_piece(sizes.rows, share));
    per_head = parts_of(sizes.rows, task_rows);
    count = heads * per_head;
    parts = std::min(wanted, count);
  }
  std::int64_t task_rows;
  std::int64_t per_head;
  std::int64_t count;
  std::int64_t parts;  // of the executor's
};

/// What one part works with.
template <class T>
struct AttentionRoom {
  AttentionRoom(const AttentionSizes& sizes, const AttentionAttrs& attrs,
                std::byte* from) noexcept {
    ScratchBook book(from);
    const std::int64_t keys = padded(std::min(kKeyBlock, sizes.keys));
    value_step = whole_vectors(sizes.value_width);
    score_step = keys + kLineElements;
    k = book.take<T>(keys * sizes.width);
    v = book.take<T>(keys * value_step);
    q = book.take<T>(kRowBlock * sizes.width);
    scores = book.take<T>(kRowBlock * score_step);
    factors = book.take<T>(attrs.dropout > 0 ? kKeyBlock : 0);
    largest = book.take<T>(kTaskRows);
    sums = book.take<double>(kTaskRows);
    bytes = book.used();
  }
  static constexpr std::int64_t kLineElements = 64 / sizeof(T);

  std::int64_t value_step;
  std::int64_t score_step;
  T* k;          // (width, keys), packed
  T* v;          // (keys, value_step)
  T* q;          // (rows, width), times the scale
  T* scores;     // (rows, score_step)
  T* factors;    // of dropout, for one row
  T* largest;    // score of each row of the task, so far
  double* sums;  // of its exponentials
  Bytes bytes;
};

}  // namespace
}  // namespace neap::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

/// Rows [begin, end) of one head.
template <class T>
class AttentionRows {
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
      k_ = pack_transpose(k.from_row(key), keys_.size(), sizes_.width, room_.k);
      copy_rows(v.from_row(key), keys_.size(), sizes_.value_width,
                room_.value_step, T{1}, room_.v);
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

  /// How many of the keys at hand a row sees.
  std::int64_t seen(std::int64_t row) const {
    return std::clamp<std::int64_t>(
        seen_by(attrs_.is_causal, row, sizes_.keys) - keys_.begin, 0,
        keys_.size());
  }

  /// The part of these rows' results that the keys at hand make.
  void add_block(Range rows) {
    const auto q = head_of<const T>(args_.in[0], batch_, head_);
    const std::int64_t count = rows.size();
    copy_rows(q.from_row(rows.begin), count, sizes_.width, sizes_.width,
              static_cast<T>(attrs_.scale), room_.q);
    const std::int64_t width = seen(rows.end - 1);
    const std::int64_t whole =
        parts_of(width, kLanes<T>) * kLanes<T>;  // the rest is of zeros
    multiply(count, whole, along(room_.q, sizes_.width), k_, room_.scores,
             room_.score_step, Onto::kNothing,
             [&](std::int64_t row, std::int64_t some, std::int64_t column) {
               const bool sees = column < seen(rows.begin + row + some - 1);
               return sees ? Range{0, sizes_.width} : kSkipped;
             });
    for (std::int64_t i = 0; i < count; ++i) {
      weigh(rows.begin + i, width, room_.scores + i * room_.score_step);
    }
    multiply(count, sizes_.value_width, along(room_.scores, room_.score_step),
             right_of(room_.v, room_.value_step), y_.from_row(rows.begin).data,
             y_.row_stride,
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

  /// Of the row's first weight among all (B, H, T, S).
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
  const AttentionRoom<T> room_;
  std::int64_t batch_ = 0;
  std::int64_t head_ = 0;
  Range rows_;
  Range keys_;  // at hand
  HeadView<T> y_;
  Right<T> k_;
};

template <class T>
void run_tasks(const Args& args, const AttentionTasks& tasks,
               std::int64_t begin, std::int64_t end, std::byte* scratch) {
  const AttentionSizes sizes(args.in[0], args.in[1], args.out[0]);
  AttentionRows<T> rows(args, scratch);
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

TasksFunction attention_tasks(DType dtype) {
  return dtype == f32 ? run_tasks<float> : run_tasks<double>;
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(attention_tasks);

Bytes part_bytes(const Args& args) noexcept {
  const AttentionSizes sizes(args.in[0], args.in[1], args.out[0]);
  const auto& attrs = args.attrs_as<AttentionAttrs>();
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
                      HWY_DYNAMIC_DISPATCH(attention_tasks)(args.in[0].dtype));
}

constexpr std::array kKernels{
    Kernel{.name = "attention.f32",
           .dtype = f32,
           .run = attention,
           .scratch = attention_scratch},
    Kernel{.name = "attention.f64",
           .dtype = f64,
           .run = attention,
           .scratch = attention_scratch},
    Kernel{.name = "attention.reference.f32",
           .dtype = f32,
           .run = attention_reference<float>,
           .scratch = attention_reference_scratch},
    Kernel{.name = "attention.reference.f64",
           .dtype = f64,
           .run = attention_reference<double>,
           .scratch = attention_reference_scratch},
};

}  // namespace

constinit const KernelList attention_kernels{"attention", kKernels};

}  // namespace neap::kernels
#endif  // HWY_ONCE
