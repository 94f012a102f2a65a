// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/memory_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "neap/report/ledger_rows.hpp"

namespace neap::report {
namespace {

using memory::Category;

using Lines =
    std::map<std::string_view, Line, std::less<>,
             memory::Allocator<std::pair<const std::string_view, Line>>>;

void count(Lines& lines, std::string_view name, const memory::Row& row) {
  Line& line = lines[name];
  line.bytes += row.bytes;
  line.by_category[static_cast<std::size_t>(row.tag.category)] += row.bytes;
}

memory::Vector<Line> largest_first(Lines&& lines) {
  memory::Vector<Line> out;
  for (auto& [name, line] : lines) {
    line.name.assign(name.begin(), name.end());
    out.push_back(std::move(line));
  }
  std::stable_sort(out.begin(), out.end(), [](const Line& a, const Line& b) {
    return a.bytes > b.bytes;
  });
  return out;
}

std::string_view parent_of(std::string_view path) {
  const auto dot = path.rfind('.');
  return dot == std::string_view::npos ? path : path.substr(0, dot);
}

// Owners of parameters and the like are one step below their layer; owners of
// activations are layers themselves.
bool is_below_layer(Category category) noexcept {
  return category == Category::kParameters || category == Category::kBuffers ||
         category == Category::kOptimizerState;
}

}  // namespace

Breakdown breakdown(const memory::Domain& domain, Instant instant) {
  const memory::UseDomain use(report_domain());
  const memory::Vector<memory::Row> rows = rows_of(domain, instant);
  Breakdown out;
  Lines owners;
  Lines layers;
  std::map<std::string_view, bool, std::less<>,
           memory::Allocator<std::pair<const std::string_view, bool>>>
      below;
  for (const memory::Row& row : rows) {
    if (is_below_layer(row.tag.category)) {
      below[domain.path_of(row.tag.owner)] = true;
    }
  }
  for (int i = 0; i < memory::kCategoryCount; ++i) {
    Line line;
    const std::string_view name = name_of(static_cast<Category>(i));
    line.name.assign(name.begin(), name.end());
    out.by_category.push_back(std::move(line));
  }
  for (const memory::Row& row : rows) {
    const std::string_view path = domain.path_of(row.tag.owner);
    out.live += row.bytes;
    Line& category =
        out.by_category[static_cast<std::size_t>(row.tag.category)];
    category.bytes += row.bytes;
    category.by_category[static_cast<std::size_t>(row.tag.category)] +=
        row.bytes;
    count(owners, path, row);
    count(layers, below.contains(path) ? parent_of(path) : path, row);
  }
  out.by_owner = largest_first(std::move(owners));
  out.by_layer = largest_first(std::move(layers));
  return out;
}

namespace {

constexpr int kNameWidth = 20;
constexpr int kNumberWidth = 16;

void append_row(std::string& out, std::string_view name, const Line& line,
                const std::array<bool, memory::kCategoryCount>& used) {
  fmt::format_to(std::back_inserter(out), "  {:<{}.{}}", name, kNameWidth,
                 kNameWidth);
  for (std::size_t c = 0; c < used.size(); ++c) {
    if (used[c]) {
      fmt::format_to(std::back_inserter(out), "{:>{}}",
                     format_grouped(line.by_category[c]), kNumberWidth);
    }
  }
  fmt::format_to(std::back_inserter(out), "{:>{}}\n",
                 format_grouped(line.bytes), kNumberWidth);
}

void add(Line& to, const Line& from) {
  to.bytes += from.bytes;
  for (std::size_t c = 0; c < to.by_category.size(); ++c) {
    to.by_category[c] += from.by_category[c];
  }
}

}  // namespace

std::string format_table(const Breakdown& breakdown, int rows) {
  std::array<bool, memory::kCategoryCount> used{};
  std::string out = fmt::format("  {:<{}}", "bytes", kNameWidth);
  for (std::size_t c = 0; c < used.size(); ++c) {
    used[c] = breakdown.by_category[c].bytes != 0;
    if (used[c]) {
      fmt::format_to(std::back_inserter(out), "{:>{}}",
                     name_of(static_cast<Category>(c)), kNumberWidth);
    }
  }
  fmt::format_to(std::back_inserter(out), "{:>{}}\n", "total", kNumberWidth);
  Line total;
  Line rest;
  int shown = 0;
  for (const Line& line : breakdown.by_layer) {
    add(total, line);
    if (shown < rows) {
      append_row(out, line.name.empty() ? "(no layer)" : line.name, line, used);
      ++shown;
    } else {
      add(rest, line);
    }
  }
  const auto left = static_cast<std::int64_t>(breakdown.by_layer.size()) - rows;
  if (left > 0) {
    append_row(out, fmt::format("({} more)", left), rest, used);
  }
  append_row(out, "total", total, used);
  return out;
}

std::string format_line(const memory::Stats& stats) {
  return fmt::format(
      "live {}  held {}  peak {}", format_bytes_short(stats.live),
      format_bytes_short(stats.held), format_bytes_short(stats.peak));
}

}  // namespace neap::report
