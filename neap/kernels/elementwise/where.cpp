// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/elementwise/where.hpp"

#include <array>

#include "neap/kernels/engine/elementwise.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/elementwise/where.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

// Truth values, a byte each, as wide as the words that they choose.
HWY_INLINE auto widened(hn::ScalableTag<std::uint32_t> d,
                        const std::uint8_t* from) {
  const hn::Rebind<std::uint8_t, decltype(d)> bytes;
  return hn::PromoteTo(d, hn::LoadU(bytes, from));
}
HWY_INLINE auto widened(hn::ScalableTag<std::uint64_t> d,
                        const std::uint8_t* from) {
  const hn::Rebind<std::uint8_t, decltype(d)> bytes;
  const hn::Rebind<std::uint32_t, decltype(d)> words;
  return hn::PromoteTo(d, hn::PromoteTo(words, hn::LoadU(bytes, from)));
}

// Elements are moved, not computed with: their size alone matters.
template <class Word>
void choose_by_vectors(const Piece& piece) noexcept {
  const auto* c = piece.at<const std::uint8_t>(0);
  const auto* a = piece.at<const Word>(1);
  const auto* b = piece.at<const Word>(2);
  auto* y = piece.at<Word>(3);
  const hn::ScalableTag<Word> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto count = static_cast<std::size_t>(piece.count);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto is_b = hn::Eq(widened(d, c + i), hn::Zero(d));
    hn::StoreU(hn::IfThenElse(is_b, hn::LoadU(d, b + i), hn::LoadU(d, a + i)),
               d, y + i);
  }
  if (i < count) {
    HWY_ALIGN std::uint8_t flags[hn::MaxLanes(d)] = {};
    std::memcpy(flags, c + i, count - i);
    const auto is_b = hn::Eq(widened(d, flags), hn::Zero(d));
    store_some(d,
               hn::IfThenElse(is_b, load_some(d, b + i, count - i),
                              load_some(d, a + i, count - i)),
               y + i, count - i);
  }
}

PieceFunction choose_piece(int size) {
  return size == 4 ? choose_by_vectors<std::uint32_t>
                   : choose_by_vectors<std::uint64_t>;
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(choose_piece);

// Both are read, so that the compiler may do many at once.
template <class Word>
void choose(const Piece& piece) noexcept {
  const auto* c = piece.at<const std::uint8_t>(0);
  const auto* a = piece.at<const Word>(1);
  const auto* b = piece.at<const Word>(2);
  auto* y = piece.at<Word>(3);
  for (std::int64_t i = 0; i < piece.count; ++i) {
    const Word if_true = a[i];
    const Word if_false = b[i];
    y[i] = c[i] != 0 ? if_true : if_false;
  }
}

// Words that may lie where elements of another type do.
template <class T>
struct Alias {
  using Word [[gnu::may_alias]] = T;
};

PieceFunction choose_by_size(int size) noexcept {
  switch (size) {
    case 1:
      return choose<Alias<std::uint8_t>::Word>;
    case 2:
      return choose<Alias<std::uint16_t>::Word>;
    case 4:
      return choose<Alias<std::uint32_t>::Word>;
    default:
      return choose<Alias<std::uint64_t>::Word>;
  }
}

PieceFunction piece_of(const Args& args) noexcept {
  const int size = size_of(args.out[0].dtype);
  return size < 4 ? choose_by_size(size)
                  : HWY_DYNAMIC_DISPATCH(choose_piece)(size);
}

void where(const Args& args) noexcept {
  run_elementwise(args, piece_of(args));
}

void where_reference(const Args& args) noexcept {
  run_elementwise(args, choose_by_size(size_of(args.out[0].dtype)));
}

constexpr std::array kKernels{Kernel{.name = "where.bool",
                                     .dtype = boolean,
                                     .run = where,
                                     .piece = piece_of},
                              Kernel{.name = "where.reference.bool",
                                     .dtype = boolean,
                                     .run = where_reference}};

}  // namespace

constinit const KernelList where_kernels{"where", kKernels};

}  // namespace neap::kernels
#endif  // HWY_ONCE
