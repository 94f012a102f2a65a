// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/growth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "neap/base/outside.hpp"
#include "neap/base/text_table.hpp"
#include "neap/memory/scope_stats.hpp"
#include "neap/report/leak_text.hpp"
#include "neap/report/ledger_rows.hpp"

namespace neap::report {
namespace {

constexpr std::int64_t kEnoughSteps = 3;
constexpr const char* kAboutGrowth = "how a program's memory grows";

}  // namespace

bool Growth::precedes(const memory::Tag& a, const memory::Tag& b) noexcept {
  return key_of(a) < key_of(b);
}

void Growth::Trend::add(std::int64_t value, std::int64_t step,
                        bool is_first) noexcept {
  if (is_first) {
    first = value;
  } else if (value > now) {
    ++grown;
    last = step;
  }
  has_shrunk = has_shrunk || (!is_first && value < now);
  now = value;
}

bool Growth::Trend::is_steady(std::int64_t compared,
                              std::int64_t step) const noexcept {
  const bool is_often =
      grown >= kEnoughSteps || (grown > 0 && grown == compared);
  const std::int64_t at_rest = step - last;
  return is_often && !has_shrunk && at_rest <= compared - at_rest;
}

Growth::Growth(const memory::Domain& domain, const GrowthOptions& options)
    : domain_(&domain),
      options_(options),
      seen_(memory::Allocator<Seen>(report_domain(), memory::Tag{})) {}

// Merges what was seen with what is there now, both ordered by tag. A row that
// is not there now has nothing; one that was not there had nothing.
memory::Vector<Growth::Seen> Growth::merge(
    const memory::Vector<memory::Row>& now) const {
  memory::Vector<Seen> out;
  out.reserve(now.size() + seen_.size());
  const bool is_first = steps_ == options_.warm_up;
  auto old = seen_.begin();
  const auto add = [&](Seen seen, Bytes bytes, std::int64_t blocks) {
    seen.bytes.add(bytes, steps_ + 1, is_first);
    seen.blocks.add(blocks, steps_ + 1, is_first);
    out.push_back(seen);
  };
  for (const memory::Row& row : now) {
    for (; old != seen_.end() && precedes(old->tag, row.tag); ++old) {
      add(*old, 0, 0);
    }
    const bool is_known = old != seen_.end() && old->tag == row.tag;
    add(is_known ? *old++ : Seen{row.tag, {}, {}}, row.bytes, row.blocks);
  }
  for (; old != seen_.end(); ++old) {
    add(*old, 0, 0);
  }
  return out;
}

void Growth::step() {
  if (steps_ >= options_.warm_up) {
    const memory::UseDomain use(report_domain());
    memory::Vector<memory::Row> now = rows_of(*domain_, Instant::kNow);
    std::sort(now.begin(), now.end(),
              [](const memory::Row& a, const memory::Row& b) {
                return precedes(a.tag, b.tag);
              });
    seen_ = merge(now);
    const bool is_first = steps_ == options_.warm_up;
    tensors_.add(memory::process_scope_stats().live, steps_ + 1, is_first);
  }
  ++steps_;
}

std::int64_t Growth::steps() const noexcept {
  base::tell_of_question("steps", kAboutGrowth, {});
  return steps_;
}

std::int64_t Growth::compared() const noexcept {
  base::tell_of_question("compared", kAboutGrowth, {});
  return std::max<std::int64_t>(0, steps_ - options_.warm_up - 1);
}

std::int64_t Growth::tensors() const noexcept {
  base::tell_of_question("tensors", kAboutGrowth, {});
  return tensors_.growth();
}

memory::Vector<Growth::Row> Growth::rows() const {
  base::tell_of_question("rows", kAboutGrowth, {});
  const memory::UseDomain use(report_domain());
  memory::Vector<Row> out;
  for (const Seen& seen : seen_) {
    const bool by_bytes = seen.bytes.is_steady(compared(), steps_);
    if (by_bytes || seen.blocks.is_steady(compared(), steps_)) {
      const Trend& trend = by_bytes ? seen.bytes : seen.blocks;
      out.push_back({seen.tag, seen.bytes.growth(), seen.blocks.growth(),
                     trend.grown, trend.last});
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const Row& a, const Row& b) {
    return std::tuple(a.bytes, a.blocks) > std::tuple(b.bytes, b.blocks);
  });
  return out;
}

std::string Growth::format() const {
  const memory::Vector<Row> found = rows();
  if (found.empty()) {
    return {};
  }
  Bytes bytes = 0;
  std::int64_t blocks = 0;
  base::TextTable<> table({{"bytes", true},
                           {"blocks", true},
                           {"steps", true},
                           {"last", true},
                           {"category"},
                           {"owner"},
                           {"made at"}});
  for (const Row& row : found) {
    bytes += row.bytes;
    blocks += row.blocks;
    if (static_cast<int>(table.rows()) < options_.max_rows) {
      table.add({format_grouped(row.bytes), format_grouped(row.blocks),
                 format_grouped(row.grown), format_grouped(row.last),
                 name_of(row.tag.category),
                 fmt::format("'{}'", domain_->path_of(row.tag.owner)),
                 base::format_site(row.tag.site)});
    }
  }
  std::string out = fmt::format(
      "growth: {} B and {} blocks in {} steps after {} of warm-up\n",
      format_grouped(bytes), format_grouped(blocks), format_grouped(compared()),
      options_.warm_up);
  table.append_to(out, 2);
  if (table.rows() < found.size()) {
    out += fmt::format("  ... and {} rows more\n", found.size() - table.rows());
  }
  out += fmt::format("  {} tensors more in the whole program\n",
                     format_grouped(tensors()));
  return out + format_holders(found);
}

// Headers and nodes are named only where no value of their line is.
std::string Growth::format_holders(const memory::Vector<Row>& rows) const {
  if (!memory::Membership::instance().is_tracking()) {
    return {};
  }
  const Holders holders;
  LeakText text(holders, {.max_tensors = 1, .names = options_.names});
  text.index(*domain_, nullptr);
  std::string out;
  int shown = 0;
  for (const Row& row : rows) {
    const std::string lines =
        is_of_value(rows, row) ? "" : text.explain(row.tag, 1);
    if (!lines.empty() && shown++ < options_.max_holders) {
      out +=
          fmt::format("  one of '{}', {}\n{}", domain_->path_of(row.tag.owner),
                      base::format_site(row.tag.site), lines);
    }
  }
  return out;
}

}  // namespace neap::report
