// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Checks that no file which a command writes is another one of the same
// command: it would be gone, and nobody would know.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "neap/base/result.hpp"
#include "settings.hpp"

namespace neap::files {
class Door;
}

namespace neap::app {

/// A file with the option that names it ("--save").
struct NamedFile {
  std::string option;
  std::string path;  // empty: none was asked for
};

/// Fails (kMismatch) with one line that names both options where two of
/// `outputs`, or one of them and one of `inputs`, are the same file: by any
/// name where it is there, by the folder and the name in it where it is not.
/// Devices and pipes keep nothing, and are as many as their uses.
Result<void> check_distinct(files::Door& door,
                            std::span<const NamedFile> outputs,
                            std::span<const NamedFile> inputs);

/// The summary's; none where it goes to stdout.
NamedFile json_file(const TrainSettings& settings);

/// The files that the settings' data is read from.
std::vector<NamedFile> data_files(files::Door& door,
                                  const TrainSettings& settings);

/// Appends the files of a pretrained model's folder; none where it is empty.
void add_pretrained(files::Door& door, const std::string& folder,
                    std::vector<NamedFile>& files);

/// check_distinct of all that neap train writes and reads. A checkpoint may
/// take the place of the one that the run goes on from.
Result<void> check_train_files(files::Door& door,
                               const TrainSettings& settings);

}  // namespace neap::app
