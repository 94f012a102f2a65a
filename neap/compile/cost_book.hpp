// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// CostBook: what calls take on this machine, measured. A step that has one
// chooses its plan, and predicts its time, by what its own calls take here; the
// table that serves without one (compile/costs.hpp) is the same everywhere.
//
//   auto step = neap::compile(f, {.arena_limit = 64 * kMiB,
//                                 .costs = CostBook::open("costs.txt")});
//
// A cost is of a call's kind, attributes, layouts and number of threads, and is
// measured when a plan first asks for it: the least of some runs, on blocks of
// its own, rounded down to a sixteenth of an octave, so that noise seldom
// changes a plan. A file keeps them: with it, the same step has the same plan
// at every start, on whatever machine.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "neap/files/door.hpp"
#include "neap/memory/containers.hpp"
#include "neap/memory/counted.hpp"

namespace neap::compiler {

struct Call;
class Program;

class NEAP_API CostBook : public memory::Counted<CostBook> {
 public:
  /// The most costs of a book; further calls have prices of the table.
  static constexpr std::size_t kMostCosts = 65536;

  /// An empty one, in the context's domain. THROWS: OutOfMemory.
  static base::Ref<CostBook> make();
  /// The one of a file; an empty one where there is no such file, which plans
  /// then write. THROWS: IoError for a file that cannot be read, or is none of
  /// costs; OutOfMemory. LIFETIME: the door outlives the book.
  static base::Ref<CostBook> open(const std::string& path,
                                  files::Door& door = files::system_door());

  // Created by make().
  CostBook(memory::Domain& domain, const memory::Tag& tag) noexcept
      : costs_(memory::Allocator<Cost>(domain, tag)) {}

  /// Nanoseconds of a call, at least 1; 0: it has no cost of its own (moves,
  /// checks, calls of the user's own ops), or no memory was left to measure it.
  /// REQUIRES: the program is bound. Any thread.
  std::int64_t ns_of(const Program& program, const Call& call);
  /// Writes the file, atomically, if there is one and costs were added.
  /// THROWS: IoError; the costs stay.
  void save();
  /// The number of costs.
  std::size_t size() const;
  /// The number of those that were measured, not read.
  std::size_t measured() const;

 private:
  struct Cost {
    std::uint64_t key;
    std::int64_t ns;
  };
  std::int64_t known_or_measured(const Program& program, const Call& call);
  void read();

  mutable std::mutex mutex_;
  memory::Vector<Cost> costs_;  // by key
  std::size_t measured_ = 0;
  bool is_changed_ = false;
  std::string path_;
  files::Door* door_ = nullptr;
};

}  // namespace neap::compiler
