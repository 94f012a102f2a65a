// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/host_backends.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "neap/base/sanitizer.hpp"

namespace neap::memory {
namespace {

// Checked builds fill fresh blocks with a pattern that is NaN as f32, f64 and
// bf16, and released ones with one that is easy to know in a debugger.
#ifdef NEAP_CHECKED
constexpr bool kFill = true;
#else
constexpr bool kFill = false;
#endif
constexpr int kFresh = 0xFF;
constexpr int kReleased = 0xDD;

bool is_small(Bytes size, Bytes alignment) noexcept {
  return size <= kLargestSmall && alignment <= kSlabUnit;
}

void fill(void* block, Bytes size, int pattern) noexcept {
  if constexpr (kFill) {
    std::memset(block, pattern, static_cast<std::size_t>(size));
  }
}

bool wants_system(HostAllocator host) noexcept {
  if (host != HostAllocator::kAuto) {
    return host == HostAllocator::kSystem;
  }
  const char* variable = std::getenv("NEAP_ALLOCATOR");
  const std::string_view chosen = variable != nullptr ? variable : "";
  return chosen == "system" || (base::kAddressSanitizer && chosen != "pooled");
}

}  // namespace

Bytes PooledBackend::growth_for(Bytes size, Bytes alignment) const noexcept {
  return is_small(size, alignment) ? slabs_.growth_for(size)
                                   : pages_.growth_for(size);
}

// In a rehearsal a block that will be used lies in memory of its own, beside
// its imaginary place, whose address stands on the page before it.
void* PooledBackend::allocate_large(Bytes size) noexcept {
  void* place = pages_.allocate(size);
  if (place == nullptr || pages_.backing() == Backing::kMemory) {
    return place;
  }
  void* pages = nullptr;
  if (::posix_memalign(&pages, static_cast<std::size_t>(page_bytes()),
                       static_cast<std::size_t>(page_bytes() + size)) != 0) {
    pages_.release(place);
    return nullptr;
  }
  std::memcpy(pages, &place, sizeof(place));
  return static_cast<std::byte*>(pages) + page_bytes();
}

void PooledBackend::release_large(void* block) noexcept {
  if (pages_.backing() == Backing::kMemory ||
      SystemPages::is_imaginary(block)) {
    pages_.release(block);
    return;
  }
  void* pages = static_cast<std::byte*>(block) - page_bytes();
  void* place = nullptr;
  std::memcpy(&place, pages, sizeof(place));
  pages_.release(place);
  std::free(pages);  // NOLINT: of posix_memalign
}

void* PooledBackend::reserve(Bytes size, Bytes alignment) noexcept {
  return is_small(size, alignment) ? slabs_.allocate(size)
                                   : pages_.allocate(size);
}

void* PooledBackend::allocate(Bytes size, Bytes alignment) noexcept {
  void* block =
      is_small(size, alignment) ? slabs_.allocate(size) : allocate_large(size);
  if (block != nullptr) {
    fill(block, size, kFresh);
  }
  return block;
}

void PooledBackend::release(void* block, Bytes size, Bytes alignment) noexcept {
  if (!SystemPages::is_imaginary(block)) {
    fill(block, size, kReleased);
  }
  if (is_small(size, alignment)) {
    slabs_.release(block);
  } else {
    release_large(block);
  }
  if (idle() > idle_limit_) {
    slab_pages_.shrink_idle(std::max<Bytes>(idle_limit_ - pages_.idle(), 0));
    pages_.shrink_idle(idle_limit_);  // more than that, and no slab is idle
  }
}

bool PooledBackend::is_consistent() const noexcept {
  return pages_.is_consistent() && slab_pages_.is_consistent() &&
         slabs_.is_consistent();
}

void* SystemBackend::allocate(Bytes size, Bytes alignment) noexcept {
  ++calls_;
  void* block = nullptr;
  const auto unit = static_cast<std::size_t>(
      std::max<Bytes>(alignment, static_cast<Bytes>(sizeof(void*))));
  if (::posix_memalign(&block, unit, static_cast<std::size_t>(size)) != 0) {
    return nullptr;
  }
  live_ += size;
  return block;
}

void SystemBackend::release(void* block, Bytes size,
                            Bytes /*alignment*/) noexcept {
  ++calls_;
  live_ -= size;
  std::free(block);  // NOLINT: of posix_memalign
}

Bytes idle_limit_of(Bytes limit) noexcept {
  const Bytes pages = ::sysconf(_SC_PHYS_PAGES);
  const Bytes page = ::sysconf(_SC_PAGESIZE);
  return limit != kUnlimited || pages <= 0 || page <= 0 ? limit
                                                        : pages * page / 4;
}

std::unique_ptr<Backend> make_host_backend(HostAllocator host,
                                           Bytes idle_limit) {
  if (wants_system(host)) {
    return std::make_unique<SystemBackend>();
  }
  return std::make_unique<PooledBackend>(idle_limit_of(idle_limit));
}

std::unique_ptr<Backend> make_rehearsal_backend(Bytes idle_limit) {
  return std::make_unique<PooledBackend>(idle_limit_of(idle_limit),
                                         Backing::kNothing);
}

}  // namespace neap::memory
