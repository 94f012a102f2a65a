// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Counts of scope members: tensors (handles that share elements and a graph
// position are one) and composites. Each thread counts for itself; the
// process's counts are the sum over all threads, ended ones too, and are exact
// when nobody is in the middle of an op. How a leak is found:
//
//   neap::memory::reset_scope_stats();
//   step();
//   print(neap::memory::scope_stats().format());  // growth other than 0?
//
// Objects created in scopes that are still live were attached to or kept by
// something; objects created outside were never members of a scope.
#pragma once

#include <iosfwd>

#include "neap/memory/containers.hpp"

namespace neap::memory {

struct ScopeStats {
  // --- since the last reset ---
  std::int64_t created_in_scope = 0;
  std::int64_t created_outside = 0;
  std::int64_t released_in_scope = 0;  // members released: revoked, or dropped
  std::int64_t released_outside = 0;
  std::int64_t attached = 0;  // moves from no scope to one
  /// Moves from a scope to none, also kept without an outer.
  std::int64_t detached = 0;
  /// Handles counted with a composite from now on, net.
  std::int64_t absorbed = 0;
  /// Bytes of the storages behind tensors; tensors that share one count it
  /// each.
  Bytes created_bytes = 0;
  Bytes released_bytes = 0;
  // --- now ---
  std::int64_t live = 0;  // number created less those released by this thread
  Bytes live_bytes = 0;
  std::int64_t peak_live = 0;  // largest since the last reset

  /// The members added since the last reset.
  std::int64_t growth() const noexcept {
    return created_in_scope + created_outside - released_in_scope -
           released_outside - absorbed;
  }
  Bytes growth_bytes() const noexcept { return created_bytes - released_bytes; }

  /// All counts on a line. THROWS: OutOfMemory.
  NEAP_API String format() const;
};

NEAP_API std::ostream& operator<<(std::ostream& out, const ScopeStats& stats);

/// The counts of the current thread.
NEAP_API ScopeStats scope_stats() noexcept;
/// The counts of all threads together.
NEAP_API ScopeStats process_scope_stats() noexcept;
/// Restarts the current thread's counts at zero, and its peak at what is live.
NEAP_API void reset_scope_stats() noexcept;
/// Restarts the process's counts at zero; those of threads stay.
NEAP_API void reset_process_scope_stats() noexcept;

// --- for members and scopes ------------------------------------------------

void count_created(bool in_scope, Bytes bytes) noexcept;
void count_released(bool in_scope, Bytes bytes) noexcept;
/// A part of a composite, which was counted with it.
void count_part_released(Bytes bytes) noexcept;
void count_attached() noexcept;
void count_detached() noexcept;
/// Counts a part more, or (-1) one less, with a composite.
void count_absorbed(int change) noexcept;
/// A member means other elements from now on.
NEAP_API void count_rebound(Bytes before, Bytes after) noexcept;

}  // namespace neap::memory
