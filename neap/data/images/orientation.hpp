// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// How a camera was held, by the EXIF segment of a JPEG file, and turning the
// pixels so that they stand upright, as PIL's ImageOps.exif_transpose does. Of
// this room alone.
#pragma once

#include <cstddef>
#include <span>

#include "neap/data/images/image.hpp"

namespace neap::data::images {

/// The orientation of pixels that stand upright as they are stored. Others are
/// 2 to 8, as EXIF 2.3 numbers them: those from 5 on exchange rows and columns.
inline constexpr int kUpright = 1;
inline constexpr int kFirstTransposed = 5;

/// Whether an APP1 segment that begins so is EXIF's.
bool is_exif(std::span<const std::byte> segment) noexcept;

/// The orientation that an APP1 segment's bytes state in their first directory;
/// kUpright where it is no EXIF, or says nothing that can be understood. The
/// offsets in it may be hostile: nothing outside of `segment` is read, in one
/// walk over the directory.
int orientation_of(std::span<const std::byte> segment) noexcept;

/// Turns a stored image upright; height and width are exchanged from
/// kFirstTransposed on, which takes a second array of pixels for a while.
/// THROWS: OutOfMemory; the image is then as it was.
void turn_upright(Image& image, int orientation);

}  // namespace neap::data::images
