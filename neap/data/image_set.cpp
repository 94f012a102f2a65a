// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/image_set.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "neap/base/outside.hpp"
#include "neap/base/raise.hpp"
#include "neap/data/fingerprint.hpp"
#include "neap/memory/scope.hpp"

namespace neap::data {

using base::raise;

constexpr std::size_t kPixelValues = 256;

ImageSet::ImageSet(Tensor images, Tensor labels, int classes)
    : images_(std::move(images)),
      labels_(std::move(labels)),
      size_(images_.rank() == 0 ? 0 : images_.size(0)),
      pixels_(0),
      channels_(images_.rank() == 4 && images_.size(1) > 0 ? images_.size(1)
                                                           : 1),
      classes_(classes),
      values_(static_cast<std::size_t>(channels_) * kPixelValues, 0.0F,
              memory::Allocator<float>(memory::Category::kData)) {
  if (images_.rank() < 2 || labels_.rank() != 1 || labels_.size(0) != size_) {
    raise<ShapeError>(
        "image set: images {} and labels {}, expected (n, ...) and (n)",
        format_shape(images_.shape()), format_shape(labels_.shape()));
  }
  if (images_.array()->storage()->has_elements()) {
    images_.values<std::uint8_t>();  // throws unless u8, dense, on the host
    labels_.values<std::uint8_t>();
  }
  pixels_ = size_ == 0 ? 0 : images_.element_count() / size_;
  standardise({});
  memory::detach_from_scope(images_);
  memory::detach_from_scope(labels_);
}

std::uint64_t ImageSet::fingerprint() const {
  std::uint64_t found = data::fingerprint({size_, pixels_, channels_});
  if (images_.array()->storage()->has_elements()) {  // no rehearsal
    found =
        data::fingerprint(std::as_bytes(images_.values<std::uint8_t>()), found);
    found =
        data::fingerprint(std::as_bytes(labels_.values<std::uint8_t>()), found);
  }
  return data::fingerprint(std::as_bytes(std::span(values_)), found);
}

Bytes ImageSet::bytes() const {
  return images_.array()->storage()->size() +
         labels_.array()->storage()->size();
}

namespace {

using Counts = std::array<std::int64_t, kPixelValues>;

PixelStatistics statistics_of(const Counts& count) noexcept {
  double total = 0.0;
  double sum = 0.0;
  double squares = 0.0;
  for (std::size_t value = 0; value < count.size(); ++value) {
    const double scaled = static_cast<double>(value) / 255.0;
    const auto n = static_cast<double>(count[value]);
    total += n;
    sum += n * scaled;
    squares += n * scaled * scaled;
  }
  if (total == 0.0) {
    return {};
  }
  const double mean = sum / total;
  const double variance = squares / total - mean * mean;
  return {mean, variance > 0.0 ? std::sqrt(variance) : 1.0};
}

void fill_values(const PixelStatistics& statistics,
                 std::span<float> values) noexcept {
  for (std::size_t value = 0; value < values.size(); ++value) {
    const double scaled = static_cast<double>(value) / 255.0;
    values[value] =
        static_cast<float>((scaled - statistics.mean) / statistics.deviation);
  }
}

}  // namespace

PixelStatistics ImageSet::statistics() const {
  if (!images_.array()->storage()->has_elements()) {
    return {};  // a rehearsal
  }
  Counts count{};
  for (const std::uint8_t pixel : images_.values<std::uint8_t>()) {
    ++count[pixel];
  }
  return statistics_of(count);
}

memory::Vector<PixelStatistics> ImageSet::channel_statistics() const {
  memory::Vector<PixelStatistics> all{
      memory::Allocator<PixelStatistics>(memory::Category::kData)};
  all.resize(static_cast<std::size_t>(channels_));
  if (!images_.array()->storage()->has_elements()) {
    return all;  // a rehearsal
  }
  const auto pixels = images_.values<std::uint8_t>();
  const std::int64_t plane = pixels_ / channels_;
  for (std::int64_t channel = 0; channel < channels_; ++channel) {
    Counts count{};
    for (std::int64_t image = 0; image < size_; ++image) {
      for (const std::uint8_t pixel : pixels.subspan(
               static_cast<std::size_t>(image * pixels_ + channel * plane),
               static_cast<std::size_t>(plane))) {
        ++count[pixel];
      }
    }
    all[static_cast<std::size_t>(channel)] = statistics_of(count);
  }
  return all;
}

void ImageSet::standardise(const PixelStatistics& statistics) noexcept {
  for (std::size_t at = 0; at < values_.size(); at += kPixelValues) {
    fill_values(statistics, std::span(values_).subspan(at, kPixelValues));
  }
}

void ImageSet::standardise_channels(
    std::span<const PixelStatistics> statistics) {
  if (static_cast<std::int64_t>(statistics.size()) != channels_) {
    raise<ShapeError>("image set: statistics of {} channels, images have {}",
                      statistics.size(), channels_);
  }
  for (std::size_t channel = 0; channel < statistics.size(); ++channel) {
    fill_values(statistics[channel], std::span(values_).subspan(
                                         channel * kPixelValues, kPixelValues));
  }
}

std::span<const float, 256> ImageSet::values_of(
    std::int64_t channel) const noexcept {
  base::tell_of_question("values_of", "for the values of pixels", {});
  const auto at = static_cast<std::size_t>(channel) * kPixelValues;
  return std::span<const float, 256>(values_.data() + at, kPixelValues);
}

SampleSpec ImageSet::spec() const {
  Shape sample = images_.shape();
  sample.erase(0);
  return {sample, f32, Shape(), i64};
}

void ImageSet::load(std::int64_t index, std::span<std::byte> input,
                    std::span<std::byte> target) const noexcept {
  base::tell_of_question("load", "for a sample of a data set", {});
  const auto* pixels =
      images_.array()->strided().as<const std::uint8_t>() + index * pixels_;
  auto* out = reinterpret_cast<float*>(input.data());
  const std::int64_t plane = pixels_ / channels_;
  for (std::int64_t channel = 0; channel < channels_; ++channel) {
    const auto values = values_of(channel);
    out = std::transform(pixels, pixels + plane, out,
                         [&](std::uint8_t pixel) { return values[pixel]; });
    pixels += plane;
  }
  load_label(index, target);
}

void ImageSet::load_label(std::int64_t index,
                          std::span<std::byte> target) const noexcept {
  base::tell_of_question("load_label", "for a sample of a data set", {});
  const std::int64_t label =
      labels_.array()->strided().as<const std::uint8_t>()[index];
  std::memcpy(target.data(), &label, sizeof(label));
}

}  // namespace neap::data
