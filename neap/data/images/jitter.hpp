// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Changes of an image's colours, to the byte what PIL's ImageEnhance gives (and
// so torchvision's ColorJitter of a PIL image). Each takes a pixel x away from,
// or towards, a pixel d of an image without what it is about:
//
//   d + f (x - d), in f32, kept in [0, 255] and rounded down
//
// where d is 0 for brightness; for contrast the mean of all greys, rounded to
// the nearest integer; for saturation the pixel's own grey. A factor f of 1
// changes nothing, 0 leaves d. A change of hue goes through PIL's HSV, in eight
// bits each. Of this room alone.
#pragma once

#include "neap/data/images/image.hpp"

namespace neap::data::images {

void change_brightness(Image& image, float factor) noexcept;
void change_contrast(Image& image, float factor) noexcept;
/// Grey images stay as they are.
void change_saturation(Image& image, float factor) noexcept;
/// Turns hues by `shift`, in 1/255 of the circle, to the byte as torchvision's
/// adjust_hue of a PIL image; a shift of 0 rounds colours to HSV and back. Grey
/// images stay as they are.
void change_hue(Image& image, int shift) noexcept;

}  // namespace neap::data::images
