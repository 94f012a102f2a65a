// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Gzip files (RFC 1952), by zlib: the bytes inside, member after member, with
// length and CRC of each checked; and a file of one member.
#pragma once

#include <array>
#include <cstddef>

#include "neap/base/api.hpp"
#include "neap/files/byte_sink.hpp"
#include "neap/files/byte_source.hpp"
#include "neap/memory/containers.hpp"

namespace neap::formats {

/// The first bytes of a gzip file.
inline constexpr std::array<std::byte, 2> kGzipMagic{std::byte{0x1f},
                                                     std::byte{0x8b}};

/// A source over a gzip file, at its start, of `size` bytes. zlib's memory and
/// the input buffer are part of it, about 80 KiB: one block of the current
/// domain (Category::kData) holds everything, and reading allocates nothing.
/// Failures of read(): kTruncated where the file ends within a member; kCorrupt
/// for damaged data, a wrong CRC or length, or bytes after the last member;
/// every further call then fails in the same way. remaining() is an upper
/// bound: deflate stores at most 1032 bytes in one. THROWS: OutOfMemory.
[[nodiscard]] NEAP_API memory::Owned<files::ByteSource> open_gzip(
    files::File file, Bytes size);

/// Compresses what it is given and passes it on.
class NEAP_API GzipSink : public files::ByteSink {
 public:
  /// The end of the file; nothing is written after it.
  [[nodiscard]] virtual Result<void> finish() = 0;
};

/// A gzip member without a name and a date: the same bytes and the same zlib
/// give the same file. All its memory is one block of the current domain, about
/// 320 KiB (Category::kData). LIFETIME: `to` outlives it. THROWS: OutOfMemory.
[[nodiscard]] NEAP_API memory::Owned<GzipSink> gzip_into(files::ByteSink& to);

}  // namespace neap::formats
