// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Background: one thread that works beside its owner (a reader of files), on a
// stack of stated size that is declared as external bytes. It takes no signals.
// The owner tells it to end, in words of their own, before this object goes.
#pragma once

#include <pthread.h>

#include "neap/base/api.hpp"
#include "neap/base/bytes.hpp"

namespace neap::threads {

class NEAP_API Background {
 public:
  using Main = void (*)(void* context) noexcept;

  static constexpr Bytes kStackBytes = 256 * kKiB;

  /// The external bytes of one with such a stack.
  static Bytes external_bytes(Bytes stack_bytes = kStackBytes) noexcept;

  /// Runs main(context) in a thread of that name (at most 15 bytes).
  /// THROWS: ThreadError where the system starts no thread.
  Background(const char* name, Main main, void* context,
             Bytes stack_bytes = kStackBytes);
  /// Waits until main has returned. In a forked child there is nothing to wait
  /// for: the thread stayed with the parent.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// False in a forked child, which has no such thread.
  bool is_here() const noexcept;

 private:
  static void* run(void* self) noexcept;

  Main main_;
  void* context_;
  Bytes stack_bytes_;  // without the guard page
  void* stack_;
  pthread_t thread_{};
  int process_;  // whose thread it is
};

}  // namespace neap::threads
