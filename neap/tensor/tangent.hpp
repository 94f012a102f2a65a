// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Tangents: the derivatives that forward mode carries beside values. A tangent
// belongs to an array and to a level (one pass of forward mode; an inner pass
// has a level of its own) and goes with whichever ends first, so that a long
// computation holds the tangents of what is alive and nothing else.
//
//   Array y ---> Tangent of level 1 ---> Tangent of level 2
//                        ^                       ^
//   level 1 -------------+       level 2 --------+      (and all their others)
//
// By array, not by handle: a residual on the tape is the same array without
// the handle, so that tangents pass through a backward too.
//
// Thread rule: any thread may drop an array while a level ends in another. One
// lock guards all lists, for some nanoseconds; arrays without tangents never
// take it.
#pragma once

#include <memory>

#include "neap/tensor/tensor.hpp"

namespace neap::tensor {

class Tangent;

struct TangentDeleter {
  void operator()(Tangent* tangent) const noexcept;
};
/// A tangent that is on no list.
using LooseTangent = std::unique_ptr<Tangent, TangentDeleter>;

/// A pass of forward mode. Its end takes the tangents that are left.
class NEAP_API TangentLevel {
 public:
  TangentLevel() = default;
  ~TangentLevel();
  TangentLevel(const TangentLevel&) = delete;
  TangentLevel& operator=(const TangentLevel&) = delete;
  static void* operator new(std::size_t) = delete;

  /// The tangent of a value; undefined where it has none (it is zero then).
  Tensor of(const Tensor& value) const;
  /// Gives a value its tangent, in place of one that it may have.
  /// THROWS: OutOfMemory, with nothing changed.
  void set(const Tensor& value, Tensor tangent);
  /// Takes a value's tangent off it; null where it has none.
  LooseTangent take(const Tensor& value) noexcept;
  /// Undoes take(). REQUIRES: the value has no tangent of this level.
  void put_back(const Tensor& value, LooseTangent tangent) noexcept;

 private:
  friend class TangentList;
  Tangent* first_ = nullptr;
};

/// Gives `to` the tangents, of all levels, that `from` has: both hold the same
/// elements. THROWS: OutOfMemory, with nothing changed.
void copy_tangents(const Array& from, Array& to);

}  // namespace neap::tensor
