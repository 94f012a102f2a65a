// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/images/jitter.hpp"

#include <algorithm>
#include <array>
#include <cmath>

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

// Hue, saturation and value in eight bits, the hue in 1/255 of the circle.
struct Hsv {
  std::uint8_t hue = 0;
  std::uint8_t saturation = 0;
  std::uint8_t value = 0;
};

constexpr double kFull = 255.0;
constexpr int kSectors = 6;  // of the circle of hues, from red to red

// PIL's rgb2hsv_row, with its roundings: f32 where that has f32.
Hsv hsv_of(const std::uint8_t* rgb) noexcept {
  const int r = rgb[0];
  const int g = rgb[1];
  const int b = rgb[2];
  const int most = std::max({r, g, b});
  const int range = most - std::min({r, g, b});
  if (range == 0) {
    return {0, 0, static_cast<std::uint8_t>(most)};
  }
  const auto width = static_cast<float>(range);
  const auto below = [&](int channel) {
    return static_cast<float>(most - channel) / width;
  };
  float hue = 0.0F;
  if (r == most) {
    hue = below(b) - below(g);
  } else if (g == most) {
    hue = static_cast<float>(2.0 + below(r) - below(b));
  } else {
    hue = static_cast<float>(4.0 + below(g) - below(r));
  }
  hue = static_cast<float>(std::fmod(hue / double{kSectors} + 1.0, 1.0));
  const float saturation = width / static_cast<float>(most);
  return {static_cast<std::uint8_t>(hue * kFull),
          static_cast<std::uint8_t>(saturation * kFull),
          static_cast<std::uint8_t>(most)};
}

// PIL's hsv2rgb: `value`, less by the saturation for other sectors' colours.
void put_rgb(const Hsv& hsv, std::uint8_t* rgb) noexcept {
  const double along = static_cast<double>(hsv.hue) * kSectors / kFull;
  const int sector = static_cast<int>(along);
  const double part = static_cast<float>(along - sector);
  const double saturation =
      static_cast<float>(hsv.saturation) / static_cast<float>(kFull);
  const auto less = [&](double share) {
    return static_cast<std::uint8_t>(std::round(hsv.value * (1.0 - share)));
  };
  const std::uint8_t v = hsv.value;
  const std::uint8_t p = less(saturation);
  const std::uint8_t q = less(static_cast<float>(saturation * part));
  const std::uint8_t t = less(saturation * (1.0 - part));
  const std::array<std::array<std::uint8_t, 3>, kSectors> colours = {
      {{v, t, p}, {q, v, p}, {p, v, t}, {p, q, v}, {t, p, v}, {v, p, q}}};
  const auto& colour = colours[static_cast<std::size_t>(sector % kSectors)];
  std::copy(colour.begin(), colour.end(), rgb);
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

void change_hue(Image& image, int shift) noexcept {
  if (image.channels == 1) {
    return;
  }
  for (std::size_t at = 0; at < image.pixels.size(); at += 3) {
    Hsv hsv = hsv_of(&image.pixels[at]);
    hsv.hue = static_cast<std::uint8_t>(hsv.hue + shift);  // modulo 256, as PIL
    put_rgb(hsv, &image.pixels[at]);
  }
}

}  // namespace neap::data::images
