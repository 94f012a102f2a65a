// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// ImageSet: labelled 8-bit images, kept as the bytes they are (one block each
// for images and labels) and standardised as a batch is filled: (pixel / 255 -
// mean) / deviation, in f32, for all pixels or channel by channel.
#pragma once

#include <string_view>

#include "neap/base/result.hpp"
#include "neap/data/dataset.hpp"
#include "neap/files/door.hpp"
#include "neap/memory/containers.hpp"

namespace neap::data {

/// Mean and standard deviation of pixels scaled to [0, 1].
struct PixelStatistics {
  double mean = 0.0;
  double deviation = 1.0;
};

class NEAP_API ImageSet {
 public:
  /// `images` (n, ...) u8 and `labels` (n) u8, dense and in host memory.
  /// THROWS: ShapeError, DTypeError.
  ImageSet(Tensor images, Tensor labels, int classes);

  std::int64_t size() const noexcept { return size_; }
  int classes() const noexcept { return classes_; }
  const Tensor& images() const noexcept { return images_; }
  const Tensor& labels() const noexcept { return labels_; }
  /// Bytes of images and labels.
  Bytes bytes() const;

  /// Planes of an image: c where images are (n, c, h, w), else 1.
  std::int64_t channels() const noexcept { return channels_; }

  /// Exact over all pixels (by counting each of the 256 values).
  PixelStatistics statistics() const;
  /// The same for each channel. THROWS: OutOfMemory.
  memory::Vector<PixelStatistics> channel_statistics() const;
  void standardise(const PixelStatistics& statistics) noexcept;
  /// A mean for each channel. THROWS: ShapeError for another number of them.
  void standardise_channels(std::span<const PixelStatistics> statistics);

  /// The value that load() writes for each of the 256 pixel values of a
  /// channel.
  std::span<const float, 256> values_of(std::int64_t channel) const noexcept;

  // Dataset: input f32 of the images' shape, target i64 of rank 0.
  SampleSpec spec() const;
  void load(std::int64_t index, std::span<std::byte> input,
            std::span<std::byte> target) const noexcept;
  /// The fingerprint of all images as load() writes them.
  std::uint64_t fingerprint() const;
  /// The target alone.
  void load_label(std::int64_t index,
                  std::span<std::byte> target) const noexcept;

 private:
  Tensor images_;
  Tensor labels_;
  std::int64_t size_;
  std::int64_t pixels_;  // pixels of one image
  std::int64_t channels_;
  int classes_;
  memory::Vector<float> values_;  // (channels, 256): of each pixel value
};

/// Reads one pair of IDX files, plain or gzipped (with or without ".gz").
/// Refuses wrong magic numbers, truncated or overlong data, sizes that are
/// wrong, counts that differ, an empty set, and labels >= classes.
NEAP_API Result<ImageSet> read_idx_pair(files::Door& door,
                                        std::string_view directory,
                                        std::string_view images_name,
                                        std::string_view labels_name,
                                        int classes);

struct TrainAndTest {
  ImageSet train;
  ImageSet test;
};

/// The four files of MNIST and Fashion-MNIST ("train-images-idx3-ubyte", ...),
/// ten classes, both parts standardised by the training part.
NEAP_API Result<TrainAndTest> read_mnist(files::Door& door,
                                         std::string_view directory);

/// The folder that the distribution's package puts Fashion-MNIST into.
inline constexpr std::string_view kFashionMnistDirectory =
    "/usr/share/datasets/fashion-mnist";

}  // namespace neap::data
