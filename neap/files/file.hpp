// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// File: an open file of some Door, owned by this handle. A handle holds a
// number and a name for messages; it uses no heap. One thread at a time may use
// it. LIFETIME: the Door outlives its files.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "neap/base/api.hpp"
#include "neap/base/bytes.hpp"
#include "neap/base/result.hpp"

namespace neap::files {

class Door;

class NEAP_API File {
 public:
  File() = default;
  /// Takes over `handle`, which `door` understands; called by a Door.
  File(Door& door, int handle, std::string_view path) noexcept;
  File(File&& other) noexcept
      : door_(std::exchange(other.door_, nullptr)),
        handle_(other.handle_),
        name_(other.name_) {}
  File& operator=(File&& other) noexcept {
    std::swap(door_, other.door_);
    std::swap(handle_, other.handle_);
    std::swap(name_, other.name_);
    return *this;
  }
  /// Closes the file without syncing it; use close() to learn of errors.
  ~File();

  /// Reads at the current position; may be short, 0 at the end.
  [[nodiscard]] Result<Bytes> read(std::span<std::byte> into);
  /// The same from `offset` on; the current position stays.
  [[nodiscard]] Result<Bytes> read_at(Bytes offset, std::span<std::byte> into);
  /// Writes at the current position; may be short, never 0 but for an empty
  /// span.
  [[nodiscard]] Result<Bytes> write(std::span<const std::byte> from);
  /// Returns when what was written will survive a loss of power.
  [[nodiscard]] Result<void> sync();
  [[nodiscard]] Result<Bytes> size();
  /// The handle is empty afterwards, whatever the result.
  [[nodiscard]] Result<void> close();

  bool is_open() const noexcept { return door_ != nullptr; }
  /// The path for messages: escaped, its head cut off where it is long.
  std::string_view name() const noexcept { return name_.data(); }

  // The handle, for a Door.
  int handle() const noexcept { return handle_; }
  /// Lets a Door that wraps another take part in the file's calls.
  void set_door(Door& door) noexcept { door_ = &door; }
  /// Empties the handle without closing the file.
  void forget() noexcept { door_ = nullptr; }

 private:
  static constexpr std::size_t kNameCapacity = 112;  // bytes, the NUL included
  Door* door_ = nullptr;
  int handle_ = -1;
  std::array<char, kNameCapacity> name_{};
};

}  // namespace neap::files
