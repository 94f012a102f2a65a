// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Checks of the constructors of models for images. For sources of this room.
#pragma once

#include <cstdint>
#include <string_view>

#include "neap/base/shape.hpp"

namespace neap::models {

/// THROWS: ShapeError unless `image` is (channels, height, width), with a
/// channel and sides of at least `least`.
void check_images(std::string_view model, const Shape& image,
                  std::int64_t least);

/// THROWS: ValueError unless in [0, 1).
void check_probability(std::string_view model, double dropout);

}  // namespace neap::models
