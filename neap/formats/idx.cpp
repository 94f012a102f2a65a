// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/formats/idx.hpp"

#include <fmt/format.h>

#include <array>

#include "neap/base/raise.hpp"
#include "neap/formats/idx_layout.hpp"
#include "neap/formats/source.hpp"

namespace neap::formats {
namespace {

using files::ByteSource;

constexpr std::uint8_t kCodeI8 = 0x09;
constexpr std::uint8_t kCodeI16 = 0x0B;
template <class... Args>
tl::unexpected<Failure> refuse(FailureKind kind, const ByteSource& source,
                               fmt::format_string<Args...> format,
                               Args&&... args) {
  return failure(kind,
                 fmt::format("{}: {}", source.name(),
                             fmt::format(format, std::forward<Args>(args)...)));
}

std::uint32_t big_endian(const std::byte* bytes) noexcept {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < kIdxExtentBytes; ++i) {
    value = value << 8U | std::to_integer<std::uint32_t>(bytes[i]);
  }
  return value;
}

Result<void> fill_header(ByteSource& source, std::span<std::byte> part) {
  return files::read_full(source, part)
      .and_then([&](Bytes found) -> Result<void> {
        if (found == static_cast<Bytes>(part.size())) {
          return {};
        }
        return refuse(FailureKind::kTruncated, source,
                      "the file ends within its IDX header; fetch it again");
      });
}

Result<DType> dtype_of_code(const ByteSource& source, std::uint8_t code) {
  for (const IdxCode& known : kIdxCodes) {
    if (known.code == code) {
      return known.dtype;
    }
  }
  if (code == kCodeI8 || code == kCodeI16) {
    return refuse(FailureKind::kUnsupported, source,
                  "IDX elements of type {} are not read; convert them to u8 or "
                  "i32",
                  code == kCodeI8 ? "i8" : "i16");
  }
  return refuse(FailureKind::kCorrupt, source,
                "IDX element type 0x{:02X} does not exist; give an IDX file",
                code);
}

// The first four bytes: dtype, and as many extents of 0 as the rank says.
Result<IdxHeader> read_magic(ByteSource& source) {
  std::array<std::byte, kIdxMagicBytes> magic{};
  if (auto read = fill_header(source, magic); !read) {
    return tl::make_unexpected(std::move(read.error()));
  }
  const auto byte = [&](std::size_t i) {
    return std::to_integer<std::uint8_t>(magic[i]);
  };
  if (byte(0) != 0 || byte(1) != 0) {
    return refuse(FailureKind::kCorrupt, source,
                  "begins with {:02X} {:02X}, an IDX file with 00 00; give an "
                  "IDX file",
                  byte(0), byte(1));
  }
  const int rank = byte(3);
  return dtype_of_code(source, byte(2))
      .and_then([&](DType dtype) -> Result<IdxHeader> {
        if (rank == 0) {
          return refuse(FailureKind::kCorrupt, source,
                        "the IDX header has no dimensions; fetch it again");
        }
        if (rank > kMaxRank) {
          return refuse(FailureKind::kUnsupported, source,
                        "the IDX header has {} dimensions, at most {} are read",
                        rank, kMaxRank);
        }
        return IdxHeader{dtype, Shape::filled(rank, 0), 0};
      });
}

// False where the product does not fit.
bool set_data_bytes(IdxHeader& header) noexcept {
  header.data_bytes = size_of(header.dtype);
  bool fits = true;
  bool is_empty = false;
  for (const std::int64_t extent : header.shape) {
    is_empty |= extent == 0;
    fits &=
        !__builtin_mul_overflow(header.data_bytes, extent, &header.data_bytes);
  }
  header.data_bytes = is_empty ? 0 : header.data_bytes;
  return fits || is_empty;
}

// Before anybody asks for memory: can the source hold what is announced?
Result<void> check_against_source(const ByteSource& source,
                                  const IdxHeader& header) {
  const auto [at_most, is_exact] = source.remaining();
  if (header.data_bytes > at_most) {
    return refuse(FailureKind::kTruncated, source,
                  "the IDX header {} announces {} bytes of data, {} {}; fetch "
                  "the file again",
                  format_shape(header.shape), header.data_bytes,
                  is_exact ? "found" : "compressed it can hold at most",
                  at_most);
  }
  if (is_exact && header.data_bytes < at_most) {
    return refuse(FailureKind::kCorrupt, source,
                  "has {} bytes beyond the {} that its IDX header {} announces",
                  at_most - header.data_bytes, header.data_bytes,
                  format_shape(header.shape));
  }
  return {};
}

}  // namespace

Result<IdxHeader> read_idx_header(ByteSource& source) {
  auto header = read_magic(source);
  if (!header) {
    return header;
  }
  std::array<std::byte, kIdxExtentBytes * kMaxRank> extents{};
  const auto size =
      kIdxExtentBytes * static_cast<std::size_t>(header->shape.rank());
  if (auto read = fill_header(source, std::span(extents).first(size)); !read) {
    return tl::make_unexpected(std::move(read.error()));
  }
  for (int axis = 0; axis < header->shape.rank(); ++axis) {
    header->shape[axis] =
        big_endian(&extents[kIdxExtentBytes * static_cast<std::size_t>(axis)]);
  }
  if (!set_data_bytes(*header)) {
    return refuse(
        FailureKind::kTooLarge, source,
        "the IDX header announces a shape {} beyond any memory; fetch "
        "the file again",
        format_shape(header->shape));
  }
  return check_against_source(source, *header).map([&] { return *header; });
}

Result<IdxReader> IdxReader::open(files::Door& door, const std::string& path) {
  return open_source(door, path)
      .and_then([](memory::Owned<ByteSource>&& source) {
        return read_idx_header(*source).map([&](const IdxHeader& header) {
          return IdxReader(std::move(source), header);
        });
      });
}

ByteSource& IdxReader::source() const {
  if (source_ == nullptr) {
    base::raise<UseAfterRelease>("idx: reader used after it was moved from");
  }
  return *source_;
}

Result<void> IdxReader::read_next(std::span<std::byte> into) {
  ByteSource& from = source();
  const auto size = static_cast<Bytes>(into.size());
  const Bytes left = header_.data_bytes - bytes_read_;
  if (size > left || size % size_of(header_.dtype) != 0) {
    base::raise<ValueError>(
        "idx: {} bytes asked for, expected at most {} and a whole number of {}",
        size, left, name_of(header_.dtype));
  }
  return files::read_full(from, into)
      .and_then([&](Bytes found) -> Result<void> {
        bytes_read_ += found;
        if (found < size) {
          return refuse(FailureKind::kTruncated, from,
                        "ends early: its IDX header {} announces {} bytes of "
                        "data, found {}; fetch the file again",
                        format_shape(header_.shape), header_.data_bytes,
                        bytes_read_);
        }
        reorder(into, size_of(header_.dtype));
        return {};
      });
}

Result<void> IdxReader::finish() {
  ByteSource& from = source();
  if (bytes_read_ != header_.data_bytes) {
    base::raise<ValueError>("idx: finish after {} of {} bytes", bytes_read_,
                            header_.data_bytes);
  }
  std::array<std::byte, 1> beyond{};
  return from.read(beyond).and_then([&](Bytes found) -> Result<void> {
    if (found == 0) {
      return {};
    }
    return refuse(FailureKind::kCorrupt, from,
                  "has bytes beyond the {} that its IDX header {} announces",
                  header_.data_bytes, format_shape(header_.shape));
  });
}

Result<void> IdxReader::read_all(std::span<std::byte> into) {
  if (static_cast<Bytes>(into.size()) != header_.data_bytes) {
    base::raise<ValueError>("idx: room for {} bytes, expected {}", into.size(),
                            header_.data_bytes);
  }
  return read_next(into).and_then([&] { return finish(); });
}

}  // namespace neap::formats
