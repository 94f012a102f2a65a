// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Shared by attention and its gradient for every instruction set: the extents
// of a call, one head's matrices, and how the work is cut up. Pure integers and
// pointers.
#pragma once

#include <algorithm>
#include <cstdint>

#include "neap/base/ceil_div.hpp"
#include "neap/kernels/engine/strides.hpp"
#include "neap/kernels/sequence/attention.hpp"

namespace neap::kernels {

/// Extents that blocks in scratch are rounded to: whole tiles of every
/// instruction set.
inline constexpr std::int64_t kAttentionPad = 32;
/// Keys whose scores lie side by side in the forward; bits depend on it.
inline constexpr std::int64_t kKeyBlock = 512;

inline std::int64_t padded(std::int64_t extent) noexcept {
  return base::ceil_div(extent, kAttentionPad) * kAttentionPad;
}

/// Elements of a row that is read in whole vectors.
inline std::int64_t whole_vectors(std::int64_t extent) noexcept {
  constexpr std::int64_t kMostLanes = 16;
  return base::ceil_div(extent, kMostLanes) * kMostLanes;
}

inline std::int64_t parts_of(std::int64_t extent, std::int64_t most) noexcept {
  return base::ceil_div(extent, most);
}

/// `extent` in equal pieces of at most `most`; 1 or more.
inline std::int64_t balanced_piece(std::int64_t extent,
                                   std::int64_t most) noexcept {
  const std::int64_t pieces = std::max<std::int64_t>(parts_of(extent, most), 1);
  return std::max<std::int64_t>(parts_of(extent, pieces), 1);
}

struct AttentionSizes {
  std::int64_t batch = 0;
  std::int64_t rows = 0;         // T
  std::int64_t heads = 0;        // H
  std::int64_t keys = 0;         // S
  std::int64_t key_heads = 0;    // G
  std::int64_t width = 0;        // D
  std::int64_t value_width = 0;  // E

  AttentionSizes() = default;
  /// Sizes from q, k and the (B, T, H, E) operand of the call.
  AttentionSizes(const Strided& q, const Strided& k, const Strided& y) noexcept
      : batch(q.shape[0]),
        rows(q.shape[1]),
        heads(q.shape[2]),
        keys(k.shape[1]),
        key_heads(k.shape[2]),
        width(q.shape[3]),
        value_width(y.shape[3]) {}

  /// Heads that share one k and v.
  std::int64_t group() const noexcept {
    return key_heads == 0 ? 1 : std::max<std::int64_t>(heads / key_heads, 1);
  }
  /// Multiply-adds, a causal call's diagonal left aside.
  double work() const noexcept {
    return static_cast<double>(batch * heads) * static_cast<double>(rows) *
           static_cast<double>(keys) * static_cast<double>(width + value_width);
  }
};

/// A matrix of one head, of any strides in elements.
template <class T>
struct HeadView {
  T* data = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;

  HeadView from_row(std::int64_t row) const noexcept {
    return {data + row * row_stride, row_stride, column_stride};
  }
  HeadView transposed() const noexcept {
    return {data, column_stride, row_stride};
  }
};

/// Rows of head `head` of an operand (B, rows, heads, columns).
template <class T>
HeadView<T> head_of(const Strided& x, std::int64_t batch,
                    std::int64_t head) noexcept {
  if (x.shape.element_count() == 0) {
    return {x.as<T>(), 0, 0};  // no element is anywhere
  }
  return {x.as<T>() + batch * x.strides[0] + head * x.strides[2], x.strides[1],
          x.strides[3]};
}

/// The matrix (T, S) of one head of a mask.
template <class T>
HeadView<const T> mask_of(const Strided& mask, std::int64_t batch,
                          std::int64_t head) noexcept {
  const auto stride = [&](int axis) {
    return mask.shape[axis] == 1 ? 0 : mask.strides[axis];
  };
  return {mask.as<const T>() + batch * stride(0) + head * stride(1), stride(2),
          stride(3)};
}

/// Sizes of a call of the gradient.
inline AttentionSizes grad_sizes(const Args& args) noexcept {
  return {args.in[2], args.in[3], args.in[0]};
}

/// True of calls whose products are in bf16.
inline bool is_attention_in_bf16(const Args& args) noexcept {
  return args.in[0].dtype == f32 &&
         args.attrs_as<AttentionAttrs>().precision == Precision::kBf16;
}
/// False where only the reference computes a call, slowly.
inline bool has_dot_of_attention(const Args& args) noexcept {
  return args.attrs == nullptr || !is_attention_in_bf16(args) || has_bf16_dot();
}

/// How many keys, from the first on, a row sees before any mask.
inline std::int64_t seen_by(bool is_causal, std::int64_t row,
                            std::int64_t keys) noexcept {
  return is_causal ? std::min(row + 1, keys) : keys;
}

/// How many threads a call is worth.
inline std::int64_t worth_threads(const AttentionSizes& sizes,
                                  int threads) noexcept {
  constexpr double kWork = 64 * 1024;  // multiply-adds of one thread
  return static_cast<std::int64_t>(
      std::clamp(sizes.work() / kWork, 1.0, static_cast<double>(threads)));
}

/// Runs all tasks by function(args, tasks, begin, end, scratch), in as many
/// parts as `tasks` says, each with `part_bytes` of scratch to itself.
template <class Tasks, class Function>
void run_attention_tasks(const Args& args, const Tasks& tasks, Bytes part_bytes,
                         Function* function) noexcept {
  const auto run = [&](int part) noexcept {
    function(args, tasks, tasks.count * part / tasks.parts,
             tasks.count * (part + 1) / tasks.parts,
             args.scratch.data() + part * part_bytes);
  };
  if (tasks.parts == 1) {
    run(0);
  } else if (tasks.parts > 1) {
    threads::parallel_parts(*args.executor, static_cast<int>(tasks.parts), run);
  }
}

/// Arrays in one part's scratch, one after the other, on cache lines.
class ScratchBook {
 public:
  explicit ScratchBook(std::byte* from) noexcept : from_(from) {}

  template <class T>
  T* take(std::int64_t count) noexcept {
    std::byte* at = from_ == nullptr ? nullptr : from_ + used_;
    used_ += base::round_up(count * static_cast<Bytes>(sizeof(T)), kLine);
    return reinterpret_cast<T*>(at);
  }
  Bytes used() const noexcept { return used_; }

 private:
  static constexpr Bytes kLine = 64;
  std::byte* from_;
  Bytes used_ = 0;
};

}  // namespace neap::kernels
