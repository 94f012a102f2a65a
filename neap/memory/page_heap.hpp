// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// PageHeap: blocks of whole pages over mappings that are kept for reuse.
//
//   mapping   | live 3 | free 5 | live 1 | free 7 |     (pages)
//   extents      1  <->   2  <->   3  <->   4
//
// A request takes the best fitting free extent (of equals the lowest in the
// oldest mapping), from its low end; what is over stays free. A release merges
// with free neighbours at once and cannot fail. A request that nothing fits
// maps exactly its own size. Extents are described in tables of the heap's own,
// outside the pages. Not thread-safe.
#pragma once

#include <cstdint>

#include "neap/memory/extent.hpp"

namespace neap::memory {

class PageHeap {
 public:
  explicit PageHeap(Backing backing = Backing::kMemory) noexcept
      : pages_(backing) {}
  ~PageHeap();
  PageHeap(const PageHeap&) = delete;
  PageHeap& operator=(const PageHeap&) = delete;

  /// Bytes that allocate would newly take from the system, tables included.
  Bytes growth_for(Bytes size, Bytes alignment = page_bytes()) const noexcept;

  /// `size` > 0 bytes rounded up to pages, aligned to a power of two of at
  /// least page_bytes(); nullptr when the system refuses (books may have
  /// grown).
  void* allocate(Bytes size, Bytes alignment = page_bytes()) noexcept;
  void release(void* block) noexcept;

  /// Gives every free extent back; returns the bytes given back.
  Bytes trim() noexcept { return shrink_idle(0); }
  /// Gives the largest free extents back until at most `limit` bytes idle.
  Bytes shrink_idle(Bytes limit) noexcept;

  Backing backing() const noexcept { return pages_.backing(); }
  Bytes held() const noexcept { return pages_.held() + books_.held(); }
  Bytes books() const noexcept { return books_.held(); }
  Bytes idle() const noexcept { return idle_; }
  std::int64_t system_calls() const noexcept {
    return pages_.calls() + books_.calls();
  }

  /// Walks all tables: neighbours, tree, index and sums agree.
  bool is_consistent() const noexcept;

 private:
  ExtentId fit_for(std::uint32_t pages, Bytes alignment) const noexcept;
  bool prepare_books() noexcept;
  ExtentId map(std::uint32_t pages, Bytes alignment) noexcept;
  void cut_front(ExtentId id, std::uint32_t pages) noexcept;
  void cut_back(ExtentId id, std::uint32_t pages) noexcept;
  void merge_right(ExtentId id) noexcept;
  bool unmap(ExtentId id) noexcept;
  ExtentId take_descriptor() noexcept;
  void drop_descriptor(ExtentId id) noexcept;
  void set_free(ExtentId id) noexcept;
  ExtentId find(std::uintptr_t address) const noexcept;
  ExtentId find_live(std::uintptr_t address) const;
  std::uint32_t hash_of(ExtentId id) const noexcept {
    return hash_of_key(extents_[id].address / page_bytes());
  }

  SystemPages pages_;                  // the mappings
  SystemPages books_;                  // the tables below
  BookArray<Extent> extents_{books_};  // [0]: none
  BookIndex index_{books_};            // address of a live extent -> its id
  ExtentTree free_{ExtentNodes(extents_)};
  ExtentId unused_ = 0;        // chain of descriptors to reuse
  std::size_t reserve_ = 0;    // length of that chain
  std::size_t described_ = 1;  // descriptors ever used, with [0]
  std::size_t live_ = 0;       // live extents
  std::uint32_t mapped_ = 0;   // mappings ever made
  Bytes idle_ = 0;             // in free extents
};

}  // namespace neap::memory
