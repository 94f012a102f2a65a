// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Checks whether a program is valid. It shares no code with the passes, so that
// a mistake there cannot hide here.
#pragma once

#include <string>

#include "neap/program/program.hpp"

namespace neap::compiler {

/// The first fault of a program as a sentence, or "":
/// - a value is set once, by the call that it names, before it is read;
/// - nobody reads a value once another has taken its memory over, but the call
///   that computes the new one, and that only element by element where its op
///   says that it may; a value that takes over has the same size and space, and
///   memory is handed on to one value at a time;
/// - a value that takes no memory over is set as a whole;
/// - operands lie inside their values, and in the call's memory space;
/// - external storage is written only where the tables say so, and never a
///   constant;
/// - a value that is moved to the spill file, or from it, is awaited before its
///   memory is written over or what is fetched is read, and before the end;
/// - results and gradients are there at the end.
/// THROWS: OutOfMemory.
NEAP_API std::string fault_of(const Program& program);

/// THROWS: InternalError with the fault and `when`, "after pass in_place".
NEAP_API void verify(const Program& program, const char* when);

/// The effects of a program that its values do not show, in order: checks and
/// calls with an effect, and for each write into what exists how many of those
/// come before it; beside them the exchanges.
class NEAP_API EffectOrder {
 public:
  /// THROWS: OutOfMemory.
  explicit EffectOrder(const Program& program);

  /// How the same program after a pass broke it, or "": a check or an effect
  /// is missing, new or out of order, or a write is missing or came before a
  /// check that it followed, or an exchange is missing, new or out of
  /// order. THROWS: OutOfMemory.
  std::string fault_of(const Program& program) const;

 private:
  struct Seen {
    const void* what;     // which check or op
    std::uint32_t attrs;  // offset of its own in the program's pool
    bool operator==(const Seen&) const = default;
  };
  struct Write {
    const void* memory;  // the storage, or the argument's index
    std::uint32_t nth;   // of the writes into it
    std::size_t effects_before;
  };
  memory::Vector<Seen> effects_;
  memory::Vector<std::uint32_t> exchanges_;  // attributes of each
  memory::Vector<Write> writes_;             // sorted by memory and nth
};

}  // namespace neap::compiler
