// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Heads: the calls between the last features of a classifier, or of a language
// model, and its loss, which treat rows one by one or sum over them. Such a
// head can run for some of its rows at a time (pass_pieces.cpp).
//
//   logits  = linear(x, w)                 product
//   loss    = cross_entropy(logits, ..)    loss
//   dlogits = cross_entropy_grad(g, ..)    grad
//   dx      = matmul(dlogits, w)           uses
//   dw      = matmul(dlogits', x)
#pragma once

#include <cstdint>

#include "neap/program/dataflow.hpp"

namespace neap::compiler {

/// How a use of dlogits (N, C) treats its rows.
enum class RowUse : std::uint8_t {
  kMapped,        // a product of its rows: rows of the output
  kSummedFirst,   // a product that sums over them: dlogits' times something
  kSummedSecond,  // something times dlogits
  kAdded,         // their sum
};

struct HeadUse {
  std::uint32_t call = 0;
  RowUse kind = RowUse::kMapped;
};

/// Calls by their place in the program.
struct Head {
  std::uint32_t product = kNoCall;
  std::uint32_t loss = kNoCall;
  std::uint32_t grad = kNoCall;  // kNoCall: no backward
  memory::Vector<HeadUse> uses;  // of the gradient, in order
  std::int64_t rows = 0;
  std::int64_t classes = 0;
  Bytes logits = 0;  // their size
};

/// The heads with logits of at least so many bytes that may run in pieces, in
/// order: their inner values are read nowhere else, what they read is there
/// before the loss is, and the loss is one sum or mean over rows.
/// THROWS: OutOfMemory.
memory::Vector<Head> heads_of(const Program& program, Bytes least = 0);

/// The calls beside a head, in order: those that have to run before it as one,
/// and those that may run after it.
struct BesideHead {
  memory::Vector<std::uint32_t> before;
  memory::Vector<std::uint32_t> after;
};
/// REQUIRES: a head of heads_of(program). THROWS: OutOfMemory.
BesideHead beside(const Program& program, const Head& head);

/// Bytes of the arena that calls need at once, without scratch: those of the
/// widest call of a head, with `logits` for all rows and `fixed` whatever the
/// number of pieces, and those of the widest of all others. No logits: no head.
struct HeadSize {
  Bytes fixed = 0;
  Bytes logits = 0;
  std::int64_t rows = 0;
  Bytes others = 0;
  Bytes with(std::int64_t pieces) const noexcept {
    return fixed + logits / pieces;
  }
};

/// The size of the head with the largest logits. THROWS: OutOfMemory.
HeadSize widest_head(const Program& program);

}  // namespace neap::compiler
