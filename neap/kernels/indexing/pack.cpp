// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/indexing/pack.hpp"

#include <array>

#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/engine/strides.hpp"
#include "neap/kernels/engine/words.hpp"

namespace neap::kernels {
namespace {

constexpr std::int64_t kGrain = 16384;  // elements of the mask
constexpr std::int64_t kPiece = 256;    // elements at a time
constexpr int kMaxParts = 256;

// Elements [begin, end) of a mask, a dense piece after the other.
template <class Take>
void for_each_piece(const Strided& mask, std::int64_t begin, std::int64_t end,
                    const Take& take) noexcept {
  std::array<std::byte, kPiece> piece;
  for (; begin < end; begin += kPiece) {
    const std::int64_t count = std::min(kPiece, end - begin);
    gather({mask.shape, mask.strides, 1, mask.data}, begin, count,
           piece.data());
    take(reinterpret_cast<const std::uint8_t*>(piece.data()), begin, count);
  }
}

std::int64_t count_range(const Strided& mask, std::int64_t begin,
                         std::int64_t end) noexcept {
  std::int64_t total = 0;
  for_each_piece(
      mask, begin, end,
      [&](const std::uint8_t* m, std::int64_t, std::int64_t count) noexcept {
        for (std::int64_t i = 0; i < count; ++i) {
          total += m[i] != 0 ? 1 : 0;
        }
      });
  return total;
}

// A cut of the mask, one part a thread, and how many are true before each.
struct Parts {
  std::int64_t length = 0;
  int count = 0;
  std::array<std::int64_t, kMaxParts + 1> before{};

  Parts(const Strided& mask, threads::Executor& executor) noexcept {
    const std::int64_t total = mask.shape.element_count();
    count = std::min(threads::range_count(executor, total, kGrain), kMaxParts);
    length = count == 0 ? 0 : (total - 1) / count + 1;
    threads::parallel_parts(executor, count, [&](int part) noexcept {
      before[static_cast<std::size_t>(part) + 1] =
          count_range(mask, begin_of(part, total), begin_of(part + 1, total));
    });
    for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
      before[k + 1] += before[k];
    }
  }
  std::int64_t begin_of(int part, std::int64_t total) const noexcept {
    return std::min(part * length, total);
  }
};

// Calls take(mask of a piece, its first element, its length, how many are true
// before it) for all pieces of the mask.
template <class Take>
void for_each_masked(const Strided& mask, threads::Executor& executor,
                     const Take& take) noexcept {
  const Parts parts(mask, executor);
  const std::int64_t total = mask.shape.element_count();
  threads::parallel_parts(executor, parts.count, [&](int part) noexcept {
    std::int64_t at = parts.before[static_cast<std::size_t>(part)];
    for_each_piece(
        mask, parts.begin_of(part, total), parts.begin_of(part + 1, total),
        [&](const std::uint8_t* m, std::int64_t begin,
            std::int64_t count) noexcept { at += take(m, begin, count, at); });
  });
}

template <class T>
void pack_words(const Args& args) noexcept {
  using Word [[gnu::may_alias]] = T;
  const Strided& x = args.in[0];
  const Strided& y = args.out[0];
  for_each_masked(args.in[1], *args.executor,
                  [&](const std::uint8_t* mask, std::int64_t begin,
                      std::int64_t count, std::int64_t at) noexcept {
                    std::array<Word, kPiece> piece;
                    gather({x.shape, x.strides, sizeof(T), x.data}, begin,
                           count, reinterpret_cast<std::byte*>(piece.data()));
                    std::int64_t kept = 0;
                    for (std::int64_t i = 0; i < count; ++i) {
                      const Word word = piece[static_cast<std::size_t>(i)];
                      piece[static_cast<std::size_t>(kept)] = word;
                      kept += mask[i] != 0 ? 1 : 0;
                    }
                    kept = std::clamp<std::int64_t>(y.shape[0] - at, 0, kept);
                    scatter({y.shape, y.strides, sizeof(T), y.data}, at, kept,
                            reinterpret_cast<const std::byte*>(piece.data()));
                    return kept;
                  });
}

template <class T>
void unpack_words(const Args& args) noexcept {
  using Word [[gnu::may_alias]] = T;
  const Strided& values = args.in[0];
  const Strided& fill = args.in[2];
  const Strided& y = args.out[0];
  const Shape fill_strides = broadcast_strides(fill, y.shape);
  for_each_masked(
      args.in[1], *args.executor,
      [&](const std::uint8_t* mask, std::int64_t begin, std::int64_t count,
          std::int64_t at) noexcept {
        std::array<Word, kPiece> piece;
        gather({y.shape, fill_strides, sizeof(T), fill.data}, begin, count,
               reinterpret_cast<std::byte*>(piece.data()));
        std::int64_t used = 0;
        for (std::int64_t i = 0; i < count; ++i) {
          if (mask[i] != 0 && at + used < values.shape[0]) {
            piece[static_cast<std::size_t>(i)] =
                values.as<const Word>()[(at + used) * values.strides[0]];
            ++used;
          }
        }
        scatter({y.shape, y.strides, sizeof(T), y.data}, begin, count,
                reinterpret_cast<const std::byte*>(piece.data()));
        return used;
      });
}

void pack(const Args& args) noexcept {
  by_word(size_of(args.out[0].dtype),
          [&]<class T>(T*) noexcept { pack_words<T>(args); });
}

void unpack(const Args& args) noexcept {
  by_word(size_of(args.out[0].dtype),
          [&]<class T>(T*) noexcept { unpack_words<T>(args); });
}

constexpr std::array kPacks = rows_of_every_dtype<"pack">({.run = pack});

constexpr std::array kUnpacks = rows_of_every_dtype<"unpack">({.run = unpack});

}  // namespace

std::int64_t count_true(const Strided& mask,
                        threads::Executor& executor) noexcept {
  const Parts parts(mask, executor);
  return parts.before[static_cast<std::size_t>(parts.count)];
}

constinit const KernelList pack_kernels{"pack", kPacks};
constinit const KernelList unpack_kernels{"unpack", kUnpacks};

}  // namespace neap::kernels
