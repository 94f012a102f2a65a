// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// PixelLabels: labelled images as a task for a network that gives every pixel a
// class: 0 where the image is dark, else the image's label and one.
#pragma once

#include "neap/data/augmented.hpp"

namespace neap::app {

/// LIFETIME: the images outlive it.
class PixelLabels {
 public:
  explicit PixelLabels(const data::Augmented& images);

  static std::int64_t classes_of(const data::ImageSet& images) {
    return images.classes() + 1;
  }

  // Dataset: input f32 (c, h, w), target i64 (h, w).
  std::int64_t size() const noexcept { return images_->size(); }
  data::SampleSpec spec() const;
  void load(data::SampleId id, std::span<std::byte> input,
            std::span<std::byte> target) const noexcept;
  std::uint64_t fingerprint() const { return images_->fingerprint(); }

 private:
  const data::Augmented* images_;
  std::int64_t pixels_;  // of one plane
  float dark_;           // what load() makes of the darkest pixel
};

}  // namespace neap::app
