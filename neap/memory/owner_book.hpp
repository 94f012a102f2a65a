// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// OwnerBook: a domain's owner paths, numbered and kept for good, and how many
// live bytes each owner has in each category (what an OutOfMemory names).
// Bounded: paths beyond kMaxOwners share the empty path's number.
// Not thread-safe.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "neap/memory/book_array.hpp"
#include "neap/memory/out_of_memory.hpp"
#include "neap/memory/tag.hpp"

namespace neap::memory {

inline constexpr std::uint32_t kMaxOwners = 65536;

class OwnerBook {
 public:
  explicit OwnerBook(SystemPages& pages) noexcept
      : pages_(pages), owners_(pages), index_(pages) {}
  ~OwnerBook();
  OwnerBook(const OwnerBook&) = delete;
  OwnerBook& operator=(const OwnerBook&) = delete;

  /// True when intern(path) needs neither memory nor a new number.
  bool knows(std::string_view path) const noexcept;
  /// Bytes that intern(path) would take from the system.
  Bytes growth_for(std::string_view path) const noexcept;
  /// RETURNS: false when the system refuses; the book is then as before.
  bool intern(std::string_view path, OwnerId& owner) noexcept;
  /// LIFETIME: the book's. "" for numbers never given.
  std::string_view path_of(OwnerId owner) const noexcept;

  void add(const Tag& tag, Bytes bytes) noexcept {
    if (tag.owner.value < owners_.capacity()) {
      owners_[tag.owner.value].live[static_cast<std::size_t>(tag.category)] +=
          bytes;
    }
  }
  /// Row 0, the empty path's, before the first add. RETURNS: as intern.
  bool prepare() noexcept { return owners_.reserve(1); }
  Bytes growth_to_prepare() const noexcept { return owners_.growth_for(1); }

  /// Fills with the largest (owner, category) pairs, largest first.
  void largest(std::span<OutOfMemory::Holder> holders) const noexcept;

 private:
  struct Owner {
    const char* text;
    std::uint32_t length;
    std::uint32_t hash;
    std::array<Bytes, kCategoryCount> live;
  };
  struct Chunk;  // pages of text
  std::uint32_t find(std::string_view path, std::uint32_t hash) const noexcept;
  Bytes chunk_for(std::size_t length) const noexcept;
  const char* store(std::string_view path) noexcept;

  SystemPages& pages_;
  BookArray<Owner> owners_;  // [0]: the empty path
  BookIndex index_;
  Chunk* chunk_ = nullptr;   // latest
  std::uint32_t count_ = 1;  // with [0]
};

/// Copies as much of `path` as fits, with NUL.
void copy_path(std::string_view path, std::array<char, 64>& to) noexcept;

}  // namespace neap::memory
