// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Image: the pixels of one picture, read from a PNG or a JPEG file. The content
// of a file says which of the two it is, not its name.
//
// Nothing that a file says is believed: a header that announces more pixels
// than the limits allow is refused before memory for them is taken, and what
// the decoders take besides is of the current domain and bounded by the size
// that the header states. A file that is cut off, or that its decoder finds to
// be damaged, is refused as a whole, rather than shown with invented pixels. A
// JPEG has no checksum: most changed bits in it give other pixels.
#pragma once

#include <cstdint>
#include <string>

#include "neap/base/result.hpp"
#include "neap/files/byte_source.hpp"
#include "neap/files/door.hpp"
#include "neap/memory/containers.hpp"

namespace neap::data {

/// Dense pixels (height, width, channels), 0 to 255, in the current domain
/// (category data). Three channels are red, green and blue; one is grey.
struct Image {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  memory::Vector<std::uint8_t> pixels{
      memory::Allocator<std::uint8_t>(memory::Category::kData)};
};

struct ImageLimits {
  std::int64_t channels = 3;  // of what is read: 3, or 1 for grey
  /// A file with more pixels, height times width, is refused, and so is one
  /// with more than 65535 rows or columns.
  std::int64_t pixels = std::int64_t{1} << 26U;
  /// A JPEG that says in its EXIF how the camera was held comes out upright, as
  /// PIL's ImageOps.exif_transpose makes it; false: as it is stored, as
  /// torchvision's ImageFolder does.
  bool turns_upright = true;
};

/// THROWS: ValueError unless channels is 1 or 3 and pixels in [1, 2^40].
NEAP_API void check_limits(const ImageLimits& limits);

/// The most bytes that reading one image takes at once: three a pixel for the
/// image, for a progressive JPEG eight more for its coefficients, and what does
/// not grow with the limit (about 50 MB, for sides of 65535).
NEAP_API Bytes most_bytes_of_image(const ImageLimits& limits);

/// The size of the image that a file's header announces, upright, and the most
/// bytes that read_image takes at once for this file.
struct ImageHeader {
  std::int64_t height = 0;
  std::int64_t width = 0;
  Bytes most_bytes = 0;
};

/// Reads as much of a PNG or a JPEG as says its size. Failures, THROWS: as
/// read_image, of that part.
[[nodiscard]] NEAP_API Result<ImageHeader> read_image_header(
    files::Door& door, const std::string& path, const ImageLimits& limits = {});

/// Reads a PNG or a JPEG. 16 bits a channel are rounded to 8; palettes and less
/// than 8 bits are expanded; alpha is dropped, not blended; CMYK is taken as
/// Adobe writes it, inverted, and becomes c k / 255; gamma and colour profiles
/// are not looked at. The orientation of a JPEG's EXIF (the first APP1 segment
/// of that name) is followed, see ImageLimits, and ignored where it is damaged;
/// a PNG's is not looked at. Grey of a coloured file is
/// (19595 r + 38470 g + 7471 b + 32768) / 65536, rounded down.
/// Failures: kUnsupported for another format, and for lossless, 12-bit or
/// uncommon JPEGs; kTooLarge beyond the limits; kTruncated, kCorrupt;
/// file-system failures. THROWS: OutOfMemory; as check_limits.
[[nodiscard]] NEAP_API Result<Image> read_image(files::ByteSource& source,
                                                const ImageLimits& limits = {});
[[nodiscard]] NEAP_API Result<Image> read_image(files::Door& door,
                                                const std::string& path,
                                                const ImageLimits& limits = {});

}  // namespace neap::data
