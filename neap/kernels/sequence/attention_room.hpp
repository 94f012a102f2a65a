// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// How calls of attention and of its gradient are cut into tasks, and the
// scratch of one part. Pure integers and pointers. A Factor is what a product
// takes in one step of its sum: an element, or a pair of them in bf16; pairs
// are made of elements, for which there is room then too.
#pragma once

#include <type_traits>

#include "neap/kernels/gemm/bf16_dot.hpp"
#include "neap/kernels/sequence/attention_problem.hpp"

namespace neap::kernels {

inline constexpr std::int64_t kRowBlock = 36;   // rows of scores in hand
inline constexpr std::int64_t kTaskRows = 768;  // of one task, at most
/// Rows or keys of a block of the gradient's scores, at most; even.
inline constexpr std::int64_t kGradBlock = 96;

/// A head's rows [begin, end) at a time.
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

/// A task: everything of one k and v and the heads that share them. Where there
/// are fewer of these than threads, each is cut in two kinds: dk and dv of some
/// keys, and dq of some rows.
struct AttentionGradTasks {
  AttentionGradTasks(const AttentionSizes& sizes, const AttentionAttrs& attrs,
                     int threads) noexcept {
    const std::int64_t units = sizes.batch * sizes.key_heads;
    const std::int64_t wanted = worth_threads(sizes, threads);
    const bool is_cut = units != 0 && units < wanted;
    const std::int64_t cuts = is_cut ? parts_of(wanted, units) : 1;
    of_keys = attrs.dk || attrs.dv || !is_cut ? cuts : 0;
    of_rows = is_cut && attrs.dq ? cuts : 0;
    key_step = parts_of(parts_of(sizes.keys, kGradBlock), cuts) * kGradBlock;
    row_step = std::max<std::int64_t>(parts_of(sizes.rows, cuts), 1);
    count = units * (of_keys + of_rows);
    parts = std::min(wanted, count);
  }
  std::int64_t of_keys;  // tasks of a unit for keys, before those for rows
  std::int64_t of_rows;
  std::int64_t key_step;
  std::int64_t row_step;
  std::int64_t count;
  std::int64_t parts;  // of the executor's
};

/// Counts of factors that both scratch layouts are computed from.
template <class T, class Factor>
struct AttentionFactors {
  static constexpr bool kConverts = !std::is_same_v<T, Factor>;
  static constexpr std::int64_t kLineElements = 64 / sizeof(T);

  /// Steps of a sum that so many elements are.
  static std::int64_t count(std::int64_t elements) noexcept {
    return kConverts ? parts_of(elements, 2) : elements;
  }
  /// Columns of a right operand whose k are rows: panels of pairs, or rows.
  static std::int64_t columns(std::int64_t elements) noexcept {
    return kConverts ? padded(elements) : whole_vectors(elements);
  }
};

/// Scratch layout of one task of attention.
template <class T, class Factor = T>
struct AttentionRoom {
  using Factors = AttentionFactors<T, Factor>;

  AttentionRoom(const AttentionSizes& sizes, const AttentionAttrs& attrs,
                std::byte* from) noexcept {
    ScratchBook book(from);
    const std::int64_t keys = padded(std::min(kKeyBlock, sizes.keys));
    const std::int64_t depth = Factors::count(sizes.width);
    value_step = whole_vectors(sizes.value_width);
    score_step = keys + Factors::kLineElements;
    weight_step = Factors::count(keys) + Factors::kLineElements;
    k = book.take<Factor>(keys * depth);
    v = book.take<Factor>(Factors::count(keys) *
                          Factors::columns(sizes.value_width));
    q = book.take<Factor>(kRowBlock * depth);
    scores = book.take<T>(kRowBlock * score_step);
    if constexpr (Factors::kConverts) {
      scaled_q = book.take<T>(kRowBlock * sizes.width);
      weights = book.take<Factor>(kRowBlock * weight_step);
    } else {
      scaled_q = q;
      weights = scores;
    }
    factors = book.take<T>(attrs.dropout > 0 ? kKeyBlock : 0);
    largest = book.take<T>(kTaskRows);
    sums = book.take<double>(kTaskRows);
    bytes = book.used();
  }

  std::int64_t value_step;
  std::int64_t score_step;
  std::int64_t weight_step;
  Factor* k;        // (width, keys), packed
  Factor* v;        // (keys, value_step), or packed
  Factor* q;        // (rows, width), times the scale
  T* scaled_q;      // of which q is made; or q
  T* scores;        // (rows, score_step)
  Factor* weights;  // (rows, weight_step), made of scores; or scores
  T* factors;       // of dropout, for one row
  T* largest;       // score of each row of the task, so far
  double* sums;     // of its exponentials
  Bytes bytes;
};

/// Scratch layout of one task of the gradient.
template <class T, class Factor = T>
struct AttentionGradRoom {
  using Factors = AttentionFactors<T, Factor>;

  AttentionGradRoom(const AttentionSizes& sizes, const AttentionAttrs& attrs,
                    std::byte* from) noexcept {
    ScratchBook book(from);
    const std::int64_t keys = padded(std::min(kGradBlock, sizes.keys));
    const std::int64_t rows = std::min(kGradBlock, sizes.rows);
    step = whole_vectors(sizes.width);
    value_step = whole_vectors(sizes.value_width);
    score_step = keys + Factors::kLineElements;
    packed_k = book.take<Factor>(keys * Factors::count(sizes.width));
    packed_v = book.take<Factor>(keys * Factors::count(sizes.value_width));
    k = book.take<T>(keys * step);
    q = book.take<T>(rows * step);
    dy = book.take<T>(rows * value_step);
    y = book.take<T>(value_step);
    weights = book.take<T>(rows * score_step);
    slopes = book.take<T>(rows * score_step);
    factors = book.take<T>(attrs.dropout > 0 ? keys : 0);
    if constexpr (Factors::kConverts) {
      pairs.take(book, sizes, rows, keys, score_step);
    }
    bytes = book.used();
  }

  /// Made of the matrices of the same names, as left and as right operands.
  struct Pairs {
    void take(ScratchBook& book, const AttentionSizes& sizes, std::int64_t rows,
              std::int64_t keys, std::int64_t padded_keys) noexcept {
      const std::int64_t row_pairs = parts_of(rows, 2);
      const std::int64_t width = padded(sizes.width);
      const std::int64_t value_width = padded(sizes.value_width);
      left_q = book.take<Factor>(rows * width / 2);
      left_dy = book.take<Factor>(rows * value_width / 2);
      right_q = book.take<Factor>(row_pairs * width);
      right_dy = book.take<Factor>(row_pairs * value_width);
      right_k = book.take<Factor>(keys / 2 * width);
      weights = book.take<Factor>(row_pairs * padded_keys);
      slopes = book.take<Factor>(row_pairs * padded_keys);
      left_slopes = book.take<Factor>(rows * padded_keys / 2);
    }
    Factor* left_q;       // (rows, width / 2)
    Factor* left_dy;      // (rows, value_width / 2)
    Factor* right_q;      // (rows / 2, width)
    Factor* right_dy;     // (rows / 2, value_width)
    Factor* right_k;      // (keys / 2, width)
    Factor* weights;      // (rows / 2, score_step)
    Factor* slopes;       // (rows / 2, score_step)
    Factor* left_slopes;  // (rows, score_step / 2)
  };

  std::int64_t step;
  std::int64_t value_step;
  std::int64_t score_step;
  Factor* packed_k;  // k^T (width, keys)
  Factor* packed_v;  // v^T (value_width, keys)
  T* k;              // (keys, step), times the scale
  T* q;              // (rows, step), times the scale
  T* dy;             // (rows, value_step)
  T* y;              // (value_step): one row, where it must be put together
  T* weights;        // (rows, score_step)
  T* slopes;         // (rows, score_step): of the scores
  T* factors;        // of dropout, for one row
  Pairs pairs{};
  Bytes bytes;
};

}  // namespace neap::kernels
