// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// PhotoSet: a part of the images of a folder, as samples of one size.
#pragma once

#include "decoding_room.hpp"
#include "neap/data/images/image_transform.hpp"
#include "neap/memory/containers.hpp"

namespace neap::app {

using Indices = memory::Vector<std::int64_t>;

/// The images of a folder, apart: in each class, a share drawn for the test;
/// which ones depends on their number alone.
struct PhotoParts {
  Indices train{memory::Allocator<std::int64_t>(memory::Category::kData)};
  Indices test{memory::Allocator<std::int64_t>(memory::Category::kData)};
};
PhotoParts split_photos(const data::ImageFolder& folder, double share);

/// The most bytes that reading one of the images and cutting it out takes.
/// Reads the header of each. Failures: as data::read_image_header.
Result<Bytes> most_of_decoding(const data::ImageFolder& folder,
                               const data::ImageTransformOptions& options);

/// A data::Dataset. LIFETIME: folder and room outlive it.
class PhotoSet {
 public:
  PhotoSet(const data::ImageFolder& folder, DecodingRoom& room,
           const data::ImageTransformOptions& options, Indices indices);

  std::int64_t size() const noexcept {
    return static_cast<std::int64_t>(indices_.size());
  }
  data::SampleSpec spec() const { return images_.spec(); }
  /// Failures: as data::TransformedImages; kTooLarge for an image that was
  /// smaller when the folder was opened.
  Result<void> load(data::SampleId id, std::span<std::byte> input,
                    std::span<std::byte> target) const;
  std::uint64_t fingerprint() const;
  Bytes bytes() const noexcept;

 private:
  data::TransformedImages images_;
  DecodingRoom* room_;
  Indices indices_;  // in the folder
};

}  // namespace neap::app
