// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// PhotoSet: a part of the images of a folder, as samples of one size.
#pragma once

#include "class_split.hpp"
#include "decoding_room.hpp"
#include "neap/data/images/image_transform.hpp"

namespace neap::app {

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
