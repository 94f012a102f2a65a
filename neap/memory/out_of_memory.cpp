// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/out_of_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "neap/base/append.hpp"

namespace neap {
namespace {

// Writes into the stack only: there may be no heap left.
class Text {
 public:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) noexcept {
    const auto room = std::span(text_).subspan(length_);
    length_ +=
        std::min(base::format_into(room, format, std::forward<Args>(args)...),
                 room.size());
  }

  // "1.5 MiB (1 572 864 B)"
  void add_bytes(Bytes bytes) noexcept {
    if (bytes < kKiB) {
      add("{} B", bytes);
      return;
    }
    add_short(bytes);
    add(" (");
    add_grouped(bytes);
    add(" B)");
  }

  void add_short(Bytes bytes) noexcept {
    static constexpr std::array<std::string_view, 6> kUnits = {
        "B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; value >= 1024.0 && unit + 1 < kUnits.size(); ++unit) {
      value /= 1024.0;
    }
    if (unit == 0) {
      add("{} B", bytes);
    } else {
      add("{:.1f} {}", value, kUnits[unit]);
    }
  }

  void add_grouped(Bytes bytes) noexcept {
    Bytes unit = 1;
    while (bytes / unit >= 1000) {
      unit *= 1000;
    }
    add("{}", bytes / unit);
    while (unit > 1) {
      bytes %= unit;
      unit /= 1000;
      add(" {:03}", bytes / unit);
    }
  }

  void add_site(base::SiteId id) noexcept {
    const CallSite site = base::site_of(id);
    if (site.line == 0) {
      return;
    }
    const char* slash = std::strrchr(site.file, '/');
    add(" at {}:{}", slash != nullptr ? slash + 1 : site.file, site.line);
  }

  std::string_view view() const noexcept { return {text_.data(), length_}; }

 private:
  std::array<char, Error::kCapacity - 1> text_;
  std::size_t length_ = 0;
};

std::string_view fact_of(OutOfMemory::Reason reason) noexcept {
  switch (reason) {
    case OutOfMemory::Reason::kBudget:
      return "over budget";
    case OutOfMemory::Reason::kSystem:
      return "refused by the system";
    case OutOfMemory::Reason::kInjected:
      return "refused by the fault switch";
    case OutOfMemory::Reason::kArena:
      return "over its arena";
  }
  return "?";
}

void add_request(Text& text, const OutOfMemory::Details& d) noexcept {
  text.add("out of memory: ");
  text.add_bytes(d.requested);
  text.add(" asked for {}", memory::name_of(d.tag.category));
  if (d.owner[0] != '\0') {
    text.add(" of '{}'", d.owner.data());
  }
  text.add_site(d.tag.site);
  text.add(", {}; ", fact_of(d.reason));
}

void add_counts(Text& text, const OutOfMemory::Details& d) noexcept {
  text.add("live ");
  text.add_bytes(d.live);
  text.add(", held ");
  text.add_bytes(d.held);
  if (d.reason == OutOfMemory::Reason::kArena) {
    return;
  }
  text.add(", external ");
  text.add_bytes(d.external);
  text.add(", peak ");
  text.add_bytes(d.peak);
  text.add(", budget ");
  if (d.budget == kUnlimited) {
    text.add("none");
  } else {
    text.add_bytes(d.budget);
  }
}

Text message_of(const OutOfMemory::Details& d) noexcept {
  Text text;
  add_request(text, d);
  add_counts(text, d);
  std::string_view before = "; largest: ";
  for (const OutOfMemory::Holder& holder : d.holders) {
    if (holder.bytes == 0) {
      break;
    }
    text.add("{}{}", before, memory::name_of(holder.category));
    if (holder.owner[0] != '\0') {
      text.add(" of '{}'", holder.owner.data());
    }
    text.add(" ");
    text.add_short(holder.bytes);
    before = ", ";
  }
  return text;
}

}  // namespace

OutOfMemory::OutOfMemory(const Details& details) noexcept
    : Error(message_of(details).view()), details_(details) {}

}  // namespace neap
