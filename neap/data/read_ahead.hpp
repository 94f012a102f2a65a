// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// ReadAhead: a thread that fills numbered batches in order, up to a limit that
// its owner moves. Of this room alone. The owner is one thread.
//
//   filled() ..... what is ready: batches below it
//   limit ........ what may be filled: batches below it
//
// A batch whose filling throws is not filled; the exception comes out of the
// owner's await(), and the next allow() lets the thread try once more.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>

#include "neap/memory/domain.hpp"
#include "neap/threads/background.hpp"

namespace neap::data {

class ReadAhead {
 public:
  /// Fills batch `number`; may throw.
  using Fill = void (*)(void* context, std::int64_t number);

  /// Filling is done in the current domain, and the thread's stack is within
  /// its budget. THROWS: OutOfMemory; Error where the system gives no thread.
  /// LIFETIME: `context` outlives it.
  ReadAhead(Fill fill, void* context);
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// Stops filling and waits until the thread is idle: what `fill` reads may
  /// then be changed. Batches from `number` on count as not filled.
  void rewind(std::int64_t number) noexcept;
  /// Lets the thread fill batches below `limit`.
  void allow(std::int64_t limit) noexcept;
  /// Returns when batch `number` is filled. REQUIRES: it is allowed. THROWS:
  /// what filling it threw.
  void await(std::int64_t number);

  /// False in a forked child, where nobody fills.
  bool is_here() const noexcept { return thread_.is_here(); }

 private:
  static void main(void* self) noexcept;
  void fill_next() noexcept;
  static void ring(std::atomic<std::int32_t>& bell) noexcept;

  static memory::Domain& domain_with_room();

  Fill fill_;
  void* context_;
  memory::Domain* domain_;
  std::mutex mutex_;  // of all below but the bells
  std::int64_t filled_ = 0;
  std::int64_t limit_ = 0;
  std::exception_ptr error_;  // of batch `filled_`, until await() takes it
  bool is_failed_ = false;    // nothing is filled until allow()
  bool is_busy_ = false;      // the thread is filling batch `filled_`
  bool is_ending_ = false;
  // Rung after a change that the other side may wait for; read before a look.
  std::atomic<std::int32_t> owner_bell_{0};   // rung by the thread
  std::atomic<std::int32_t> thread_bell_{0};  // rung by the owner
  threads::Background thread_;                // last: it uses all the others
};

}  // namespace neap::data
