// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// ForwardingDoor: a door in front of another that does all that the other does.
// A test overrides what is to be otherwise.
// LIFETIME: the inner door and this one outlive the files opened through it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "neap/files/door.hpp"

namespace neap::files {

class ForwardingDoor : public Door {
 public:
  explicit ForwardingDoor(Door& inner) noexcept : inner_(inner) {}

  Result<File> open_read(const std::string& path) override {
    return adopt(inner_.open_read(path));
  }
  Result<File> open_write(const std::string& path) override {
    return adopt(inner_.open_write(path));
  }
  Result<File> open_append(const std::string& path) override {
    return adopt(inner_.open_append(path));
  }
  Result<Bytes> read(File& file, std::span<std::byte> into) override {
    return inner_.read(file, into);
  }
  Result<Bytes> read_at(File& file, Bytes offset,
                        std::span<std::byte> into) override {
    return inner_.read_at(file, offset, into);
  }
  Result<Bytes> write(File& file, std::span<const std::byte> from) override {
    return inner_.write(file, from);
  }
  Result<Scratch> open_scratch(const std::string& folder,
                               bool may_be_direct) override {
    auto scratch = inner_.open_scratch(folder, may_be_direct);
    if (scratch) {
      scratch->file.set_door(*this);
    }
    return scratch;
  }
  Result<Bytes> write_at(File& file, Bytes offset,
                         std::span<const std::byte> from) override {
    return inner_.write_at(file, offset, from);
  }
  Result<Bytes> fill_at(File& file, Bytes offset, Bytes bytes) override {
    return inner_.fill_at(file, offset, bytes);
  }
  Result<void> preallocate(File& file, Bytes offset, Bytes bytes) override {
    return inner_.preallocate(file, offset, bytes);
  }
  Result<void> truncate(File& file, Bytes bytes) override {
    return inner_.truncate(file, bytes);
  }
  Result<void> begin_writeback(File& file, Bytes offset, Bytes bytes) override {
    return inner_.begin_writeback(file, offset, bytes);
  }
  Result<void> drop_cached(File& file, Bytes offset, Bytes bytes) override {
    return inner_.drop_cached(file, offset, bytes);
  }
  Result<Bytes> free_bytes(File& file) override {
    return inner_.free_bytes(file);
  }
  Result<void> sync(File& file) override { return inner_.sync(file); }
  Result<Bytes> size(File& file) override { return inner_.size(file); }
  Result<void> set_mode(File& file, std::uint32_t mode) override {
    return inner_.set_mode(file, mode);
  }
  Result<void> close(File& file) override { return inner_.close(file); }
  void abandon(File& file) noexcept override { inner_.abandon(file); }
  Result<void> rename(const std::string& from, const std::string& to) override {
    return inner_.rename(from, to);
  }
  Result<void> remove(const std::string& path) override {
    return inner_.remove(path);
  }
  Result<void> make_directory(const std::string& path) override {
    return inner_.make_directory(path);
  }
  Result<void> sync_directory(const std::string& path) override {
    return inner_.sync_directory(path);
  }
  Result<bool> exists(const std::string& path) override {
    return inner_.exists(path);
  }
  Result<PathFacts> inspect(const std::string& path) override {
    return inner_.inspect(path);
  }
  Result<std::vector<std::string>> list(const std::string& folder) override {
    return inner_.list(folder);
  }

 private:
  Result<File> adopt(Result<File> file) noexcept {
    if (file) {
      file->set_door(*this);
    }
    return file;
  }

  Door& inner_;
};

}  // namespace neap::files
