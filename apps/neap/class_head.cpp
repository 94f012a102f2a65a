// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "class_head.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "neap/base/shown.hpp"
#include "neap/files/door.hpp"
#include "neap/formats/safetensors_folder.hpp"
#include "pretrained_task.hpp"

namespace neap::app {

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

Result<void> check_head(const ClassHead& head, std::int64_t classes,
                        const TrainSettings& s) {
  if (!s.load.empty() || head.is_of_adapter || head.classes == classes) {
    return {};
  }
  return failure(
      FailureKind::kMismatch,
      fmt::format("{}: has {}, where {} has {} classes; train it first, and "
                  "give what --save wrote as --load",
                  base::shown_path(s.from),
                  head.classes ? fmt::format("a head of {}", *head.classes)
                               : std::string("no head"),
                  base::shown_path(s.path), classes));
}

}  // namespace neap::app
