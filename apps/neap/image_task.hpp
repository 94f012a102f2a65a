// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Networks that look at images, and the data sets that have some.
#pragma once

#include "task.hpp"

namespace neap::app {

/// Creates the task of a network for images. Fails as make_task().
Result<std::unique_ptr<Task>> make_image_task(const TrainSettings& settings);

}  // namespace neap::app
