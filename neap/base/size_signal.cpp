// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/base/size_signal.hpp"

#include <cerrno>
#include <ctime>

namespace neap::base {
namespace {

sigset_t size_signal() noexcept {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGXFSZ);
  return set;
}

}  // namespace

// A signal that was held back before may have been sent, too.
NoSizeSignal::NoSizeSignal() noexcept {
  const sigset_t held = size_signal();
  ::pthread_sigmask(SIG_BLOCK, &held, &outer_);
  if (::sigismember(&outer_, SIGXFSZ) == 1) {
    sigset_t sent;
    was_sent_ = ::sigpending(&sent) == 0 && ::sigismember(&sent, SIGXFSZ) == 1;
  }
}

// The system sends the signal with EFBIG alone.
NoSizeSignal::~NoSizeSignal() {
  const int error = errno;
  if (error == EFBIG && !was_sent_) {
    const sigset_t held = size_signal();
    const timespec at_once{};
    while (::sigtimedwait(&held, nullptr, &at_once) < 0 && errno == EINTR) {
    }
  }
  ::pthread_sigmask(SIG_SETMASK, &outer_, nullptr);
  errno = error;
}

}  // namespace neap::base
