// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/arenas.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "neap/base/raise.hpp"
#include "neap/memory/system_pages.hpp"

namespace neap::compiler {
namespace {

// The whole units of the user's memory.
std::span<std::byte> units_of(std::span<std::byte> lent) noexcept {
  void* start = lent.data();
  std::size_t room = lent.size();
  const auto unit = static_cast<std::size_t>(kUnit);
  if (std::align(unit, 1, start, room) == nullptr) {
    return {};
  }
  return {static_cast<std::byte*>(start), room / unit * unit};
}

bool overlap(std::span<const std::byte> memory, const std::byte* begin,
             Bytes size) noexcept {
  const std::byte* first = memory.data();
  return begin != nullptr && first != nullptr && first < begin + size &&
         begin < first + std::max<std::size_t>(memory.size(), 1);
}

}  // namespace

// --- one block ---

Arenas::Arena::Arena(Bytes size, const memory::Tag& tag, memory::Domain& domain,
                     bool is_paged) {
  std::byte* begin = nullptr;
  if (is_paged) {
    begin = pages_.emplace(size, tag, domain).data();
  } else {
    block_ = domain.allocate_elements(size, tag);
    domain_ = &domain;
    begin = static_cast<std::byte*>(block_.data);
  }
  bytes_ = {begin, static_cast<std::size_t>(size)};
}

Arenas::Arena::~Arena() {
  if (domain_ != nullptr) {
    domain_->release(block_);
  }
}

Arenas::Arena::Arena(Arena&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})),
      block_(std::exchange(other.block_, {})),
      domain_(std::exchange(other.domain_, nullptr)),
      pages_(std::move(other.pages_)) {
  other.pages_.reset();
}

Arenas::Arena& Arenas::Arena::operator=(Arena&& other) noexcept {
  Arena taken(std::move(other));
  std::swap(bytes_, taken.bytes_);
  std::swap(block_, taken.block_);
  std::swap(domain_, taken.domain_);
  std::swap(pages_, taken.pages_);
  return *this;
}

// --- all of them ---

Arenas::Arenas(memory::Domain& domain, std::span<std::byte> lent, bool is_paged)
    : domain_(domain), lent_(lent), is_paged_(is_paged) {
  tag_.category = memory::Category::kActivations;
  tag_.owner = domain.owner(kArenaOwner);
  if (lent.empty()) {
    return;
  }
  domain.lend(static_cast<Bytes>(lent.size()), tag_);
  Arena& host = arenas_[memory::kHost.value];
  host = Arena(units_of(lent));
  touch(host.base(), host.capacity());
}

Arenas::~Arenas() {
  let_go();
  if (!lent_.empty()) {
    domain_.unlend(static_cast<Bytes>(lent_.size()), tag_);
  }
}

bool Arenas::must_grow(const Plan& plan, memory::SpaceId space,
                       bool may_grow) const {
  const Bytes bytes = plan.space(space).bytes;
  if (bytes <= capacity(space)) {
    return false;
  }
  if (is_lent(space) || (!may_grow && capacity(space) != 0)) {
    base::raise<PlanError>(
        "compile: the plan needs an arena of {}, and {} has {}",
        format_bytes(bytes),
        is_lent(space) ? "the memory that was given" : "that of max_batch",
        format_bytes(capacity(space)));
  }
  return true;
}

// Steps that can fail come first; then all changes are made at once.
bool Arenas::fit(const Plan& plan, bool is_in_use, bool may_grow) {
  std::array<bool, memory::kMaxSpaces> grows{};
  for (std::uint8_t s = 0; s < memory::kMaxSpaces; ++s) {
    grows[s] = must_grow(plan, {s}, may_grow);
  }
  std::array<Arena, memory::kMaxSpaces> grown;
  for (std::uint8_t s = 0; s < memory::kMaxSpaces; ++s) {
    if (grows[s] && !is_in_use) {
      drop({s});
    }
    if (grows[s]) {
      grown[s] = make({s}, plan.space({s}).bytes);
    }
  }
  const bool host_grows = grows[memory::kHost.value];
  const bool is_missing =
      plan.pages.bytes != 0 && (host_grows || find(plan) == mapped_.end());
  bool has_changed = false;
  MappedView mapped;
  if (is_missing) {
    Arena& host =
        host_grows ? grown[memory::kHost.value] : arenas_[memory::kHost.value];
    has_changed = !host.pages().is_shown();
    mapped_.reserve(mapped_.size() + 1);
    mapped = {&plan, host.pages().show(plan.pages.views, plan.pages.bytes)};
    touch(mapped.views.data(), mapped.views.size());
  }
  for (std::uint8_t s = 0; s < memory::kMaxSpaces; ++s) {
    if (grows[s]) {
      drop({s});
      arenas_[s] = std::move(grown[s]);
      has_changed = true;
    }
  }
  if (is_missing) {
    mapped_.push_back(std::move(mapped));
  }
  if (host_grows || (has_changed && is_missing)) {
    touch(base(memory::kHost), capacity());
  }
  return has_changed;
}

bool Arenas::has_room(const Plan& plan) const noexcept {
  for (std::uint8_t s = 0; s < memory::kMaxSpaces; ++s) {
    if (capacity({s}) != 0 && plan.space({s}).bytes > capacity({s})) {
      return false;
    }
  }
  return true;
}

Arenas::Arena Arenas::make(memory::SpaceId space, Bytes bytes) const {
  memory::Tag tag = tag_;
  tag.space = space;
  return {bytes, tag, domain_, is_paged_ && space == memory::kHost};
}

// A page is mapped when it is first touched: here, not in the third run. What
// it holds stays.
void Arenas::touch(std::byte* begin, Bytes size) const noexcept {
  const bool is_here = !domain_.is_rehearsal() || !lent_.empty();
  for (Bytes at = 0; is_here && at < size; at += memory::page_bytes()) {
    auto* const byte = static_cast<volatile std::byte*>(begin + at);
    const std::byte held = *byte;
    *byte = held;
  }
}

void Arenas::drop(memory::SpaceId space) noexcept {
  if (is_lent(space)) {
    return;
  }
  if (space == memory::kHost) {
    mapped_.clear();  // before what they show
  }
  arenas_[space.value] = {};
}

void Arenas::forget(const Plan& plan) noexcept {
  const auto found = find(plan);
  if (found != mapped_.end()) {
    mapped_.erase(found);
  }
}

void Arenas::let_go() noexcept {
  for (std::uint8_t s = 0; s < memory::kMaxSpaces; ++s) {
    drop({s});
  }
}

void Arenas::leave() noexcept {
  for (Arena& arena : arenas_) {
    arena.leave();
  }
}

// --- where things are ---

memory::Vector<Arenas::MappedView>::const_iterator Arenas::find(
    const Plan& plan) const noexcept {
  return std::find_if(
      mapped_.begin(), mapped_.end(),
      [&](const MappedView& mapped) { return mapped.plan == &plan; });
}

std::byte* Arenas::views(const Plan& plan) const noexcept {
  const auto found = find(plan);
  return found != mapped_.end() ? found->views.data() : nullptr;
}

std::byte* Arenas::address_of(const Plan& plan,
                              BufferId buffer) const noexcept {
  std::byte* begin = base(plan.lifetimes.at(buffer).space);
  Bytes offset = plan.address_of(buffer);
  if (plan.is_in_views(buffer)) {
    begin = views(plan);
    offset -= plan.space().bytes;
  }
  return begin != nullptr ? begin + offset : nullptr;
}

Bytes Arenas::bytes() const noexcept {
  Bytes sum = 0;
  for (const Arena& arena : arenas_) {
    sum += arena.capacity();
  }
  return sum;
}

bool Arenas::overlaps(std::span<const std::byte> memory) const noexcept {
  return std::any_of(arenas_.begin(), arenas_.end(),
                     [&](const Arena& arena) {
                       return overlap(memory, arena.base(), arena.capacity());
                     }) ||
         std::any_of(
             mapped_.begin(), mapped_.end(), [&](const MappedView& mapped) {
               return overlap(memory, mapped.views.data(), mapped.views.size());
             });
}

}  // namespace neap::compiler
