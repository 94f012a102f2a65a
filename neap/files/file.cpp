// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/files/file.hpp"

#include "neap/base/error.hpp"
#include "neap/base/shown.hpp"
#include "neap/files/door.hpp"

namespace neap::files {
namespace {

Door& open_door(Door* door) {
  if (door == nullptr) {
    throw ValueError("file: used after it was closed or moved from");
  }
  return *door;
}

}  // namespace

File::File(Door& door, int handle, std::string_view path) noexcept
    : door_(&door), handle_(handle) {
  base::show_path(path, name_);
}

File::~File() {
  if (door_ != nullptr) {
    door_->abandon(*this);
  }
}

Result<Bytes> File::read(std::span<std::byte> into) {
  return open_door(door_).read(*this, into);
}

Result<Bytes> File::read_at(Bytes offset, std::span<std::byte> into) {
  return open_door(door_).read_at(*this, offset, into);
}

Result<Bytes> File::write(std::span<const std::byte> from) {
  return open_door(door_).write(*this, from);
}

Result<void> File::sync() {
  return open_door(door_).sync(*this);
}

Result<Bytes> File::size() {
  return open_door(door_).size(*this);
}

Result<void> File::close() {
  auto result = open_door(door_).close(*this);
  if (door_ != nullptr) {
    door_->abandon(*this);
    forget();
  }
  return result;
}

}  // namespace neap::files
