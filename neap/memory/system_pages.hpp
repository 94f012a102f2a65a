// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// SystemPages: what one owner has mapped straight from the system, counted to
// the byte. It never goes through malloc and never maps more than it is asked
// for, so that "held" is also what an outside counter sees.
// Not thread-safe: the domain's lock orders its callers.
#pragma once

#include <cstdint>

#include "neap/base/bytes.hpp"

namespace neap::memory {

/// Bytes of the system's pages: 4 KiB on x86; elsewhere what the kernel says,
/// 4, 16 or 64 KiB on ARM.
#if defined(__x86_64__)
constexpr Bytes page_bytes() noexcept {
  return 4096;
}
#else
Bytes page_bytes() noexcept;
#endif

inline constexpr Bytes kHugePage = 2 * kMiB;

/// The memory behind the pages, if any.
enum class Backing : std::uint8_t {
  kMemory,
  kNothing,  // a rehearsal: addresses that no program can touch, counted alike
};

class SystemPages {
 public:
  explicit SystemPages(Backing backing = Backing::kMemory) noexcept
      : backing_(backing) {}
  SystemPages(const SystemPages&) = delete;
  SystemPages& operator=(const SystemPages&) = delete;

  /// Fresh zeroed pages, or nullptr when the system refuses. `size` is a
  /// multiple of page_bytes(), `alignment` a power of two of at least that.
  void* map(Bytes size, Bytes alignment = page_bytes()) noexcept;

  /// Like map, at a huge page's boundary where that is free, with huge pages
  /// advised.
  void* map_huge(Bytes size) noexcept;

  /// Gives a part of a mapping back. RETURNS: false when the system refuses
  /// (it would need to split a mapping and cannot); nothing has changed then.
  bool unmap(void* pages, Bytes size) noexcept;

  /// Grows a mapping, which may move; the added pages are zero. Never holds
  /// both places at once. RETURNS: nullptr when the system refuses; the old
  /// mapping is then as before.
  void* grow(void* pages, Bytes old_size, Bytes new_size) noexcept;

  Backing backing() const noexcept { return backing_; }
  /// Whether `address` is one of pages with nothing behind them, of anybody's.
  static bool is_imaginary(const void* address) noexcept {
    return reinterpret_cast<std::uintptr_t>(address) >= kImaginaryEnd / 2;
  }

  Bytes held() const noexcept { return held_; }
  std::int64_t calls() const noexcept { return calls_; }

 private:
  // Beyond what a processor can translate, so that a touch is a fault.
  static constexpr std::uintptr_t kImaginaryEnd = std::uintptr_t{1} << 62U;

  void* imagine(Bytes size, Bytes alignment) noexcept;
  void* map_at(void* hint, Bytes size) noexcept;
  void* map_near(Bytes size, Bytes alignment) noexcept;
  void* map_wide(Bytes size, Bytes alignment) noexcept;

  Backing backing_;
  std::uintptr_t imagined_ = kImaginaryEnd;  // lowest address given so far
  Bytes held_ = 0;
  std::int64_t calls_ = 0;  // made to the system, ever
};

}  // namespace neap::memory
