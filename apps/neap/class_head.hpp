// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The head for classes that a folder's model has, beside the classes that the
// data have.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "neap/base/result.hpp"
#include "neap/models/pretrained.hpp"
#include "settings.hpp"

namespace neap::app {

/// The samples that are for the test.
enum class ClassTest {
  kShare,  // the share of --validation; the others are trained on
  kAll,    // all of them
};

/// Checks that a share leaves some for the test, where there is to be one.
/// Failure kMismatch.
Result<void> check_share(std::size_t tests, const TrainSettings& settings);

/// Classes in the order of their numbers.
using ClassNames = std::vector<std::string>;
/// In lines, as a checkpoint has them.
std::string joined(const ClassNames& names);
/// The classes that a checkpoint's model was trained on; nothing where it does
/// not say, or `path` is empty. Failures: those of the file.
Result<std::optional<ClassNames>> classes_of_file(const std::string& path);

/// Whether the files of a folder have a BERT's pooler. Failures: theirs.
Result<bool> has_pooler(const std::string& folder);

/// The classifier that the weights' files have.
struct ClassHead {
  /// The number of them in the weights' files; nothing where they have none.
  std::optional<std::int64_t> classes{};
  /// The names of these in the config; none where it does not say.
  ClassNames names{};
  /// A BERT's pooler is not in the files: a new one.
  bool lacks_pooler = false;
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
/// classes, and not of these in another order; or is loaded. Failure kMismatch.
Result<void> check_head(const ClassHead& head, const ClassNames& names,
                        const TrainSettings& settings);

}  // namespace neap::app
