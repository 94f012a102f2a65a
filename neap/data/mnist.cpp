// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Reading MNIST-like folders of IDX files into image sets. Elements are
// inflated straight into the data set's own block: there is no second copy.
#include <fmt/format.h>

#include <algorithm>

#include "neap/base/shown.hpp"
#include "neap/data/image_set.hpp"
#include "neap/formats/idx.hpp"
#include "neap/tensor/create.hpp"

namespace neap::data {
namespace {

// The path of a file that may or may not be gzipped.
Result<std::string> find_file(files::Door& door, std::string_view directory,
                              std::string_view name) {
  const std::string plain = fmt::format("{}/{}", directory, name);
  for (const std::string& path : {plain, plain + ".gz"}) {
    const auto found = door.exists(path);
    if (!found) {
      return tl::unexpected(found.error());
    }
    if (*found) {
      return path;
    }
  }
  return failure(FailureKind::kNotFound,
                 fmt::format("{}: no such file, plain or with .gz; the folder "
                             "must hold the four IDX files of MNIST's naming",
                             base::shown_path(plain)));
}

// A whole u8 file of the given rank; `rank` 0 stands for 2 and more.
Result<Tensor> read_bytes(files::Door& door, const std::string& path,
                          bool is_labels) {
  auto reader = formats::IdxReader::open(door, path);
  if (!reader) {
    return tl::unexpected(reader.error());
  }
  const formats::IdxHeader& header = reader->header();
  const bool has_rank =
      is_labels ? header.shape.rank() == 1 : header.shape.rank() >= 2;
  if (header.dtype != u8 || !has_rank) {
    return failure(
        FailureKind::kMismatch,
        fmt::format("{}: holds {} {}, expected {}", base::shown_path(path),
                    name_of(header.dtype), format_shape(header.shape),
                    is_labels ? "labels: u8 [n]" : "images: u8 [n, ...]"));
  }
  if (header.shape.element_count() == 0) {
    return failure(FailureKind::kCorrupt,
                   fmt::format("{}: holds no sample", base::shown_path(path)));
  }
  Tensor values = empty(header.shape, u8);
  if (!values.array()->storage()->has_elements()) {
    return values;  // a rehearsal
  }
  const auto bytes = values.mutable_values<std::uint8_t>();
  if (auto read = reader->read_all(std::as_writable_bytes(bytes)); !read) {
    return tl::unexpected(read.error());
  }
  return values;
}

Result<void> check_labels(const Tensor& labels, const std::string& path,
                          int classes) {
  if (!labels.array()->storage()->has_elements()) {
    return {};
  }
  const auto values = labels.values<std::uint8_t>();
  const auto bad =
      std::find_if(values.begin(), values.end(),
                   [classes](std::uint8_t label) { return label >= classes; });
  if (bad != values.end()) {
    return failure(FailureKind::kCorrupt,
                   fmt::format("{}: label {} of sample {} is out of range for "
                               "{} classes",
                               base::shown_path(path), *bad,
                               bad - values.begin(), classes));
  }
  return {};
}

}  // namespace

Result<ImageSet> read_idx_pair(files::Door& door, std::string_view directory,
                               std::string_view images_name,
                               std::string_view labels_name, int classes) {
  const memory::ContextGuard guard(
      [](memory::Context& c) { c.category = memory::Category::kData; });
  const auto images_path = find_file(door, directory, images_name);
  if (!images_path) {
    return tl::unexpected(images_path.error());
  }
  const auto labels_path = find_file(door, directory, labels_name);
  if (!labels_path) {
    return tl::unexpected(labels_path.error());
  }
  // Labels first: a pair that does not fit is refused before the large file.
  auto labels = read_bytes(door, *labels_path, true);
  if (!labels) {
    return tl::unexpected(labels.error());
  }
  if (auto good = check_labels(*labels, *labels_path, classes); !good) {
    return tl::unexpected(good.error());
  }
  auto images = read_bytes(door, *images_path, false);
  if (!images) {
    return tl::unexpected(images.error());
  }
  if (images->size(0) != labels->size(0)) {
    return failure(
        FailureKind::kMismatch,
        fmt::format("{}: {} images, but {} has {} labels",
                    base::shown_path(*images_path), images->size(0),
                    base::shown_path(*labels_path), labels->size(0)));
  }
  return ImageSet(std::move(*images), std::move(*labels), classes);
}

Result<TrainAndTest> read_mnist(files::Door& door, std::string_view directory) {
  constexpr int kClasses = 10;
  auto test = read_idx_pair(door, directory, "t10k-images-idx3-ubyte",
                            "t10k-labels-idx1-ubyte", kClasses);
  if (!test) {
    return tl::unexpected(test.error());
  }
  auto train = read_idx_pair(door, directory, "train-images-idx3-ubyte",
                             "train-labels-idx1-ubyte", kClasses);
  if (!train) {
    return tl::unexpected(train.error());
  }
  if (train->spec().input != test->spec().input) {
    return failure(FailureKind::kMismatch,
                   fmt::format("{}: training images are {}, test images {}",
                               base::shown_path(directory),
                               format_shape(train->spec().input),
                               format_shape(test->spec().input)));
  }
  const PixelStatistics statistics = train->statistics();
  train->standardise(statistics);
  test->standardise(statistics);
  return TrainAndTest{std::move(*train), std::move(*test)};
}

}  // namespace neap::data
