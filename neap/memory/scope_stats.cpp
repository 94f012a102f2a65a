// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A thread counts in a slot of its own, which it alone writes; readers add the
// slots up. When a thread ends, its slot is folded into a total.
#include "neap/memory/scope_stats.hpp"

#include <fmt/core.h>
#include <pthread.h>

#include <array>
#include <mutex>
#include <ostream>

#include "neap/base/append.hpp"
#include "neap/base/spin_lock.hpp"
#include "neap/memory/scope_listener.hpp"

namespace neap::memory {
namespace {

enum Counter : std::size_t {
  kCreatedInScope,
  kCreatedOutside,
  kReleasedInScope,
  kReleasedOutside,
  kAttached,
  kDetached,
  kAbsorbed,
  kCreatedBytes,
  kReleasedBytes,
  kCounters
};

using Counts = std::array<std::int64_t, kCounters>;

struct Slot {
  enum class State : std::uint8_t { kNew, kCounting, kEnded };

  void add(Counter counter, std::int64_t change) noexcept {
    auto& value = values[counter];
    value.store(value.load(std::memory_order_relaxed) + change,
                std::memory_order_relaxed);
  }

  std::array<std::atomic<std::int64_t>, kCounters> values{};
  std::int64_t live = 0;
  std::int64_t peak = 0;
  Counts origin{};  // values at the last reset
  Slot* next = nullptr;
  State state = State::kNew;
};

struct Process {
  // Guarded by the lock:
  base::SpinLock lock;
  Slot* slots = nullptr;
  Counts ended{};   // of threads that have ended
  Counts origin{};  // sums at the last reset

  std::atomic<std::int64_t> live{0};
  std::atomic<std::int64_t> peak{0};
};

Process& process() noexcept {
  static constinit Process instance;
  return instance;
}

void fold(Process& all, Slot& slot) noexcept {
  for (std::size_t i = 0; i < kCounters; ++i) {
    all.ended[i] += slot.values[i].load(std::memory_order_relaxed);
    slot.origin[i] -= slot.values[i].load(std::memory_order_relaxed);
    slot.values[i].store(0, std::memory_order_relaxed);
  }
}

void enlist(Slot& slot) noexcept {
  Process& all = process();
  const std::lock_guard lock(all.lock);
  slot.next = std::exchange(all.slots, &slot);
  slot.state = Slot::State::kCounting;
}

// When a thread ends. Members may die even later, with other thread-locals: the
// slot stays usable and is folded at once.
void retire(void* ended) noexcept {
  auto& slot = *static_cast<Slot*>(ended);
  Process& all = process();
  const std::lock_guard lock(all.lock);
  Slot** link = &all.slots;
  while (*link != nullptr && *link != &slot) {
    link = &(*link)->next;
  }
  if (*link != nullptr) {
    *link = slot.next;
    fold(all, slot);
  }
  slot.state = Slot::State::kEnded;
}

Counts values_of(const Slot& slot) noexcept {
  Counts counts;
  for (std::size_t i = 0; i < kCounters; ++i) {
    counts[i] = slot.values[i].load(std::memory_order_relaxed);
  }
  return counts;
}

void add_to(Counts& sum, const Counts& counts) noexcept {
  for (std::size_t i = 0; i < kCounters; ++i) {
    sum[i] += counts[i];
  }
}

Counts sum_of_threads(const Process& all) noexcept {
  Counts sum = all.ended;
  for (const Slot* slot = all.slots; slot != nullptr; slot = slot->next) {
    add_to(sum, values_of(*slot));
  }
  return sum;
}

Slot& thread_slot() noexcept {
  static constinit thread_local Slot slot;
  return slot;
}

// Tells when a thread ends. A thread_local with a destructor would do, but its
// registration takes memory, and the C library ends the process where there is
// none left.
class EndOfThread {
 public:
  EndOfThread() noexcept
      : has_key_(::pthread_key_create(&key_, &retire) == 0) {}
  // When the process ends, or unloads the library: nobody tells any more, so
  // that no slot may stay on the list.
  ~EndOfThread() {
    if (!has_key_) {
      return;
    }
    ::pthread_key_delete(key_);
    if (thread_slot().state == Slot::State::kCounting) {
      retire(&thread_slot());
    }
    Process& all = process();
    const std::lock_guard lock(all.lock);
    all.ended = sum_of_threads(all);
    all.slots = nullptr;
  }
  EndOfThread(const EndOfThread&) = delete;
  EndOfThread& operator=(const EndOfThread&) = delete;

  bool will_retire(Slot& slot) const noexcept {
    return has_key_ && ::pthread_setspecific(key_, &slot) == 0;
  }

 private:
  pthread_key_t key_{};
  bool has_key_;
};

Slot& own_slot() noexcept {
  Slot& slot = thread_slot();
  if (slot.state == Slot::State::kNew) {
    static const EndOfThread end;
    if (end.will_retire(slot)) {
      enlist(slot);
    } else {  // it would stay on the list: it is folded at once instead
      slot.state = Slot::State::kEnded;
    }
  }
  return slot;
}

void settle(Slot& slot) noexcept {
  if (slot.state == Slot::State::kEnded) {
    Process& all = process();
    const std::lock_guard lock(all.lock);
    fold(all, slot);
  }
}

void change_live(Slot& slot, int change) noexcept {
  Process& all = process();
  slot.live += change;
  std::int64_t now =
      all.live.fetch_add(change, std::memory_order_relaxed) + change;
  if (change > 0) {
    slot.peak = std::max(slot.peak, slot.live);
    std::int64_t peak = all.peak.load(std::memory_order_relaxed);
    while (now > peak && !all.peak.compare_exchange_weak(
                             peak, now, std::memory_order_relaxed)) {
    }
  }
}

ScopeStats stats_of(const Counts& counts, const Counts& origin) noexcept {
  Counts c = counts;
  for (std::size_t i = 0; i < kCounters; ++i) {
    c[i] -= origin[i];
  }
  ScopeStats stats;
  stats.created_in_scope = c[kCreatedInScope];
  stats.created_outside = c[kCreatedOutside];
  stats.released_in_scope = c[kReleasedInScope];
  stats.released_outside = c[kReleasedOutside];
  stats.attached = c[kAttached];
  stats.detached = c[kDetached];
  stats.absorbed = c[kAbsorbed];
  stats.created_bytes = c[kCreatedBytes];
  stats.released_bytes = c[kReleasedBytes];
  stats.live_bytes = counts[kCreatedBytes] - counts[kReleasedBytes];
  return stats;
}

void count(Counter counter, int change) noexcept {
  Slot& slot = own_slot();
  slot.add(counter, change);
  settle(slot);
}

}  // namespace

void count_created(bool in_scope, Bytes bytes) noexcept {
  Slot& slot = own_slot();
  slot.add(in_scope ? kCreatedInScope : kCreatedOutside, 1);
  slot.add(kCreatedBytes, bytes);
  change_live(slot, 1);
  settle(slot);
}

void count_released(bool in_scope, Bytes bytes) noexcept {
  Slot& slot = own_slot();
  slot.add(in_scope ? kReleasedInScope : kReleasedOutside, 1);
  slot.add(kReleasedBytes, bytes);
  change_live(slot, -1);
  settle(slot);
}

void count_part_released(Bytes bytes) noexcept {
  Slot& slot = own_slot();
  slot.add(kReleasedBytes, bytes);
  settle(slot);
}

void count_attached() noexcept {
  count(kAttached, 1);
}

void count_detached() noexcept {
  count(kDetached, 1);
}

void count_absorbed(int change) noexcept {
  Slot& slot = own_slot();
  slot.add(kAbsorbed, change);
  change_live(slot, -change);
  settle(slot);
}

void count_rebound(Bytes before, Bytes after) noexcept {
  Slot& slot = own_slot();
  slot.add(kReleasedBytes, before);
  slot.add(kCreatedBytes, after);
  settle(slot);
}

ScopeStats scope_stats() noexcept {
  ScopeListener::tell_of_figures("scope_stats");
  const Slot& slot = own_slot();
  ScopeStats stats = stats_of(values_of(slot), slot.origin);
  stats.live = slot.live;
  stats.peak_live = slot.peak;
  return stats;
}

ScopeStats process_scope_stats() noexcept {
  ScopeListener::tell_of_figures("process_scope_stats");
  Process& all = process();
  const std::lock_guard lock(all.lock);
  ScopeStats stats = stats_of(sum_of_threads(all), all.origin);
  stats.live = all.live.load(std::memory_order_relaxed);
  stats.peak_live = all.peak.load(std::memory_order_relaxed);
  return stats;
}

void reset_scope_stats() noexcept {
  Slot& slot = own_slot();
  slot.origin = values_of(slot);
  slot.peak = slot.live;
}

void reset_process_scope_stats() noexcept {
  Process& all = process();
  const std::lock_guard lock(all.lock);
  all.origin = sum_of_threads(all);
  all.peak.store(all.live.load(std::memory_order_relaxed),
                 std::memory_order_relaxed);
}

String ScopeStats::format() const {
  String text((Allocator<char>()));
  base::append(
      text,
      "created {} in scopes + {} outside, released {} + {}, attached {}, "
      "detached {}, absorbed {}, growth {} ({} B), live {} ({} B), peak {}",
      created_in_scope, created_outside, released_in_scope, released_outside,
      attached, detached, absorbed, growth(), growth_bytes(), live, live_bytes,
      peak_live);
  return text;
}

std::ostream& operator<<(std::ostream& out, const ScopeStats& stats) {
  return out << stats.format();
}

}  // namespace neap::memory
