// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/page_heap.hpp"

#include "neap/base/assert.hpp"

namespace neap::memory {
namespace {

constexpr Bytes kHugeFrom = 4 * kMiB;        // mappings that want huge pages
constexpr Bytes kLargest = Bytes{1} << 43U;  // pages fit 32 bits
constexpr std::size_t kSpare = 3;            // descriptors one request may need
constexpr std::uint32_t kMappings = 1U << 30U;  // numbers of mappings
constexpr int kAlignedTries = 16;  // close fits looked at for their alignment

std::uint32_t pages_of(Bytes size) noexcept {
  return static_cast<std::uint32_t>((size + page_bytes() - 1) / page_bytes());
}

Bytes bytes_of(std::uint32_t pages) noexcept {
  return Bytes{pages} * page_bytes();
}

// Pages to skip from `address` to the next aligned one.
std::uint32_t skip_to(std::uintptr_t address, Bytes alignment) noexcept {
  const auto unit = static_cast<std::uintptr_t>(alignment);
  const std::uintptr_t skip = (unit - (address & (unit - 1))) & (unit - 1);
  return static_cast<std::uint32_t>(skip /
                                    static_cast<std::uintptr_t>(page_bytes()));
}

}  // namespace

PageHeap::~PageHeap() {
  // Leaked blocks go with the heap, which only goes when nothing is
  // live; so this is the idle part.
  trim();
}

ExtentId PageHeap::fit_for(std::uint32_t pages,
                           Bytes alignment) const noexcept {
  ExtentId id = free_.first_from({pages});
  if (alignment <= page_bytes()) {
    return id;
  }
  for (int i = 0; i < kAlignedTries && id != 0; ++i) {
    const Extent& extent = extents_[id];
    if (extent.pages >= pages + skip_to(extent.address, alignment)) {
      return id;
    }
    id = free_.first_from({extent.pages, extent.mapping, extent.address + 1});
  }
  return free_.first_from({pages + pages_of(alignment) - 1});
}

Bytes PageHeap::growth_for(Bytes size, Bytes alignment) const noexcept {
  if (size > kLargest) {
    return kLargest;
  }
  const std::size_t spare = reserve_ < kSpare ? kSpare - reserve_ : 0;
  const Bytes books =
      extents_.growth_for(described_ + spare) + index_.growth_for(live_ + 1);
  const std::uint32_t pages = pages_of(size);
  return books + (fit_for(pages, alignment) != 0 ? 0 : bytes_of(pages));
}

bool PageHeap::prepare_books() noexcept {
  const std::size_t spare = reserve_ < kSpare ? kSpare - reserve_ : 0;
  return extents_.reserve(described_ + spare) &&
         index_.reserve(live_ + 1, [this](auto insert) {
           for (std::size_t i = 1; i < described_; ++i) {
             if (extents_[i].state == Extent::State::kLive) {
               const auto id = static_cast<ExtentId>(i);
               insert(hash_of(id), id);
             }
           }
         });
}

void* PageHeap::allocate(Bytes size, Bytes alignment) noexcept {
  if (size > kLargest || !prepare_books()) {
    return nullptr;
  }
  const std::uint32_t pages = pages_of(size);
  ExtentId id = fit_for(pages, alignment);
  if (id != 0) {
    free_.remove(id);
    idle_ -= bytes_of(extents_[id].pages);
    cut_front(id, skip_to(extents_[id].address, alignment));
    cut_back(id, pages);
  } else {
    id = map(pages, alignment);
    if (id == 0) {
      return nullptr;
    }
  }
  extents_[id].state = Extent::State::kLive;
  index_.insert(hash_of(id), id);
  ++live_;
  return reinterpret_cast<void*>(extents_[id].address);  // NOLINT: our own
}

ExtentId PageHeap::map(std::uint32_t pages, Bytes alignment) noexcept {
  const Bytes size = bytes_of(pages);
  void* mapped = size >= kHugeFrom && alignment <= page_bytes()
                     ? pages_.map_huge(size)
                     : pages_.map(size, alignment);
  if (mapped == nullptr) {
    return 0;
  }
  const ExtentId id = take_descriptor();
  extents_[id] = Extent{};
  extents_[id].address = reinterpret_cast<std::uintptr_t>(mapped);
  extents_[id].pages = pages;
  extents_[id].mapping = ++mapped_ % kMappings;
  return id;
}

// Leaves the first `pages` behind as a free extent.
void PageHeap::cut_front(ExtentId id, std::uint32_t pages) noexcept {
  if (pages == 0) {
    return;
  }
  const ExtentId front = take_descriptor();
  Extent& extent = extents_[id];
  extents_[front] = Extent{};
  extents_[front].address = extent.address;
  extents_[front].pages = pages;
  extents_[front].mapping = extent.mapping;
  extents_[front].left = extent.left;
  extents_[front].right = id;
  if (extent.left != 0) {
    extents_[extent.left].right = front;
  }
  extent.left = front;
  extent.address += static_cast<std::uintptr_t>(bytes_of(pages));
  extent.pages -= pages;
  set_free(front);
}

// Keeps the first `pages`; the rest becomes a free extent.
void PageHeap::cut_back(ExtentId id, std::uint32_t pages) noexcept {
  if (extents_[id].pages == pages) {
    return;
  }
  const ExtentId back = take_descriptor();
  Extent& extent = extents_[id];
  extents_[back] = Extent{};
  extents_[back].address =
      extent.address + static_cast<std::uintptr_t>(bytes_of(pages));
  extents_[back].pages = extent.pages - pages;
  extents_[back].mapping = extent.mapping;
  extents_[back].left = id;
  extents_[back].right = extent.right;
  if (extent.right != 0) {
    extents_[extent.right].left = back;
  }
  extent.right = back;
  extent.pages = pages;
  set_free(back);
}

void PageHeap::release(void* block) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  ExtentId id = find_live(address);
  index_.erase(hash_of(id), id, [this](ExtentId at) { return hash_of(at); });
  --live_;
  const ExtentId left = extents_[id].left;
  if (left != 0 && extents_[left].state == Extent::State::kFree) {
    free_.remove(left);
    idle_ -= bytes_of(extents_[left].pages);
    merge_right(left);
    id = left;
  }
  const ExtentId right = extents_[id].right;
  if (right != 0 && extents_[right].state == Extent::State::kFree) {
    free_.remove(right);
    idle_ -= bytes_of(extents_[right].pages);
    merge_right(id);
  }
  set_free(id);
}

// Takes the right neighbour into `id`.
void PageHeap::merge_right(ExtentId id) noexcept {
  const ExtentId gone = extents_[id].right;
  extents_[id].pages += extents_[gone].pages;
  extents_[id].right = extents_[gone].right;
  if (extents_[id].right != 0) {
    extents_[extents_[id].right].left = id;
  }
  drop_descriptor(gone);
}

Bytes PageHeap::shrink_idle(Bytes limit) noexcept {
  Bytes given = 0;
  while (idle_ > limit) {
    const ExtentId id = free_.last();
    const Bytes size = bytes_of(extents_[id].pages);
    if (!unmap(id)) {
      break;
    }
    given += size;
  }
  return given;
}

bool PageHeap::unmap(ExtentId id) noexcept {
  const Extent extent = extents_[id];
  void* pages = reinterpret_cast<void*>(extent.address);  // NOLINT: our own
  if (!pages_.unmap(pages, bytes_of(extent.pages))) {
    return false;
  }
  free_.remove(id);
  idle_ -= bytes_of(extent.pages);
  if (extent.left != 0) {
    extents_[extent.left].right = 0;
  }
  if (extent.right != 0) {
    extents_[extent.right].left = 0;
  }
  drop_descriptor(id);
  return true;
}

ExtentId PageHeap::take_descriptor() noexcept {
  if (unused_ == 0) {
    return static_cast<ExtentId>(described_++);
  }
  const ExtentId id = unused_;
  unused_ = extents_[id].lower;
  --reserve_;
  return id;
}

void PageHeap::drop_descriptor(ExtentId id) noexcept {
  extents_[id] = Extent{};
  extents_[id].lower = unused_;
  unused_ = id;
  ++reserve_;
}

void PageHeap::set_free(ExtentId id) noexcept {
  extents_[id].state = Extent::State::kFree;
  idle_ += bytes_of(extents_[id].pages);
  free_.insert(id);
}

ExtentId PageHeap::find(std::uintptr_t address) const noexcept {
  return index_.find(hash_of_key(address / page_bytes()), [&](ExtentId id) {
    return extents_[id].address == address;
  });
}

// Not noexcept, so that checked builds may throw here; release then ends the
// program, which has lost its memory.
ExtentId PageHeap::find_live(std::uintptr_t address) const {
  const ExtentId id = find(address);
  NEAP_ASSERT(id != 0, "page heap: released block is not one of its own");
  return id;
}

bool PageHeap::is_consistent() const noexcept {
  Bytes free_bytes = 0;
  Bytes all_bytes = 0;
  std::size_t live = 0;
  bool good = true;
  for (std::size_t i = 1; i < described_; ++i) {
    const Extent& e = extents_[i];
    if (e.state == Extent::State::kUnused) {
      continue;
    }
    all_bytes += bytes_of(e.pages);
    if (e.right != 0) {
      const Extent& r = extents_[e.right];
      good =
          good && r.left == i && r.state != Extent::State::kUnused &&
          e.address + static_cast<std::uintptr_t>(bytes_of(e.pages)) ==
              r.address &&
          !(e.state == Extent::State::kFree && r.state == Extent::State::kFree);
    }
    if (e.state == Extent::State::kLive) {
      ++live;
      good = good && find(e.address) == i;
    } else {
      free_bytes += bytes_of(e.pages);
      good = good && free_.first_from({e.pages, e.mapping, e.address}) == i;
    }
  }
  return good && live == live_ && free_bytes == idle_ &&
         all_bytes == pages_.held();
}

}  // namespace neap::memory
