// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Opening a file as a stream of bytes, whether it is compressed or not.
#pragma once

#include <string>

#include "neap/base/api.hpp"
#include "neap/base/result.hpp"
#include "neap/files/byte_source.hpp"
#include "neap/memory/containers.hpp"

namespace neap::formats {

/// The content of a file; one that begins as gzip does is inflated. The source
/// is a block of the current domain (Category::kData).
/// LIFETIME: `door` outlives the source. THROWS: OutOfMemory.
[[nodiscard]] NEAP_API Result<memory::Owned<files::ByteSource>> open_source(
    files::Door& door, const std::string& path);

}  // namespace neap::formats
