// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/images/image_transform.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "neap/base/outside.hpp"
#include "neap/base/raise.hpp"
#include "neap/data/draw_key.hpp"
#include "neap/data/fingerprint.hpp"
#include "neap/data/images/jitter.hpp"

namespace neap::data {
namespace {

using base::raise;
using base::uniform_f64;

constexpr int kTries = 10;  // of a random part
constexpr int kHue = 3;     // the number of that change of colours

// The blocks of four words of a sample. A try has one each.
enum Draw : std::uint64_t {
  kPlace = kTries,
  kFlip,
  kOrder,
  kFactors,
  kFurtherFactors,  // of saturation and hue
  kBlocks = 32,
};

base::PhiloxBlock drawn(std::uint64_t seed, SampleId id,
                        std::uint64_t block) noexcept {
  return draw_key(seed, Purpose::kTransform, id.epoch)
      .block(static_cast<std::uint64_t>(id.index) * kBlocks + block);
}

bool is_probability(double value) noexcept {
  return value >= 0.0 && value <= 1.0;
}
constexpr double kMostJitter = 1e6;

bool is_jitter(double value) noexcept {
  return value >= 0.0 && value <= kMostJitter;
}
bool has_numbers(const Interval& interval, double most) noexcept {
  return interval.low > 0.0 && interval.low <= interval.high &&
         interval.high <= most && std::isfinite(interval.high);
}

void check_sizes(const ImageTransformOptions& o) {
  constexpr std::int64_t kMostSide = 65'535;
  if (o.height < 1 || o.width < 1 || o.height > kMostSide ||
      o.width > kMostSide) {
    raise<ValueError>(
        "image transform: images of {} by {}, expected sides of 1 to {}",
        o.height, o.width, kMostSide);
  }
  if (o.shorter_side != 0 && (o.shorter_side < std::max(o.height, o.width) ||
                              o.shorter_side > kMostSide)) {
    raise<ValueError>(
        "image transform: a shorter side of {}, expected 0, or at least the "
        "{} by {} that are cut out and at most {}",
        o.shorter_side, o.height, o.width, kMostSide);
  }
}

void check(const ImageTransformOptions& o) {
  check_sizes(o);
  constexpr double kMostRatio = 1e6;
  if (!has_numbers(o.area, 1.0) || !has_numbers(o.ratio, kMostRatio)) {
    raise<ValueError>(
        "image transform: a share of the area in [{}, {}] and a ratio in [{}, "
        "{}], expected positive numbers, shares of at most 1 and ratios of at "
        "most {}",
        o.area.low, o.area.high, o.ratio.low, o.ratio.high, kMostRatio);
  }
  if (!is_probability(o.flip)) {
    raise<ValueError>("image transform: flip {}, expected a probability",
                      o.flip);
  }
  if (!is_jitter(o.jitter.brightness) || !is_jitter(o.jitter.contrast) ||
      !is_jitter(o.jitter.saturation)) {
    raise<ValueError>(
        "image transform: jitter of brightness {}, contrast {} and saturation "
        "{}, expected 0 to {}",
        o.jitter.brightness, o.jitter.contrast, o.jitter.saturation,
        kMostJitter);
  }
  constexpr double kMostHue = 0.5;
  if (!(o.jitter.hue >= 0.0 && o.jitter.hue <= kMostHue)) {
    raise<ValueError>("image transform: jitter of hue {}, expected 0 to {}",
                      o.jitter.hue, kMostHue);
  }
  for (const PixelStatistics& one : o.statistics) {
    if (!std::isfinite(one.mean) || !std::isfinite(one.deviation) ||
        !(one.deviation > 0.0)) {
      raise<ValueError>(
          "image transform: a mean of {} and a deviation of {}, expected "
          "finite numbers, the deviation positive",
          one.mean, one.deviation);
    }
  }
}

// Half of a difference, a half more or less so that it is even.
std::int64_t half_to_even(std::int64_t difference) noexcept {
  const std::int64_t half = difference / 2;
  return half + (difference % 2 != 0 ? half % 2 : 0);
}

std::int64_t nearest(double value) noexcept {
  return static_cast<std::int64_t>(std::nearbyint(value));
}

// Uniform in [low, high), of two words.
double between(double low, double high, std::uint32_t first,
               std::uint32_t second) noexcept {
  return low + (high - low) * uniform_f64(first, second);
}

// The largest part in the middle whose ratio is in the interval.
ImageBox middle_part(std::int64_t height, std::int64_t width,
                     const Interval& ratio) noexcept {
  const double own = static_cast<double>(width) / static_cast<double>(height);
  ImageBox box{0, 0, height, width};
  if (own < ratio.low) {
    box.height = nearest(static_cast<double>(width) / ratio.low);
  } else if (own > ratio.high) {
    box.width = nearest(static_cast<double>(height) * ratio.high);
  }
  box.height = std::clamp<std::int64_t>(box.height, 1, height);
  box.width = std::clamp<std::int64_t>(box.width, 1, width);
  box.top = (height - box.height) / 2;
  box.left = (width - box.width) / 2;
  return box;
}

}  // namespace

ImageTransform::ImageTransform(const ImageTransformOptions& options)
    : options_(options) {
  check(options);
  for (std::size_t channel = 0; channel < values_.size(); ++channel) {
    const PixelStatistics& one = options.statistics[channel];
    for (std::size_t value = 0; value < values_[channel].size(); ++value) {
      const double scaled = static_cast<double>(value) / 255.0;
      values_[channel][value] =
          static_cast<float>((scaled - one.mean) / one.deviation);
    }
  }
}

ImageBox ImageTransform::random_part(std::int64_t height, std::int64_t width,
                                     SampleId id) const noexcept {
  const Interval& area = options_.area;
  const Interval& ratio = options_.ratio;
  const double whole = static_cast<double>(height) * static_cast<double>(width);
  for (std::uint64_t i = 0; i < kTries; ++i) {
    const auto words = drawn(options_.seed, id, i);
    const double wanted =
        whole * between(area.low, area.high, words[0], words[1]);
    const double aspect = std::exp(
        between(std::log(ratio.low), std::log(ratio.high), words[2], words[3]));
    ImageBox box;
    box.width = nearest(std::sqrt(wanted * aspect));
    box.height = nearest(std::sqrt(wanted / aspect));
    if (box.width > 0 && box.width <= width && box.height > 0 &&
        box.height <= height) {
      const auto place = drawn(options_.seed, id, kPlace);
      box.top = drawn_below(place[0], height - box.height + 1);
      box.left = drawn_below(place[1], width - box.width + 1);
      return box;
    }
  }
  return middle_part(height, width, ratio);
}

ImageBox ImageTransform::part_of(std::int64_t height, std::int64_t width,
                                 SampleId id) const noexcept {
  base::tell_of_question("part_of", "for a sample of a data set", {});
  return options_.random_resized_crop ? random_part(height, width, id)
                                      : ImageBox{0, 0, height, width};
}

Image ImageTransform::cut(const Image& image, SampleId id) const {
  const ImageTransformOptions& o = options_;
  if (o.random_resized_crop || o.shorter_side == 0) {
    const ImageBox part = o.random_resized_crop
                              ? random_part(image.height, image.width, id)
                              : ImageBox{0, 0, image.height, image.width};
    return resize_image(image, part, o.height, o.width,
                        {0, 0, o.height, o.width});
  }
  const std::int64_t shorter = std::min(image.height, image.width);
  const std::int64_t height = o.shorter_side * image.height / shorter;
  const std::int64_t width = o.shorter_side * image.width / shorter;
  return resize_image(image, {0, 0, image.height, image.width}, height, width,
                      {half_to_even(height - o.height),
                       half_to_even(width - o.width), o.height, o.width});
}

void ImageTransform::change_colour(Image& image, int change,
                                   SampleId id) const noexcept {
  const ColourJitter& jitter = options_.jitter;
  const auto factor = [](double most, std::uint32_t a, std::uint32_t b) {
    return static_cast<float>(
        between(std::max(0.0, 1.0 - most), 1.0 + most, a, b));
  };
  const auto factors = drawn(options_.seed, id, kFactors);
  const auto further = drawn(options_.seed, id, kFurtherFactors);
  if (change == 0 && jitter.brightness > 0.0) {
    images::change_brightness(
        image, factor(jitter.brightness, factors[0], factors[1]));
  } else if (change == 1 && jitter.contrast > 0.0) {
    images::change_contrast(image,
                            factor(jitter.contrast, factors[2], factors[3]));
  } else if (change == 2 && jitter.saturation > 0.0) {
    images::change_saturation(
        image, factor(jitter.saturation, further[0], further[1]));
  } else if (change == kHue && jitter.hue > 0.0) {
    constexpr double kSteps = 255.0;
    const double share =
        between(-jitter.hue, jitter.hue, further[2], further[3]);
    images::change_hue(image, static_cast<int>(share * kSteps));
  }
}

void ImageTransform::change_colours(Image& image, SampleId id) const noexcept {
  constexpr int kChanges = 3;  // but for hue
  constexpr std::int64_t kOrders = 6;
  const auto orders = drawn(options_.seed, id, kOrder);
  const auto order = static_cast<int>(drawn_below(orders[0], kOrders));
  const auto before_hue =
      static_cast<int>(drawn_below(orders[1], kChanges + 1));
  // Orders 0 to 2 begin with the change of that number and go up, the others go
  // down. Hue comes in between, so that it leaves the others' order as it is.
  for (int i = 0; i <= kChanges; ++i) {
    if (i == before_hue) {
      change_colour(image, kHue, id);
    }
    if (i < kChanges) {
      change_colour(
          image,
          order < kChanges ? (order + i) % kChanges : (order - i) % kChanges,
          id);
    }
  }
}

void ImageTransform::apply(const Image& image, SampleId id,
                           std::span<float> out) const {
  base::tell_of_question("apply", "for a sample of a data set", {});
  const auto plane = static_cast<std::size_t>(options_.height * options_.width);
  if (image.height < 1 || image.width < 1 ||
      out.size() != plane * static_cast<std::size_t>(image.channels)) {
    raise<ValueError>(
        "image transform: an image of {} by {} with {} channels into {} "
        "numbers, expected one with pixels, and {} numbers for a channel",
        image.height, image.width, image.channels, out.size(), plane);
  }
  Image made = cut(image, id);
  change_colours(made, id);
  const auto words = drawn(options_.seed, id, kFlip);
  const bool is_flipped = uniform_f64(words[0], words[1]) < options_.flip;
  const auto channels = static_cast<std::size_t>(made.channels);
  for (std::size_t channel = 0; channel < channels; ++channel) {
    const auto& values = values_[channel];
    const std::uint8_t* pixel = made.pixels.data() + channel;
    for (std::int64_t row = 0; row < options_.height; ++row) {
      const auto line = out.first(static_cast<std::size_t>(options_.width));
      out = out.subspan(line.size());
      for (float& value : line) {
        value = values[*pixel];
        pixel += channels;
      }
      if (is_flipped) {
        std::reverse(line.begin(), line.end());
      }
    }
  }
}

// The vectors of resize_image: the strip of rows, what comes out, and for each
// pixel of that its place and weights in both directions.
Bytes ImageTransform::most_bytes(std::int64_t height,
                                 std::int64_t width) const noexcept {
  constexpr Bytes kPlace = 32;  // and the rounding of a block
  const auto weights = [](std::int64_t from, std::int64_t to) {
    const std::int64_t reach = 2 * (from / to + 2) + 1;
    return to * (kPlace + reach * static_cast<Bytes>(sizeof(std::int32_t))) +
           reach * static_cast<Bytes>(sizeof(double));
  };
  const ImageTransformOptions& o = options_;
  return 3 * o.width * (height + o.height) + weights(width, o.width) +
         weights(height, o.height);
}

std::uint64_t ImageTransform::fingerprint() const {
  const ImageTransformOptions& o = options_;
  const auto bits = [](double value) {
    return std::bit_cast<std::int64_t>(value);
  };
  std::uint64_t found = data::fingerprint(
      {o.height, o.width, o.shorter_side, o.random_resized_crop ? 1 : 0,
       bits(o.area.low), bits(o.area.high), bits(o.ratio.low),
       bits(o.ratio.high), bits(o.flip), bits(o.jitter.brightness),
       bits(o.jitter.contrast), bits(o.jitter.saturation),
       static_cast<std::int64_t>(o.seed)});
  if (o.jitter.hue > 0.0) {  // runs without it stay what they were
    found = data::fingerprint({bits(o.jitter.hue)}, found);
  }
  return data::fingerprint(std::as_bytes(std::span(values_)), found);
}

TransformedImages::TransformedImages(const ImageFolder& folder,
                                     const ImageTransformOptions& options)
    : folder_(&folder), transform_(options) {}

SampleSpec TransformedImages::spec() const {
  const ImageTransformOptions& o = transform_.options();
  return {{folder_->limits().channels, o.height, o.width}, f32, {}, i64};
}

Result<void> TransformedImages::load(SampleId id, std::span<std::byte> input,
                                     std::span<std::byte> target) const {
  base::tell_of_question("load", "for a sample of a data set", {});
  const auto image = folder_->read(id.index);
  if (!image) {
    return tl::unexpected(image.error());
  }
  transform_.apply(
      *image, id,
      {reinterpret_cast<float*>(input.data()), input.size() / sizeof(float)});
  const std::int64_t label = folder_->label(id.index);
  std::memcpy(target.data(), &label, sizeof(label));
  return {};
}

std::uint64_t TransformedImages::fingerprint() const {
  return data::fingerprint(
      {static_cast<std::int64_t>(transform_.fingerprint())},
      folder_->fingerprint());
}

}  // namespace neap::data
