// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "class_head.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "neap/base/shown.hpp"
#include "neap/files/door.hpp"
#include "neap/formats/safetensors_folder.hpp"
#include "neap/train/checkpoint.hpp"
#include "pretrained_task.hpp"

namespace neap::app {

Result<void> check_share(std::size_t tests, const TrainSettings& s) {
  if (tests > 0 || s.validation == 0.0) {
    return {};
  }
  return failure(
      FailureKind::kMismatch,
      fmt::format(
          "{}: a share of {} of each class leaves nothing for the test; "
          "give more of each, a larger --validation, or --validation 0 "
          "for no test",
          base::shown_path(s.path), s.validation));
}

std::string joined(const ClassNames& names) {
  return fmt::format("{}", fmt::join(names, "\n"));
}

Result<std::optional<ClassNames>> classes_of_file(const std::string& path) {
  if (path.empty()) {
    return std::nullopt;
  }
  const auto file = formats::SafetensorsFile::open(files::system_door(), path,
                                                   formats::Verify::kOff);
  if (!file) {
    return tl::unexpected(file.error());
  }
  const memory::String* told = train::find_fact(*file, "classes");
  if (told == nullptr) {
    return std::nullopt;
  }
  ClassNames names;
  std::string_view rest(*told);
  std::size_t end = rest.find('\n');
  while (end != std::string_view::npos) {
    names.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end + 1);
    end = rest.find('\n');
  }
  names.emplace_back(rest);
  return names;
}

Result<bool> has_pooler(const std::string& folder) {
  return formats::open_shards(files::system_door(), folder,
                              formats::Verify::kOff)
      .map([](const auto& files) {
        return std::ranges::any_of(files, [](const auto& file) {
          return file.find("bert.pooler.dense.weight") != nullptr ||
                 file.find("pooler.dense.weight") != nullptr;
        });
      });
}

Result<ClassHead> look_at_head(const TrainSettings& s,
                               const models::PretrainedConfig& config) {
  const auto files =
      formats::open_shards(files::system_door(), s.from, formats::Verify::kOff);
  if (!files) {
    return tl::unexpected(files.error());
  }
  const bool is_resnet = std::holds_alternative<models::ResNetOptions>(config);
  ClassHead head;
  for (const formats::SafetensorsFile& file : *files) {
    const auto* entry =
        file.find(is_resnet ? "fc.weight" : "classifier.weight");
    if (entry != nullptr && entry->shape.rank() == 2) {
      head.classes = entry->shape[0];
    }
  }
  // Names that are none say as little as no names.
  head.names = models::read_class_names(s.from).value_or(ClassNames());
  if (std::holds_alternative<models::BertOptions>(config)) {
    const auto is_there = has_pooler(s.from);
    head.lacks_pooler = is_there && !*is_there;
  }
  if (!s.adapter.empty() && !parse_lora(s.adapter)) {
    const auto options = adapter_options(s);
    if (!options) {
      return tl::unexpected(options.error());
    }
    head.is_of_adapter = !options->whole.empty();
  }
  return head;
}

std::string describe_head(const ClassHead& head, std::int64_t classes,
                          const TrainSettings& s) {
  if (!s.load.empty()) {
    return fmt::format("head     of {} classes, as {} has it\n", classes,
                       base::shown_path(s.load));
  }
  if (head.lacks_pooler && !head.is_of_adapter) {
    return fmt::format("head     no pooler in {}: a new one, and {} classes\n",
                       base::shown_path(s.from), classes);
  }
  if (head.is_of_adapter) {
    return fmt::format("head     of {} classes, the adapter's\n", classes);
  }
  if (!head.classes) {
    return fmt::format("head     none in {}: a new one of {} classes\n",
                       base::shown_path(s.from), classes);
  }
  if (*head.classes == classes) {
    return fmt::format("head     of {} classes, as {} has it\n", classes,
                       base::shown_path(s.from));
  }
  return fmt::format("head     of {} classes skipped: {} has {}\n",
                     *head.classes, base::shown_path(s.path), classes);
}

namespace {

// The classes of the data are in ascending order, a head's in its own.
Result<void> check_order(const ClassHead& head, const ClassNames& names,
                         const TrainSettings& s) {
  if (head.names == names || !std::ranges::is_permutation(head.names, names)) {
    return {};
  }
  return failure(
      FailureKind::kMismatch,
      fmt::format("{}: its head has the classes of {} in another order: {}; "
                  "train it, or rename them",
                  base::shown_path(s.from), base::shown_path(s.path),
                  base::shown(fmt::format("{}", fmt::join(head.names, ", ")))));
}

}  // namespace

Result<void> check_head(const ClassHead& head, const ClassNames& names,
                        const TrainSettings& s) {
  const std::int64_t classes = std::ssize(names);
  if (!s.load.empty() || head.is_of_adapter) {
    return {};
  }
  if (head.classes == classes && !head.lacks_pooler) {
    return check_order(head, names, s);
  }
  return failure(
      FailureKind::kMismatch,
      fmt::format("{}: has {}, where {} has {} classes; train it first, and "
                  "give what --save wrote as --load",
                  base::shown_path(s.from),
                  head.classes && !head.lacks_pooler
                      ? fmt::format("a head of {}", *head.classes)
                      : std::string("no head"),
                  base::shown_path(s.path), classes));
}

}  // namespace neap::app
