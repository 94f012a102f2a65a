// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The inside of a domain: the steps of granting, refusing and freeing, which
// domain.cpp calls under the lock.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <span>

#include "neap/base/external.hpp"
#include "neap/base/raise.hpp"
#include "neap/base/spin_lock.hpp"
#include "neap/memory/host_backends.hpp"
#include "neap/memory/ledger.hpp"

namespace neap::memory {

inline constexpr Bytes kLargestRequest = Bytes{1} << 46U;  // sums cannot wrap
inline constexpr std::size_t kNameBytes = 32;

// Everything below is guarded by `mutex`; functions expect it locked.
struct Domain::Impl {
  explicit Impl(const Options& options)
      : own_budget(options.budget),
        budget(options.budget),
        idle_limit(idle_limit_of(options.idle_limit)) {
    name_length = std::min(options.name.size(), name.size());
    std::copy_n(options.name.data(), name_length, name.data());
    backends[0] = options.is_rehearsal
                      ? make_rehearsal_backend(idle_limit)
                      : make_host_backend(options.host, idle_limit);
  }

  // --- sums ---

  Bytes held() const noexcept {
    Bytes sum = books.held() + backends[0]->held();
    for (std::size_t i = 1; i < space_end; ++i) {
      sum += backends[i] != nullptr ? backends[i]->held() : 0;
    }
    return sum;
  }

  Bytes idle() const noexcept {
    Bytes sum = 0;
    for (const auto& backend : backends) {
      sum += backend != nullptr ? backend->idle() : 0;
    }
    return sum;
  }

  void note_peak() noexcept { peak = std::max(peak, held()); }

  bool is_gone() const noexcept {
    return is_closed && ledger.blocks() == 0 && lent_blocks == 0 &&
           budgets == nullptr;
  }

  // --- budgets ---

  // The least of all bounds; idle pages that are beyond it go at once.
  void renew_budget() noexcept {
    budget = own_budget;
    for (const BudgetLink* link = budgets; link != nullptr; link = link->next) {
      budget = std::min(budget, link->bytes);
    }
    if (budget != kUnlimited && held() + base::count_external() > budget) {
      trim();
    }
  }

  void add_budget(BudgetLink& link) noexcept {
    link.next = budgets;
    if (budgets != nullptr) {
      budgets->previous = &link;
    }
    budgets = &link;
    renew_budget();
  }

  void remove_budget(BudgetLink& link) noexcept {
    (link.previous != nullptr ? link.previous->next : budgets) = link.next;
    if (link.next != nullptr) {
      link.next->previous = link.previous;
    }
    renew_budget();
  }

  // --- refusing ---

  [[noreturn]] void refuse(OutOfMemory::Reason reason, const Tag& tag,
                           Bytes size) {
    note_peak();  // tables may have grown on the way to the system's refusal
    OutOfMemory::Details details;
    details.reason = reason;
    copy_path(ledger.owners().path_of(tag.owner), details.owner);
    details.tag = tag;
    details.requested = size;
    details.live = ledger.live();
    details.held = held();
    details.external = base::count_external();
    details.peak = peak;
    details.budget = budget;
    ledger.owners().largest(details.holders);
    log(EventKind::kRefuse, tag, size, nullptr);
    throw OutOfMemory(details);
  }

  void count_request(const Tag& tag, Bytes size) {
    ++requests;
    if (fault_at != 0 && requests == fault_at) {
      refuse(OutOfMemory::Reason::kInjected, tag, size);
    }
  }

  Bytes trim() noexcept {
    Bytes given = 0;
    for (const auto& backend : backends) {
      given += backend != nullptr ? backend->trim() : 0;
    }
    return given;
  }

  // Makes sure that what `growth` says will be taken from the system stays
  // within the budget; idle pages go first.
  template <class Growth>
  void make_room(const Tag& tag, Bytes size, Growth&& growth) {
    if (budget == kUnlimited) {
      return;
    }
    const Bytes external = base::count_external();
    // A sum does not wrap; the lowest budget less something would.
    const auto is_over = [&] { return held() + growth() + external > budget; };
    if (is_over()) {
      if (trim() == 0 || is_over()) {
        refuse(OutOfMemory::Reason::kBudget, tag, size);
      }
    }
  }

  // --- granting ---

  Backend& backend_of(SpaceId space) {
    if (space.value >= kMaxSpaces || backends[space.value] == nullptr) {
      base::raise<DeviceError>(
          "allocate: memory space {} is not one of this domain's; add_space "
          "adds it",
          space.value);
    }
    return *backends[space.value];
  }

  BucketId open_bucket(const Tag& tag, Bytes size) {
    BucketId bucket = ledger.find(tag);
    if (bucket.value == 0) {
      bucket = ledger.open(tag);
    }
    if (bucket.value == 0) {
      refuse(OutOfMemory::Reason::kSystem, tag, size);
    }
    return bucket;
  }

  // The purpose of a block: only a rehearsal tells them apart.
  enum class Use : std::uint8_t { kAny, kElements };

  Block grant(Bytes size, const Tag& tag, Bytes alignment, Use use) {
    Backend& backend = backend_of(tag.space);
    count_request(tag, size);
    make_room(tag, size, [&] {
      return ledger.growth_for(tag) + (size > kLargestRequest ? kLargestRequest
                                       : size > 0
                                           ? backend.growth_for(size, alignment)
                                           : 0);
    });
    const BucketId bucket = open_bucket(tag, size);
    void* data = nullptr;
    if (size > 0) {
      data = take(backend, size, alignment, use);
      if (data == nullptr) {
        refuse(OutOfMemory::Reason::kSystem, tag, size);
      }
    }
    ledger.charge(bucket, size);
    ++allocations;
    note_peak();
    log(EventKind::kAllocate, tag, size, data);
    return {data, size, bucket};
  }

  void* take(Backend& backend, Bytes size, Bytes alignment, Use use) noexcept {
    if (size > kLargestRequest) {
      return nullptr;
    }
    const auto ask = [&] {
      return use == Use::kElements ? backend.reserve(size, alignment)
                                   : backend.allocate(size, alignment);
    };
    void* data = ask();
    if (data == nullptr && trim() > 0) {
      data = ask();
    }
    return data;
  }

  void give_back(void* data, Bytes size, BucketId bucket,
                 Bytes alignment) noexcept {
    if (size > 0) {
      backends[ledger.space_of(bucket).value]->release(data, size, alignment);
    }
    ledger.credit(bucket, size);
    ++releases;
    if (!kept.empty()) {
      log(EventKind::kRelease, ledger.tag_of(bucket), size, data);
    } else {
      ++event_count;
    }
  }

  // --- events ---

  void log(EventKind kind, const Tag& tag, Bytes size,
           const void* address) noexcept {
    if (!kept.empty()) {
      kept[event_count % kept.size()] = {event_count, kind,          tag,
                                         size,        ledger.live(), address};
    }
    ++event_count;
  }

  base::SpinLock mutex;
  SystemPages books;  // of the ledger and the events
  Ledger ledger{books};
  BookArray<Event> events{books};
  std::array<std::unique_ptr<Backend>, kMaxSpaces> backends;  // [0] always
  std::size_t space_end = 1;      // one past the highest space
  Bytes own_budget;               // as set_budget said last
  Bytes budget;                   // the least of all: bounds held + external
  BudgetLink* budgets = nullptr;  // of all open Budget blocks
  Bytes idle_limit;               // per space
  Bytes peak = 0;                 // highest held
  Bytes lent = 0;
  std::int64_t lent_blocks = 0;
  std::int64_t allocations = 0;
  std::int64_t releases = 0;
  std::int64_t requests = 0;      // since fail_at was set
  std::int64_t fault_at = 0;      // the request that fails; 0: none
  std::span<Event> kept;          // the latest events, as a ring
  std::uint64_t event_count = 0;  // ever
  bool is_closed = false;         // its handle is gone
  std::array<char, kNameBytes> name{};
  std::size_t name_length = 0;
};

}  // namespace neap::memory
