// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// ImageTransform: how an image of any size becomes a sample of one size, as
// torchvision's transforms do for training and for evaluation.
// TransformedImages are an ImageFolder's, as a data set.
//
//   // RandomResizedCrop(224), RandomHorizontalFlip(),
//   // ColorJitter(0.4, 0.4, 0.4, 0.1)
//   const data::TransformedImages train(
//       *folder, {.random_resized_crop = true, .flip = 0.5,
//                 .jitter = {0.4, 0.4, 0.4, 0.1}, .seed = 7});
//   // Resize(256), CenterCrop(224)
//   const data::TransformedImages test(*folder, {.shorter_side = 256});
//
// An image is cropped and resized, mirrored, changed in its colours, and
// standardised: (pixel / 255 - mean) / deviation, in f32. Random choices follow
// from seed, epoch and the sample's index alone: they are the same after a
// resume, and in whichever thread reads; and each is drawn for itself, so that
// one that is switched off leaves the others as they are.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "neap/data/dataset.hpp"
#include "neap/data/image_set.hpp"
#include "neap/data/images/image_folder.hpp"
#include "neap/data/images/resize.hpp"

namespace neap::data {

struct Interval {
  double low = 0.0;
  double high = 0.0;
};

/// The factors of the first three are drawn from [max(0, 1 - x), 1 + x); hues
/// are turned by a share of the circle in [-hue, hue), in steps of 1/255. The
/// changes are made in an order that is drawn, too; 0: none.
struct ColourJitter {
  double brightness = 0.0;
  double contrast = 0.0;
  double saturation = 0.0;
  double hue = 0.0;  // at most 0.5
};

/// Mean and deviation of red, green and blue of ImageNet's training images, by
/// which models that were trained on them expect theirs.
inline constexpr std::array<PixelStatistics, 3> kImageNetStatistics = {
    {{0.485, 0.229}, {0.456, 0.224}, {0.406, 0.225}}};

struct ImageTransformOptions {
  std::int64_t height = 224;  // pixels of what comes out
  std::int64_t width = 224;
  /// The shorter side becomes so long, the other in proportion (rounded down),
  /// and the middle is cut out; 0: the image is resized to (height, width), in
  /// whatever proportion. It has no meaning where the crop is random.
  std::int64_t shorter_side = 0;
  /// A part of the image is resized to (height, width): its share of the area
  /// is uniform in `area`, its width over its height in `ratio` by their
  /// logarithm, its place uniform. Where ten such parts do not fit, it is the
  /// largest one in the middle whose ratio is in the interval.
  bool random_resized_crop = false;
  Interval area = {0.08, 1.0};
  Interval ratio = {3.0 / 4.0, 4.0 / 3.0};
  double flip = 0.0;  // probability of left and right being exchanged
  ColourJitter jitter = {};
  /// By the channels of the image; a grey one takes the first.
  std::array<PixelStatistics, 3> statistics = kImageNetStatistics;
  std::uint64_t seed = 0;
};

/// Any number of threads may use it at once.
class NEAP_API ImageTransform {
 public:
  /// THROWS: ValueError for a side that is not in [1, 65535]; a shorter side
  /// that is negative, or less than what is cut out; an area outside (0, 1], a
  /// ratio that is not positive and finite, or an interval without numbers; a
  /// flip outside [0, 1]; a jitter outside [0, 1e6], or of hue outside [0,
  /// 0.5]; statistics that are not finite, or a deviation that is not positive.
  explicit ImageTransform(const ImageTransformOptions& options);

  const ImageTransformOptions& options() const noexcept { return options_; }

  /// Writes the sample, (channels, height, width), dense. THROWS: OutOfMemory;
  /// ValueError for an image without pixels, or an `out` of another size.
  void apply(const Image& image, SampleId id, std::span<float> out) const;

  /// The part of an image of that size that is taken, before it is resized.
  ImageBox part_of(std::int64_t height, std::int64_t width,
                   SampleId id) const noexcept;

  /// The most bytes that apply takes at once for an image of that size.
  Bytes most_bytes(std::int64_t height, std::int64_t width) const noexcept;

  /// The fingerprint of the options.
  std::uint64_t fingerprint() const;

 private:
  ImageBox random_part(std::int64_t height, std::int64_t width,
                       SampleId id) const noexcept;
  Image cut(const Image& image, SampleId id) const;
  void change_colour(Image& image, int change, SampleId id) const noexcept;
  void change_colours(Image& image, SampleId id) const noexcept;

  ImageTransformOptions options_;
  std::array<std::array<float, 256>, 3> values_{};  // of each pixel value
};

/// LIFETIME: the folder outlives it.
class NEAP_API TransformedImages {
 public:
  /// THROWS: as ImageTransform.
  TransformedImages(const ImageFolder& folder,
                    const ImageTransformOptions& options);

  const ImageFolder& folder() const noexcept { return *folder_; }
  const ImageTransform& transform() const noexcept { return transform_; }

  // Dataset: input f32 (c, height, width), target i64 of rank 0.
  std::int64_t size() const noexcept { return folder_->size(); }
  SampleSpec spec() const;
  /// Failures, THROWS: as ImageFolder::read.
  Result<void> load(SampleId id, std::span<std::byte> input,
                    std::span<std::byte> target) const;
  std::uint64_t fingerprint() const;

 private:
  const ImageFolder* folder_;
  ImageTransform transform_;
};

}  // namespace neap::data
