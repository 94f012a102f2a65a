// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/images/resize.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "neap/base/raise.hpp"

namespace neap::data {
namespace {

constexpr unsigned kBits = 22;  // of a weight, behind the point
constexpr std::int64_t kMostSide = std::int64_t{1} << 31U;
constexpr std::int64_t kMostPixels = std::int64_t{1} << 40U;

struct Tap {
  std::int64_t first = 0;  // pixel of the part that is resized
  std::size_t count = 0;
  std::size_t weights = 0;  // index of the first weight
};

// One tap for each pixel of a window of the result, in one direction.
struct Taps {
  memory::Vector<Tap> taps{memory::Allocator<Tap>(memory::Category::kData)};
  memory::Vector<std::int32_t> weights{
      memory::Allocator<std::int32_t>(memory::Category::kData)};

  // Pixels that the window needs: [first, end).
  std::int64_t first() const { return taps.front().first; }
  std::int64_t end() const {
    return taps.back().first + static_cast<std::int64_t>(taps.back().count);
  }
};

std::int64_t nearest(double value) noexcept {
  return static_cast<std::int64_t>(std::floor(value + 0.5));
}

void add_tap(std::int64_t pixels, double scale, std::int64_t index, Taps& into,
             memory::Vector<double>& exact) {
  const double reach = std::max(scale, 1.0);
  const double middle = (static_cast<double>(index) + 0.5) * scale;
  const std::int64_t first = std::max<std::int64_t>(0, nearest(middle - reach));
  const std::int64_t end = std::min(pixels, nearest(middle + reach));
  exact.clear();
  double sum = 0.0;
  const double steepness = 1.0 / reach;
  for (std::int64_t i = first; i < end; ++i) {
    const double distance =
        std::abs((static_cast<double>(i) - middle + 0.5) * steepness);
    exact.push_back(std::max(0.0, 1.0 - distance));
    sum += exact.back();
  }
  into.taps.push_back({first, exact.size(), into.weights.size()});
  constexpr double kOne = std::int32_t{1} << kBits;
  for (const double weight : exact) {
    into.weights.push_back(
        static_cast<std::int32_t>(nearest(weight / sum * kOne)));
  }
}

Taps make_taps(std::int64_t pixels, std::int64_t size, std::int64_t begin,
               std::int64_t count) {
  const double scale = static_cast<double>(pixels) / static_cast<double>(size);
  Taps made;
  memory::Vector<double> exact{
      memory::Allocator<double>(memory::Category::kData)};
  // At most this many pixels have their middles in reach.
  const auto most = std::min<std::int64_t>(
      pixels,
      2 * static_cast<std::int64_t>(std::ceil(std::max(scale, 1.0))) + 1);
  exact.reserve(static_cast<std::size_t>(most));
  made.taps.reserve(static_cast<std::size_t>(count));
  made.weights.reserve(static_cast<std::size_t>(count * most));
  for (std::int64_t i = begin; i < begin + count; ++i) {
    add_tap(pixels, scale, i, made, exact);
  }
  return made;
}

// Weights add up to one or a little more: sums of 32 bits hold 255 times that.
std::uint8_t rounded(std::int32_t sum) noexcept {
  constexpr std::int32_t kMostValue = 255;
  return static_cast<std::uint8_t>(
      std::clamp<std::int32_t>(sum >> kBits, 0, kMostValue));
}

constexpr std::int32_t kHalf = std::int32_t{1} << (kBits - 1);

// A row of pixels, of which `from` is the first that taps count from.
template <int kChannels>
void resize_row(const Taps& taps, const std::uint8_t* from,
                std::uint8_t* to) noexcept {
  for (const Tap& tap : taps.taps) {
    std::int32_t sums[kChannels];
    std::fill(sums, sums + kChannels, kHalf);
    const std::uint8_t* pixel = from + tap.first * kChannels;
    const std::int32_t* weight = taps.weights.data() + tap.weights;
    for (std::size_t i = 0; i < tap.count; ++i, pixel += kChannels) {
      for (int channel = 0; channel < kChannels; ++channel) {
        sums[channel] += weight[i] * pixel[channel];
      }
    }
    for (int channel = 0; channel < kChannels; ++channel) {
      *to++ = rounded(sums[channel]);
    }
  }
}

// One row of the result from rows of `width` bytes, some columns at a time.
void resize_column(const Tap& tap, const std::int32_t* weights,
                   const std::uint8_t* from, std::size_t width,
                   std::uint8_t* to) noexcept {
  constexpr std::size_t kAtOnce = 64;
  for (std::size_t begin = 0; begin < width; begin += kAtOnce) {
    const std::size_t count = std::min(kAtOnce, width - begin);
    std::array<std::int32_t, kAtOnce> sums;
    sums.fill(kHalf);
    for (std::size_t i = 0; i < tap.count; ++i) {
      const std::uint8_t* row = from + i * width + begin;
      for (std::size_t at = 0; at < count; ++at) {
        sums[at] += weights[i] * row[at];
      }
    }
    std::transform(sums.begin(), sums.begin() + count, to + begin, rounded);
  }
}

bool is_inside(const ImageBox& box, std::int64_t height,
               std::int64_t width) noexcept {
  return box.height > 0 && box.width > 0 && box.top >= 0 && box.left >= 0 &&
         box.height <= height && box.width <= width &&
         box.top <= height - box.height && box.left <= width - box.width;
}

void check(const Image& image, const ImageBox& from, std::int64_t height,
           std::int64_t width, const ImageBox& window) {
  const auto pixels = static_cast<std::size_t>(image.height) *
                      static_cast<std::size_t>(image.width) *
                      static_cast<std::size_t>(image.channels);
  const bool is_image = (image.channels == 1 || image.channels == 3) &&
                        image.height <= kMostSide && image.width <= kMostSide &&
                        image.pixels.size() == pixels;
  if (!is_image || !is_inside(from, image.height, image.width) ||
      height > kMostSide || width > kMostSide ||
      !is_inside(window, height, width) ||
      window.height > kMostPixels / window.width) {
    base::raise<ValueError>(
        "resize_image: {} by {} pixels from ({}, {}) of an image of {} by {}, "
        "resized to {} by {}, and {} by {} from ({}, {}) of these: expected "
        "parts that have pixels and lie in their images",
        from.height, from.width, from.top, from.left, image.height, image.width,
        height, width, window.height, window.width, window.top, window.left);
  }
}

Image make_image(std::int64_t height, std::int64_t width,
                 std::int64_t channels) {
  Image made;
  made.height = height;
  made.width = width;
  made.channels = channels;
  made.pixels.resize(static_cast<std::size_t>(height * width * channels));
  return made;
}

}  // namespace

Image resize_image(const Image& image, const ImageBox& from,
                   std::int64_t height, std::int64_t width,
                   const ImageBox& window) {
  check(image, from, height, width, window);
  const Taps across = make_taps(from.width, width, window.left, window.width);
  const Taps down = make_taps(from.height, height, window.top, window.height);
  const std::int64_t channels = image.channels;
  Image half = make_image(down.end() - down.first(), window.width, channels);
  const auto row_bytes = static_cast<std::size_t>(window.width * channels);
  for (std::int64_t row = 0; row < half.height; ++row) {
    const std::int64_t y = from.top + down.first() + row;
    const std::uint8_t* pixels =
        image.pixels.data() + (y * image.width + from.left) * channels;
    std::uint8_t* to =
        half.pixels.data() + static_cast<std::size_t>(row) * row_bytes;
    channels == 3 ? resize_row<3>(across, pixels, to)
                  : resize_row<1>(across, pixels, to);
  }
  Image made = make_image(window.height, window.width, channels);
  std::uint8_t* to = made.pixels.data();
  for (const Tap& tap : down.taps) {
    const auto skipped = static_cast<std::size_t>(tap.first - down.first());
    resize_column(tap, down.weights.data() + tap.weights,
                  half.pixels.data() + skipped * row_bytes, row_bytes, to);
    to += row_bytes;
  }
  return made;
}

Image resize_image(const Image& image, std::int64_t height,
                   std::int64_t width) {
  return resize_image(image, {0, 0, image.height, image.width}, height, width,
                      {0, 0, height, width});
}

}  // namespace neap::data
