// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Whole reads and writes over a door, whose own calls may do less than asked.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "neap/base/api.hpp"
#include "neap/base/result.hpp"
#include "neap/files/door.hpp"

namespace neap::files {

/// Fills `into`. A file that ends before is FailureKind::kTruncated.
[[nodiscard]] NEAP_API Result<void> read_exact(File& file,
                                               std::span<std::byte> into);

/// Like read_exact, from `offset`; the current position stays.
[[nodiscard]] NEAP_API Result<void> read_exact_at(File& file, Bytes offset,
                                                  std::span<std::byte> into);

[[nodiscard]] NEAP_API Result<void> write_all(File& file,
                                              std::span<const std::byte> from);

namespace internal {
using Writer = Result<void> (*)(const void* context, File& file);
[[nodiscard]] NEAP_API Result<void> write_atomically(Door& door,
                                                     const std::string& path,
                                                     Writer writer,
                                                     const void* context);
}  // namespace internal

/// Writes a file so that `path` is at any instant the old one or the new one,
/// whole: write(file) fills a temporary file beside it (`path` with a suffix
/// of this process), which is synced, renamed over `path`, and the folder
/// synced. After a failure, or an exception of `write`, the old file is whole
/// and the temporary one is gone; but where only the last step fails, the new
/// file is whole and may not survive a loss of power. A process killed
/// meanwhile leaves its temporary file.
///
/// A symbolic link stays, and the file behind it is replaced; the permission
/// bits of a file that is replaced are kept; a directory is refused. A device
/// or pipe (/dev/stdout) is written straight, with nothing to go back to.
template <class Write>
[[nodiscard]] Result<void> write_atomically(Door& door, const std::string& path,
                                            const Write& write) {
  const auto call = [](const void* context, File& file) -> Result<void> {
    return (*static_cast<const Write*>(context))(file);
  };
  return internal::write_atomically(door, path, call, &write);
}

}  // namespace neap::files
