// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Sections with and without the GIL. A thread that asks for it while Python
// ends never gets it. Before 3.14, CPython ends such a thread by unwinding its
// stack, through frames of C++ that no exception may leave: the process would
// abort. Here it waits for the end of the process, as 3.14 does.
#pragma once

#include <nanobind/nanobind.h>

#include <cxxabi.h>
#include <unistd.h>

namespace neap::python {

namespace nb = nanobind;

/// Calls `take`, which takes the GIL.
template <class Take>
auto take_gil(const Take& take) noexcept {
  try {
    return take();
  } catch (abi::__forced_unwind&) {
    for (;;) {
      pause();
    }
  }
}

/// The result of `call`, which runs code of Python in a thread that has the
/// GIL: there, too, it may be taken for ever.
template <class Call>
decltype(auto) in_python(const Call& call) {
  try {
    return call();
  } catch (abi::__forced_unwind&) {
    for (;;) {
      pause();
    }
  }
}

/// A section with the GIL, in any thread.
class Locked {
 public:
  Locked() noexcept : state_(take_gil([] { return PyGILState_Ensure(); })) {}
  ~Locked() { PyGILState_Release(state_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  PyGILState_STATE state_;
};

/// A section without the GIL, in a thread that has it. The only way into one.
class Unlocked {
 public:
  Unlocked() noexcept {
    ++sections_;
    state_ = PyEval_SaveThread();
  }
  ~Unlocked() {
    take_gil([&] { PyEval_RestoreThread(state_); });
    --sections_;
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;
  /// The number of such sections, in all threads. Needs the GIL.
  static int sections() noexcept { return sections_; }

 private:
  static inline int sections_ = 0;  // changes with the GIL

  PyThreadState* state_;
};

}  // namespace neap::python
