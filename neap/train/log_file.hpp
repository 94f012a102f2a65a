// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// LogFile: a file that is written at its end, through a buffer made once. Of
// this room alone. The first failure ends it.
#pragma once

#include <span>

#include "neap/files/door.hpp"
#include "neap/memory/containers.hpp"

namespace neap::train {

class LogFile {
 public:
  /// A log that takes everything and writes nothing.
  LogFile() = default;
  explicit LogFile(files::File file);
  /// The buffer without the file.
  static LogFile unwritten();

  bool is_open() const noexcept { return file_.is_open(); }
  /// The buffer to append to, between one flush_if_full() and the next: a
  /// record at a time, which is written whole or, at a failure, in part.
  memory::Vector<std::byte>& buffer() noexcept { return buffer_; }

  Result<void> flush_if_full();
  Result<void> flush();
  Result<void> close();

 private:
  files::File file_;
  memory::Vector<std::byte> buffer_{
      memory::Allocator<std::byte>(memory::Category::kOther)};
};

}  // namespace neap::train
