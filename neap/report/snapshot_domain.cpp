// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/snapshot_domain.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "neap/base/append.hpp"
#include "neap/report/domain_events.hpp"
#include "neap/report/held_sums.hpp"
#include "neap/report/ledger_rows.hpp"
#include "neap/report/text_pool.hpp"

namespace neap::report {
namespace {

using memory::Category;
using memory::Event;
using memory::EventKind;
using memory::Tag;

constexpr std::uintptr_t kPage = 4096;

template <class Key, class Value>
using Map = std::map<Key, Value, std::less<>,
                     memory::Allocator<std::pair<const Key, Value>>>;

// A block under one tag, by address.
struct Stretch {
  std::uintptr_t address = 0;
  Bytes bytes = 0;
  Tag tag;
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::uint32_t over = Snapshot::kNone;  // of the stretches
};

// The blocks that a log tells of.
class Stretches {
 public:
  explicit Stretches(std::uint32_t before) : before_(before) {}

  // REQUIRES: events in their order.
  void add(const Event& event, std::uint32_t call) {
    if (event.bytes == 0 || event.address == nullptr) {
      return;
    }
    const auto address = reinterpret_cast<std::uintptr_t>(event.address);
    const Place place{event.tag.space.value, address};
    const auto found = open_.find(place);
    const bool is_known = found != open_.end();
    Stretch next{address, event.bytes, event.tag, call, call, Snapshot::kNone};
    switch (event.kind) {
      case EventKind::kAllocate:
        if (is_known) {  // never, unless events are missing
          close(found->second, call);
        }
        break;
      case EventKind::kRetag:
        next.over = is_known ? close(found->second, call) : Snapshot::kNone;
        next.first = is_known ? call : 0;
        break;
      case EventKind::kRelease:
        if (is_known) {
          close(found->second, call);
          open_.erase(found);
        } else if (before_ != 0) {
          next.first = 0;
          next.last = call - 1;
          all_.push_back(next);
        }
        return;
      case EventKind::kRefuse:
        return;
    }
    open_[place] = static_cast<std::uint32_t>(all_.size());
    all_.push_back(next);
  }

  // Ends those that are there still; visit(stretch) for each.
  template <class Visit>
  void finish(std::uint32_t calls, const Visit& visit) {
    for (const auto& [place, at] : open_) {
      all_[at].last = calls - 1;
      visit(all_[at]);
    }
    open_.clear();
  }

  const memory::Vector<Stretch>& all() const noexcept { return all_; }

 private:
  using Place = std::pair<std::uint8_t, std::uintptr_t>;  // space, address

  std::uint32_t close(std::uint32_t at, std::uint32_t call) {
    all_[at].last = call - 1;
    return at;
  }

  const std::uint32_t before_;  // calls that are no events
  memory::Vector<Stretch> all_;
  Map<Place, std::uint32_t> open_;
};

// Runs of pages, one above the other in each space.
class PageMap {
 public:
  explicit PageMap(const memory::Vector<Stretch>& stretches) {
    runs_.reserve(stretches.size());
    for (const Stretch& s : stretches) {
      const std::uintptr_t end =
          s.address + static_cast<std::uintptr_t>(s.bytes);
      runs_.push_back({s.tag.space.value, s.address / kPage * kPage,
                       (end + kPage - 1) / kPage * kPage, 0});
    }
    std::sort(runs_.begin(), runs_.end(), [](const Run& a, const Run& b) {
      return std::tuple(a.space, a.begin) < std::tuple(b.space, b.begin);
    });
    merge();
    for (Run& run : runs_) {
      Bytes& top = tops_[run.space];
      run.offset = top;
      top += static_cast<Bytes>(run.end - run.begin);
    }
  }

  Bytes offset_of(const Stretch& s) const {
    const auto above = std::upper_bound(
        runs_.begin(), runs_.end(), s, [](const Stretch& a, const Run& run) {
          return std::tuple(a.tag.space.value, a.address) <
                 std::tuple(run.space, run.begin);
        });
    const Run& run = *(above - 1);
    return run.offset + static_cast<Bytes>(s.address - run.begin);
  }
  Bytes height() const noexcept {
    Bytes sum = 0;
    for (const Bytes top : tops_) {
      sum += top;
    }
    return sum;
  }

 private:
  struct Run {
    std::uint8_t space;
    std::uintptr_t begin;
    std::uintptr_t end;
    Bytes offset;
  };

  // Joins runs that overlap or touch.
  void merge() {
    std::size_t kept = 0;
    for (const Run& run : runs_) {
      if (kept != 0 && runs_[kept - 1].space == run.space &&
          run.begin <= runs_[kept - 1].end) {
        runs_[kept - 1].end = std::max(runs_[kept - 1].end, run.end);
      } else {
        runs_[kept++] = run;
      }
    }
    runs_.resize(kept);
  }

  memory::Vector<Run> runs_;
  std::array<Bytes, memory::kMaxSpaces> tops_{};
};

std::string_view verb_of(EventKind kind) noexcept {
  switch (kind) {
    case EventKind::kAllocate:
      return "allocate";
    case EventKind::kRelease:
      return "release";
    case EventKind::kRetag:
      return "retag";
    case EventKind::kRefuse:
      break;
  }
  return "refuse";
}

Snapshot::Phase phase_of(Category category) noexcept {
  switch (category) {
    case Category::kGradients:
      return Snapshot::Phase::kBackward;
    case Category::kOptimizerState:
      return Snapshot::Phase::kUpdate;
    default:
      return Snapshot::Phase::kForward;
  }
}

class Maker {
 public:
  explicit Maker(const memory::Domain& domain)
      : domain_(domain),
        log_(events_of(domain)),
        before_(log_.has_before() ? 1 : 0),
        stretches_(before_) {}

  Snapshot run() {
    out_.is_eager = true;
    add_calls();
    add_stays();
    add_blocks();
    add_sums();
    add_title();
    out_.texts = texts_.take();
    return std::move(out_);
  }

 private:
  TextId text(std::string_view text) { return texts_.id(text); }
  TextId owner(const Tag& tag) { return text(domain_.path_of(tag.owner)); }
  TextId line(const Tag& tag) {
    return tag.site.value == 0 ? 0 : text(base::format_site(tag.site));
  }

  void add_calls() {
    out_.calls.reserve(log_.events.size() + before_);
    if (before_ != 0) {
      out_.calls.push_back({.op = text("before the log")});
    }
    for (const Event& event : log_.events) {
      stretches_.add(event, static_cast<std::uint32_t>(out_.calls.size()));
      out_.calls.push_back({.op = text(verb_of(event.kind)),
                            .layer = owner(event.tag),
                            .line = line(event.tag),
                            .phase = phase_of(event.tag.category)});
    }
    out_.refusals = refusals_in(domain_, log_);
  }

  // Live bytes of which no event tells.
  void add_stays() {
    using Key = decltype(key_of(Tag{}));
    Map<Key, Bytes> told;
    stretches_.finish(
        static_cast<std::uint32_t>(out_.calls.size()),
        [&](const Stretch& s) { told[key_of(s.tag)] += s.bytes; });
    StayRows rows(texts_);
    for (const memory::Row& row : log_.rows) {
      const auto found = told.find(key_of(row.tag));
      const Bytes part = found == told.end() ? 0 : found->second;
      rows.add(domain_.path_of(row.tag.owner), row.tag.category,
               std::max<Bytes>(row.bytes - part, 0));
    }
    rows.put_into(out_);
  }

  void add_blocks() {
    const memory::Vector<Stretch>& all = stretches_.all();
    const PageMap pages(all);
    height_ = pages.height();
    out_.blocks.reserve(all.size());
    for (const Stretch& s : all) {
      out_.blocks.push_back({.first = s.first,
                             .last = s.last,
                             .space = s.tag.space.value,
                             .kind = s.tag.category == Category::kWorkspace
                                         ? Snapshot::Kind::kWorkspace
                                         : Snapshot::Kind::kValue,
                             .offset = pages.offset_of(s),
                             .bytes = s.bytes,
                             .used = s.bytes,
                             .category = text(memory::name_of(s.tag.category)),
                             .layer = owner(s.tag),
                             .line = line(s.tag),
                             .over = s.over});
    }
    order_blocks(out_.blocks);
  }

  void add_sums() {
    Snapshot::Sums& sums = out_.sums;
    find_peak(out_);
    const memory::Stats& stats = log_.stats;
    const Bytes live = sums.live_at_peak + sums.stays;
    if (out_.blocks.empty()) {
      sums.idle = stats.idle;
      sums.overhead = std::max<Bytes>(stats.held - sums.stays - stats.idle, 0);
    } else {
      const Bytes held = std::max(stats.peak, live);
      sums.arena =
          std::clamp(held - sums.stays - stats.books, sums.live_at_peak,
                     std::max(height_, sums.live_at_peak));
      sums.overhead = held - sums.arena - sums.stays;
    }
    sums.lower_bound = sums.live_at_peak;
    sums.is_proven = sums.arena == sums.lower_bound;
    sums.external = stats.external;
    sums.budget = stats.budget == kUnlimited ? -1 : stats.budget;
    sums.reserved = sums.arena + sums.stays + sums.idle + sums.overhead;
  }

  void add_title() {
    base::append(out_.title, "domain {}, ", domain_.name());
    const std::size_t kept = log_.events.size();
    if (kept == 0) {
      out_.title += "no events are known";
    } else if (before_ == 0) {
      base::append(out_.title, "{} event{}",
                   format_grouped(static_cast<std::int64_t>(kept)),
                   kept == 1 ? "" : "s");
    } else {
      base::append(out_.title, "the last {} of {} events",
                   format_grouped(static_cast<std::int64_t>(kept)),
                   format_grouped(
                       static_cast<std::int64_t>(log_.events.back().time) + 1));
    }
  }

  const memory::Domain& domain_;
  const DomainEvents log_;
  const std::uint32_t before_;  // calls that are no events
  TextPool texts_;
  Stretches stretches_;
  Bytes height_ = 0;  // of the map
  Snapshot out_;
};

}  // namespace

Snapshot snapshot(const memory::Domain& domain) {
  const memory::UseDomain use(report_domain());
  return Maker(domain).run();
}

}  // namespace neap::report
