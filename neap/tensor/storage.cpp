// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/tensor/storage.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "neap/tensor/storage_tag.hpp"

namespace neap::tensor {
namespace {

// A thread's number, then what it has made: no two threads share a counter.
constexpr unsigned kThreadShift = 40;
// NOLINTBEGIN(*-avoid-non-const-global-variables): of the process, of a thread
constinit std::atomic<std::uint64_t> threads{0};
constinit thread_local std::uint64_t latest = 0;
// NOLINTEND(*-avoid-non-const-global-variables)

void begin_thread() noexcept {
  latest = (threads.fetch_add(1, std::memory_order_relaxed) + 1)
           << kThreadShift;
}

// One storage comes home at a time: several threads may read it. Whoever holds
// this takes no other lock but those of doors and of a keeper's books; that of
// a keeper (KeeperLock), which may be a run's for long, is taken before it.
// NOLINTNEXTLINE(*-avoid-non-const-global-variables): of all storages
constinit std::mutex homecoming;

class Zeros final : public Keeper {
 public:
  void put_into(std::span<std::byte> into) override {
    std::ranges::fill(into, std::byte{0});
  }
  bool are_zeros() const noexcept override { return true; }
};

}  // namespace

memory::Owned<Keeper> keeper_of_zeros() {
  return memory::make_owned<Zeros>(memory::Category::kGraph);
}

std::uint64_t Storage::next_number() noexcept {
  if (latest == 0) {
    begin_thread();
  }
  return ++latest;
}

std::uint64_t Storage::latest_number() noexcept {
  if (latest == 0) {
    begin_thread();
  }
  return latest;
}

base::Ref<Storage> Storage::allocate(Bytes size, const memory::Tag& tag,
                                     memory::Domain& domain, Bytes trailing) {
  auto storage = create(domain, header_of(tag), trailing);
  storage->block_ = domain.allocate_elements(size, tag);
  storage->held_ = Held::kOwned;
  if (domain.is_rehearsal()) {
    storage->absence_ = Absence::kRehearsed;
  }
  storage->tag_ = tag;
  return storage;
}

base::Ref<Storage> Storage::borrow(void* data, Bytes size,
                                   memory::Owned<LentOwner> owner,
                                   const memory::Tag& tag,
                                   memory::Domain& domain) {
  auto storage = create(domain, header_of(tag), 0);
  domain.lend(size, tag);
  storage->block_ = {data, size, {}};
  storage->tag_ = tag;
  storage->lent_owner_ = std::move(owner);
  storage->held_ = Held::kLent;
  return storage;
}

base::Ref<Storage> Storage::stand_in(Bytes size, memory::Owned<LentOwner> owner,
                                     const memory::Tag& tag,
                                     memory::Domain& domain, Bytes trailing) {
  auto storage = create(domain, header_of(tag), trailing);
  storage->block_ = {nullptr, size, {}};
  storage->tag_ = tag;
  storage->lent_owner_ = std::move(owner);
  storage->held_ = Held::kStandIn;
  storage->absence_ = Absence::kTraced;
  return storage;
}

base::Ref<Storage> Storage::allocate_away(Bytes size, const memory::Tag& tag,
                                          memory::Domain& domain,
                                          Bytes trailing) {
  auto storage = create(domain, header_of(tag), trailing);
  storage->lent_owner_ = keeper_of_zeros();
  storage->block_ = {nullptr, size, {}};
  storage->held_ = Held::kAway;
  storage->absence_ =
      domain.is_rehearsal() ? Absence::kRehearsed : Absence::kAway;
  storage->tag_ = tag;
  return storage;
}

void Storage::send_away(memory::Owned<Keeper> keeper) noexcept {
  const std::lock_guard lock(homecoming);
  const Held held = std::exchange(held_, Held::kAway);
  const memory::Block block = std::exchange(block_, {nullptr, block_.size, {}});
  if (absence() == Absence::kNone) {
    absence_.store(Absence::kAway, std::memory_order_release);
  }
  lent_owner_ = std::move(keeper);
  if (held == Held::kOwned) {
    domain().release(block);
  }
}

// Calls it under the locks: that of the keeper, if there is one, comes before
// `homecoming`, under which it is known which one that is.
template <class Use>
void Storage::use_keeper(const Use& use) {
  std::shared_ptr<KeeperLock> held;
  std::unique_lock<KeeperLock> keeper_lock;
  for (;;) {
    {
      const std::lock_guard lock(homecoming);
      const std::shared_ptr<KeeperLock> needed =
          keeper() != nullptr ? keeper()->lock() : held;
      if (needed == held) {
        use();
        return;
      }
      if (keeper_lock) {
        keeper_lock.unlock();
      }
      held = needed;
    }
    keeper_lock =
        held ? std::unique_lock(*held) : std::unique_lock<KeeperLock>();
  }
}

void Storage::come_home(const memory::Block& block) noexcept {
  held_ = Held::kOwned;
  block_ = block;
  lent_owner_ = nullptr;
  if (absence() == Absence::kAway) {
    absence_.store(Absence::kNone, std::memory_order_release);
  }
}

void Storage::bring_home() {
  use_keeper([&] {
    if (!is_away()) {
      return;
    }
    const memory::Block block = domain().allocate_elements(size(), tag_);
    if (absence() == Absence::kAway) {
      try {
        keeper()->put_into({static_cast<std::byte*>(block.data),
                            static_cast<std::size_t>(block.size)});
      } catch (...) {
        domain().release(block);
        throw;
      }
    }
    come_home(block);
  });
}

bool Storage::copy_away(std::span<std::byte> into) {
  bool is_copied = false;
  use_keeper([&] {
    if (absence() == Absence::kAway) {
      keeper()->put_into(into);
      is_copied = true;
    }
  });
  return is_copied;
}

void Storage::copy_elements(Bytes offset, std::span<std::byte> into) {
  use_keeper([&] {
    if (absence() == Absence::kAway) {
      keeper()->put_into(into);
    } else {
      std::copy_n(data() + offset, into.size(), into.begin());
    }
  });
}

Overwrite::Overwrite(Storage& storage) : storage_(nullptr) {
  storage.use_keeper([&] {
    if (storage.absence() == Absence::kAway) {
      block_ =
          storage.domain().allocate_elements(storage.size(), storage.tag());
      storage_ = &storage;
    }
  });
}

Overwrite::~Overwrite() {
  if (storage_ != nullptr) {
    storage_->domain().release(block_);
  }
}

Overwrite::Overwrite(Overwrite&& other) noexcept
    : storage_(std::exchange(other.storage_, nullptr)), block_(other.block_) {}

std::span<std::byte> Overwrite::bytes() const noexcept {
  return storage_ == nullptr ? std::span<std::byte>()
                             : std::span(static_cast<std::byte*>(block_.data),
                                         static_cast<std::size_t>(block_.size));
}

void Overwrite::begin() noexcept {
  if (storage_ != nullptr) {
    const std::lock_guard lock(homecoming);
    if (storage_->is_away()) {
      std::exchange(storage_, nullptr)->come_home(block_);
    }
  }
}

Storage::~Storage() {
  let_go();
}

void Storage::end() noexcept {
  let_go();
  if (owner_ends()) {
    destroy(this);
  }
}

void Storage::let_go() noexcept {
  const Held held = std::exchange(held_, Held::kNothing);
  const memory::Block block = std::exchange(block_, {});
  if (held == Held::kLent) {
    domain().unlend(block.size, tag_);
    lent_owner_ = nullptr;
  } else if (held == Held::kOwned) {
    domain().release(block);
  } else if (held == Held::kStandIn || held == Held::kAway) {
    lent_owner_ = nullptr;
  }
}

void Storage::revoke(base::SiteId site) noexcept {
  let_go();
  absence_ = Absence::kRevoked;
  written_at_ = site;
}

void Storage::retag(memory::Category category, memory::OwnerId owner) {
  if (may_go_away()) {
    if (held_ == Held::kOwned) {
      domain().retag(block_, category, owner);
    }
    std::atomic_ref(tag_.category).store(category, std::memory_order_relaxed);
    std::atomic_ref(tag_.owner).store(owner, std::memory_order_relaxed);
  }
}

// Space and site never change.
memory::Tag tag_of(const Storage& storage) noexcept {
  auto& tag = const_cast<memory::Tag&>(storage.tag());  // it is only read
  return {
      .category = std::atomic_ref(tag.category).load(std::memory_order_relaxed),
      .space = tag.space,
      .owner = std::atomic_ref(tag.owner).load(std::memory_order_relaxed),
      .site = tag.site};
}

}  // namespace neap::tensor
