// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Ranks that are threads of one process, for tests: messages arrive late and in
// an order that a seed gives, by a clock that moves only when nobody can do
// anything else, so that a deadline of a minute passes at once. Ranks may die,
// stop, or have an operation that the engine refuses.
//
// It is as strict as an engine may be: a message is copied when both sides have
// begun and its time has come, from memory and into memory that are theirs till
// then.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <vector>

#include "neap/dist/engine.hpp"

namespace neap::dist {

/// A fault of one rank, at its n-th operation (counted from 1).
struct FakeFault {
  enum class Kind : std::uint8_t {
    kNone,
    kDies,   // the rank ends: EndOfRank is thrown there
    kLost,   // the message never arrives
    kLate,   // it takes `delay`
    kFails,  // DistError
  };
  Kind kind = Kind::kNone;
  int rank = 0;
  std::int64_t operation = 0;
  std::int64_t delay = 0;  // nanoseconds
};

struct FakeOptions {
  std::uint64_t seed = 1;
  std::int64_t most_latency = 1'000'000;  // nanoseconds of a message
  FakeFault fault{};
};

/// Thrown in the rank that dies; no Error, so that nothing handles it.
struct EndOfRank {};

class FakeWorld {
 public:
  FakeWorld(int ranks, const FakeOptions& options);
  ~FakeWorld();
  FakeWorld(const FakeWorld&) = delete;
  FakeWorld& operator=(const FakeWorld&) = delete;

  /// Runs `main` in a thread for each rank, and waits for all. What main throws
  /// is thrown here, the first rank's that threw; EndOfRank is not.
  void run(const std::function<void(Engine&)>& main);
  /// Operations that a rank began.
  std::int64_t operations(int rank) const noexcept;
  /// The greatest status that a rank aborted the group with; 0: none did.
  int status() const noexcept { return status_; }

 private:
  class Rank;
  struct Operation {
    enum class State : std::uint8_t { kFree, kBegun, kMatched, kDone };
    State state = State::kFree;
    bool is_send = false;
    int peer = 0;
    int tag = 0;
    std::uint64_t number = 0;  // in the order in which its rank began them
    std::byte* data = nullptr;
    std::size_t bytes = 0;
    std::int64_t due = 0;
    Operation* other = nullptr;  // the send of a matched receive
  };
  using Operations = std::array<Operation, Engine::kSlots>;

  // With the lock:
  void begin(int rank, int slot, const Operation& operation);
  bool is_done(int rank, int slot);
  void match(int from, int to, int tag);
  void deliver();
  void rest(int rank, std::unique_lock<std::mutex>& lock);
  void advance();
  void leave(int rank);
  void part(const Operation& mine);

  FakeOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::minstd_rand random_;
  std::vector<Operations> operations_;  // of each rank
  std::vector<std::int64_t> begun_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::int64_t now_ = 0;
  std::uint64_t round_ = 0;  // of rests
  int here_ = 0;
  int resting_ = 0;
  int status_ = 0;
};

}  // namespace neap::dist
