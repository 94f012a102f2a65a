// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/base/call_site.hpp"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cstring>
#include <mutex>

#include "neap/base/outside.hpp"

namespace neap::base {
namespace {

constexpr std::uint32_t kSlots = 2 * kMaxCallSites;  // a power of two

// Entries are dense, so that a program with few sites touches few pages; the
// index is an open-addressing hash of them. An entry is written before its
// slot is published, and neither ever changes again.
struct Table {
  std::array<CallSite, kMaxCallSites + 1> entries{};       // [0]: unknown
  std::array<std::atomic<std::uint16_t>, kSlots> slots{};  // 0: empty
  std::atomic<std::uint32_t> count{0};
  std::mutex writer;
};

Table& table() noexcept {
  static constinit Table instance;
  return instance;
}

std::uint32_t slot_of(const CallSite& site) noexcept {
  auto key = reinterpret_cast<std::uintptr_t>(site.file) ^
             (reinterpret_cast<std::uintptr_t>(site.function) << 20U);
  key = (key + static_cast<std::uintptr_t>(site.line)) * 0x9E3779B97F4A7C15U;
  return static_cast<std::uint32_t>(key >> 40U) & (kSlots - 1);
}

bool same(const CallSite& a, const CallSite& b) noexcept {
  return a.line == b.line && a.file == b.file && a.function == b.function;
}

}  // namespace

SiteId intern(const CallSite& site) noexcept {
  if (site.line == 0) {
    return SiteId{};
  }
  Table& t = table();
  std::uint32_t slot = slot_of(site);
  for (;; slot = (slot + 1) & (kSlots - 1)) {
    const std::uint16_t id = t.slots[slot].load(std::memory_order_acquire);
    if (id == 0) {
      break;
    }
    if (same(t.entries[id], site)) {
      return SiteId{id};
    }
  }
  const std::lock_guard lock(t.writer);
  for (;; slot = (slot + 1) & (kSlots - 1)) {
    const std::uint16_t id = t.slots[slot].load(std::memory_order_relaxed);
    if (id == 0) {
      break;
    }
    if (same(t.entries[id], site)) {
      return SiteId{id};
    }
  }
  const std::uint32_t count = t.count.load(std::memory_order_relaxed);
  if (count == kMaxCallSites) {
    return SiteId{};
  }
  t.entries[count + 1] = site;
  t.count.store(count + 1, std::memory_order_release);
  t.slots[slot].store(static_cast<std::uint16_t>(count + 1),
                      std::memory_order_release);
  return SiteId{count + 1};
}

CallSite site_of(SiteId id) noexcept {
  Table& t = table();
  const bool known =
      id.value != 0 && id.value <= t.count.load(std::memory_order_acquire);
  return known ? t.entries[id.value] : CallSite{};
}

int interned_sites() noexcept {
  tell_of_question("interned_sites", "for figures of the whole program", {});
  return static_cast<int>(table().count.load(std::memory_order_acquire));
}

std::string format_site(SiteId id) {
  const CallSite site = site_of(id);
  if (site.line == 0) {
    return "unknown";
  }
  const char* slash = std::strrchr(site.file, '/');
  const char* name = slash != nullptr ? slash + 1 : site.file;
  return fmt::format("{}:{} ({})", name, site.line, site.function);
}

}  // namespace neap::base
