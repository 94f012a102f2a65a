// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// ByteSource: bytes in order, from any origin (a plain file here; a compressed
// one in formats/). One thread at a time.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "neap/base/api.hpp"
#include "neap/base/bytes.hpp"
#include "neap/base/result.hpp"
#include "neap/files/door.hpp"

namespace neap::files {

/// The number of bytes that a source still has: known before any is read, so
/// that a header with a wrong size is refused before memory is allocated.
struct Remaining {
  Bytes at_most = 0;
  bool is_exact = false;
};

class NEAP_API ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource();

  /// May be short; 0 at the end only (or for an empty span).
  [[nodiscard]] virtual Result<Bytes> read(std::span<std::byte> into) = 0;
  virtual Remaining remaining() const noexcept = 0;
  /// The name for messages.
  virtual std::string_view name() const noexcept = 0;
};

/// The bytes of a file from its current position, which is its start.
class NEAP_API PlainSource final : public ByteSource {
 public:
  /// `size` as file.size() says.
  PlainSource(File file, Bytes size) noexcept
      : file_(std::move(file)), left_(size) {}
  Result<Bytes> read(std::span<std::byte> into) override;
  Remaining remaining() const noexcept override { return {left_, true}; }
  std::string_view name() const noexcept override { return file_.name(); }

 private:
  File file_;
  Bytes left_;  // bytes left by the size at the start; never below 0
};

/// Reads until `into` is full or the source ends; returns how much it read.
[[nodiscard]] NEAP_API Result<Bytes> read_full(ByteSource& source,
                                               std::span<std::byte> into);

}  // namespace neap::files
