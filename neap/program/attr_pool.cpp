// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/attr_pool.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "neap/program/interned.hpp"
#include "neap/program/pool_bytes.hpp"

namespace neap::compiler {

// Things that the bytes stand for are counted once all that may throw is done.
AttrPool::AttrPool(const AttrPool& other)
    : units_(other.units_),
      kept_(other.kept_),
      shared_(other.shared_),
      shared_count_(other.shared_count_) {
  for (const Kept& kept : kept_) {
    kept.op->acquire();
    if (kept.op->copy_attrs != nullptr) {
      kept.op->copy_attrs(at(kept.offset), other.at(kept.offset));
    }
  }
}

AttrPool& AttrPool::operator=(AttrPool&& other) noexcept {
  if (this != &other) {
    let_go();
    units_ = std::move(other.units_);
    kept_ = std::move(other.kept_);
    shared_ = std::move(other.shared_);
    shared_count_ = std::exchange(other.shared_count_, 0);
  }
  return *this;
}

void AttrPool::let_go() noexcept {
  for (const Kept& kept : kept_) {
    kept.op->let_go_attrs(at(kept.offset));
    kept.op->release();
  }
  kept_.clear();
}

bool AttrPool::may_share(const graph::Op* op, const graph::Attrs& attrs) {
  return op != nullptr && attrs.size() != 0 && op->count == nullptr &&
         op->copy_attrs == nullptr && op->drop_attrs == nullptr &&
         op->facts.effect != graph::Effect::kRandom && op->facts.draw_at < 0;
}

std::size_t AttrPool::place_of(const void* data,
                               std::uint32_t size) const noexcept {
  WordHash hash;
  const auto* bytes = static_cast<const std::uint8_t*>(data);
  for (std::uint32_t i = 0; i < size; ++i) {
    hash.add(bytes[i]);
  }
  const std::size_t mask = shared_.size() - 1;
  std::size_t place = hash.value() & mask;
  while (shared_[place].size != 0 &&
         (shared_[place].size != size ||
          std::memcmp(at(shared_[place].offset), data, size) != 0)) {
    place = (place + 1) & mask;
  }
  return place;
}

std::uint32_t AttrPool::share(const graph::Attrs& attrs) {
  if (2 * (std::size_t{shared_count_} + 1) > shared_.size()) {
    memory::Vector<Shared> old(std::max(std::size_t{16}, shared_.size() * 2),
                               Shared{0, 0}, shared_.get_allocator());
    old.swap(shared_);
    for (const Shared& one : old) {
      if (one.size != 0) {
        shared_[place_of(at(one.offset), one.size)] = one;
      }
    }
  }
  Shared& place = shared_[place_of(attrs.data(), attrs.size())];
  if (place.size == 0) {
    place.offset = append(nullptr, attrs);
    place.size = attrs.size();
    ++shared_count_;
  }
  return place.offset;
}

std::uint32_t AttrPool::keep(const graph::Op* op, const graph::Attrs& attrs) {
  return may_share(op, attrs) ? share(attrs) : append(op, attrs);
}

std::uint32_t AttrPool::append(const graph::Op* op, const graph::Attrs& attrs) {
  const std::size_t offset = units_.size();
  const std::size_t units = (attrs.size() + sizeof(Unit) - 1) / sizeof(Unit);
  const bool counts =
      op != nullptr && (op->count != nullptr || op->drop_attrs != nullptr);
  if (counts) {
    kept_.reserve(kept_.size() + 1);
  }
  units_.resize(offset + units);
  const auto place = static_cast<std::uint32_t>(offset);
  if (op != nullptr) {
    op->keep_attrs(at(place), attrs);
  } else if (attrs.size() != 0) {
    std::memcpy(at(place), attrs.data(), attrs.size());
  }
  if (counts) {
    op->acquire();
    kept_.push_back({op, place});
  }
  return place;
}

Bytes AttrPool::bytes() const noexcept {
  return pool_bytes(units_, kept_, shared_);
}

}  // namespace neap::compiler
