// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// ScratchFile: a nameless file of a stated size in a folder, for values that
// leave memory for a while. Its space on the disk is taken, and written once,
// while it is created or grows: a full disk is a failure then and never later,
// and no later write meets a fresh part of the disk, which takes several times
// as long. (A file system that copies what is written over may be full later.)
//
// Transfers are direct where the system takes them, and go past its cache of
// pages. Elsewhere what is written goes to the disk at once, and its cached
// pages go with the piece after it: at most 4 MiB of them stay.
//
// All failures are values; nothing but a message is on the heap. One thread at
// a time may use it. LIFETIME: the Door outlives it.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "neap/base/api.hpp"
#include "neap/base/bytes.hpp"
#include "neap/base/result.hpp"
#include "neap/files/door.hpp"

namespace neap::files {

class NEAP_API ScratchFile {
 public:
  /// The most bytes that one call of the system moves.
  static constexpr Bytes kPieceBytes = 4 * kMiB;

  struct Options {
    bool may_be_direct = true;
  };

  /// Fails where the folder is missing, in memory, not writable, or without
  /// room on its disk.
  [[nodiscard]] static Result<ScratchFile> create(Door& door,
                                                  const std::string& folder,
                                                  Bytes size, Options options);
  [[nodiscard]] static Result<ScratchFile> create(Door& door,
                                                  const std::string& folder,
                                                  Bytes size) {
    return create(door, folder, size, {});
  }

  /// Sees to it that the file has `size` bytes; what it has stays as it is.
  /// After a failure it has its former size, and the disk its room back.
  [[nodiscard]] Result<void> grow(Bytes size);

  /// Moves the whole range. Fails where it goes beyond the file (kTooLarge), or
  /// where memory, offset or size are no multiples of alignment() (kMismatch).
  [[nodiscard]] Result<void> write_at(Bytes offset,
                                      std::span<const std::byte> from);
  /// The same; what was never written reads as anything.
  [[nodiscard]] Result<void> read_at(Bytes offset, std::span<std::byte> into);

  Bytes size() const noexcept { return size_; }
  bool is_direct() const noexcept { return is_direct_; }
  Bytes alignment() const noexcept { return is_direct_ ? kDirectAlignment : 1; }

 private:
  struct Range {
    Bytes offset = 0;
    Bytes bytes = 0;
  };

  ScratchFile(Door& door, Scratch opened) noexcept
      : door_(&door),
        file_(std::move(opened.file)),
        is_direct_(opened.is_direct) {}

  Result<void> check(Bytes offset, const std::byte* memory,
                     std::size_t bytes) const;
  Result<void> expect_room(Bytes bytes);
  Result<void> take(Bytes offset, Bytes bytes);
  // Calls move(done, most), which returns how many bytes it moved, until all
  // bytes are moved.
  template <class Move>
  Result<void> move_all(const char* verb, Bytes bytes, const Move& move);
  Result<Bytes> settled(Result<Bytes> count, Bytes offset);

  Door* door_;
  File file_;
  bool is_direct_;
  Bytes size_ = 0;
  Range unsettled_;  // buffered: written, and maybe not on the disk
};

/// Bytes that a scratch file moves in a second, as three pieces of four reach:
/// neither a pause of the disk nor its cache decides.
struct Rates {
  Bytes written = 0;  // a second
  Bytes read = 0;     // a second
};

/// Writes, then reads 16 pieces of piece.size() bytes at different places of
/// `file` (fewer where it is small), over whatever is there. 64 MiB with pieces
/// of 4 MiB. Fails as the transfers do, and where the file has no whole piece.
[[nodiscard]] NEAP_API Result<Rates> measure_rates(ScratchFile& file,
                                                   std::span<std::byte> piece);

}  // namespace neap::files
