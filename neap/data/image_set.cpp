// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/image_set.hpp"

#include <cmath>
#include <cstring>
#include <utility>

#include "neap/base/raise.hpp"
#include "neap/memory/scope.hpp"

namespace neap::data {

using base::raise;

ImageSet::ImageSet(Tensor images, Tensor labels, int classes)
    : images_(std::move(images)),
      labels_(std::move(labels)),
      size_(images_.rank() == 0 ? 0 : images_.size(0)),
      pixels_(0),
      classes_(classes) {
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

Bytes ImageSet::bytes() const {
  return images_.array()->storage()->size() +
         labels_.array()->storage()->size();
}

PixelStatistics ImageSet::statistics() const {
  if (!images_.array()->storage()->has_elements()) {
    return {};  // a rehearsal
  }
  std::array<std::int64_t, 256> count{};
  for (const std::uint8_t pixel : images_.values<std::uint8_t>()) {
    ++count[pixel];
  }
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

void ImageSet::standardise(const PixelStatistics& statistics) noexcept {
  for (std::size_t value = 0; value < value_of_.size(); ++value) {
    const double scaled = static_cast<double>(value) / 255.0;
    value_of_[value] =
        static_cast<float>((scaled - statistics.mean) / statistics.deviation);
  }
}

SampleSpec ImageSet::spec() const {
  Shape sample = images_.shape();
  sample.erase(0);
  return {sample, f32, Shape(), i64};
}

void ImageSet::load(std::int64_t index, std::span<std::byte> input,
                    std::span<std::byte> target) const noexcept {
  const auto* pixels =
      images_.array()->strided().as<const std::uint8_t>() + index * pixels_;
  auto* out = reinterpret_cast<float*>(input.data());
  for (std::int64_t i = 0; i < pixels_; ++i) {
    out[i] = value_of_[pixels[i]];
  }
  const std::int64_t label =
      labels_.array()->strided().as<const std::uint8_t>()[index];
  std::memcpy(target.data(), &label, sizeof(label));
}

}  // namespace neap::data
