// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The head for classes that a folder's model has, beside the classes that the
// data have.
#pragma once

#include <optional>
#include <string>

#include "neap/base/result.hpp"
#include "neap/models/pretrained.hpp"
#include "settings.hpp"

namespace neap::app {

struct ClassHead {
  /// The number of them in the weights' files; nothing where they have none.
  std::optional<std::int64_t> classes{};
  /// The adapter of the settings is a folder's, and has the head.
  bool is_of_adapter = false;
};

/// Reads the headers of the files. Failures: theirs.
Result<ClassHead> look_at_head(const TrainSettings& settings,
                               const models::PretrainedConfig& config);

/// "head     of 1000 classes skipped: FOLDER has 10", and a new line.
std::string describe_head(const ClassHead& head, std::int64_t classes,
                          const TrainSettings& settings);

/// Checks that a test without training makes sense: the head is of as many
/// classes, or is loaded. Failure kMismatch.
Result<void> check_head(const ClassHead& head, std::int64_t classes,
                        const TrainSettings& settings);

}  // namespace neap::app
