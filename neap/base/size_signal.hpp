// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// NoSizeSignal: a guard around calls of the system that may lengthen a file.
// Beyond the process's limit (RLIMIT_FSIZE) such a call fails with EFBIG, and
// the system sends SIGXFSZ as well, which ends a program that does not expect
// it. The signal goes to the thread that made the call: the guard holds it back
// in that thread, and takes it. What the program does about the signal is not
// changed, nor is what it was sent by others.
#pragma once

#include <csignal>

#include "neap/base/api.hpp"

namespace neap::base {

class NEAP_API NoSizeSignal {
 public:
  NoSizeSignal() noexcept;
  /// Leaves errno as it is.
  ~NoSizeSignal();
  NoSizeSignal(const NoSizeSignal&) = delete;
  NoSizeSignal& operator=(const NoSizeSignal&) = delete;

 private:
  sigset_t outer_{};       // signals that the thread held back before
  bool was_sent_ = false;  // before; it is left
};

}  // namespace neap::base
