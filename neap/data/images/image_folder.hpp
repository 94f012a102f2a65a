// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// ImageFolder: a folder with a sub-folder for each class, and images in these;
// the layout of torchvision's ImageFolder, with the same labels and the same
// order of samples.
//
//   flowers/daisy/0001.jpg       class 0
//   flowers/daisy/wild/07.png    class 0, too
//   flowers/tulip/0001.jpg       class 1
//
//   auto flowers = data::ImageFolder::open(files::system_door(), "flowers");
//
// It holds the names alone; each image is read and decoded when it is asked
// for, and is the caller's. Classes are sorted by name, byte by byte; in a
// class the folders are, by their whole path, and in a folder the files. Hidden
// names (that begin with a dot) and files that are no images are passed over.
//
// Thread rule: any number of threads may read at once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "neap/base/result.hpp"
#include "neap/data/images/image.hpp"
#include "neap/files/door.hpp"
#include "neap/memory/containers.hpp"

namespace neap::data {

class NEAP_API ImageFolder {
 public:
  /// Finds the files .png, .jpg and .jpeg, in any case of letters; none of them
  /// is opened. Failures: kNotFound; kCorrupt where there is no class, or a
  /// class has no image; kUnsupported for images in other formats (by the name:
  /// .bmp, .gif, .webp, ...) and for folders nested more than 32 deep;
  /// kTooLarge beyond 4 GiB of names; file-system failures. THROWS:
  /// OutOfMemory; ValueError for limits that read_image refuses. LIFETIME:
  /// `door` outlives it.
  [[nodiscard]] static Result<ImageFolder> open(files::Door& door,
                                                std::string_view folder,
                                                const ImageLimits& limits = {});

  std::int64_t size() const noexcept {
    return static_cast<std::int64_t>(name_ends_.size());
  }
  std::int64_t classes() const noexcept {
    return static_cast<std::int64_t>(class_ends_.size());
  }
  /// The name of a class's folder. REQUIRES: label in [0, classes()).
  std::string_view class_name(std::int64_t label) const noexcept;
  /// The class of a sample. REQUIRES: index in [0, size()).
  std::int64_t label(std::int64_t index) const noexcept;
  /// The path of a sample's file. REQUIRES: as label.
  std::string path(std::int64_t index) const;
  /// The limits of each image.
  const ImageLimits& limits() const noexcept { return limits_; }

  /// Reads and decodes one image. Failures, THROWS: as read_image. REQUIRES: as
  /// label.
  [[nodiscard]] Result<Image> read(std::int64_t index) const;

  /// Bytes of the names, and of what finds them.
  Bytes bytes() const noexcept;
  /// The fingerprint of names and limits, and of the first image and the last;
  /// one that cannot be read counts as none.
  std::uint64_t fingerprint() const;

 private:
  class Scan;
  ImageFolder(files::Door& door, std::string_view folder,
              const ImageLimits& limits);
  std::string_view name(std::int64_t index) const noexcept;

  // The names of all samples, one behind the other, each relative to its
  // class's folder; and the names of classes in the same way.
  files::Door* door_;
  ImageLimits limits_;
  memory::String folder_;
  memory::Vector<char> names_;
  memory::Vector<std::uint32_t> name_ends_;  // in names_, of each sample
  memory::Vector<char> class_names_;
  memory::Vector<std::uint32_t> class_name_ends_;  // in class_names_
  memory::Vector<std::int64_t> class_ends_;        // samples up to its last
};

}  // namespace neap::data
