// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/text/token_table.hpp"

#include <xxhash.h>

#include <algorithm>

namespace neap::text {
namespace {

constexpr std::size_t kLeastSlots = 16;

std::size_t hash_of(std::string_view text) noexcept {
  return static_cast<std::size_t>(XXH3_64bits(text.data(), text.size()));
}

}  // namespace

std::size_t TokenTable::slot_of(std::string_view wanted) const noexcept {
  std::size_t slot = hash_of(wanted) & (slots_.size() - 1);
  while (slots_[slot] != kNone && text(slots_[slot]) != wanted) {
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return slot;
}

std::uint32_t TokenTable::id_of(std::string_view wanted) const noexcept {
  if (slots_.empty() || wanted.size() > longest_) {
    return kNone;
  }
  const std::uint32_t entry = slots_[slot_of(wanted)];
  return entry == kNone ? kNone : entries_[entry].id;
}

void TokenTable::grow() {
  if (2 * (entries_.size() + 1) <= slots_.size()) {
    return;
  }
  memory::Vector<std::uint32_t> wider(std::max(kLeastSlots, 2 * slots_.size()),
                                      kNone, slots_.get_allocator());
  wider.swap(slots_);
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    slots_[slot_of(text(i))] = i;
  }
}

bool TokenTable::add(std::string_view added, std::uint32_t id) {
  if (has(id)) {
    return false;
  }
  grow();
  const std::size_t slot = slot_of(added);
  if (slots_[slot] != kNone) {
    return false;
  }
  const auto entry = static_cast<std::uint32_t>(entries_.size());
  if (id >= by_id_.size()) {
    by_id_.resize(std::size_t{id} + 1, kNone);
  }
  const std::size_t begin = bytes_.size();
  bytes_.append(added);
  entries_.push_back({begin, static_cast<std::uint32_t>(added.size()), id});
  by_id_[id] = entry;
  slots_[slot] = entry;
  longest_ = std::max(longest_, added.size());
  return true;
}

std::uint32_t TokenTable::add_next(std::string_view added) {
  const std::uint32_t known = id_of(added);
  if (known != kNone) {
    return known;
  }
  const std::uint32_t id = id_limit();
  add(added, id);
  return id;
}

}  // namespace neap::text
