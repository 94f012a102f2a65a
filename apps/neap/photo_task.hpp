// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Models of folders that look at images (--from DIR --data images): a Vit or a
// ResNet, on a folder with a sub-folder of images for each class.
#pragma once

#include "class_head.hpp"
#include "task.hpp"

namespace neap::app {

/// REQUIRES: --from and --data images. Failures: those of the model's folder
/// and of the images; kMismatch where nothing can be trained on, or, for a test
/// of all without --load, where the model has no head for the classes.
Result<std::unique_ptr<Task>> make_photo_task(const TrainSettings& settings,
                                              ClassTest test);

}  // namespace neap::app
