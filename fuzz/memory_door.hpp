// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Files in memory: what a fuzz target reads and writes costs no system call.
// LIFETIME: the door outlives its files.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "neap/files/door.hpp"

namespace neap::fuzz {

class MemoryDoor final : public files::Door {
 public:
  /// Every path that is read shows these bytes, unless it was written.
  explicit MemoryDoor(std::string_view everywhere) : everywhere_(everywhere) {}

  Result<files::File> open_read(const std::string& path) override;
  Result<files::File> open_write(const std::string& path) override;
  Result<files::File> open_append(const std::string& path) override;
  Result<Bytes> read(files::File& file, std::span<std::byte> into) override;
  Result<Bytes> read_at(files::File& file, Bytes offset,
                        std::span<std::byte> into) override;
  Result<Bytes> write(files::File& file,
                      std::span<const std::byte> from) override;
  Result<void> sync(files::File& file) override;
  Result<Bytes> size(files::File& file) override;
  Result<void> set_mode(files::File& file, std::uint32_t mode) override;
  Result<void> close(files::File& file) override;
  void abandon(files::File& file) noexcept override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<void> remove(const std::string& path) override;
  Result<void> make_directory(const std::string& path) override;
  Result<void> sync_directory(const std::string& path) override;
  Result<bool> exists(const std::string& path) override;
  Result<files::PathFacts> inspect(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& directory) override;

 private:
  struct Open {
    std::string path;
    std::size_t at = 0;  // of the next read
  };
  files::File make(const std::string& path);
  const std::string& content(const files::File& file) const;

  std::string everywhere_;
  std::map<std::string, std::string> written_;
  std::vector<Open> open_;  // by handle
};

}  // namespace neap::fuzz
