// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/leaks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "neap/base/bytes.hpp"
#include "neap/report/leak_text.hpp"
#include "neap/report/ledger_rows.hpp"

namespace neap::report {
namespace {

std::string line_of(const Baseline::Leak& leak, const memory::Domain& domain) {
  return fmt::format("leak: {} B in {} block{} of {}, owner '{}', made at {}\n",
                     format_grouped(leak.bytes), leak.blocks,
                     leak.blocks == 1 ? "" : "s", name_of(leak.tag.category),
                     domain.path_of(leak.tag.owner),
                     base::format_site(leak.tag.site));
}

bool is_tracking() noexcept {
  return memory::Membership::instance().is_tracking();
}

}  // namespace

Baseline::Baseline(const memory::Domain& domain)
    : domain_(&domain),
      rows_(rows_of(domain, Instant::kNow)),
      storages_(
          memory::Allocator<const tensor::Storage*>(report_domain(), {})) {
  if (is_tracking()) {
    Holders().for_each([this](const Holders::Held& held) {
      if (held.storage != nullptr) {
        storages_.push_back(held.storage);
      }
    });
    std::sort(storages_.begin(), storages_.end());
  }
}

bool Baseline::has(const tensor::Storage* storage) const noexcept {
  return std::binary_search(storages_.begin(), storages_.end(), storage);
}

memory::Vector<Baseline::Leak> Baseline::leaks() const {
  const memory::UseDomain use(report_domain());
  memory::Vector<Leak> out;
  for (const memory::Row& now : rows_of(*domain_, Instant::kNow)) {
    const auto before = std::find_if(
        rows_.begin(), rows_.end(),
        [&](const memory::Row& row) { return row.tag == now.tag; });
    const bool is_new = before == rows_.end();
    const Leak leak{now.tag, now.bytes - (is_new ? 0 : before->bytes),
                    now.blocks - (is_new ? 0 : before->blocks)};
    if (leak.bytes > 0 || leak.blocks > 0) {
      out.push_back(leak);
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const Leak& a, const Leak& b) {
    return a.bytes > b.bytes;
  });
  return out;
}

std::string Baseline::format() const {
  std::string out;
  for (const Leak& leak : leaks()) {
    out += line_of(leak, *domain_);
  }
  return out;
}

std::string report_leaks(const Baseline& baseline, const LeakOptions& options) {
  memory::Vector<Baseline::Leak> leaks = baseline.leaks();
  // Headers and nodes follow the values that explain them.
  std::stable_partition(leaks.begin(), leaks.end(), [&](const auto& leak) {
    return leak.tag.category != memory::Category::kGraph;
  });
  const Holders holders;
  LeakText text(holders, options);
  text.index(baseline.domain(), &baseline);
  std::string out;
  std::int64_t rows = 0;
  for (const Baseline::Leak& leak : leaks) {
    if (++rows > options.max_rows) {
      out += fmt::format("... and {} more\n",
                         std::ssize(leaks) - options.max_rows);
      break;
    }
    out += line_of(leak, baseline.domain());
    if (!is_of_value(leaks, leak)) {
      out += text.explain(leak.tag, leak.blocks);
    }
  }
  if (!out.empty() && !is_tracking()) {
    out +=
        "holders are known for tensors created while a memory::TrackHandles "
        "lives\n";
  }
  return out;
}

std::string report_leaks(const memory::Scope& scope,
                         const LeakOptions& options) {
  const Holders holders;
  const LeakText text(holders, options);
  std::string out;
  std::int64_t tensors = 0;
  holders.for_each_of(scope, [&](const Holders::Held& held) {
    if (++tensors <= options.max_rows) {
      out += text.explain(held);
    }
  });
  if (tensors == 0) {
    return {};
  }
  if (tensors > options.max_rows) {
    out += fmt::format("    ... and {} more\n",
                       format_grouped(tensors - options.max_rows));
  }
  return fmt::format("scope opened at {}: {} tensor{} alive\n{}",
                     base::format_site(scope.opened_at()),
                     format_grouped(tensors), tensors == 1 ? "" : "s", out);
}

}  // namespace neap::report
