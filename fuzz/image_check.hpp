// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Shared by the targets that read images: an image has as many pixels as it
// says, the same ones whatever the pieces in which its file comes, and as many
// greys.
#pragma once

#include "memory_door.hpp"
#include "neap/data/images/image.hpp"
#include "neap/files/fault_door.hpp"
#include "target.hpp"

namespace neap::fuzz {

inline void check_image(std::string_view bytes) {
  MemoryDoor door(bytes);
  constexpr std::int64_t kMostPixels = std::int64_t{1} << 18U;
  const auto image = data::read_image(door, "in", {.pixels = kMostPixels});
  files::FaultDoor pieces(door, {.longest_read = 61});
  const auto again = data::read_image(pieces, "in", {.pixels = kMostPixels});
  expect(image.has_value() == again.has_value());
  if (!image) {
    expect(image.error().kind == again.error().kind);
    expect(image.error().message == again.error().message);
    return;
  }
  expect(image->height > 0 && image->width > 0 && image->channels == 3);
  const std::int64_t pixels = image->height * image->width;
  expect(pixels <= kMostPixels);
  expect(static_cast<std::int64_t>(image->pixels.size()) == 3 * pixels);
  expect(image->pixels == again->pixels);
  const auto grey =
      data::read_image(door, "in", {.channels = 1, .pixels = kMostPixels});
  expect(grey.has_value());
  expect(static_cast<std::int64_t>(grey->pixels.size()) == pixels);
}

}  // namespace neap::fuzz
