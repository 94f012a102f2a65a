// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A program as text for people: its arguments, one line a call, its results.
#pragma once

#include <iosfwd>
#include <span>
#include <string_view>

#include "neap/program/program.hpp"

namespace neap::compiler {

struct PrintOptions {
  std::int64_t max_calls = 100'000;  // the rest is only counted
  /// The offset of every value in its space's arena (negative: in none), as
  /// value_offsets(plan) gives it; where it is given, calls show it.
  std::span<const Bytes> offsets{};
};

/// Values are numbered; a call shows the shapes that it sees of them ("'": not
/// row by row). `lives`: from which call to which the value is needed ("end":
/// beyond the run). `over`: whose memory it takes over.
///
///   program: 2 calls, 0 draws, 4 values; 1 argument, ...
///   %0  argument 0  f32 [2, 3]   24 B
///   %1  parameters  f32 [3, 4]   48 B  'fc1.weight'
///   #  call                             value        bytes  lives  over  site
///   0  %2 = matmul(%0[2, 3], %1[3, 4])  f32 [2, 4]      32  0-1          ...
///   1  %3 = relu(%2[2, 4])              f32 [2, 4]      32  1-end  %2    ...
///   result %3 f32 [2, 4]
///
/// THROWS: OutOfMemory.
NEAP_API memory::String print(const Program& program,
                              const PrintOptions& options = {});
NEAP_API std::ostream& operator<<(std::ostream& out, const Program& program);

/// A value's or a call's layer, "" where there is none. LIFETIME: the domain's.
std::string_view owner_path(const Program& program, memory::OwnerId owner);

/// The ledger's tag of an external's storage; of a leaf's gradient that the
/// program holds in no storage between two runs, the tag when traced.
struct Counted {
  memory::Category category;
  std::string_view owner;  // LIFETIME: the domain's
  Bytes bytes;
};
/// REQUIRES: the value of an external.
NEAP_API Counted counted(const Program& program, const Value& value);

}  // namespace neap::compiler
