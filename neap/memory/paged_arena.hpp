// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// PagedArena: memory that shows some of its pages at further addresses, so
// that pages which do not lie together can be used as if they did. All of it is
// mapped once, when it is made. Not thread-safe.
//
//   addresses   0 .. capacity      the pages, in order
//               capacity .. end    views of them, as asked for
//
// The pages are one block of the door, of `capacity` bytes; views take address
// space and page tables (1/512 of their size) but no memory of their own.
// A child of fork() shares the pages with its parent: it must not use them.
#pragma once

#include <span>

#include "neap/memory/context.hpp"

namespace neap::memory {

class NEAP_API PagedArena {
 public:
  /// The `size` bytes from `at` on show those from `from` on.
  struct View {
    Bytes at = 0;  // from capacity on
    Bytes from = 0;
    Bytes size = 0;
  };

  /// Everything in whole pages of kPage bytes; a view lies in [capacity, end)
  /// and shows what lies below capacity.
  /// THROWS: ValueError; OutOfMemory (budget, or Reason::kSystem where the
  /// system refuses pages or has no room for so many views).
  PagedArena(Bytes capacity, Bytes end, std::span<const View> views,
             const Tag& tag, Domain& domain = memory::domain());
  ~PagedArena();
  PagedArena(PagedArena&& other) noexcept;
  PagedArena& operator=(PagedArena&& other) noexcept;

  Bytes capacity() const noexcept { return block_.size; }
  Bytes end() const noexcept { return block_.size + view_bytes_; }

  /// THROWS: ValueError where the bytes do not lie in the capacity or in the
  /// views. What lies in no view must not be touched.
  std::byte* at(Bytes address, Bytes size) const;

 private:
  void map(std::span<const View> views);
  void unmap() noexcept;
  [[noreturn]] void refuse(Bytes size) const;

  Domain* domain_;
  Block block_;
  Bytes view_bytes_;
  std::byte* views_ = nullptr;  // their addresses
  bool is_mapped_ = false;      // the block's pages are the file's
};

}  // namespace neap::memory
