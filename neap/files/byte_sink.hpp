// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// ByteSink: bytes in order, on their way to anything (a plain file here; a
// compressed one in formats/). One thread at a time.
#pragma once

#include <cstddef>
#include <span>

#include "neap/base/api.hpp"
#include "neap/base/result.hpp"
#include "neap/files/whole_file.hpp"

namespace neap::files {

class NEAP_API ByteSink {
 public:
  ByteSink() = default;
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;
  virtual ~ByteSink();

  /// Takes all of it.
  [[nodiscard]] virtual Result<void> write(std::span<const std::byte> from) = 0;
};

/// LIFETIME: the file outlives the sink.
class NEAP_API FileSink final : public ByteSink {
 public:
  explicit FileSink(File& file) noexcept : file_(file) {}
  Result<void> write(std::span<const std::byte> from) override {
    return write_all(file_, from);
  }

 private:
  File& file_;
};

}  // namespace neap::files
