// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/where.hpp"

#include <array>

#include "neap/kernels/elementwise.hpp"

namespace neap::kernels {
namespace {

// Elements are moved, not computed with: their size alone matters.
template <class Word>
void choose(const Piece& piece) noexcept {
  const auto* c = piece.at<const std::uint8_t>(0);
  const auto* a = piece.at<const Word>(1);
  const auto* b = piece.at<const Word>(2);
  auto* y = piece.at<Word>(3);
  for (std::int64_t i = 0; i < piece.count; ++i) {
    y[i] = c[i] != 0 ? a[i] : b[i];
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

void where(const Args& args) noexcept {
  run_elementwise(args, choose_by_size(size_of(args.out[0].dtype)));
}

constexpr std::array kKernels{
    Kernel{.name = "where.bool", .dtype = boolean, .run = where}};

}  // namespace

constinit const KernelList where_kernels{"where", kKernels};

}  // namespace neap::kernels
