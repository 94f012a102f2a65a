// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The system's side of scratch files, a function for each operation of the
// door. For the system's door alone. Where a call is not known to the file
// system and only saves time or cache, it counts as done.
#pragma once

#include <string>

#include "neap/base/bytes.hpp"
#include "neap/base/result.hpp"
#include "neap/files/file.hpp"

namespace neap::files::scratch {

struct Opened {
  int descriptor = -1;
  bool is_direct = false;
};

Result<Opened> open_in(const std::string& folder, bool may_be_direct);

/// The way of file systems that have no files without a name: creates a file
/// and removes its name at once. The descriptor, or -1 with errno set.
int open_unlinked(const std::string& folder);

/// The file's name in messages.
std::string name_in(const std::string& folder);

Result<Bytes> fill_at(File& file, Bytes offset, Bytes bytes);
Result<void> preallocate(File& file, Bytes offset, Bytes bytes);
Result<void> truncate(File& file, Bytes bytes);
Result<void> begin_writeback(File& file, Bytes offset, Bytes bytes);
Result<void> drop_cached(File& file, Bytes offset, Bytes bytes);
Result<Bytes> free_bytes(File& file);

}  // namespace neap::files::scratch
