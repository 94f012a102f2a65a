// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Rollback: takes back what a call that could not be added left in a program.
// For sources of this room.
#pragma once

#include "neap/program/program.hpp"

namespace neap::compiler {

class Rollback {
 public:
  explicit Rollback(Program& program) noexcept
      : program_(program),
        values_(program.values.size()),
        operands_(program.operands.size()) {}
  ~Rollback() {
    if (!is_done_) {
      program_.values.erase(
          program_.values.begin() + static_cast<std::ptrdiff_t>(values_),
          program_.values.end());
      program_.operands.erase(
          program_.operands.begin() + static_cast<std::ptrdiff_t>(operands_),
          program_.operands.end());
    }
  }
  Rollback(const Rollback&) = delete;
  Rollback& operator=(const Rollback&) = delete;

  /// The call is there.
  void done() noexcept { is_done_ = true; }

 private:
  Program& program_;
  std::size_t values_;
  std::size_t operands_;
  bool is_done_ = false;
};

}  // namespace neap::compiler
