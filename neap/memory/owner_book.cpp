// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/owner_book.hpp"

#include <cstring>
#include <new>

namespace neap::memory {
namespace {

constexpr Bytes kLargestChunk = 64 * kKiB;

std::uint32_t hash_of_text(std::string_view text) noexcept {
  std::uint64_t hash = 0xCBF29CE484222325U;  // FNV-1a
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  }
  return hash_of_key(hash);
}

}  // namespace

struct OwnerBook::Chunk {
  Chunk* older;
  Bytes size;
  Bytes used;  // with this header
};

OwnerBook::~OwnerBook() {
  while (chunk_ != nullptr) {
    Chunk* older = chunk_->older;
    pages_.unmap(chunk_, chunk_->size);
    chunk_ = older;
  }
}

std::uint32_t OwnerBook::find(std::string_view path,
                              std::uint32_t hash) const noexcept {
  return index_.find(hash, [&](std::uint32_t id) {
    const Owner& owner = owners_[id];
    return owner.hash == hash &&
           std::string_view(owner.text, owner.length) == path;
  });
}

bool OwnerBook::knows(std::string_view path) const noexcept {
  return path.empty() || find(path, hash_of_text(path)) != 0 ||
         count_ == kMaxOwners;
}

// The size of the chunk that a text of this length needs anew; 0: none.
Bytes OwnerBook::chunk_for(std::size_t length) const noexcept {
  const auto bytes = static_cast<Bytes>(length);
  if (chunk_ != nullptr && chunk_->size - chunk_->used >= bytes) {
    return 0;
  }
  const Bytes doubled = chunk_ == nullptr
                            ? page_bytes()
                            : std::min(2 * chunk_->size, kLargestChunk);
  const auto header = static_cast<Bytes>(sizeof(Chunk));
  return std::max(doubled, base::round_up(bytes + header, page_bytes()));
}

Bytes OwnerBook::growth_for(std::string_view path) const noexcept {
  return knows(path)
             ? 0
             : owners_.growth_for(count_ + 1) + index_.growth_for(count_ + 1) +
                   chunk_for(path.size());
}

bool OwnerBook::intern(std::string_view path, OwnerId& owner) noexcept {
  owner = OwnerId{};
  if (path.empty()) {
    return true;
  }
  const std::uint32_t hash = hash_of_text(path);
  const std::uint32_t known = find(path, hash);
  if (known != 0 || count_ == kMaxOwners) {
    owner = OwnerId{known};
    return true;
  }
  const bool ready = owners_.reserve(count_ + 1) &&
                     index_.reserve(count_ + 1, [this](auto insert) {
                       for (std::uint32_t id = 1; id < count_; ++id) {
                         insert(owners_[id].hash, id);
                       }
                     });
  const char* text = ready ? store(path) : nullptr;
  if (text == nullptr) {
    return false;
  }
  // The row may hold bytes already: of tags that named it before it was given.
  owners_[count_].text = text;
  owners_[count_].length = static_cast<std::uint32_t>(path.size());
  owners_[count_].hash = hash;
  index_.insert(hash, count_);
  owner = OwnerId{count_++};
  return true;
}

const char* OwnerBook::store(std::string_view path) noexcept {
  const Bytes size = chunk_for(path.size());
  if (size > 0) {
    void* pages = pages_.map(size);
    if (pages == nullptr) {
      return nullptr;
    }
    const auto header = static_cast<Bytes>(sizeof(Chunk));
    chunk_ = ::new (pages) Chunk{chunk_, size, header};
  }
  char* text = reinterpret_cast<char*>(chunk_) + chunk_->used;
  std::memcpy(text, path.data(), path.size());
  chunk_->used += static_cast<Bytes>(path.size());
  return text;
}

std::string_view OwnerBook::path_of(OwnerId owner) const noexcept {
  if (owner.value == 0 || owner.value >= count_) {
    return {};
  }
  const Owner& row = owners_[owner.value];
  return {row.text, row.length};
}

void OwnerBook::largest(std::span<OutOfMemory::Holder> holders) const noexcept {
  std::size_t filled = 0;
  const std::size_t rows = owners_.capacity() == 0 ? 0 : count_;
  for (std::size_t id = 0; id < rows; ++id) {
    for (std::size_t c = 0; c < owners_[id].live.size(); ++c) {
      const Bytes bytes = owners_[id].live[c];
      std::size_t at = filled;
      while (at > 0 && holders[at - 1].bytes < bytes) {
        --at;
      }
      if (bytes <= 0 || at == holders.size()) {
        continue;
      }
      filled = std::min(filled + 1, holders.size());
      std::copy_backward(
          holders.begin() + static_cast<std::ptrdiff_t>(at),
          holders.begin() + static_cast<std::ptrdiff_t>(filled) - 1,
          holders.begin() + static_cast<std::ptrdiff_t>(filled));
      holders[at] = {{}, static_cast<Category>(c), bytes};
      copy_path(path_of(OwnerId{static_cast<std::uint32_t>(id)}),
                holders[at].owner);
    }
  }
}

void copy_path(std::string_view path, std::array<char, 64>& to) noexcept {
  const std::size_t length = std::min(path.size(), to.size() - 1);
  std::copy_n(path.data(), length, to.begin());
  to[length] = '\0';
}

}  // namespace neap::memory
