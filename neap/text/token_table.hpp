// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// TokenTable: texts with ids, found by either in constant time. The texts lie
// in one block, one after the other; ids may leave gaps. Of this room alone.
#pragma once

#include <cstdint>
#include <string_view>

#include "neap/memory/containers.hpp"

namespace neap::text {

class TokenTable {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  std::size_t size() const noexcept { return entries_.size(); }
  /// Above every id.
  std::uint32_t id_limit() const noexcept {
    return static_cast<std::uint32_t>(by_id_.size());
  }
  /// Bytes of the longest text.
  std::size_t longest() const noexcept { return longest_; }

  /// kNone where there is no such text.
  std::uint32_t id_of(std::string_view text) const noexcept;
  bool has(std::uint32_t id) const noexcept {
    return id < by_id_.size() && by_id_[id] != kNone;
  }
  /// REQUIRES: has(id). LIFETIME: until the next add().
  std::string_view text_of(std::uint32_t id) const noexcept {
    return text(by_id_[id]);
  }

  /// False, and nothing changed, where the text or the id is there. Memory is
  /// as large as the largest id. THROWS: OutOfMemory.
  bool add(std::string_view text, std::uint32_t id);
  /// The same with the least id above all others. RETURNS: the text's id.
  std::uint32_t add_next(std::string_view text);

 private:
  struct Entry {
    std::size_t begin;
    std::uint32_t size;
    std::uint32_t id;
  };
  std::string_view text(std::uint32_t entry) const noexcept {
    const Entry& e = entries_[entry];
    return std::string_view(bytes_).substr(e.begin, e.size);
  }
  std::size_t slot_of(std::string_view text) const noexcept;
  void grow();

  memory::String bytes_;
  memory::Vector<Entry> entries_;
  memory::Vector<std::uint32_t> by_id_;  // entries; kNone: a gap
  memory::Vector<std::uint32_t> slots_;  // entries; kNone: free; a power of two
  std::size_t longest_ = 0;
};

}  // namespace neap::text
