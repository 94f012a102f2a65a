// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/leak_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "neap/base/bytes.hpp"
#include "neap/report/ledger_rows.hpp"
#include "neap/tensor/storage_tag.hpp"

namespace neap::report {
namespace {

// The tag that a value or a part of the graph is counted under.
memory::Tag tag_of(const Holders::Held& held) noexcept {
  if (held.storage != nullptr) {
    return tensor::tag_of(*held.storage);
  }
  memory::Tag tag;
  tag.category = memory::Category::kGraph;
  tag.owner = held.vertex->owner();
  tag.site = held.vertex->site();
  return tag;
}

Bytes bytes_of(const Holders::Held& held) noexcept {
  return held.storage != nullptr ? held.storage->size() : 0;
}

const memory::Domain& domain_of(const Holders::Held& held) noexcept {
  return held.storage != nullptr ? held.storage->domain()
                                 : held.vertex->domain();
}

std::string title_of(const Holders::Held& held) {
  if (held.storage == nullptr) {
    return held.op.empty() ? std::string("a leaf")
                           : fmt::format("the graph of '{}'", held.op);
  }
  std::string out =
      fmt::format("{} {}, {} B", name_of(held.dtype), format_shape(held.shape),
                  format_grouped(held.storage->size()));
  if (!held.op.empty()) {
    out += fmt::format(", made by '{}'", held.op);
  }
  return out;
}

// Names of the holders of the handles that a chain ends at, one a line.
std::string names_text(const Holder& last, const HandleNames* names) {
  std::string out;
  if (names != nullptr && last.body != nullptr) {
    for (const std::string& name : names->of(*last.body)) {
      out += fmt::format("      <- {}\n", name);
    }
  }
  return out;
}

// The links of a chain, one a line; of a long one both ends.
std::string chain_text(std::span<const Holder> chain,
                       const LeakOptions& options) {
  const auto most = static_cast<std::size_t>(options.max_links);
  std::string out;
  const std::size_t tail = most / 2;
  const std::size_t head = most - tail;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    if (chain.size() > most && i == head) {
      const std::size_t left_out = chain.size() - most;
      out += fmt::format("      <- ... {} more ...\n",
                         format_grouped(static_cast<std::int64_t>(left_out)));
      i += left_out;
    }
    const bool is_needed = chain[i].kind == Holder::Kind::kMadeFrom;
    const std::string_view link = i != 0 ? "<- " : is_needed ? "" : "held by ";
    out += fmt::format("      {}{}\n", link, format(chain[i]));
  }
  return chain.empty() ? out : out + names_text(chain.back(), options.names);
}

}  // namespace

LeakText::LeakText(const Holders& holders, const LeakOptions& options)
    : holders_(&holders),
      options_(options),
      known_(memory::Allocator<Known>(report_domain(), {})) {}

void LeakText::index(const memory::Domain& domain, const Baseline* baseline) {
  holders_->for_each([&](const Holders::Held& held) {
    const bool is_old = baseline != nullptr && held.storage != nullptr &&
                        baseline->has(held.storage);
    if (&domain_of(held) == &domain && !is_old) {
      known_.push_back({tag_of(held), held});
    }
  });
  std::stable_sort(known_.begin(), known_.end(),
                   [](const Known& a, const Known& b) {
                     return std::tuple(key_of(a.tag), -bytes_of(a.held)) <
                            std::tuple(key_of(b.tag), -bytes_of(b.held));
                   });
}

std::string LeakText::explain(const memory::Tag& tag,
                              std::int64_t blocks) const {
  const auto precedes = [](const Known& known, const memory::Tag& wanted) {
    return key_of(known.tag) < key_of(wanted);
  };
  auto at = std::lower_bound(known_.begin(), known_.end(), tag, precedes);
  std::string out;
  std::int64_t found = 0;
  for (; at != known_.end() && at->tag == tag && found < blocks; ++at) {
    if (found < options_.max_tensors) {
      out += explain(at->held);
    }
    ++found;
  }
  if (found > options_.max_tensors) {
    out += fmt::format("    ... and {} more\n",
                       format_grouped(found - options_.max_tensors));
  }
  return out;
}

std::string LeakText::explain(const Holders::Held& held) const {
  return fmt::format("    {}\n{}", title_of(held),
                     chain_text(holders_->chain_of(held), options_));
}

}  // namespace neap::report
