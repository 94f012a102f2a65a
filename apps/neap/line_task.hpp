// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// BERTs of folders that tell classes of texts apart (--from DIR --data jsonl).
#pragma once

#include "class_head.hpp"
#include "task.hpp"

namespace neap::app {

/// REQUIRES: --from and --data jsonl. Failures: those of the model's folder and
/// of the lines; as make_photo_task().
Result<std::unique_ptr<Task>> make_line_task(const TrainSettings& settings,
                                             ClassTest test);

}  // namespace neap::app
