// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/augmented.hpp"

#include <algorithm>
#include <bit>

#include "neap/base/outside.hpp"
#include "neap/base/raise.hpp"
#include "neap/data/draw_key.hpp"
#include "neap/data/fingerprint.hpp"

namespace neap::data {

using base::raise;

Augmented::Augmented(const ImageSet& images, const AugmentOptions& options)
    : images_(&images), options_(options), rows_(0), columns_(0) {
  const Shape& shape = images.images().shape();
  if (shape.rank() < 3 || shape.rank() > 4) {
    raise<ShapeError>(
        "augmented: images {}, expected (n, h, w) or (n, c, h, w)",
        format_shape(shape));
  }
  rows_ = shape[shape.rank() - 2];
  columns_ = shape[shape.rank() - 1];
  AugmentOptions& o = options_;
  constexpr std::int64_t kMostPadding = 1 << 20;
  if (o.padding < 0 || o.padding > kMostPadding ||
      !(o.flip >= 0.0 && o.flip <= 1.0)) {
    raise<ValueError>(
        "augmented: padding {} and flip {}, expected 0 to {} pixels and a "
        "probability",
        o.padding, o.flip, kMostPadding);
  }
  const std::int64_t added = 2 * o.padding;
  const auto size = [&](std::int64_t wanted, std::int64_t own) {
    if (wanted < 0 || wanted > own + added) {
      raise<ValueError>("augmented: a size of {}, the padded image has {}",
                        wanted, own + added);
    }
    return wanted != 0 ? wanted : own + (o.random_crop ? 0 : added);
  };
  o.height = size(o.height, rows_);
  o.width = size(o.width, columns_);
}

SampleSpec Augmented::spec() const {
  return {{images_->channels(), options_.height, options_.width}, f32, {}, i64};
}

std::uint64_t Augmented::fingerprint() const {
  const AugmentOptions& o = options_;
  return data::fingerprint(
      {o.padding, o.height, o.width, o.random_crop ? 1 : 0,
       std::bit_cast<std::int64_t>(o.flip), static_cast<std::int64_t>(o.seed)},
      images_->fingerprint());
}

Augmented::Window Augmented::window_of(SampleId id) const noexcept {
  const std::int64_t down = rows_ + 2 * options_.padding - options_.height;
  const std::int64_t right = columns_ + 2 * options_.padding - options_.width;
  Window window{down / 2, right / 2, false};
  if (options_.random_crop || options_.flip > 0.0) {
    const auto words = draw_key(options_.seed, Purpose::kAugment, id.epoch)
                           .block(static_cast<std::uint64_t>(id.index));
    if (options_.random_crop) {
      window.top = drawn_below(words[0], down + 1);
      window.left = drawn_below(words[1], right + 1);
    }
    window.is_flipped = base::uniform_f64(words[2], words[3]) < options_.flip;
  }
  window.top -= options_.padding;
  window.left -= options_.padding;
  return window;
}

void Augmented::load_row(const Window& window, std::int64_t row,
                         const std::uint8_t* plane,
                         std::span<const float, 256> values,
                         std::span<float> out) const noexcept {
  const std::int64_t y = window.top + row;
  const auto width = static_cast<std::int64_t>(out.size());
  // Columns [begin, end) of the window are in the image.
  std::int64_t begin = std::clamp<std::int64_t>(-window.left, 0, width);
  std::int64_t end =
      std::clamp<std::int64_t>(columns_ - window.left, begin, width);
  if (y < 0 || y >= rows_) {
    begin = end = width;
  }
  const auto at = [&](std::int64_t column) { return out.begin() + column; };
  std::fill(out.begin(), at(begin), values[0]);
  if (begin < end) {
    const std::uint8_t* pixels = plane + y * columns_ + window.left + begin;
    std::transform(pixels, pixels + (end - begin), at(begin),
                   [&](std::uint8_t pixel) { return values[pixel]; });
  }
  std::fill(at(end), out.end(), values[0]);
  if (window.is_flipped) {
    std::reverse(out.begin(), out.end());
  }
}

void Augmented::load(SampleId id, std::span<std::byte> input,
                     std::span<std::byte> target) const noexcept {
  base::tell_of_question("load", "for a sample of a data set", {});
  const Window window = window_of(id);
  const std::int64_t channels = images_->channels();
  const std::int64_t pixels = rows_ * columns_;
  const auto* plane =
      images_->images().array()->strided().as<const std::uint8_t>() +
      id.index * channels * pixels;
  auto* out = reinterpret_cast<float*>(input.data());
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    for (std::int64_t row = 0; row < options_.height; ++row) {
      load_row(window, row, plane, images_->values_of(channel),
               {out, static_cast<std::size_t>(options_.width)});
      out += options_.width;
    }
    plane += pixels;
  }
  images_->load_label(id.index, target);
}

}  // namespace neap::data
