// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/head_pieces.hpp"

#include <algorithm>

#include "neap/program/head_region.hpp"
#include "neap/program/passes.hpp"

namespace neap::compiler {
namespace {

constexpr Bytes kLeastShare = 8;  // of the arena: an eighth
constexpr std::int64_t kMostPieces = 64;
constexpr std::int64_t kLeastRows = 16;  // of a piece
constexpr std::int64_t kManyMore = 4;    // times as many

// Before anything else is chosen.
HeadSize head_of(const Program& traced) {
  Program program = traced.copy();
  remove_dead_code(program);
  return widest_head(program);
}

// Twice as many lower the head by a quarter or more.
bool more_pay(const HeadSize& head, std::int64_t pieces) {
  return head.with(pieces) > head.others &&
         head.with(pieces * 2) <= head.with(pieces) * 3 / 4;
}

}  // namespace

HeadPieces head_pieces(const Program& traced, const Passes& passes,
                       Bytes arena) {
  HeadPieces out;
  if (passes.pieces != 0) {
    return out;
  }
  const HeadSize head = head_of(traced);
  const std::int64_t most = std::min(kMostPieces, head.rows / kLeastRows);
  if (head.logits < std::max<Bytes>(arena / kLeastShare, 1) || most < 2) {
    return out;
  }
  std::int64_t pieces = 2;
  out.kept.push_back(2);
  while (pieces * 2 <= most && more_pay(head, pieces)) {
    pieces *= 2;
    out.kept.push_back(static_cast<std::uint32_t>(pieces));
  }
  out.scheduled.push_back(out.kept.back());
  if (head.with(pieces) > head.others && pieces * kManyMore <= most) {
    out.scheduled.push_back(static_cast<std::uint32_t>(pieces * kManyMore));
  }
  return out;
}

}  // namespace neap::compiler
