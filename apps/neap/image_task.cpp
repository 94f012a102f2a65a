// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "image_task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "neap/base/shown.hpp"
#include "neap/data/augmented.hpp"
#include "neap/data/cifar.hpp"
#include "neap/files/door.hpp"
#include "neap/models/lenet.hpp"
#include "neap/models/mlp.hpp"
#include "neap/models/resnet.hpp"
#include "neap/models/unet.hpp"
#include "neap/models/vgg.hpp"
#include "pixel_labels.hpp"
#include "run_parts.hpp"

namespace neap::app {
namespace {

constexpr std::int64_t kSide = 32;       // that deep networks are made for
constexpr std::int64_t kUNetUnit = 16;   // pixels, halved four times
constexpr std::int64_t kCropMargin = 4;  // likewise

bool is_deep(const std::string& model) {
  return model != "mlp" && model != "lenet";
}

class ImageTask final : public Task {
 public:
  ImageTask(const TrainSettings& settings, data::TrainAndTest set)
      : settings_(settings), set_(std::move(set)) {
    if (settings.model == "mlp" && !settings.augment) {
      return;  // images as they are
    }
    train_.emplace(set_.train, options(settings.augment));
    test_.emplace(set_.test, options(false));
    if (settings.model == "unet") {
      train_pixels_.emplace(*train_);
      test_pixels_.emplace(*test_);
    }
  }

  data::AnyDataset train() const override {
    return pick(set_.train, train_, train_pixels_);
  }
  data::AnyDataset test() const override {
    return pick(set_.test, test_, test_pixels_);
  }
  std::unique_ptr<nn::Layer> make_model() const override;
  Bytes data_bytes() const override {
    return set_.train.bytes() + set_.test.bytes();
  }
  std::string describe_data() const override {
    return fmt::format(
        "{} + {} images of {}, {}", format_grouped(set_.train.size()),
        format_grouped(set_.test.size()), format_shape(train().spec().input),
        format_bytes(data_bytes()));
  }
  bool has_accuracy() const override { return !train_pixels_; }

 private:
  static data::AnyDataset pick(const data::ImageSet& plain,
                               const std::optional<data::Augmented>& augmented,
                               const std::optional<PixelLabels>& pixels) {
    if (pixels) {
      return *pixels;
    }
    return augmented ? data::AnyDataset(*augmented) : data::AnyDataset(plain);
  }

  // Deep networks see at least 32 x 32, UNet multiples of 16; `is_random`: from
  // anywhere, and mirrored.
  data::AugmentOptions options(bool is_random) const {
    const Shape& shape = set_.train.spec().input;
    const std::int64_t height = shape[shape.rank() - 2];
    const std::int64_t width = shape.back();
    const std::int64_t least = is_deep(settings_.model) ? kSide : 1;
    const std::int64_t unit = settings_.model == "unet" ? kUNetUnit : 1;
    const auto side = [&](std::int64_t given) {
      return base::round_up(std::max(given, least), unit);
    };
    data::AugmentOptions made;
    made.height = side(height);
    made.width = side(width);
    const std::int64_t missing =
        std::max(made.height - height, made.width - width);
    made.padding = (missing + 1) / 2;  // at both ends; an odd one is cut off
    made.seed = settings_.seed;
    if (is_random) {
      made.padding += kCropMargin;
      made.random_crop = true;
      made.flip = 0.5;
    }
    return made;
  }

  const TrainSettings& settings_;
  data::TrainAndTest set_;
  std::optional<data::Augmented> train_;
  std::optional<data::Augmented> test_;
  std::optional<PixelLabels> train_pixels_;
  std::optional<PixelLabels> test_pixels_;
};

template <class Model, class... Options>
std::unique_ptr<nn::Layer> made(const Options&... options) {
  return std::make_unique<Model>(options..., CallSite::here());
}

std::unique_ptr<nn::Layer> ImageTask::make_model() const {
  const TrainSettings& s = settings_;
  const Shape image = train().spec().input;
  const std::int64_t classes = set_.train.classes();
  if (s.model == "mlp") {
    return made<models::Mlp>(mlp_widths(s, image.element_count(), classes),
                             models::MlpOptions{.dropout = s.dropout});
  }
  if (s.model == "lenet") {
    return made<models::LeNet>(models::LeNetOptions{
        .image = image, .classes = classes, .dropout = s.dropout});
  }
  if (s.model == "vgg11") {
    return made<models::Vgg11>(models::VggOptions{.image = image,
                                                  .width = s.width,
                                                  .classes = classes,
                                                  .batch_norm = true,
                                                  .dropout = s.dropout});
  }
  if (s.model == "unet") {
    return made<models::UNet>(
        models::UNetOptions{.channels = image[0],
                            .classes = PixelLabels::classes_of(set_.train),
                            .width = s.width});
  }
  return made<models::ResNet>(
      models::ResNetOptions{.layers = s.model == "resnet34" ? 34 : 18,
                            .channels = image[0],
                            .width = s.width,
                            .classes = classes});
}

// Checks that the folder of the images is there.
Result<void> expect_folder(files::Door& door, const TrainSettings& s) {
  const std::string folder = data_directory(s);
  const auto facts = door.inspect(folder);
  if (!facts || facts->kind == files::PathKind::kDirectory) {
    return {};  // what is wrong in it shows itself
  }
  return failure(
      FailureKind::kNotFound,
      s.data == "fashion-mnist"
          ? fmt::format("--data fashion-mnist: there is no folder {}; install "
                        "the package dataset-fashion-mnist",
                        base::shown_path(folder))
          : fmt::format("--data {}: there is no such folder; give one with the "
                        "four IDX files of MNIST's naming, or fashion-mnist, "
                        "cifar10, cifar100, text or csv",
                        base::shown_path(folder)));
}

Result<data::TrainAndTest> read_images(const TrainSettings& s) {
  files::Door& door = files::system_door();
  if (s.data == "cifar10") {
    return data::read_cifar10(door, s.path);
  }
  if (s.data == "cifar100") {
    return data::read_cifar100(door, s.path);
  }
  return expect_folder(door, s).and_then(
      [&] { return data::read_mnist(door, data_directory(s)); });
}

}  // namespace

Result<std::unique_ptr<Task>> make_image_task(const TrainSettings& settings) {
  auto set = read_images(settings);
  if (!set) {
    return tl::unexpected(set.error());
  }
  return std::make_unique<ImageTask>(settings, std::move(*set));
}

}  // namespace neap::app
