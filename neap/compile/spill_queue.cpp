// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/spill_queue.hpp"

#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "neap/base/raise.hpp"
#include "neap/memory/external_room.hpp"

namespace neap::compiler {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kSpin = std::chrono::microseconds(20);
constexpr int kTries = 3;

// Owners are numbered by each domain for itself.
memory::Tag tag_in(const memory::Domain& domain) noexcept {
  memory::Tag tag = memory::current_tag(memory::Category::kGraph);
  if (&domain != &memory::domain()) {
    tag.owner = {};
  }
  return tag;
}

void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void ring(std::atomic<std::int32_t>& bell) noexcept {
  bell.fetch_add(1);
  bell.notify_one();
}

// Returns when is_so(): looks for a while, then sleeps until the bell rings.
template <class Question>
void await_bell(const std::atomic<std::int32_t>& bell,
                const Question& is_so) noexcept {
  constexpr int kPausesPerLookAtTheClock = 32;
  const auto end = Clock::now() + kSpin;
  while (Clock::now() < end) {
    for (int i = 0; i < kPausesPerLookAtTheClock; ++i) {
      if (is_so()) {
        return;
      }
      relax();
    }
  }
  while (true) {
    const std::int32_t seen = bell.load();
    if (is_so()) {
      return;
    }
    bell.wait(seen);
  }
}

std::uint64_t hash_of(const std::byte* data, std::size_t bytes) noexcept {
  return XXH3_64bits(data, bytes);
}

}  // namespace

memory::Domain& SpillQueue::with_room(memory::Domain& domain) {
  memory::expect_external_room(threads::Background::external_bytes(),
                               tag_in(domain), domain);
  return domain;
}

files::ScratchFile SpillQueue::make_file(files::Door& door,
                                         std::string_view folder,
                                         Options options) {
  auto file = files::ScratchFile::create(
      door, std::string(folder), 0, {.may_be_direct = options.may_be_direct});
  if (!file) {
    throw files::IoError(file.error());
  }
  return std::move(*file);
}

SpillQueue::SpillQueue(files::Door& door, std::string_view folder,
                       memory::Domain& domain, Options options)
    : file_(make_file(door, folder, options)),
      slots_(memory::Allocator<Slot>(domain, tag_in(domain))),
      ring_(memory::Allocator<Operation>(with_room(domain), tag_in(domain))),
      thread_("neap-spill", &main, this) {}

SpillQueue::~SpillQueue() {
  drain();
  is_ending_.store(true);
  ring(thread_bell_);
}

void SpillQueue::reserve(Bytes file_bytes, std::size_t slots) {
  expect_thread();
  await_done(begun_.load(std::memory_order_relaxed));
  if (slots > slots_.size()) {
    memory::Vector<Slot> more(slots_.get_allocator());
    more.reserve(slots);
    more.assign(slots_.begin(), slots_.end());
    more.resize(slots);
    // A write and a fetch of each slot never have to wait for a place.
    memory::Vector<Operation> ring(2 * slots, ring_.get_allocator());
    if (auto grown = file_.grow(file_bytes); !grown) {
      throw files::IoError(grown.error());
    }
    slots_.swap(more);
    ring_.swap(ring);
  } else if (auto grown = file_.grow(file_bytes); !grown) {
    throw files::IoError(grown.error());
  }
}

void SpillQueue::write(std::uint32_t slot, Bytes offset,
                       std::span<const std::byte> from) noexcept {
  // Read alone: one form for both kinds of operation.
  begin({slot, true, offset, const_cast<std::byte*>(from.data()), from.size()});
}

void SpillQueue::fetch(std::uint32_t slot, Bytes offset,
                       std::span<std::byte> into) noexcept {
  begin({slot, false, offset, into.data(), into.size()});
}

void SpillQueue::begin(const Operation& operation) noexcept {
  if (!thread_.is_here() || operation.slot >= slots_.size()) {
    return;  // await() says so
  }
  const std::uint64_t number = begun_.load(std::memory_order_relaxed) + 1;
  if (number > ring_.size()) {
    await_done(number - ring_.size());
  }
  ring_[number % ring_.size()] = operation;
  slots_[operation.slot].last = number;
  begun_.store(number, std::memory_order_release);
  ring(thread_bell_);
}

void SpillQueue::await_done(std::uint64_t number) noexcept {
  const auto is_done = [&] {
    return done_.load(std::memory_order_acquire) >= number;
  };
  if (is_done()) {
    return;
  }
  const auto start = Clock::now();
  await_bell(owner_bell_, is_done);
  waited_ += std::chrono::nanoseconds(Clock::now() - start).count();
  ++waits_;
}

void SpillQueue::await(std::uint32_t slot) {
  expect_thread();
  if (slot >= slots_.size()) {
    base::raise<ValueError>("spill: slot {} of {}, reserve more", slot,
                            slots_.size());
  }
  await_done(slots_[slot].last);
  if (slots_[slot].outcome != Outcome::kFine) {
    fail(slot);
  }
}

void SpillQueue::expect_thread() const {
  if (!thread_.is_here()) {
    base::raise<files::IoError>(
        "spill: the thread that moves values stayed with the parent of this "
        "forked process; compile the step after the fork");
  }
}

void SpillQueue::fail(std::uint32_t slot) const {
  const std::lock_guard lock(failure_mutex_);
  const char* failure = failure_.data();
  switch (slots_[slot].outcome) {
    case Outcome::kNotWritten:
      base::raise<files::IoError>(
          "spill: value {} was not written in {} tries: {}", slot, kTries,
          failure);
    case Outcome::kNotRead:
      base::raise<files::IoError>(
          "spill: value {} was not read back in {} tries: {}", slot, kTries,
          failure);
    case Outcome::kDamaged:
      base::raise<files::IoError>(
          "spill: value {} was read back damaged from the spill file, {} times "
          "over; its disk loses data, choose another folder",
          slot, kTries);
    case Outcome::kNothing:
      base::raise<files::IoError>(
          "spill: value {} was to be read back and is not on the spill file; "
          "run the step again",
          slot);
    default:
      base::raise<files::IoError>(
          "spill: value {} was not moved, since the step before it failed; run "
          "the step again",
          slot);
  }
}

void SpillQueue::drain() noexcept {
  if (!thread_.is_here()) {
    return;
  }
  is_dropping_.store(true);
  await_bell(owner_bell_, [&] {
    return done_.load(std::memory_order_acquire) ==
           begun_.load(std::memory_order_relaxed);
  });
  is_dropping_.store(false);
}

void SpillQueue::settle() noexcept {
  if (thread_.is_here()) {
    await_done(begun_.load(std::memory_order_relaxed));
  }
}

SpillCounts SpillQueue::counts() const noexcept {
  return {.written = written_.load(std::memory_order_relaxed),
          .fetched = fetched_.load(std::memory_order_relaxed),
          .waited = waited_,
          .waits = waits_,
          .retries = retries_.load(std::memory_order_relaxed)};
}

void SpillQueue::main(void* self) noexcept {
  auto& queue = *static_cast<SpillQueue*>(self);
  while (true) {
    const std::int32_t seen = queue.thread_bell_.load();
    const std::uint64_t next = queue.done_.load(std::memory_order_relaxed) + 1;
    if (next <= queue.begun_.load(std::memory_order_acquire)) {
      queue.run_next(next);
    } else if (queue.is_ending_.load()) {
      return;
    } else {
      queue.thread_bell_.wait(seen);
    }
  }
}

void SpillQueue::run_next(std::uint64_t number) noexcept {
  const Operation operation = ring_[number % ring_.size()];
  Slot& slot = slots_[operation.slot];
  slot.outcome = run(operation, slot);
  done_.store(number, std::memory_order_release);
  ring(owner_bell_);
}

SpillQueue::Outcome SpillQueue::run(const Operation& operation,
                                    Slot& slot) noexcept {
  if (operation.is_write) {
    slot.bytes = -1;
    return is_dropping_.load() ? Outcome::kDropped : write_out(operation, slot);
  }
  return is_dropping_.load() ? Outcome::kDropped : read_back(operation, slot);
}

// attempt() is kFine, or as what the operation failed.
template <class Try>
SpillQueue::Outcome SpillQueue::try_thrice(Outcome failed,
                                           const Try& attempt) noexcept {
  Outcome outcome = failed;
  for (int tries = 1;; ++tries) {
    try {
      outcome = attempt();
    } catch (...) {
      note("no memory for the message");
      outcome = failed;
    }
    if (outcome == Outcome::kFine || tries == kTries || is_dropping_.load()) {
      return outcome;
    }
    retries_.fetch_add(1, std::memory_order_relaxed);
  }
}

SpillQueue::Outcome SpillQueue::write_out(const Operation& operation,
                                          Slot& slot) noexcept {
  slot.hash = hash_of(operation.data, operation.bytes);
  const Outcome outcome = try_thrice(Outcome::kNotWritten, [&] {
    const auto written =
        file_.write_at(operation.offset, {operation.data, operation.bytes});
    if (!written) {
      note(written.error().message);
    }
    return written ? Outcome::kFine : Outcome::kNotWritten;
  });
  if (outcome == Outcome::kFine) {
    slot.offset = operation.offset;
    slot.bytes = static_cast<Bytes>(operation.bytes);
    written_.fetch_add(slot.bytes, std::memory_order_relaxed);
  }
  return outcome;
}

SpillQueue::Outcome SpillQueue::read_back(const Operation& operation,
                                          const Slot& slot) noexcept {
  const auto bytes = static_cast<Bytes>(operation.bytes);
  if (slot.bytes != bytes || slot.offset != operation.offset) {
    // A write that failed is the better reason.
    return slot.outcome == Outcome::kNotWritten ? slot.outcome
                                                : Outcome::kNothing;
  }
  const Outcome outcome = try_thrice(Outcome::kNotRead, [&] {
    const auto read =
        file_.read_at(operation.offset, {operation.data, operation.bytes});
    if (!read) {
      note(read.error().message);
      return Outcome::kNotRead;
    }
    return hash_of(operation.data, operation.bytes) == slot.hash
               ? Outcome::kFine
               : Outcome::kDamaged;
  });
  if (outcome == Outcome::kFine) {
    fetched_.fetch_add(bytes, std::memory_order_relaxed);
  }
  return outcome;
}

void SpillQueue::note(std::string_view failure) noexcept {
  const std::lock_guard lock(failure_mutex_);
  const std::size_t size = std::min(failure.size(), failure_.size() - 1);
  std::copy_n(failure.data(), size, failure_.data());
  failure_[size] = '\0';
}

}  // namespace neap::compiler
