// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Early and signal safe: no allocation, no lock that waits, no static
// constructor. malloc runs long before main.
#include "support/counting_malloc.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <malloc.h>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define NEAP_COUNTS_MALLOC 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define NEAP_COUNTS_MALLOC 0
#endif
#endif
#ifndef NEAP_COUNTS_MALLOC
#ifdef __GLIBC__
#define NEAP_COUNTS_MALLOC 1
#else
#define NEAP_COUNTS_MALLOC 0
#endif
#endif

namespace neap::support {
namespace {

using Counter = std::atomic<std::int64_t>;

struct Counters {
  Counter heap_bytes{0};
  Counter map_bytes{0};
  Counter heap_calls{0};
  Counter failed_calls{0};
  Counter free_calls{0};
  Counter map_calls{0};
  Counter largest_heap{0};
  Counter largest_map{0};
};

constinit Counters counters;

std::int64_t read(const Counter& counter) noexcept {
  return counter.load(std::memory_order_relaxed);
}

}  // namespace

bool is_counting() noexcept {
  return NEAP_COUNTS_MALLOC != 0;
}

OutsideStats outside_stats() noexcept {
  OutsideStats stats;
  stats.heap_bytes_live = read(counters.heap_bytes);
  stats.map_bytes_live = read(counters.map_bytes);
  stats.bytes_live = stats.heap_bytes_live + stats.map_bytes_live;
  stats.heap_calls = read(counters.heap_calls);
  stats.failed_calls = read(counters.failed_calls);
  stats.free_calls = read(counters.free_calls);
  stats.map_calls = read(counters.map_calls);
  stats.largest_heap_call = read(counters.largest_heap);
  stats.largest_map_call = read(counters.largest_map);
  return stats;
}

void reset_outside_calls() noexcept {
  for (Counter* counter :
       {&counters.heap_calls, &counters.failed_calls, &counters.free_calls,
        &counters.map_calls, &counters.largest_heap, &counters.largest_map}) {
    counter->store(0, std::memory_order_relaxed);
  }
}

#if NEAP_COUNTS_MALLOC
namespace {

void add(Counter& counter, std::int64_t n) noexcept {
  counter.fetch_add(n, std::memory_order_relaxed);
}

void raise_to(Counter& counter, std::int64_t n) noexcept {
  std::int64_t seen = read(counter);
  while (seen < n &&
         !counter.compare_exchange_weak(seen, n, std::memory_order_relaxed)) {
  }
}

std::int64_t usable(void* block) noexcept {
  return static_cast<std::int64_t>(::malloc_usable_size(block));
}

// --- heap ---

void* count_heap(void* block, std::size_t asked) noexcept {
  add(counters.heap_calls, 1);
  raise_to(counters.largest_heap, static_cast<std::int64_t>(asked));
  if (block != nullptr) {
    add(counters.heap_bytes, usable(block));
  } else if (asked != 0) {
    add(counters.failed_calls, 1);
  }
  return block;
}

void count_free(void* block) noexcept {
  if (block != nullptr) {
    add(counters.free_calls, 1);
    add(counters.heap_bytes, -usable(block));
  }
}

// --- maps ---

// Pages that are reserved but not accessible are nobody's bytes. Few are (the
// guards of stacks), so a short list that is searched from end to end will do;
// beyond its bound a reservation is counted as if it were used.
class Reserved {
 public:
  // Bytes of [start, start + size) that were not reserved; reserves them.
  std::int64_t reserve(std::uintptr_t start, std::uintptr_t size) noexcept {
    const std::int64_t was_counted = release(start, size);
    const Lock lock(busy_);
    for (Range& range : ranges_) {
      if (range.begin == range.end) {
        range = {start, start + size};
        return was_counted;
      }
    }
    return 0;
  }
  // Bytes of [start, start + size) that were not reserved; none is any more.
  std::int64_t release(std::uintptr_t start, std::uintptr_t size) noexcept {
    const Lock lock(busy_);
    const std::uintptr_t end = start + size;
    std::uintptr_t overlap = 0;
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      const Range range = ranges_[i];
      const std::uintptr_t from = range.begin > start ? range.begin : start;
      const std::uintptr_t to = range.end < end ? range.end : end;
      if (from >= to) {
        continue;
      }
      overlap += to - from;
      ranges_[i] = {range.begin, from};
      put({to, range.end});
    }
    return static_cast<std::int64_t>(size - overlap);
  }

 private:
  struct Range {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
  };
  class Lock {
   public:
    explicit Lock(std::atomic_flag& busy) noexcept : busy_(busy) {
      while (busy_.test_and_set(std::memory_order_acquire)) {
      }
    }
    ~Lock() { busy_.clear(std::memory_order_release); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    std::atomic_flag& busy_;
  };

  void put(Range range) noexcept {
    for (Range& free : ranges_) {
      if (range.begin != range.end && free.begin == free.end) {
        free = range;
        return;
      }
    }
  }

  std::atomic_flag busy_{};
  std::array<Range, 1024> ranges_{};
};

constinit Reserved reserved;

std::uintptr_t whole_pages(std::size_t size) noexcept {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  return (size + page - 1) / page * page;
}

void note_map_call(std::uintptr_t bytes) noexcept {
  add(counters.map_calls, 1);
  raise_to(counters.largest_map, static_cast<std::int64_t>(bytes));
}

void* map_pages(void* hint, std::size_t size, int protection, int flags,
                int file, off_t offset) noexcept {
  const long result =
      ::syscall(SYS_mmap, hint, size, protection, flags, file, offset);
  void* const pages = reinterpret_cast<void*>(result);
  if (pages == MAP_FAILED) {
    return pages;
  }
  const std::uintptr_t bytes = whole_pages(size);
  const auto start = reinterpret_cast<std::uintptr_t>(pages);
  if ((flags & MAP_FIXED) != 0) {
    // The former mapping there is gone. It was ours: reserved or counted.
    add(counters.map_bytes, -reserved.release(start, bytes));
  }
  add(counters.map_bytes, static_cast<std::int64_t>(bytes));
  if (protection == PROT_NONE) {
    add(counters.map_bytes, -reserved.reserve(start, bytes));
  }
  note_map_call(bytes);
  return pages;
}

}  // namespace
#endif

}  // namespace neap::support

#if NEAP_COUNTS_MALLOC
// libc's functions, under the names that stay its own.
extern "C" {
void* __libc_malloc(std::size_t size);                      // NOLINT
void* __libc_calloc(std::size_t count, std::size_t size);   // NOLINT
void* __libc_realloc(void* block, std::size_t size);        // NOLINT
void* __libc_memalign(std::size_t alignment, std::size_t);  // NOLINT
void __libc_free(void* block);                              // NOLINT

#define NEAP_OVER __attribute__((visibility("default"), used))

using neap::support::add;
using neap::support::count_free;
using neap::support::count_heap;
using neap::support::counters;
using neap::support::map_pages;
using neap::support::note_map_call;
using neap::support::reserved;
using neap::support::usable;
using neap::support::whole_pages;

NEAP_OVER void* malloc(std::size_t size) noexcept {
  return count_heap(__libc_malloc(size), size);
}

NEAP_OVER void* calloc(std::size_t count, std::size_t size) noexcept {
  return count_heap(__libc_calloc(count, size), count * size);
}

NEAP_OVER void* realloc(void* block, std::size_t size) noexcept {
  const std::int64_t before = block != nullptr ? usable(block) : 0;
  void* moved = __libc_realloc(block, size);
  if (moved != nullptr || size == 0) {
    add(counters.heap_bytes, -before);  // else the old block stays
  }
  return count_heap(moved, size);
}

NEAP_OVER void* reallocarray(void* block, std::size_t count,
                             std::size_t size) noexcept {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return realloc(block, bytes);
}

NEAP_OVER void free(void* block) noexcept {
  count_free(block);
  __libc_free(block);
}

NEAP_OVER void* memalign(std::size_t alignment, std::size_t size) noexcept {
  return count_heap(__libc_memalign(alignment, size), size);
}

NEAP_OVER void* aligned_alloc(std::size_t alignment,
                              std::size_t size) noexcept {
  return memalign(alignment, size);
}

NEAP_OVER int posix_memalign(void** out, std::size_t alignment,
                             std::size_t size) noexcept {
  if (alignment % sizeof(void*) != 0 || alignment == 0 ||
      (alignment & (alignment - 1)) != 0) {
    return EINVAL;
  }
  void* block = memalign(alignment, size);
  if (block == nullptr) {
    return ENOMEM;
  }
  *out = block;
  return 0;
}

NEAP_OVER void* valloc(std::size_t size) noexcept {
  return memalign(whole_pages(1), size);
}

NEAP_OVER void* pvalloc(std::size_t size) noexcept {
  return memalign(whole_pages(1), whole_pages(size));
}

NEAP_OVER void* mmap(void* hint, std::size_t size, int protection, int flags,
                     int file, off_t offset) noexcept {
  return map_pages(hint, size, protection, flags, file, offset);
}

NEAP_OVER void* mmap64(void* hint, std::size_t size, int protection, int flags,
                       int file, off64_t offset) noexcept {
  return map_pages(hint, size, protection, flags, file, offset);
}

NEAP_OVER int munmap(void* pages, std::size_t size) noexcept {
  const auto result = static_cast<int>(::syscall(SYS_munmap, pages, size));
  if (result == 0) {
    const std::uintptr_t bytes = whole_pages(size);
    add(counters.map_bytes,
        -reserved.release(reinterpret_cast<std::uintptr_t>(pages), bytes));
    note_map_call(bytes);
  }
  return result;
}

NEAP_OVER void* mremap(void* pages, std::size_t old_size, std::size_t new_size,
                       int flags, ...) noexcept {
  void* target = nullptr;
  if ((flags & MREMAP_FIXED) != 0) {
    va_list rest;
    va_start(rest, flags);
    target = va_arg(rest, void*);
    va_end(rest);
  }
  const long result =
      ::syscall(SYS_mremap, pages, old_size, new_size, flags, target);
  void* const moved = reinterpret_cast<void*>(result);
  if (moved != MAP_FAILED) {
    const auto bytes = static_cast<std::int64_t>(whole_pages(new_size)) -
                       static_cast<std::int64_t>(whole_pages(old_size));
    add(counters.map_bytes, bytes);
    note_map_call(whole_pages(new_size));
  }
  return moved;
}

NEAP_OVER int mprotect(void* pages, std::size_t size, int protection) noexcept {
  const auto result =
      static_cast<int>(::syscall(SYS_mprotect, pages, size, protection));
  if (result == 0) {
    const auto start = reinterpret_cast<std::uintptr_t>(pages);
    const std::uintptr_t bytes = whole_pages(size);
    if (protection == PROT_NONE) {
      add(counters.map_bytes, -reserved.reserve(start, bytes));
    } else {
      const std::int64_t counted = reserved.release(start, bytes);
      add(counters.map_bytes, static_cast<std::int64_t>(bytes) - counted);
    }
  }
  return result;
}
}
#endif
