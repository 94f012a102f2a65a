// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// SpillQueue: moves values between memory and a scratch file, in a thread of
// its own, while a step computes. A value has a slot. Operations are done in
// the order in which they were begun, so a fetch is behind the write of its
// slot.
//
//   write(3, ...)  ... the value may be read, not written
//   await(3)       ... its memory may be used for something else
//   fetch(3, ...)  ... the memory belongs to the queue
//   await(3)       ... the value is there, to the bit
//
// A hash is taken when a slot is written and compared when it is fetched: wrong
// data never come back. Memory, threads and disk are asked for
// by the constructor and reserve() alone; the other functions allocate nothing
// (but the message of a failure). Its owner is one thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string_view>

#include "neap/files/io_error.hpp"
#include "neap/files/scratch_file.hpp"
#include "neap/memory/containers.hpp"
#include "neap/threads/background.hpp"

namespace neap::compiler {

/// Counts of a queue since it was created.
struct SpillCounts {
  Bytes written = 0;         // values that came to the file
  Bytes fetched = 0;         // values that came back
  std::int64_t waited = 0;   // nanoseconds in await() and in full queues
  std::int64_t waits = 0;    // calls that found their operation not done
  std::int64_t retries = 0;  // operations tried again, each time
};

class SpillQueue {
 public:
  struct Options {
    /// False where memory, offsets or sizes are no multiples of
    /// files::kDirectAlignment: the file is then read and written through the
    /// system's cache. See is_direct().
    bool may_be_direct = true;
  };

  /// Creates an empty file in `folder` and starts the thread.
  /// THROWS: IoError (the folder is missing, in memory, not writable);
  /// ThreadError; OutOfMemory where the thread's stack is beyond the budget.
  /// LIFETIME: door and domain outlive it.
  SpillQueue(files::Door& door, std::string_view folder, memory::Domain& domain,
             Options options);
  SpillQueue(files::Door& door, std::string_view folder, memory::Domain& domain)
      : SpillQueue(door, folder, domain, Options()) {}
  /// Drains.
  ~SpillQueue();
  SpillQueue(const SpillQueue&) = delete;
  SpillQueue& operator=(const SpillQueue&) = delete;

  /// Sees to it that the file has `file_bytes` and there are `slots` slots,
  /// once what moves has moved. What is there stays as it is, also after a
  /// failure. THROWS: IoError (a full disk); OutOfMemory.
  void reserve(Bytes file_bytes, std::size_t slots);

  /// Begins to write the slot's value. `from` is neither written nor freed
  /// before await(slot).
  void write(std::uint32_t slot, Bytes offset,
             std::span<const std::byte> from) noexcept;
  /// Begins to read what was written for the slot, as many bytes and from
  /// where it was written. `into` is the queue's until await(slot).
  void fetch(std::uint32_t slot, Bytes offset,
             std::span<std::byte> into) noexcept;

  /// Returns when the slot's latest operation is done.
  /// THROWS: IoError where it failed in three tries, was dropped, or read what
  /// was never written; the same at each call until the slot's next operation.
  /// In a forked child always, since the thread stayed with the parent.
  /// THROWS: ValueError for a slot that was not reserved.
  void await(std::uint32_t slot);

  /// Returns when nothing moves. What has not begun is dropped: a value that
  /// was to be written has to be written again.
  void drain() noexcept;
  /// Returns when nothing moves, and drops nothing.
  void settle() noexcept;

  /// In the owner's thread.
  SpillCounts counts() const noexcept;
  bool is_direct() const noexcept { return file_.is_direct(); }
  Bytes file_bytes() const noexcept { return file_.size(); }

 private:
  enum class Outcome : std::uint8_t {
    kFine,
    kNotWritten,  // the system refused
    kNotRead,     // the system refused
    kDamaged,     // other bytes came back
    kNothing,     // a fetch of what is not on the file
    kDropped,     // by drain()
  };
  struct Slot {
    std::uint64_t last = 0;  // the owner's: number of the latest operation
    // The thread's while operation `last` is not done; the owner's else.
    std::uint64_t hash = 0;
    Bytes offset = 0;
    Bytes bytes = -1;  // on the file; -1: nothing
    Outcome outcome = Outcome::kFine;
  };
  struct Operation {
    std::uint32_t slot = 0;
    bool is_write = false;
    Bytes offset = 0;
    std::byte* data = nullptr;  // not written where is_write
    std::size_t bytes = 0;
  };

  static memory::Domain& with_room(memory::Domain& domain);
  static files::ScratchFile make_file(files::Door& door,
                                      std::string_view folder, Options options);
  static void main(void* self) noexcept;

  // The owner calls these.
  void expect_thread() const;
  void begin(const Operation& operation) noexcept;
  void await_done(std::uint64_t number) noexcept;
  [[noreturn]] void fail(std::uint32_t slot) const;

  // The thread calls these.
  void run_next(std::uint64_t number) noexcept;
  Outcome run(const Operation& operation, Slot& slot) noexcept;
  Outcome write_out(const Operation& operation, Slot& slot) noexcept;
  Outcome read_back(const Operation& operation, const Slot& slot) noexcept;
  template <class Try>
  Outcome try_thrice(Outcome failed, const Try& attempt) noexcept;
  void note(std::string_view failure) noexcept;

  files::ScratchFile file_;
  memory::Vector<Slot> slots_;
  memory::Vector<Operation> ring_;  // operation n is at n % size
  // Operations are numbered from 1.
  std::atomic<std::uint64_t> begun_{0};  // written by the owner
  std::atomic<std::uint64_t> done_{0};   // written by the thread
  std::atomic<bool> is_dropping_{false};
  std::atomic<bool> is_ending_{false};
  // Rung after a change that the other side may wait for; read before a look.
  std::atomic<std::int32_t> owner_bell_{0};   // rung by the thread
  std::atomic<std::int32_t> thread_bell_{0};  // rung by the owner
  std::atomic<Bytes> written_{0};
  std::atomic<Bytes> fetched_{0};
  std::atomic<std::int64_t> retries_{0};
  std::int64_t waited_ = 0;
  std::int64_t waits_ = 0;
  static constexpr std::size_t kMostOfFailure = 400;  // with NUL
  mutable std::mutex failure_mutex_;
  std::array<char, kMostOfFailure> failure_{};  // the latest; its message
  threads::Background thread_;                  // last: it uses all the others
};

}  // namespace neap::compiler
