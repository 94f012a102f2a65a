// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A small file of text as a whole: settings in JSON that stand beside a model.
#pragma once

#include <string>

#include "neap/files/door.hpp"
#include "neap/memory/containers.hpp"

namespace neap::formats {

/// The content of a file (Category::kData). Failures: those of the file system;
/// kTooLarge for more than `most` bytes, before memory is taken; kTruncated
/// where the file becomes shorter. THROWS: OutOfMemory.
[[nodiscard]] NEAP_API Result<memory::String> read_whole_text(
    files::Door& door, const std::string& path, Bytes most);

}  // namespace neap::formats
