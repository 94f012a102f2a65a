// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "memory_door.hpp"

#include <algorithm>

namespace neap::fuzz {

using files::File;

File MemoryDoor::make(const std::string& path) {
  open_.push_back({path, 0});
  return {*this, static_cast<int>(open_.size() - 1), path};
}

const std::string& MemoryDoor::content(const File& file) const {
  const auto found =
      written_.find(open_[static_cast<std::size_t>(file.handle())].path);
  return found != written_.end() ? found->second : everywhere_;
}

Result<File> MemoryDoor::open_read(const std::string& path) {
  return make(path);
}

Result<File> MemoryDoor::open_write(const std::string& path) {
  written_[path].clear();
  return make(path);
}

Result<File> MemoryDoor::open_append(const std::string& path) {
  written_.try_emplace(path);
  return make(path);
}

Result<Bytes> MemoryDoor::read(File& file, std::span<std::byte> into) {
  std::size_t& at = open_[static_cast<std::size_t>(file.handle())].at;
  return read_at(file, static_cast<Bytes>(at), into).map([&](Bytes count) {
    at += static_cast<std::size_t>(count);
    return count;
  });
}

Result<Bytes> MemoryDoor::read_at(File& file, Bytes offset,
                                  std::span<std::byte> into) {
  const std::string& bytes = content(file);
  const std::size_t from =
      std::min(static_cast<std::size_t>(offset), bytes.size());
  const std::size_t count = std::min(into.size(), bytes.size() - from);
  std::copy_n(bytes.data() + from, count, reinterpret_cast<char*>(into.data()));
  return static_cast<Bytes>(count);
}

Result<Bytes> MemoryDoor::write(File& file, std::span<const std::byte> from) {
  written_[open_[static_cast<std::size_t>(file.handle())].path].append(
      reinterpret_cast<const char*>(from.data()), from.size());
  return static_cast<Bytes>(from.size());
}

Result<void> MemoryDoor::sync(File& /*file*/) {
  return {};
}

Result<Bytes> MemoryDoor::size(File& file) {
  return static_cast<Bytes>(content(file).size());
}

Result<void> MemoryDoor::set_mode(File& /*file*/, std::uint32_t /*mode*/) {
  return {};
}

Result<void> MemoryDoor::close(File& file) {
  file.forget();
  return {};
}

void MemoryDoor::abandon(File& /*file*/) noexcept {}

Result<void> MemoryDoor::rename(const std::string& from,
                                const std::string& to) {
  written_[to] = std::move(written_[from]);
  written_.erase(from);
  return {};
}

Result<void> MemoryDoor::remove(const std::string& path) {
  written_.erase(path);
  return {};
}

Result<void> MemoryDoor::make_directory(const std::string& /*path*/) {
  return {};
}

Result<void> MemoryDoor::sync_directory(const std::string& /*path*/) {
  return {};
}

Result<bool> MemoryDoor::exists(const std::string& /*path*/) {
  return true;
}

Result<files::PathFacts> MemoryDoor::inspect(const std::string& path) {
  return files::PathFacts{.kind = files::PathKind::kNothing, .target = path};
}

Result<std::vector<std::string>> MemoryDoor::list(
    const std::string& /*directory*/) {
  return std::vector<std::string>();
}

}  // namespace neap::fuzz
