// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// PagedArena: a block of memory some of whose pages can be seen at further
// addresses, so that pages which do not lie together can be used as if they
// did. Not thread-safe.
//
//   block    0 .. capacity           the pages, in order
//   views    0 .. size, as many sets as are asked for, each with addresses of
//            its own, of pages in any order
//
// The block is the domain's. Its whole pages become those of a file in memory
// when they are first shown, and are plain ones again before it is freed; the
// file costs a descriptor. Views take address space and page tables (1/512 of
// their size) but no memory of their own. In a dry run (rehearsal) the same is
// allocated, and nothing is mapped. A child of fork() shares the pages with its
// parent: it must not use them.
#pragma once

#include <span>

#include "neap/memory/context.hpp"

namespace neap::memory {

class NEAP_API PagedArena {
 public:
  /// The `size` bytes from `at` on show those of the block from `from` on.
  struct View {
    Bytes at = 0;
    Bytes from = 0;
    Bytes size = 0;
  };

  /// Addresses that show pages, unmapped with this object.
  class NEAP_API Views {
   public:
    Views() = default;
    ~Views();
    Views(Views&& other) noexcept;
    Views& operator=(Views&& other) noexcept;

    std::byte* data() const noexcept { return data_; }  // nullptr: dry run
    Bytes size() const noexcept { return size_; }

   private:
    friend class PagedArena;
    std::byte* data_ = nullptr;
    Bytes size_ = 0;
  };

  /// THROWS: OutOfMemory.
  explicit PagedArena(Bytes capacity, const Tag& tag,
                      Domain& domain = memory::domain());
  ~PagedArena();
  PagedArena(PagedArena&& other) noexcept;
  PagedArena& operator=(PagedArena&& other) noexcept;

  std::byte* data() const noexcept {
    return static_cast<std::byte*>(block_.data);
  }
  Bytes capacity() const noexcept { return block_.size; }
  /// Whether there was a show(), so that the next leaves the bytes alone.
  bool is_shown() const noexcept { return is_shown_; }

  /// Everything in whole pages of page_bytes(). Pages in no view must not be
  /// touched. The first call creates the file: the bytes of the block's whole
  /// pages are then zeros. LIFETIME: the arena outlives the views.
  /// THROWS: ValueError for views that stick out; OutOfMemory (Reason::kSystem
  /// where the system refuses, each mapping being a request to the domain, of
  /// no bytes). All is then unchanged.
  Views show(std::span<const View> views, Bytes size);

 private:
  Bytes pages() const noexcept;
  std::byte* map(std::byte* to, Bytes size, int file, Bytes from) const;
  [[noreturn]] void refuse(Bytes size) const;

  Domain* domain_;
  Block block_;
  bool is_shown_ = false;  // the block's pages are the file's
  int file_ = -1;
};

}  // namespace neap::memory
