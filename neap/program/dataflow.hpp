// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Dataflow: who reads and who makes what in a program, found in two walks of
// it. It is of the program as it was when it was made.
#pragma once

#include <span>

#include "neap/program/program.hpp"

namespace neap::compiler {

inline constexpr std::uint32_t kNoCall = ~0U;

/// Several lists in one pool: list i is items [first[i], first[i + 1]).
struct Lists {
  memory::Vector<std::uint32_t> first;
  memory::Vector<std::uint32_t> items;
  std::span<const std::uint32_t> operator[](std::size_t i) const {
    return std::span(items).subspan(first[i], first[i + 1] - first[i]);
  }
};

class Dataflow {
 public:
  /// THROWS: OutOfMemory.
  explicit Dataflow(const Program& program);

  /// The calls that read a value, each once, in the order of the program. A
  /// call that takes its memory over is none of them, unless it reads it, too.
  std::span<const std::uint32_t> readers(ValueId id) const {
    return readers_[id.value];
  }
  /// The value that takes this one's memory over, or kNoValue.
  ValueId heir(ValueId id) const { return heirs_[id.value]; }
  /// The first of the values that share one memory with it, one after another.
  ValueId root(ValueId id) const { return roots_[id.value]; }
  /// It is a result, or a gradient that stays behind.
  bool outlives(ValueId id) const { return outlives_[id.value] != 0; }
  /// The same, and it lies in a block of its own beyond the next run: a result
  /// that is kept, a gradient.
  bool has_own_block(ValueId id) const { return outlives_[id.value] == 2; }
  /// Its memory is there before the run: a parameter's, an argument's.
  bool exists_before(ValueId id) const {
    return program_[root(id)].origin != Origin::kCall;
  }

 private:
  void note_readers();

  const Program& program_;
  Lists readers_;
  memory::Vector<ValueId> heirs_;
  memory::Vector<ValueId> roots_;
  memory::Vector<std::uint8_t> outlives_;  // 2: in a block of its own
};

/// The calls that must have run before each call: those that make what it reads
/// or takes over, those that read what it writes over, and, where it has an
/// effect, earlier ones. A call may be named twice in a list.
///
/// Checks and stateful calls keep their order; a write into what exists stays
/// behind the checks that it followed. Exchanges keep their order, which is
/// that of the other ranks. THROWS: OutOfMemory.
Lists dependences(const Program& program, const Dataflow& flow);

/// For each of `count` items the lists that hold it. THROWS: OutOfMemory.
Lists transposed(const Lists& lists, std::size_t count);

/// The memories that live within one run, each named by the first value in it,
/// and which calls touch them.
struct Memories {
  /// THROWS: OutOfMemory.
  Memories(const Program& program, const Dataflow& flow);

  Lists of_call;                // the memories that a call touches, each once
  Lists calls_of;               // the calls that touch a memory, in order
  memory::Vector<Bytes> sizes;  // by value, as a plan counts them; 0:
                                // none that lives within a run
  memory::Vector<std::uint8_t> outlives;  // it is there at the end
};

/// A look at values, or a call that reads or writes what its operands do not
/// show.
bool has_effect(const Call& call) noexcept;

/// The layout is all of a storage of `size` bytes, row by row.
bool is_whole(const tensor::Layout& layout, Bytes size) noexcept;

}  // namespace neap::compiler
