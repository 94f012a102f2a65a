// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The two decoders behind read_image(). Each reads a file whose first piece is
// at hand into three channels. Of this room alone.
#pragma once

#include "neap/data/images/decoding.hpp"
#include "neap/data/images/image.hpp"

namespace neap::data::images {

/// libpng's, over heap and pieces of `decoding`. Failures, THROWS: as
/// read_image.
Result<Image> decode_png(Decoding& decoding, const ImageLimits& limits);
/// libjpeg's, all of whose memory but a constant is of the heap.
Result<Image> decode_jpeg(Decoding& decoding, const ImageLimits& limits);

/// The most rows and columns: about JPEG's own limit.
inline constexpr std::int64_t kMostSide = 65'535;

/// The header alone.
Result<ImageHeader> look_at_png(Decoding& decoding, const ImageLimits& limits);
Result<ImageHeader> look_at_jpeg(Decoding& decoding, const ImageLimits& limits);

/// The header of that size, with pixels, heap and the file's piece; or
/// kTooLarge.
Result<ImageHeader> make_header(Decoding& decoding, std::uint32_t height,
                                std::uint32_t width, Bytes heap,
                                const ImageLimits& limits);

/// Pixels for three channels of the size that a header states, or kTooLarge.
/// The failure comes out of decoding.failure(). THROWS: OutOfMemory.
Result<Image> make_image(Decoding& decoding, std::uint32_t height,
                         std::uint32_t width, const ImageLimits& limits);

/// The limit of the heap for an image of that size, without its pixels.
Bytes png_heap(std::int64_t width) noexcept;
/// `has_scans`: coefficients are kept until the last scan has come.
Bytes jpeg_heap(std::int64_t height, std::int64_t width,
                bool has_scans) noexcept;

}  // namespace neap::data::images
