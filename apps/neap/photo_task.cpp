// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "photo_task.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <optional>

#include "class_head.hpp"
#include "neap/base/shown.hpp"
#include "neap/files/door.hpp"
#include "neap/models/image_form.hpp"
#include "photo_set.hpp"
#include "pretrained_task.hpp"

namespace neap::app {
namespace {

// Images as the model wants them: parts of them at random, and mirrored; or
// their middle.
data::ImageTransformOptions transform_of(const models::ImageForm& form,
                                         std::uint64_t seed, bool is_random) {
  data::ImageTransformOptions made;
  made.height = form.size;
  made.width = form.size;
  made.shorter_side = is_random ? 0 : form.shorter_side;
  made.random_resized_crop = is_random;
  made.flip = is_random ? 0.5 : 0.0;
  made.seed = seed;
  for (std::size_t channel = 0; channel < made.statistics.size(); ++channel) {
    made.statistics[channel] = {form.mean[channel], form.deviation[channel]};
  }
  return made;
}

std::string describe_form(const models::ImageForm& form, bool is_random) {
  const std::string middle = fmt::format("the middle of {}", form.shorter_side);
  const auto& mean = form.mean;
  const auto& deviation = form.deviation;
  return fmt::format(
      "images   {} by {}, {}\n"
      "         mean {:.4g} {:.4g} {:.4g}, deviation {:.4g} {:.4g} {:.4g}: "
      "{}\n",
      form.size, form.size,
      is_random ? "parts and mirrored at random; in the test " + middle
                : middle,
      mean[0], mean[1], mean[2], deviation[0], deviation[1], deviation[2],
      form.said_by.empty() ? "the usual ones, for the folder has none"
                           : "of " + form.said_by);
}

// In one line each, of UTF-8, whatever bytes a folder's name has.
ClassNames names_of(const data::ImageFolder& folder) {
  constexpr std::size_t kLongest = 1024;  // more than file systems allow
  ClassNames names;
  for (std::int64_t label = 0; label < folder.classes(); ++label) {
    names.push_back(base::shown(folder.class_name(label), kLongest));
  }
  return names;
}

// A model that was trained on other folders would be measured by the wrong
// ones.
Result<void> check_names(const TrainSettings& s,
                         const data::ImageFolder& folder) {
  return classes_of_file(s.load).and_then(
      [&](const std::optional<ClassNames>& known) -> Result<void> {
        if (!known || joined(*known) == joined(names_of(folder))) {
          return {};
        }
        return failure(
            FailureKind::kMismatch,
            fmt::format(
                "{}: has other folders than the {} classes that {} was "
                "trained on: {}",
                base::shown_path(s.path), known->size(),
                base::shown_path(s.load),
                base::shown(fmt::format("{}", fmt::join(*known, ", ")))));
      });
}

// The parts of a task.
struct Found {
  models::ImageForm form;
  data::ImageFolder folder;
  ClassHead head;
};

class PhotoTask final : public Task {
 public:
  PhotoTask(const TrainSettings& settings, Found found, ClassParts parts)
      : settings_(settings),
        found_(std::move(found)),
        room_(*settings.decoding),
        train_(found_.folder, room_,
               transform_of(found_.form, settings.seed, !settings.no_augment),
               std::move(parts.train)),
        test_(found_.folder, room_, transform_of(found_.form, 0, false),
              std::move(parts.test)) {}

  data::AnyDataset train() const override { return train_; }
  data::AnyDataset test() const override { return test_; }
  std::unique_ptr<nn::Layer> make_model() const override {
    return make_pretrained_model(settings_, found_.folder.classes());
  }
  Bytes data_bytes() const override {
    return found_.folder.bytes() + train_.bytes() + test_.bytes();
  }
  std::string describe_data() const override {
    return fmt::format(
        "{} + {} images of {}, {} classes, names of {}",
        format_grouped(train_.size()), format_grouped(test_.size()),
        format_shape(train_.spec().input),
        format_grouped(found_.folder.classes()), format_bytes(data_bytes()));
  }
  std::string class_names() const override {
    return joined(names_of(found_.folder));
  }
  std::string remarks() const override {
    return describe_form(found_.form, is_random()) +
           describe_head(found_.head, found_.folder.classes(), settings_);
  }

 private:
  // Without images to train on, nothing is said of them.
  bool is_random() const noexcept {
    return !settings_.no_augment && train_.size() > 0;
  }

  const TrainSettings& settings_;
  Found found_;
  mutable DecodingRoom room_;
  PhotoSet train_;
  PhotoSet test_;
};

// Looks at all headers once for a command, however many plans it tries.
Result<void> look_at_images(const TrainSettings& s, const Found& found) {
  if (*s.decoding > 0) {
    return {};
  }
  const auto apart = memory::Domain::create({.name = "headers"});
  const memory::UseDomain use(*apart);
  // Random or not, a part comes out in the same size.
  return most_of_decoding(found.folder, transform_of(found.form, 0, true))
      .map([&](Bytes most) { *s.decoding = most; });
}

Result<Found> find(const TrainSettings& s) {
  const auto config = look_at_config(s);
  if (!config) {
    return tl::unexpected(config.error());
  }
  auto form = models::read_image_form(s.from, *config);
  if (!form) {
    return tl::unexpected(form.error());
  }
  auto folder = data::ImageFolder::open(files::system_door(), s.path,
                                        {.channels = form->channels});
  if (!folder) {
    return tl::unexpected(folder.error());
  }
  if (folder->classes() < 2) {
    return failure(FailureKind::kMismatch,
                   fmt::format("{}: has one class, and nothing to tell apart; "
                               "put the images of each class into a folder of "
                               "its name",
                               base::shown_path(s.path)));
  }
  return check_names(s, *folder)
      .and_then([&] { return look_at_pretrained(s, folder->classes()); })
      .and_then([&](const models::PretrainedConfig&) {
        return look_at_head(s, *config);
      })
      .map([&](const ClassHead& head) {
        return Found{*form, std::move(*folder), head};
      });
}

}  // namespace

Result<std::unique_ptr<Task>> make_photo_task(const TrainSettings& s,
                                              ClassTest test) {
  auto found = find(s);
  if (!found) {
    return tl::unexpected(found.error());
  }
  const bool is_all = test == ClassTest::kAll;
  const data::ImageFolder& folder = found->folder;
  ClassParts parts = split_classes(
      folder.size(), [&](std::int64_t index) { return folder.label(index); },
      is_all ? 0.0 : s.validation);
  if (auto good = look_at_images(s, *found).and_then([&] {
        return is_all ? check_head(found->head, names_of(folder), s)
                      : check_share(parts.test.size(), s);
      });
      !good) {
    return tl::unexpected(good.error());
  }
  if (is_all) {
    std::swap(parts.train, parts.test);
  }
  return std::make_unique<PhotoTask>(s, std::move(*found), std::move(parts));
}

}  // namespace neap::app
