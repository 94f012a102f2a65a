// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// IoError: a file that could not be created, written or read, thrown where a
// failure cannot be returned as a value: by a step that spills.
#pragma once

#include "neap/base/error.hpp"
#include "neap/base/result.hpp"

namespace neap::files {

class NEAP_API IoError : public Error {
 public:
  explicit IoError(const Failure& failure) noexcept
      : Error(failure.message), kind_(failure.kind) {}
  explicit IoError(std::string_view message,
                   FailureKind kind = FailureKind::kIo) noexcept
      : Error(message), kind_(kind) {}
  FailureKind kind() const noexcept { return kind_; }

 private:
  FailureKind kind_;
};

}  // namespace neap::files

namespace neap {
using files::IoError;
}  // namespace neap
