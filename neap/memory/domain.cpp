// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/domain.hpp"

#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <new>

#include "neap/base/external.hpp"
#include "neap/base/outside.hpp"
#include "neap/base/raise.hpp"
#include "neap/memory/default_log.hpp"
#include "neap/memory/domain_impl.hpp"
#include "neap/memory/membership.hpp"
#include "neap/memory/scope_listener.hpp"

namespace neap::memory {
namespace {

constexpr Bytes kLargestAlignment = 4096;

void check_request(Bytes size, Bytes alignment) {
  if (size < 0 || alignment <= 0 || alignment > kLargestAlignment ||
      (alignment & (alignment - 1)) != 0) {
    base::raise<ValueError>(
        "allocate: {} B aligned to {} B, expected a size of at least 0 and a "
        "power of two up to {}",
        size, alignment, kLargestAlignment);
  }
}

// Memory that the default domain's log will be in, until that domain is made.
class RoomOfLog {
 public:
  bool offer(std::span<Event> room) noexcept {
    const std::lock_guard lock(mutex_);
    if (!is_taken_) {
      room_ = room;
    }
    return !is_taken_;
  }
  std::span<Event> take() noexcept {
    const std::lock_guard lock(mutex_);
    is_taken_ = true;
    return room_;
  }

 private:
  base::SpinLock mutex_;
  bool is_taken_ = false;
  std::span<Event> room_;
};

RoomOfLog& room_of_log() noexcept {
  static constinit RoomOfLog room;
  return room;
}

void unlock_after_fork(base::SpinLock& domains) noexcept {
  domains.unlock();
  Membership::instance().lock.unlock();
}

}  // namespace

// --- life ---

Domain::Domain(const Options& options)
    : is_rehearsal_(options.is_rehearsal),
      impl_(std::make_unique<Impl>(options)) {
  base::external_at_start();  // read before the first block is
}

Domain::~Domain() = default;

Domain::Handle Domain::create(const Options& options) {
  Handle handle(new Domain(options));
  Impl& d = *handle->impl_;
  const auto capacity = std::max(options.event_capacity, 0);
  const Bytes bytes = capacity * static_cast<Bytes>(sizeof(Event));
  const auto count = static_cast<std::size_t>(capacity);
  const std::lock_guard lock(d.mutex);
  d.make_room(Tag{}, bytes, [&] { return d.events.growth_for(count); });
  if (!d.events.reserve(count)) {
    d.refuse(OutOfMemory::Reason::kSystem, Tag{}, bytes);
  }
  d.kept = count == 0 ? std::span<Event>() : std::span(&d.events[0], count);
  d.note_peak();
  return handle;
}

void Domain::Closer::operator()(Domain* domain) const noexcept {
  bool is_gone = false;
  {
    const std::lock_guard lock(domain->impl_->mutex);
    domain->impl_->is_closed = true;
    is_gone = domain->impl_->is_gone();
  }
  if (is_gone) {
    delete domain;  // NOLINT(cppcoreguidelines-owning-memory): owns itself
  }
}

// --- requests ---

Block Domain::allocate(Bytes size, const Tag& tag, Bytes alignment) {
  if (size < 0 || alignment != kAlignment) {
    check_request(size, alignment);
  }
  const std::lock_guard lock(impl_->mutex);
  return impl_->grant(size, tag, alignment, Impl::Use::kAny);
}

Block Domain::allocate_elements(Bytes size, const Tag& tag) {
  if (size < 0) {
    check_request(size, kAlignment);
  }
  const std::lock_guard lock(impl_->mutex);
  return impl_->grant(size, tag, kAlignment,
                      is_rehearsal_ ? Impl::Use::kElements : Impl::Use::kAny);
}

void Domain::release(const Block& block, Bytes alignment) noexcept {
  if (block.bucket.value == 0) {
    return;
  }
  bool is_gone = false;
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->give_back(block.data, block.size, block.bucket, alignment);
    is_gone = impl_->is_gone();
  }
  if (is_gone) {
    delete this;
  }
}

void* Domain::allocate_raw(Bytes size, const Tag& tag, Bytes alignment) {
  return allocate(size, tag, alignment).data;
}

void Domain::release_raw(void* data, Bytes size, const Tag& tag,
                         Bytes alignment) noexcept {
  bool is_gone = false;
  {
    const std::lock_guard lock(impl_->mutex);
    const BucketId bucket = impl_->ledger.find(tag);
    impl_->give_back(data, size, bucket, alignment);
    is_gone = impl_->is_gone();
  }
  if (is_gone) {
    delete this;
  }
}

void Domain::retag(Block& block, Category category, OwnerId owner) {
  if (block.bucket.value == 0) {
    return;
  }
  Impl& d = *impl_;
  const std::lock_guard lock(d.mutex);
  Tag tag = d.ledger.tag_of(block.bucket);
  tag.category = category;
  tag.owner = owner;
  d.count_request(tag, 0);
  BucketId to = d.ledger.find(tag);
  if (to.value == 0) {
    d.make_room(tag, 0, [&] { return d.ledger.growth_for(tag); });
    to = d.open_bucket(tag, 0);
    d.note_peak();
  }
  d.ledger.move(block.bucket, to, block.size);
  block.bucket = to;
  d.log(EventKind::kRetag, tag, block.size, block.data);
}

void Domain::lend(Bytes bytes, const Tag& /*tag*/) {
  const std::lock_guard lock(impl_->mutex);
  impl_->lent += bytes;
  ++impl_->lent_blocks;
}

void Domain::unlend(Bytes bytes, const Tag& /*tag*/) noexcept {
  bool is_gone = false;
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->lent -= bytes;
    --impl_->lent_blocks;
    is_gone = impl_->is_gone();
  }
  if (is_gone) {
    delete this;
  }
}

// --- owners ---

OwnerId Domain::owner(std::string_view path) {
  Impl& d = *impl_;
  const std::lock_guard lock(d.mutex);
  OwnerBook& owners = d.ledger.owners();
  OwnerId owner;
  if (!owners.knows(path)) {
    const Tag tag{.category = Category::kGraph};
    const auto size = static_cast<Bytes>(path.size());
    d.count_request(tag, size);
    d.make_room(tag, size, [&] { return owners.growth_for(path); });
    if (!owners.intern(path, owner)) {
      d.refuse(OutOfMemory::Reason::kSystem, tag, size);
    }
    d.note_peak();
    return owner;
  }
  owners.intern(path, owner);
  return owner;
}

std::string_view Domain::path_of(OwnerId owner) const noexcept {
  const std::lock_guard lock(impl_->mutex);
  return impl_->ledger.owners().path_of(owner);
}

// --- what is where ---

Stats Domain::stats() const noexcept {
  ScopeListener::tell_of_figures("stats");
  const Impl& d = *impl_;
  const std::lock_guard lock(impl_->mutex);
  Stats s;
  s.live = d.ledger.live();
  s.held = d.held();
  s.idle = d.idle();
  s.books = d.books.held();
  s.external = base::count_external();
  s.lent = d.lent;
  s.peak = d.peak;
  s.live_peak = d.ledger.live_peak();
  s.budget = d.budget;
  s.idle_limit = d.idle_limit;
  s.live_blocks = d.ledger.blocks();
  s.allocations = d.allocations;
  s.releases = d.releases;
  s.system_calls = d.books.calls();
  for (const auto& backend : d.backends) {
    s.system_calls += backend != nullptr ? backend->system_calls() : 0;
  }
  return s;
}

int Domain::live_rows(std::span<Row> rows) const noexcept {
  ScopeListener::tell_of_figures("live_rows");
  const std::lock_guard lock(impl_->mutex);
  return impl_->ledger.live_rows(rows);
}

int Domain::peak_rows(std::span<Row> rows) const noexcept {
  ScopeListener::tell_of_figures("peak_rows");
  const std::lock_guard lock(impl_->mutex);
  return impl_->ledger.peak_rows(rows);
}

Tag Domain::tag_of(BucketId bucket) const noexcept {
  const std::lock_guard lock(impl_->mutex);
  return impl_->ledger.tag_of(bucket);
}

void Domain::reset_peak() noexcept {
  const std::lock_guard lock(impl_->mutex);
  impl_->ledger.reset_peak();
  impl_->peak = impl_->held();
}

int Domain::events(std::span<Event> out) const noexcept {
  ScopeListener::tell_of_figures("events");
  const Impl& d = *impl_;
  const std::lock_guard lock(impl_->mutex);
  const std::uint64_t count =
      std::min({d.event_count, static_cast<std::uint64_t>(d.kept.size()),
                static_cast<std::uint64_t>(out.size())});
  for (std::uint64_t i = 0; i < count; ++i) {
    out[i] = d.kept[(d.event_count - count + i) % d.kept.size()];
  }
  return static_cast<int>(count);
}

std::string_view Domain::name() const noexcept {
  return {impl_->name.data(), impl_->name_length};
}

bool Domain::is_consistent() const noexcept {
  const Impl& d = *impl_;
  const std::lock_guard lock(impl_->mutex);
  return d.ledger.is_consistent() &&
         std::all_of(d.backends.begin(), d.backends.end(),
                     [](const auto& backend) {
                       return backend == nullptr || backend->is_consistent();
                     });
}

// --- limits, trimming, faults ---

Bytes Domain::budget() const noexcept {
  ScopeListener::tell_of_figures("budget");
  const std::lock_guard lock(impl_->mutex);
  return impl_->budget;
}

void Domain::set_budget(Bytes budget) noexcept {
  const std::lock_guard lock(impl_->mutex);
  impl_->own_budget = budget;
  impl_->renew_budget();
}

void Domain::open_budget(BudgetLink& link) noexcept {
  base::tell_of_question("Budget", "to bound what is held while it runs", {});
  const std::lock_guard lock(impl_->mutex);
  impl_->add_budget(link);
}

void Domain::close_budget(BudgetLink& link) noexcept {
  bool is_gone = false;
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->remove_budget(link);
    is_gone = impl_->is_gone();
  }
  if (is_gone) {
    delete this;
  }
}

Bytes Domain::trim() noexcept {
  ScopeListener::tell_of_figures("trim");
  const std::lock_guard lock(impl_->mutex);
  return impl_->trim();
}

void Domain::fail_at(std::int64_t n) noexcept {
  const std::lock_guard lock(impl_->mutex);
  impl_->fault_at = n;
  impl_->requests = 0;
}

std::int64_t Domain::requests() const noexcept {
  ScopeListener::tell_of_figures("requests");
  const std::lock_guard lock(impl_->mutex);
  return impl_->requests;
}

void Domain::add_space(SpaceId space, std::unique_ptr<Backend> backend) {
  const std::lock_guard lock(impl_->mutex);
  if (space.value >= kMaxSpaces || backend == nullptr ||
      impl_->backends[space.value] != nullptr) {
    base::raise<ValueError>(
        "add_space: space {} exists already or is not below {}, or there is "
        "no backend",
        space.value, kMaxSpaces);
  }
  impl_->backends[space.value] = std::move(backend);
  impl_->space_end = std::max<std::size_t>(impl_->space_end, space.value + 1U);
}

void Domain::remove_space(SpaceId space) noexcept {
  const std::lock_guard lock(impl_->mutex);
  if (space != kHost && space.value < kMaxSpaces) {
    impl_->backends[space.value].reset();
  }
}

bool Domain::has_space(SpaceId space) const noexcept {
  const std::lock_guard lock(impl_->mutex);
  return space.value < kMaxSpaces && impl_->backends[space.value] != nullptr;
}

bool log_default_domain(std::span<Event> room) noexcept {
  return room_of_log().offer(room);
}

Domain& default_domain() {
  // In static storage and never destroyed: blocks may outlive every other
  // static object.
  alignas(Domain) static std::array<std::byte, sizeof(Domain)> storage;
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
  static Domain* const instance = [] {
    auto* made = ::new (storage.data()) Domain(Domain::Options{});
    made->impl_->kept = room_of_log().take();
    // A lock that another thread holds at a fork would be held for ever in the
    // child. The lists' is the outer one of the two.
    static_cast<void>(::pthread_atfork(
        [] {
          Membership::instance().lock.lock();
          default_domain().impl_->mutex.lock();
        },
        [] { unlock_after_fork(default_domain().impl_->mutex); },
        [] { unlock_after_fork(default_domain().impl_->mutex); }));
    return made;
  }();
  return *instance;
}

}  // namespace neap::memory
