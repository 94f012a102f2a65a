// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/domain_events.hpp"

#include <algorithm>
#include <array>

#include "neap/base/append.hpp"
#include "neap/base/raise.hpp"
#include "neap/report/ledger_rows.hpp"
#include "neap/report/snapshot_domain.hpp"

namespace neap::report {
namespace {

constexpr std::size_t kMostRefusals = 64;

// The number of the latest event that the log has; -1: none.
std::int64_t latest_of(const memory::Domain& domain) {
  std::array<memory::Event, 1> last{};
  return domain.events(last) == 0 ? -1
                                  : static_cast<std::int64_t>(last[0].time);
}

// Grows until the whole log fits: nobody says how long it is.
memory::Vector<memory::Event> log_of(const memory::Domain& domain) {
  constexpr std::size_t kFirst = 1024;
  memory::Vector<memory::Event> events;
  for (std::size_t room = kFirst;; room *= 2) {
    events.resize(room);
    const auto count = static_cast<std::size_t>(domain.events(events));
    if (count < room) {
      events.resize(count);
      return events;
    }
  }
}

}  // namespace

DomainEvents events_of(const memory::Domain& domain) {
  constexpr int kMostTries = 8;
  if (&domain == &report_domain()) {
    base::raise<ValueError>(
        "snapshot: the reports' own domain changes while it is looked at");
  }
  const memory::UseDomain use(report_domain());
  DomainEvents out;
  for (int i = 0; i < kMostTries; ++i) {
    out.events = log_of(domain);
    out.rows = rows_of(domain, Instant::kNow);
    out.stats = domain.stats();
    const std::int64_t latest =
        out.events.empty() ? -1
                           : static_cast<std::int64_t>(out.events.back().time);
    if (latest_of(domain) == latest) {
      break;
    }
  }
  return out;
}

LivePeak::LivePeak(const memory::Domain& domain)
    : domain_(&domain),
      events_(memory::Allocator<memory::Event>(report_domain(), memory::Tag{})),
      refusals_(
          memory::Allocator<memory::Event>(report_domain(), memory::Tag{})) {
  static_cast<void>(next());
}

Bytes LivePeak::next() {
  const memory::UseDomain use(report_domain());
  const memory::Stats stats = domain_->stats();
  const std::int64_t requests = stats.allocations + stats.releases;
  // Refusals and retags are events, too: there may be more. A log that is asked
  // for more than it has costs the room alone.
  constexpr std::int64_t kMostAtFirst = 128 * 1024;
  auto room =
      static_cast<std::size_t>(std::min(requests - requests_, kMostAtFirst)) +
      64;
  std::size_t count = 0;
  for (;; room *= 2) {
    events_.resize(room);
    count = static_cast<std::size_t>(domain_->events(events_));
    if (count < room || events_[0].time <= next_time_) {
      break;
    }
  }
  const bool is_whole =
      requests == requests_ || (count != 0 && events_[0].time <= next_time_);
  Bytes most = live_;
  for (std::size_t i = 0; i < count; ++i) {
    if (events_[i].time >= next_time_) {
      most = std::max(most, events_[i].live_after);
      note_refusal(events_[i]);
    }
  }
  if (count != 0) {
    next_time_ = events_[count - 1].time + 1;
  }
  requests_ = requests;
  live_ = stats.live;
  return is_whole ? most : -1;
}

void LivePeak::note_refusal(const memory::Event& event) {
  if (event.kind != memory::EventKind::kRefuse) {
    return;
  }
  if (refusals_.size() == kMostRefusals) {
    refusals_.erase(refusals_.begin());
  }
  refusals_.push_back(event);
}

memory::String refusal_text(const memory::Domain& domain,
                            const memory::Event& event) {
  const std::string_view owner = domain.path_of(event.tag.owner);
  memory::String out;
  base::append(out, "{} of {}", format_bytes(event.bytes),
               memory::name_of(event.tag.category));
  if (!owner.empty()) {
    base::append(out, " for '{}'", owner);
  }
  if (event.tag.site.value != 0) {
    base::append(out, " at {}", base::format_site(event.tag.site));
  }
  base::append(out,
               " were refused at event {}, when {} were live; enough would "
               "have been room for {} live at once",
               event.time, format_bytes(event.live_after),
               format_bytes(event.live_after + event.bytes));
  return out;
}

memory::Vector<memory::String> refusals_in(const memory::Domain& domain,
                                           const DomainEvents& log) {
  memory::Vector<memory::String> out;
  for (auto at = log.events.rbegin();
       at != log.events.rend() && out.size() < kMostRefusals; ++at) {
    if (at->kind == memory::EventKind::kRefuse) {
      out.push_back(refusal_text(domain, *at));
    }
  }
  std::reverse(out.begin(), out.end());
  return out;
}

memory::Vector<memory::String> refusals_of(const memory::Domain& domain) {
  const memory::UseDomain use(report_domain());
  return refusals_in(domain, events_of(domain));
}

}  // namespace neap::report
