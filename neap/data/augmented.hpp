// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Augmented: images padded, cropped and mirrored as a batch is filled.
//
//   // 28x28 to 32x32, for a network that wants that
//   data::Augmented test(set.test, {.padding = 2});
//   // PyTorch's RandomCrop(32, padding=4) and RandomHorizontalFlip()
//   data::Augmented train(set.train, {.padding = 4, .random_crop = true,
//                                     .flip = 0.5, .seed = 7});
//
// Random choices follow from seed, epoch and the sample's index alone: they are
// the same after a resume, and in whichever thread reads. Pixels that padding
// adds have the value 0 and are standardised as all others.
#pragma once

#include "neap/data/image_set.hpp"

namespace neap::data {

struct AugmentOptions {
  std::int64_t padding = 0;  // pixels of value 0, added on all four sides
  /// Size of the images that come out; 0: that of the image where the crop is
  /// random, else of the padded image.
  std::int64_t height = 0;
  std::int64_t width = 0;
  bool random_crop =
      false;          // true: anywhere in the padded image; else its middle
  double flip = 0.0;  // probability of left and right being exchanged
  std::uint64_t seed = 0;
};

/// LIFETIME: the image set outlives it.
class NEAP_API Augmented {
 public:
  /// THROWS: ShapeError unless images are (n, h, w) or (n, c, h, w);
  /// ValueError for a negative padding, a size beyond the padded image, or a
  /// flip outside [0, 1].
  Augmented(const ImageSet& images, const AugmentOptions& options);

  const ImageSet& images() const noexcept { return *images_; }

  // Dataset: input f32 (c, height, width), target i64 of rank 0.
  std::int64_t size() const noexcept { return images_->size(); }
  SampleSpec spec() const;
  void load(SampleId id, std::span<std::byte> input,
            std::span<std::byte> target) const noexcept;
  std::uint64_t fingerprint() const;

 private:
  // The position of the window in the image (negative: in the padding).
  struct Window {
    std::int64_t top = 0;
    std::int64_t left = 0;
    bool is_flipped = false;
  };
  Window window_of(SampleId id) const noexcept;
  void load_row(const Window& window, std::int64_t row,
                const std::uint8_t* plane, std::span<const float, 256> values,
                std::span<float> out) const noexcept;

  const ImageSet* images_;
  AugmentOptions options_;
  std::int64_t rows_;     // rows of an image
  std::int64_t columns_;  // columns of the same image
};

}  // namespace neap::data
