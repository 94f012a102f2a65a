// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/planner/csv.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>

#include "neap/base/append.hpp"
#include "neap/base/shown.hpp"

namespace neap::planner {
namespace {

enum Column : std::uint8_t {
  kLower,
  kUpper,
  kSize,
  kAlignment,
  kFixed,
  kAliasOf,
  kAliasAt,
  kOffset,
  kColumns
};
constexpr std::array<std::string_view, kColumns> kNames = {
    "lower", "upper",    "size",     "alignment",
    "fixed", "alias_of", "alias_at", "offset"};
constexpr std::array<std::int64_t, kColumns> kDefaults = {0,  0,  0, 1,
                                                          -1, -1, 0, 0};
constexpr int kNeeded = 3;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // of UTF-8

using Cells = std::array<std::int64_t, kColumns>;

// Lines without their ends, numbered from 1; empty ones are passed over.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  // The first line with a text beside byte order marks, which are dropped: a
  // head written again begins with none that a reader would take for its own.
  std::optional<std::string_view> head() noexcept {
    std::optional<std::string_view> line = next();
    for (; line; line = next()) {
      while (line->starts_with(kByteOrderMark)) {
        line->remove_prefix(kByteOrderMark.size());
      }
      if (!line->empty()) {
        break;
      }
    }
    return line;
  }
  std::optional<std::string_view> next() noexcept {
    while (!rest_.empty()) {
      const std::size_t end = rest_.find('\n');
      std::string_view line = rest_.substr(0, end);
      rest_.remove_prefix(end == rest_.npos ? rest_.size() : end + 1);
      ++number_;
      if (line.ends_with('\r')) {
        line.remove_suffix(1);
      }
      if (!line.empty()) {
        return line;
      }
    }
    return {};
  }
  std::int64_t number() const noexcept { return number_; }

 private:
  std::string_view rest_;
  std::int64_t number_ = 0;
};

// Calls visit(index, cell) for each cell of a line and returns how many.
template <class Visit>
std::size_t for_each_cell(std::string_view line, Visit visit) {
  std::size_t index = 0;
  for (;; ++index) {
    const std::size_t end = line.find(',');
    visit(index, line.substr(0, end));
    if (end == line.npos) {
      return index + 1;
    }
    line.remove_prefix(end + 1);
  }
}

std::string_view trimmed(std::string_view cell) noexcept {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!cell.empty() && is_blank(cell.front())) {
    cell.remove_prefix(1);
  }
  while (!cell.empty() && is_blank(cell.back())) {
    cell.remove_suffix(1);
  }
  return cell;
}

template <class... Args>
auto line_failure(const Lines& lines, fmt::format_string<Args...> format,
                  Args&&... args) {
  return failure(FailureKind::kCorrupt,
                 fmt::format("line {}: {}", lines.number(),
                             fmt::format(format, std::forward<Args>(args)...)));
}

// A hint for a head that looks like one of another separator.
std::string_view hint_of(std::string_view head) noexcept {
  if (head.find(',') != head.npos) {
    return "";
  }
  return head.find(';') != head.npos
             ? "; the file looks separated by ';', save it with commas"
         : head.find('\t') != head.npos
             ? "; the file looks separated by tabulators, save it with commas"
             : "";
}

struct Head {
  std::array<std::optional<std::size_t>, kColumns> cell_of;
  memory::Vector<std::optional<Column>> column_of;  // of a cell, if it has one
};

Result<Head> parse_head(Lines& lines) {
  const auto line = lines.head();
  if (!line) {
    return failure(FailureKind::kTruncated, "line 1: there is no head");
  }
  Head head;
  std::string_view twice;
  for_each_cell(*line, [&](std::size_t index, std::string_view cell) {
    head.column_of.emplace_back();
    for (std::size_t c = 0; c < kColumns; ++c) {
      if (trimmed(cell) == kNames[c]) {
        twice = head.cell_of[c] ? kNames[c] : twice;
        head.cell_of[c] = index;
        head.column_of.back() = static_cast<Column>(c);
      }
    }
  });
  if (!twice.empty()) {
    return line_failure(lines, "two columns are named {}", twice);
  }
  for (std::size_t c = 0; c < kNeeded; ++c) {
    if (!head.cell_of[c]) {
      return line_failure(lines, "no column is named {}{}", kNames[c],
                          hint_of(*line));
    }
  }
  return head;
}

Result<Cells> parse_row(const Head& head, const Lines& lines,
                        std::string_view line) {
  Cells cells = kDefaults;
  std::optional<Column> wrong;
  std::string_view wrong_cell;
  const std::size_t count =
      for_each_cell(line, [&](std::size_t index, std::string_view cell) {
        const auto column = index < head.column_of.size()
                                ? head.column_of[index]
                                : std::nullopt;
        cell = trimmed(cell);
        if (!column || (*column >= kNeeded && cell.empty())) {
          return;
        }
        const char* end = cell.data() + cell.size();
        const auto [rest, error] =
            std::from_chars(cell.data(), end, cells[*column]);
        if (error != std::errc() || rest != end) {
          wrong = column;
          wrong_cell = cell;
        }
      });
  if (count != head.column_of.size()) {
    return line_failure(lines, "{} cells, the head has {}", count,
                        head.column_of.size());
  }
  if (wrong) {
    return line_failure(lines, "{} is '{}', no integer of 64 bits",
                        kNames[*wrong], base::shown(wrong_cell));
  }
  return cells;
}

Result<Buffer> to_buffer(const Cells& cells, const Lines& lines) {
  if (cells[kLower] >= cells[kUpper]) {
    return line_failure(lines, "lives from {} to {}, which is no time",
                        cells[kLower], cells[kUpper]);
  }
  if (cells[kSize] < 0 || cells[kAlignment] < 1) {
    return line_failure(lines, "size {} or alignment {} is too small",
                        cells[kSize], cells[kAlignment]);
  }
  if (cells[kAliasOf] > std::numeric_limits<std::int32_t>::max()) {
    return line_failure(lines, "alias_of {} is no row", cells[kAliasOf]);
  }
  return Buffer{.lower = cells[kLower],
                .upper = cells[kUpper],
                .size = cells[kSize],
                .alignment = cells[kAlignment],
                .fixed = cells[kFixed] < 0 ? -1 : cells[kFixed],
                .alias_of = static_cast<std::int32_t>(
                    cells[kAliasOf] < 0 ? -1 : cells[kAliasOf]),
                .alias_at = cells[kAliasAt]};
}

}  // namespace

Result<CsvProblem> parse_csv(std::string_view text) {
  Lines lines(text);
  const auto head = parse_head(lines);
  if (!head) {
    return tl::unexpected(head.error());
  }
  CsvProblem csv;
  const bool has_offsets = head->cell_of[kOffset].has_value();
  while (const auto line = lines.next()) {
    const auto cells = parse_row(*head, lines, *line);
    if (!cells) {
      return tl::unexpected(cells.error());
    }
    const auto buffer = to_buffer(*cells, lines);
    if (!buffer) {
      return tl::unexpected(buffer.error());
    }
    csv.problem.buffers.push_back(*buffer);
    if (has_offsets) {
      csv.offsets.push_back((*cells)[kOffset]);
    }
  }
  try {
    check(csv.problem);
  } catch (const ValueError& error) {
    return failure(FailureKind::kCorrupt, error.what());
  }
  return csv;
}

memory::String add_offsets(std::string_view text,
                           std::span<const std::int64_t> offsets) {
  Lines lines(text);
  memory::String out;
  out.reserve(text.size() + offsets.size() * 12);
  const Head head = parse_head(lines).value();
  const std::optional<std::size_t> place = head.cell_of[kOffset];
  const auto append = [&](std::string_view line, std::string_view offset) {
    for_each_cell(line, [&](std::size_t index, std::string_view cell) {
      out += index == 0 ? "" : ",";
      out += index == place ? offset : cell;
    });
    if (!place) {
      out += ',';
      out += offset;
    }
    out += '\n';
  };
  Lines again(text);
  append(again.head().value_or(""), "offset");
  for (const std::int64_t offset : offsets) {
    append(again.next().value_or(""), fmt::format_int(offset).str());
  }
  return out;
}

memory::String to_csv(const Problem& problem) {
  memory::String out("id,lower,upper,size,alignment,fixed,alias_of,alias_at\n");
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& b = problem.buffers[i];
    base::append(out, "{},{},{},{},{},{},{},{}\n", i, b.lower, b.upper, b.size,
                 b.alignment, b.fixed, b.alias_of, b.alias_at);
  }
  return out;
}

}  // namespace neap::planner
