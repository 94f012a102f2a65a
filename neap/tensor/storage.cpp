// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/tensor/storage.hpp"

#include <atomic>

#include "neap/base/raise.hpp"
#include "neap/tensor/storage_tag.hpp"

namespace neap::tensor {
namespace {

// A thread's number, then what it has made: no two threads share a counter.
constexpr unsigned kThreadShift = 40;
constinit std::atomic<std::uint64_t> threads{0};
constinit thread_local std::uint64_t latest = 0;

void begin_thread() noexcept {
  latest = (threads.fetch_add(1, std::memory_order_relaxed) + 1)
           << kThreadShift;
}

}  // namespace

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
  } else if (held == Held::kStandIn) {
    lent_owner_ = nullptr;
  }
}

void Storage::revoke(base::SiteId site) noexcept {
  let_go();
  absence_ = Absence::kRevoked;
  written_at_ = site;
}

void Storage::retag(memory::Category category, memory::OwnerId owner) {
  if (held_ == Held::kOwned) {
    domain().retag(block_, category, owner);
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
