// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "pixel_labels.hpp"

#include <cstring>

namespace neap::app {

PixelLabels::PixelLabels(const data::Augmented& images)
    : images_(&images),
      pixels_(images.spec().input[1] * images.spec().input[2]),
      dark_(images.images().values_of(0)[0]) {}

data::SampleSpec PixelLabels::spec() const {
  data::SampleSpec spec = images_->spec();
  spec.target = {spec.input[1], spec.input[2]};
  return spec;
}

void PixelLabels::load(data::SampleId id, std::span<std::byte> input,
                       std::span<std::byte> target) const noexcept {
  std::int64_t label = 0;
  images_->load(id, input, std::as_writable_bytes(std::span(&label, 1)));
  for (std::int64_t at = 0; at < pixels_; ++at) {
    float value = 0.0F;  // of the first channel
    std::memcpy(&value, input.data() + at * std::int64_t{sizeof(value)},
                sizeof(value));
    const std::int64_t seen = value > dark_ ? label + 1 : 0;
    std::memcpy(target.data() + at * std::int64_t{sizeof(seen)}, &seen,
                sizeof(seen));
  }
}

}  // namespace neap::app
