// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Resizing of images: bilinear, with antialiasing, to the byte what the
// BILINEAR of PIL gives (and so torchvision's Resize of a PIL image), in
// versions up to 12; from 13 on PIL resizes columns first where that is less
// work, and may round by one step in another way.
//
// In one direction, from n pixels to m: with s = n / m and r = max(s, 1), pixel
// j of the result is the mean of the pixels i weighed by
//
//   w(i) = max(0, 1 - |i + 1/2 - (j + 1/2) s| / r)
//
// over those whose middle is about less than r from (j + 1/2) s: i in
// [(j + 1/2) s - r + 1/2, (j + 1/2) s + r + 1/2), both rounded down and kept in
// the image. Weights are rounded to 22 bits behind the point, sums to the
// nearest integer. Rows are resized first, into bytes, then columns.
#pragma once

#include <cstdint>

#include "neap/data/images/image.hpp"

namespace neap::data {

/// Rows [top, top + height) and columns [left, left + width).
struct ImageBox {
  std::int64_t top = 0;
  std::int64_t left = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  friend bool operator==(const ImageBox&, const ImageBox&) = default;
};

/// The part `from` of an image, which nothing outside of it touches, resized to
/// (height, width); of that the part `window` alone is computed, and comes out.
/// THROWS: OutOfMemory; ValueError unless both boxes have pixels and lie in
/// their images, height and width are at most 2^31, and the window's pixels
/// 2^40.
[[nodiscard]] NEAP_API Image resize_image(const Image& image,
                                          const ImageBox& from,
                                          std::int64_t height,
                                          std::int64_t width,
                                          const ImageBox& window);
/// The whole image, resized to (height, width). THROWS: the same.
[[nodiscard]] NEAP_API Image resize_image(const Image& image,
                                          std::int64_t height,
                                          std::int64_t width);

}  // namespace neap::data
