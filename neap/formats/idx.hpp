// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// IDX, the format of MNIST (http://yann.lecun.com/exdb/mnist), all numbers
// big-endian:
//
//   00 00 | type | rank | extent 0 | ... | extent rank-1 | elements, row-major
//     2      1      1      4         ...      4             bytes
//
// Types: 08 u8, 09 i8, 0B i16, 0C i32, 0D f32, 0E f64; i8 and i16 have no DType
// and are refused as unsupported. A file must hold what its header says,
// exactly; one that cannot is refused before any memory for it is allocated. A
// reader is used by one thread at a time.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "neap/base/api.hpp"
#include "neap/base/dtype.hpp"
#include "neap/base/result.hpp"
#include "neap/base/shape.hpp"
#include "neap/files/byte_source.hpp"
#include "neap/memory/containers.hpp"

namespace neap::formats {

struct IdxHeader {
  DType dtype = DType::kU8;
  Shape shape;           // rank 1 .. kMaxRank; extents may be 0
  Bytes data_bytes = 0;  // bytes of all elements
};

/// Reads the header and compares it with what the source still has. Failures:
/// kTruncated, kCorrupt (wrong magic, rank 0, bytes too many), kUnsupported
/// (i8, i16, rank above kMaxRank), kTooLarge (a size beyond 63 bits), and those
/// of the source.
[[nodiscard]] NEAP_API Result<IdxHeader> read_idx_header(
    files::ByteSource& source);

class NEAP_API IdxReader {
 public:
  /// Opens a file, plain or gzipped, and reads its header. Allocates one block
  /// of the current domain, at most about 80 KiB. THROWS: OutOfMemory.
  /// LIFETIME: `door` outlives the reader.
  [[nodiscard]] static Result<IdxReader> open(files::Door& door,
                                              const std::string& path);
  IdxReader(memory::Owned<files::ByteSource> source,
            const IdxHeader& header) noexcept
      : source_(std::move(source)), header_(header) {}

  const IdxHeader& header() const noexcept { return header_; }

  // All THROW: UseAfterRelease when moved from.

  /// Reads all elements, in the host's byte order, and finish()es.
  /// THROWS: ValueError unless `into` has header().data_bytes bytes.
  [[nodiscard]] Result<void> read_all(std::span<std::byte> into);

  /// Reads the next into.size() bytes of elements: a whole number of them, no
  /// more than are left. THROWS: ValueError otherwise.
  [[nodiscard]] Result<void> read_next(std::span<std::byte> into);
  /// Makes sure that the file ends here, its checksum included.
  /// THROWS: ValueError while elements are left.
  [[nodiscard]] Result<void> finish();

 private:
  files::ByteSource& source() const;

  memory::Owned<files::ByteSource> source_;
  IdxHeader header_;
  Bytes bytes_read_ = 0;  // bytes of elements that were read
};

/// Writes an IDX file atomically. THROWS: DTypeError for a dtype that IDX has
/// not (bf16, i64, bool); ShapeError for rank 0 or an extent beyond 32 bits;
/// ValueError unless `elements` is exactly what the shape needs.
[[nodiscard]] NEAP_API Result<void> write_idx(
    files::Door& door, const std::string& path, DType dtype, const Shape& shape,
    std::span<const std::byte> elements);

}  // namespace neap::formats
