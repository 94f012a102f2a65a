// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/dist/fake_engine_for_test.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <limits>
#include <thread>

#include "neap/base/raise.hpp"
#include "neap/dist/errors.hpp"

namespace neap::dist {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
// The clock goes on by so much where no message is on its way.
constexpr std::int64_t kTick = 500'000'000;

}  // namespace

class FakeWorld::Rank final : public Engine {
 public:
  Rank(FakeWorld& world, int rank) : world_(world), rank_(rank) {}

  int rank() const noexcept override { return rank_; }
  int ranks() const noexcept override {
    return static_cast<int>(world_.operations_.size());
  }
  std::string_view name() const noexcept override { return "fake"; }

  void send(int slot, int peer, int tag,
            std::span<const std::byte> from) override {
    // Read alone: one form for both kinds of operation.
    begin(slot, {.is_send = true,
                 .peer = peer,
                 .tag = tag,
                 .data = const_cast<std::byte*>(from.data()),
                 .bytes = from.size()});
  }
  void receive(int slot, int peer, int tag,
               std::span<std::byte> into) override {
    begin(
        slot,
        {.peer = peer, .tag = tag, .data = into.data(), .bytes = into.size()});
  }
  bool is_done(int slot) override {
    const std::lock_guard lock(world_.mutex_);
    return world_.is_done(rank_, slot);
  }
  std::int64_t now() noexcept override {
    const std::lock_guard lock(world_.mutex_);
    return world_.now_;
  }
  void rest() noexcept override {
    std::unique_lock lock(world_.mutex_);
    world_.rest(rank_, lock);
  }
  void forget() noexcept override {
    const std::lock_guard lock(world_.mutex_);
    world_.leave(rank_);
  }
  void abort(int status) noexcept override {
    const std::lock_guard lock(world_.mutex_);
    world_.status_ = std::max(world_.status_, status);
  }

 private:
  void begin(int slot, Operation operation) {
    const std::lock_guard lock(world_.mutex_);
    operation.state = Operation::State::kBegun;
    world_.begin(rank_, slot, operation);
  }

  FakeWorld& world_;
  int rank_;
};

FakeWorld::FakeWorld(int ranks, const FakeOptions& options)
    : options_(options),
      random_(static_cast<std::minstd_rand::result_type>(options.seed)),
      operations_(static_cast<std::size_t>(ranks)),
      begun_(static_cast<std::size_t>(ranks), 0) {
  for (int rank = 0; rank < ranks; ++rank) {
    ranks_.push_back(std::make_unique<Rank>(*this, rank));
  }
}

FakeWorld::~FakeWorld() = default;

void FakeWorld::run(const std::function<void(Engine&)>& main) {
  std::vector<std::exception_ptr> failures(ranks_.size());
  std::vector<std::thread> threads;
  here_ = static_cast<int>(ranks_.size());
  resting_ = 0;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    threads.emplace_back([&, rank] {
      try {
        main(*ranks_[rank]);
      } catch (const EndOfRank&) {
        // as a process that is killed
      } catch (...) {
        failures[rank] = std::current_exception();
      }
      const std::lock_guard lock(mutex_);
      leave(static_cast<int>(rank));
      --here_;
      if (here_ > 0 && resting_ == here_) {
        advance();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) {
      std::rethrow_exception(failure);
    }
  }
}

std::int64_t FakeWorld::operations(int rank) const noexcept {
  const std::lock_guard lock(mutex_);
  return begun_[static_cast<std::size_t>(rank)];
}

void FakeWorld::begin(int rank, int slot, const Operation& operation) {
  const auto mine = static_cast<std::size_t>(rank);
  Operation& place = operations_[mine][static_cast<std::size_t>(slot)];
  if (place.state != Operation::State::kFree) {
    base::raise<DistError>("fake: slot {} of rank {} is in use", slot, rank);
  }
  const std::int64_t number = ++begun_[mine];
  const FakeFault& fault = options_.fault;
  const bool is_faulty = fault.kind != FakeFault::Kind::kNone &&
                         fault.rank == rank && fault.operation == number;
  if (is_faulty && fault.kind == FakeFault::Kind::kDies) {
    throw EndOfRank();
  }
  if (is_faulty && fault.kind == FakeFault::Kind::kFails) {
    base::raise<DistError>("fake: rank {} cannot begin operation {}", rank,
                           number);
  }
  place = operation;
  place.number = static_cast<std::uint64_t>(number);
  place.due = now_ + std::uniform_int_distribution<std::int64_t>(
                         0, options_.most_latency)(random_);
  if (is_faulty) {
    place.due =
        fault.kind == FakeFault::Kind::kLost ? kNever : now_ + fault.delay;
  }
  const int from = operation.is_send ? rank : operation.peer;
  match(from, operation.is_send ? operation.peer : rank, operation.tag);
}

// The earliest send and the earliest receive of a pair of ranks and a tag.
void FakeWorld::match(int from, int to, int tag) {
  const auto earliest = [&](int rank, bool is_send, int peer) -> Operation* {
    Operation* found = nullptr;
    for (Operation& one : operations_[static_cast<std::size_t>(rank)]) {
      if (one.state == Operation::State::kBegun && one.is_send == is_send &&
          one.peer == peer && one.tag == tag &&
          (found == nullptr || one.number < found->number)) {
        found = &one;
      }
    }
    return found;
  };
  Operation* send = earliest(from, true, to);
  Operation* receive = earliest(to, false, from);
  if (send == nullptr || receive == nullptr) {
    return;
  }
  if (send->bytes != receive->bytes) {
    base::raise<DistError>("fake: rank {} sends {} bytes, rank {} expects {}",
                           from, send->bytes, to, receive->bytes);
  }
  send->state = receive->state = Operation::State::kMatched;
  receive->other = send;
  receive->due = std::max(receive->due, send->due);
}

void FakeWorld::deliver() {
  for (Operations& of_rank : operations_) {
    for (Operation& one : of_rank) {
      if (one.state == Operation::State::kMatched && !one.is_send &&
          one.due <= now_) {
        std::memcpy(one.data, one.other->data, one.bytes);
        one.state = one.other->state = Operation::State::kDone;
        one.other = nullptr;
      }
    }
  }
}

bool FakeWorld::is_done(int rank, int slot) {
  Operation& one = operations_[static_cast<std::size_t>(rank)]
                              [static_cast<std::size_t>(slot)];
  if (one.state == Operation::State::kFree) {
    return true;
  }
  deliver();
  if (one.state != Operation::State::kDone) {
    return false;
  }
  one = {};
  return true;
}

// Until the clock has moved: when all ranks rest, the last one moves it.
void FakeWorld::rest(int /*rank*/, std::unique_lock<std::mutex>& lock) {
  if (++resting_ == here_) {
    advance();
    return;
  }
  const std::uint64_t round = round_;
  changed_.wait(lock, [&] { return round_ != round; });
}

void FakeWorld::advance() {
  std::int64_t next = kNever;
  for (const Operations& of_rank : operations_) {
    for (const Operation& one : of_rank) {
      if (one.state == Operation::State::kMatched && !one.is_send) {
        next = std::min(next, one.due);
      }
    }
  }
  now_ = next == kNever ? now_ + kTick : std::max(now_, next);
  resting_ = 0;
  ++round_;
  changed_.notify_all();
}

// Operations of a rank that leaves are nobody's any more: its memory ends.
void FakeWorld::leave(int rank) {
  for (Operation& mine : operations_[static_cast<std::size_t>(rank)]) {
    if (mine.state == Operation::State::kMatched) {
      part(mine);
    }
    mine = {};
  }
}

// The other side of a pair waits for another one.
void FakeWorld::part(const Operation& mine) {
  for (Operations& of_rank : operations_) {
    for (Operation& other : of_rank) {
      if (other.other == &mine || mine.other == &other) {
        other.state = Operation::State::kBegun;
        other.other = nullptr;
      }
    }
  }
}

}  // namespace neap::dist
