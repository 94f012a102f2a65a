// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/images/jitter.hpp"

#include <algorithm>

#include "neap/data/images/grey.hpp"

namespace neap::data::images {
namespace {

std::uint8_t moved(std::uint8_t value, int from, float factor) noexcept {
  constexpr float kMostValue = 255.0F;
  const float wanted =
      static_cast<float>(from) + factor * static_cast<float>(int{value} - from);
  return static_cast<std::uint8_t>(std::clamp(wanted, 0.0F, kMostValue));
}

int mean_of_greys(const Image& image) noexcept {
  const std::uint8_t* pixel = image.pixels.data();
  const std::int64_t count = image.height * image.width;
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < count; ++i, pixel += image.channels) {
    sum += image.channels == 1 ? *pixel : grey_of(pixel);
  }
  return count == 0 ? 0 : static_cast<int>((2 * sum + count) / (2 * count));
}

}  // namespace

void change_brightness(Image& image, float factor) noexcept {
  for (std::uint8_t& value : image.pixels) {
    value = moved(value, 0, factor);
  }
}

void change_contrast(Image& image, float factor) noexcept {
  const int mean = mean_of_greys(image);
  for (std::uint8_t& value : image.pixels) {
    value = moved(value, mean, factor);
  }
}

void change_saturation(Image& image, float factor) noexcept {
  if (image.channels == 1) {
    return;
  }
  for (std::size_t at = 0; at < image.pixels.size(); at += 3) {
    const int grey = grey_of(&image.pixels[at]);
    for (std::size_t channel = 0; channel < 3; ++channel) {
      image.pixels[at + channel] =
          moved(image.pixels[at + channel], grey, factor);
    }
  }
}

}  // namespace neap::data::images
