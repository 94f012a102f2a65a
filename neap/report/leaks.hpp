// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Leaks: memory that is live now and was not at a baseline, by category, owner
// and the line of the program that allocated it; and, where handles are
// tracked, each tensor among it, the op that computed it, and the chain of who
// holds it.
//
//   const memory::TrackHandles tracking;    // for chains; may be left out
//   const report::Baseline baseline;
//   ... code that should leave nothing behind ...
//   std::puts(report::report_leaks(baseline).c_str());
#pragma once

#include <string>
#include <vector>

#include "neap/memory/containers.hpp"
#include "neap/memory/scope.hpp"
#include "neap/report/holders.hpp"

namespace neap::report {

/// The live blocks of an instant. Taking it changes nothing in the domain.
class NEAP_API Baseline {
 public:
  explicit Baseline(const memory::Domain& domain = memory::domain());

  struct Leak {
    memory::Tag tag;
    Bytes bytes = 0;  // more than at the baseline
    std::int64_t blocks = 0;
  };
  /// Rows that have more bytes or blocks than at the baseline, largest first.
  memory::Vector<Leak> leaks() const;
  /// A line for each leak; empty when there is none:
  /// "leak: 4 000 B in 1 block of other, owner '', made at a.cpp:12 (f)".
  std::string format() const;

  const memory::Domain& domain() const noexcept { return *domain_; }
  /// True for a value that was known then, or lies where one was.
  bool has(const tensor::Storage* storage) const noexcept;

 private:
  const memory::Domain* domain_;
  memory::Vector<memory::Row> rows_;
  memory::Vector<const tensor::Storage*> storages_;  // sorted
};

/// Says who holds handles of the program, where the report sees no further: a
/// binding knows its language's variables.
class HandleNames {
 public:
  HandleNames() = default;
  virtual ~HandleNames() = default;
  HandleNames(const HandleNames&) = delete;
  HandleNames& operator=(const HandleNames&) = delete;
  /// A line for each holder of handles to `body`; may be empty.
  virtual std::vector<std::string> of(const tensor::Body& body) const = 0;
};

struct LeakOptions {
  int max_rows = 16;    // rows of the ledger; the rest is counted
  int max_tensors = 3;  // written out for each; the rest is counted
  int max_links = 8;  // links of a chain; the middle of a longer one is counted
  /// Asked where a chain ends at handles; nullptr: nobody. LIFETIME: the call.
  const HandleNames* names = nullptr;
};

/// The lines of Baseline::format(), those of graphs and handles last, and under
/// each the tensors that it stands for:
///
///   leak: 4 000 B in 1 block of activations, owner 'fc1', made at a.cpp:12 (f)
///     f32 [10, 100], 4 000 B, made by 'mul'
///       held by residual 'input 0' of 'tanh' (a.cpp:13 (f))
///       <- needed by 'sum' (a.cpp:14 (f))
///       <- 1 handle of the 'sum' made at a.cpp:14 (f)
///
/// Chains are known for tensors created while a memory::TrackHandles lived;
/// without one, the last line says so. Empty when nothing leaks. Holders::
/// says what a chain may get wrong.
/// THROWS: OutOfMemory (of the report's own domain).
NEAP_API std::string report_leaks(const Baseline& baseline,
                                  const LeakOptions& options = {});

/// Every tensor that a scope still has, who would lose it at the end of the
/// scope, and the chain of who holds it. Needs no tracking.
NEAP_API std::string report_leaks(const memory::Scope& scope,
                                  const LeakOptions& options = {});

}  // namespace neap::report
