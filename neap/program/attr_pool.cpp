// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/attr_pool.hpp"

#include <cstring>
#include <utility>

#include "neap/program/pool_bytes.hpp"

namespace neap::compiler {

// Things that the bytes stand for are counted once all that may throw is done.
AttrPool::AttrPool(const AttrPool& other)
    : units_(other.units_), kept_(other.kept_) {
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

std::uint32_t AttrPool::keep(const graph::Op* op, const graph::Attrs& attrs) {
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
  return pool_bytes(units_, kept_);
}

}  // namespace neap::compiler
