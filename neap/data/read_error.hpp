// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// ReadError: a sample that could not be read, thrown where a failure cannot be
// returned as a value: by Loader::next().
#pragma once

#include "neap/base/error.hpp"
#include "neap/base/result.hpp"

namespace neap::data {

class NEAP_API ReadError : public Error {
 public:
  explicit ReadError(const Failure& failure) noexcept
      : Error(failure.message), kind_(failure.kind) {}
  FailureKind kind() const noexcept { return kind_; }

 private:
  FailureKind kind_;
};

}  // namespace neap::data
