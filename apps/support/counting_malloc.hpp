// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Counts of what the whole process takes from the system: calls of the malloc
// and mmap families, counted by functions of the same names that an executable
// links (never the library). It measures from outside what a domain says of
// itself.
//
// Linked in by whoever calls a function below. Counts from the first call of
// the process on; under a sanitizer, which has a malloc of its own, nothing is
// counted and is_counting() is false.
//
// Thread rule: everything may be called from any thread. The counters are
// relaxed atomics: exact once the threads that allocate are joined or idle.
#pragma once

#include <cstdint>

namespace neap::support {

/// Bytes now, and calls since the last reset.
struct OutsideStats {
  /// Usable sizes of live malloc blocks, plus mapped pages that are not
  /// PROT_NONE. What libc maps for itself (its heap, its own threads' stacks)
  /// is not seen.
  std::int64_t bytes_live = 0;
  std::int64_t heap_bytes_live = 0;
  std::int64_t map_bytes_live = 0;

  std::int64_t heap_calls = 0;         // malloc, calloc, realloc, aligned forms
  std::int64_t failed_calls = 0;       // of these, those that got nothing
  std::int64_t free_calls = 0;         // of non-null
  std::int64_t map_calls = 0;          // mmap, munmap, mremap
  std::int64_t largest_heap_call = 0;  // bytes asked for
  std::int64_t largest_map_call = 0;   // bytes mapped or unmapped
};

bool is_counting() noexcept;

/// All zero unless is_counting().
OutsideStats outside_stats() noexcept;

/// Starts the calls and the largest calls anew; live bytes go on.
void reset_outside_calls() noexcept;

}  // namespace neap::support
