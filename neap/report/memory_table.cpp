// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/memory_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <string_view>

#include "neap/base/append.hpp"
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

constexpr std::size_t kLeastNameWidth = 12;
constexpr std::size_t kMostNameWidth = 40;
constexpr std::size_t kNumberWidth = 12;  // "1023.9 KiB" and a gap

// Long names lose their middle: the ends tell layers apart.
std::string fit_name(std::string_view name) {
  if (name.size() <= kMostNameWidth) {
    return std::string(name);
  }
  constexpr std::string_view kCut = "...";
  constexpr std::size_t kKept = kMostNameWidth - kCut.size();
  constexpr std::size_t kTail = kKept / 2;
  return fmt::format("{}{}{}", name.substr(0, kKept - kTail), kCut,
                     name.substr(name.size() - kTail));
}

std::size_t width_of(std::string_view title) noexcept {
  return std::max(kNumberWidth, title.size() + 2);
}

// The columns of a table: what to leave out and how wide the rest is.
struct Columns {
  std::array<bool, memory::kCategoryCount> used{};
  std::array<bool, memory::kCategoryCount> is_other{};  // summed in one column
  bool has_other = false;
  std::size_t name_width = kLeastNameWidth;

  std::size_t width() const {
    std::size_t sum = 2 + name_width + kNumberWidth;
    for (std::size_t c = 0; c < used.size(); ++c) {
      sum += used[c] ? width_of(name_of(static_cast<Category>(c))) : 0;
    }
    return has_other ? sum + kNumberWidth : sum;
  }
};

// Puts the smallest categories together until the table is as narrow.
void narrow(Columns& columns, const Breakdown& breakdown, std::size_t width) {
  while (width != 0 && columns.width() > width) {
    std::size_t smallest = columns.used.size();
    for (std::size_t c = 0; c < columns.used.size(); ++c) {
      const bool is_smaller = smallest == columns.used.size() ||
                              breakdown.by_category[c].bytes <
                                  breakdown.by_category[smallest].bytes;
      if (columns.used[c] && is_smaller) {
        smallest = c;
      }
    }
    if (smallest == columns.used.size()) {
      return;
    }
    columns.used[smallest] = false;
    columns.is_other[smallest] = true;
    columns.has_other = true;
  }
}

void append_row(std::string& out, std::string_view name, const Line& line,
                const Columns& columns) {
  base::append(out, "  {:<{}}", name, columns.name_width);
  Bytes other = 0;
  for (std::size_t c = 0; c < columns.used.size(); ++c) {
    other += columns.is_other[c] ? line.by_category[c] : 0;
    if (columns.used[c]) {
      base::append(out, "{:>{}}", format_bytes_short(line.by_category[c]),
                   width_of(name_of(static_cast<Category>(c))));
    }
  }
  if (columns.has_other) {
    base::append(out, "{:>{}}", format_bytes_short(other), kNumberWidth);
  }
  base::append(out, "{:>{}}\n", format_bytes_short(line.bytes), kNumberWidth);
}

void append_titles(std::string& out, const Columns& columns) {
  base::append(out, "  {:<{}}", "layer", columns.name_width);
  for (std::size_t c = 0; c < columns.used.size(); ++c) {
    if (columns.used[c]) {
      const std::string_view title = name_of(static_cast<Category>(c));
      base::append(out, "{:>{}}", title, width_of(title));
    }
  }
  if (columns.has_other) {
    base::append(out, "{:>{}}", "other", kNumberWidth);
  }
  base::append(out, "{:>{}}\n", "total", kNumberWidth);
}

std::string title_of(const Line& line) {
  return line.name.empty() ? "(no layer)" : fit_name(line.name);
}

// Owners in brackets are the library's own: the arena of a compiled step.
bool is_layer(const Line& line) noexcept {
  return !line.name.empty() && line.name.front() != '(';
}

void add(Line& to, const Line& from) {
  to.bytes += from.bytes;
  for (std::size_t c = 0; c < to.by_category.size(); ++c) {
    to.by_category[c] += from.by_category[c];
  }
}

}  // namespace

std::string format_table(const Breakdown& breakdown,
                         const TableOptions& options) {
  Columns columns;
  for (std::size_t c = 0; c < columns.used.size(); ++c) {
    columns.used[c] = breakdown.by_category[c].bytes != 0;
  }
  Line total;
  Line rest;  // of the layers that are left out
  std::size_t layers = 0;
  for (const Line& line : breakdown.by_layer) {
    add(total, line);
    if (is_layer(line) && ++layers > options.rows) {
      add(rest, line);
    } else {
      columns.name_width = std::max(columns.name_width, title_of(line).size());
    }
  }
  narrow(columns, breakdown, options.width);
  std::string out;
  append_titles(out, columns);
  std::size_t shown = 0;
  for (const Line& line : breakdown.by_layer) {
    if (is_layer(line) && shown++ < options.rows) {
      append_row(out, title_of(line), line, columns);
    }
  }
  if (layers > options.rows) {
    append_row(out, fmt::format("({} more)", layers - options.rows), rest,
               columns);
  }
  for (const Line& line : breakdown.by_layer) {
    if (!is_layer(line)) {
      append_row(out, title_of(line), line, columns);
    }
  }
  append_row(out, "total", total, columns);
  return out;
}

std::string format_line(const memory::Stats& stats) {
  return fmt::format(
      "live {}  held {}  peak {}", format_bytes_short(stats.live),
      format_bytes_short(stats.held), format_bytes_short(stats.peak));
}

std::ostream& operator<<(std::ostream& out, const Breakdown& breakdown) {
  return out << format_table(breakdown);
}

}  // namespace neap::report

namespace neap::memory {

std::ostream& operator<<(std::ostream& out, const Stats& stats) {
  return out << report::format_line(stats);
}

}  // namespace neap::memory
