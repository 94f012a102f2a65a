// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Tables of numbers in CSV, of which one column is a class label.
#pragma once

#include "task.hpp"

namespace neap::app {

/// Creates the task of a network for tables. Fails as make_task().
Result<std::unique_ptr<Task>> make_table_task(const TrainSettings& settings);

}  // namespace neap::app
