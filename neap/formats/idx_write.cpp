// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "neap/base/raise.hpp"
#include "neap/files/whole_file.hpp"
#include "neap/formats/idx.hpp"
#include "neap/formats/idx_layout.hpp"

namespace neap::formats {
namespace {

constexpr std::int64_t kLargestExtent =
    std::numeric_limits<std::uint32_t>::max();

// REQUIRES: what write_idx checks.
std::size_t put_header(DType dtype, const Shape& shape,
                       std::span<std::byte> into) noexcept {
  const auto* const code =
      std::find_if(kIdxCodes.begin(), kIdxCodes.end(),
                   [&](const IdxCode& known) { return known.dtype == dtype; });
  into[0] = into[1] = std::byte{0};
  into[2] = std::byte{code->code};
  into[3] = static_cast<std::byte>(shape.rank());
  std::size_t at = kIdxMagicBytes;
  for (const std::int64_t extent : shape) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      into[at++] = static_cast<std::byte>(extent >> shift & 0xFF);
    }
  }
  return at;
}

void check_writable(DType dtype, const Shape& shape,
                    std::span<const std::byte> elements) {
  if (std::none_of(
          kIdxCodes.begin(), kIdxCodes.end(),
          [&](const IdxCode& known) { return known.dtype == dtype; })) {
    base::raise<DTypeError>(
        "write_idx: IDX has no {}, expected u8, i32, f32 "
        "or f64",
        name_of(dtype));
  }
  const bool fits = std::all_of(shape.begin(), shape.end(), [](auto extent) {
    return extent >= 0 && extent <= kLargestExtent;
  });
  if (shape.rank() == 0 || !fits) {
    base::raise<ShapeError>(
        "write_idx: shape {}, expected at least one extent, each of 32 bits",
        format_shape(shape));
  }
  const Bytes needed = base::checked_mul(shape.element_count(), size_of(dtype));
  if (static_cast<Bytes>(elements.size()) != needed) {
    base::raise<ValueError>("write_idx: {} bytes given, shape {} of {} has {}",
                            elements.size(), format_shape(shape),
                            name_of(dtype), needed);
  }
}

Result<void> write_elements(files::File& file, int element_bytes,
                            std::span<const std::byte> elements) {
  std::array<std::byte, 8 * kKiB> buffer;
  while (!elements.empty()) {
    const std::size_t size = std::min(elements.size(), buffer.size());
    const std::span<std::byte> part(buffer.data(), size);
    std::memcpy(part.data(), elements.data(), size);
    reorder(part, element_bytes);
    if (auto written = files::write_all(file, part); !written) {
      return written;
    }
    elements = elements.subspan(size);
  }
  return {};
}

}  // namespace

Result<void> write_idx(files::Door& door, const std::string& path, DType dtype,
                       const Shape& shape,
                       std::span<const std::byte> elements) {
  check_writable(dtype, shape, elements);
  return files::write_atomically(door, path, [&](files::File& file) {
    std::array<std::byte, kIdxMagicBytes + kIdxExtentBytes * kMaxRank> header{};
    const std::size_t size = put_header(dtype, shape, header);
    return files::write_all(file, std::span(header).first(size)).and_then([&] {
      return write_elements(file, size_of(dtype), elements);
    });
  });
}

}  // namespace neap::formats
