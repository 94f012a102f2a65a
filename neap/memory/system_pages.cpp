// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/system_pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

namespace neap::memory {
namespace {

bool is_aligned(const void* pages, Bytes alignment) noexcept {
  const auto mask = static_cast<std::uintptr_t>(alignment) - 1;
  return (reinterpret_cast<std::uintptr_t>(pages) & mask) == 0;
}

void* aligned_below(void* pages, Bytes alignment) noexcept {
  const auto mask = static_cast<std::uintptr_t>(alignment) - 1;
  const auto address = reinterpret_cast<std::uintptr_t>(pages);
  return static_cast<std::byte*>(pages) - (address & mask);
}

}  // namespace

#if !defined(__x86_64__)
Bytes page_bytes() noexcept {
  static const Bytes bytes = ::sysconf(_SC_PAGESIZE);
  return bytes;
}
#endif

// Downward, as the system places mappings.
void* SystemPages::imagine(Bytes size, Bytes alignment) noexcept {
  const std::uintptr_t below = imagined_ - static_cast<std::uintptr_t>(size);
  imagined_ = below - below % static_cast<std::uintptr_t>(alignment);
  held_ += size;
  return reinterpret_cast<void*>(imagined_);  // NOLINT: never dereferenced
}

void* SystemPages::map_at(void* hint, Bytes size) noexcept {
  ++calls_;
  void* pages =
      ::mmap(hint, static_cast<std::size_t>(size), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) {
    return nullptr;
  }
  held_ += size;
  return pages;
}

// The system places mappings downward, so the place just below where it would
// have put this one is nearly always free; then places further and further
// down. Nothing beyond `size` is mapped at any instant. The result may still
// be unaligned.
void* SystemPages::map_near(Bytes size, Bytes alignment) noexcept {
  constexpr int kTries = 6;
  void* pages = map_at(nullptr, size);
  std::byte* hint = nullptr;
  Bytes distance = 0;
  for (int i = 0; i < kTries; ++i) {
    if (pages == nullptr || is_aligned(pages, alignment)) {
      return pages;
    }
    if (hint == nullptr) {
      hint = static_cast<std::byte*>(aligned_below(pages, alignment));
    }
    if (!unmap(pages, size)) {
      return pages;
    }
    pages = map_at(hint - distance, size);
    distance = distance == 0 ? alignment : distance * 8;
  }
  return pages;
}

// The certain way, which maps more for an instant.
void* SystemPages::map_wide(Bytes size, Bytes alignment) noexcept {
  const Bytes slack = alignment - page_bytes();
  auto* wide = static_cast<std::byte*>(map_at(nullptr, size + slack));
  if (wide == nullptr) {
    return nullptr;
  }
  auto* pages = static_cast<std::byte*>(aligned_below(wide + slack, alignment));
  const Bytes head = pages - wide;
  const Bytes tail = slack - head;
  if (head > 0 && !unmap(wide, head)) {
    unmap(wide, size + slack);
    return nullptr;
  }
  if (tail > 0 && !unmap(pages + size, tail)) {
    unmap(pages, size + tail);
    return nullptr;
  }
  return pages;
}

void* SystemPages::map(Bytes size, Bytes alignment) noexcept {
  if (backing_ == Backing::kNothing) {
    return imagine(size, alignment);
  }
  void* pages = map_near(size, alignment);
  if (pages == nullptr || is_aligned(pages, alignment)) {
    return pages;
  }
  unmap(pages, size);
  return map_wide(size, alignment);
}

void* SystemPages::map_huge(Bytes size) noexcept {
  if (backing_ == Backing::kNothing) {
    return imagine(size, kHugePage);
  }
  void* pages = map_near(size, kHugePage);
  if (pages != nullptr) {
    ++calls_;
    // Advice only: without it the pages are small ones.
    ::madvise(pages, static_cast<std::size_t>(size), MADV_HUGEPAGE);
  }
  return pages;
}

bool SystemPages::unmap(void* pages, Bytes size) noexcept {
  ++calls_;
  if (backing_ == Backing::kNothing) {
    held_ -= size;
    return true;
  }
  if (::munmap(pages, static_cast<std::size_t>(size)) != 0) {
    return false;
  }
  held_ -= size;
  return true;
}

void* SystemPages::grow(void* pages, Bytes old_size, Bytes new_size) noexcept {
#if defined(__SANITIZE_THREAD__)  // it does not see that pages move elsewhere
  void* copy = map_at(nullptr, new_size);
  if (copy != nullptr) {
    std::memcpy(copy, pages, static_cast<std::size_t>(old_size));
    unmap(pages, old_size);
  }
  return copy;
#else
  ++calls_;
  void* grown = ::mremap(pages, static_cast<std::size_t>(old_size),
                         static_cast<std::size_t>(new_size), MREMAP_MAYMOVE);
  if (grown == MAP_FAILED) {
    return nullptr;
  }
  held_ += new_size - old_size;
  return grown;
#endif
}

}  // namespace neap::memory
