// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/domain.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#include "neap/base/external.hpp"
#include "neap/base/raise.hpp"
#include "neap/memory/host_backends.hpp"
#include "neap/memory/ledger.hpp"

namespace neap::memory {
namespace {

constexpr Bytes kLargestAlignment = 4096;
constexpr Bytes kLargestRequest = Bytes{1} << 46U;  // no overflow in sums
constexpr std::size_t kNameBytes = 32;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kAddressSanitizer = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kAddressSanitizer = true;
#else
constexpr bool kAddressSanitizer = false;
#endif
#else
constexpr bool kAddressSanitizer = false;
#endif

bool wants_system(HostAllocator host) noexcept {
  if (host != HostAllocator::kAuto) {
    return host == HostAllocator::kSystem;
  }
  const char* chosen = std::getenv("NEAP_ALLOCATOR");
  if (chosen != nullptr && std::strcmp(chosen, "system") == 0) {
    return true;
  }
  if (chosen != nullptr && std::strcmp(chosen, "pooled") == 0) {
    return false;
  }
  return kAddressSanitizer;
}

Bytes idle_limit_of(Bytes limit) noexcept {
  const Bytes pages = ::sysconf(_SC_PHYS_PAGES);
  const Bytes page = ::sysconf(_SC_PAGESIZE);
  return limit != kUnlimited || pages <= 0 || page <= 0 ? limit
                                                        : pages * page / 4;
}

void check_request(Bytes size, Bytes alignment) {
  if (size < 0 || alignment <= 0 || alignment > kLargestAlignment ||
      (alignment & (alignment - 1)) != 0) {
    base::raise<ValueError>(
        "allocate: {} B aligned to {} B, expected a size of at least 0 and a "
        "power of two up to {}",
        size, alignment, kLargestAlignment);
  }
}

}  // namespace

// Everything below is guarded by `mutex`; functions expect it locked.
struct Domain::Impl {
  explicit Impl(const Options& options)
      : budget(options.budget), idle_limit(idle_limit_of(options.idle_limit)) {
    name_length = std::min(options.name.size(), name.size());
    std::copy_n(options.name.data(), name_length, name.data());
    if (wants_system(options.host)) {
      backends[0] = std::make_unique<SystemBackend>();
    } else {
      backends[0] = std::make_unique<PooledBackend>(idle_limit);
    }
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
    return is_closed && ledger.blocks() == 0 && lent_blocks == 0;
  }

  // --- refusing ---

  [[noreturn]] void refuse(OutOfMemory::Reason reason, const Tag& tag,
                           Bytes size) {
    note_peak();  // books may have grown on the way to the system's refusal
    OutOfMemory::Details details;
    details.reason = reason;
    copy_path(ledger.owners().path_of(tag.owner), details.owner);
    details.tag = tag;
    details.requested = size;
    details.live = ledger.live();
    details.held = held();
    details.external = base::external_bytes();
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
    const Bytes external = base::external_bytes();
    const auto is_over = [&] { return held() + growth() > budget - external; };
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

  Block grant(Bytes size, const Tag& tag, Bytes alignment) {
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
      data = take(backend, size, alignment);
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

  void* take(Backend& backend, Bytes size, Bytes alignment) noexcept {
    if (size > kLargestRequest) {
      return nullptr;
    }
    void* data = backend.allocate(size, alignment);
    if (data == nullptr && trim() > 0) {
      data = backend.allocate(size, alignment);
    }
    return data;
  }

  void give_back(void* data, Bytes size, BucketId bucket,
                 Bytes alignment) noexcept {
    const Tag tag = ledger.tag_of(bucket);
    if (size > 0) {
      backends[tag.space.value]->release(data, size, alignment);
    }
    ledger.credit(bucket, size);
    ++releases;
    log(EventKind::kRelease, tag, size, data);
  }

  // --- events ---

  void log(EventKind kind, const Tag& tag, Bytes size,
           const void* address) noexcept {
    if (event_capacity != 0) {
      events[event_count % event_capacity] = {event_count,   kind,   tag, size,
                                              ledger.live(), address};
    }
    ++event_count;
  }

  std::mutex mutex;
  SystemPages books;  // of the ledger and the events
  Ledger ledger{books};
  BookArray<Event> events{books};
  std::array<std::unique_ptr<Backend>, kMaxSpaces> backends;  // [0] always
  std::size_t space_end = 1;  // one past the highest space
  Bytes budget;               // bounds held + external
  Bytes idle_limit;           // per space
  Bytes peak = 0;             // highest held
  Bytes lent = 0;
  std::int64_t lent_blocks = 0;
  std::int64_t allocations = 0;
  std::int64_t releases = 0;
  std::int64_t requests = 0;  // since fail_at was set
  std::int64_t fault_at = 0;  // the request that fails; 0: none
  std::uint64_t event_capacity = 0;
  std::uint64_t event_count = 0;
  bool is_closed = false;  // its handle is gone
  std::array<char, kNameBytes> name{};
  std::size_t name_length = 0;
};

// --- life ---

Domain::Domain(const Options& options)
    : impl_(std::make_unique<Impl>(options)) {
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
  d.event_capacity = count;
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

// --- the door ---

Block Domain::allocate(Bytes size, const Tag& tag, Bytes alignment) {
  check_request(size, alignment);
  const std::lock_guard lock(impl_->mutex);
  return impl_->grant(size, tag, alignment);
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
  const Impl& d = *impl_;
  const std::lock_guard lock(impl_->mutex);
  Stats s;
  s.live = d.ledger.live();
  s.held = d.held();
  s.idle = d.idle();
  s.books = d.books.held();
  s.external = base::external_bytes();
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
  const std::lock_guard lock(impl_->mutex);
  return impl_->ledger.live_rows(rows);
}

int Domain::peak_rows(std::span<Row> rows) const noexcept {
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
  const Impl& d = *impl_;
  const std::lock_guard lock(impl_->mutex);
  const std::uint64_t count =
      std::min({d.event_count, d.event_capacity,
                static_cast<std::uint64_t>(out.size())});
  for (std::uint64_t i = 0; i < count; ++i) {
    out[i] = d.events[(d.event_count - count + i) % d.event_capacity];
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
  const std::lock_guard lock(impl_->mutex);
  return impl_->budget;
}

void Domain::set_budget(Bytes budget) noexcept {
  const std::lock_guard lock(impl_->mutex);
  impl_->budget = budget;
  if (budget != kUnlimited && impl_->held() + base::external_bytes() > budget) {
    impl_->trim();
  }
}

Bytes Domain::trim() noexcept {
  const std::lock_guard lock(impl_->mutex);
  return impl_->trim();
}

void Domain::fail_at(std::int64_t n) noexcept {
  const std::lock_guard lock(impl_->mutex);
  impl_->fault_at = n;
  impl_->requests = 0;
}

std::int64_t Domain::requests() const noexcept {
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

Domain& default_domain() {
  // In static storage and never destroyed: blocks may outlive every other
  // static object.
  alignas(Domain) static std::array<std::byte, sizeof(Domain)> storage;
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
  static Domain* const instance =
      ::new (storage.data()) Domain(Domain::Options{});
  return *instance;
}

}  // namespace neap::memory
