// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "neap/base/shown.hpp"
#include "neap/data/csv_set.hpp"
#include "neap/formats/csv.hpp"
#include "neap/tensor/create.hpp"

namespace neap::data {
namespace {

using formats::CsvReader;
using Names = memory::Vector<memory::String>;

template <class... Args>
tl::unexpected<Failure> refuse(FailureKind kind, const CsvReader& reader,
                               fmt::format_string<Args...> format,
                               Args&&... args) {
  return failure(kind,
                 fmt::format("{}: line {}: {}", reader.name(), reader.line(),
                             fmt::format(format, std::forward<Args>(args)...)));
}

std::string_view trimmed(std::string_view text) noexcept {
  constexpr std::string_view kBlanks = " \t";
  const std::size_t begin =
      std::min(text.find_first_not_of(kBlanks), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

// Not finite where the field is no number.
double number_of(std::string_view field) noexcept {
  std::string_view text = trimmed(field);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') {
    text.remove_prefix(1);
  }
  double value = 0.0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && at == end && !text.empty()
             ? value
             : std::numeric_limits<double>::quiet_NaN();
}

// The columns that a header or the first record has.
struct Table {
  std::int64_t columns = 0;
  std::int64_t target = 0;
  Names names;  // of all columns; empty without a header
};

struct Row {
  std::span<float> features;  // empty: to be checked only
  double target = 0.0;
};

std::string name_of(const Table& table, std::int64_t column) {
  if (table.names.empty()) {
    return fmt::format("column {}", column);
  }
  const auto& name = table.names[static_cast<std::size_t>(column)];
  return fmt::format("column {} ({})", column, base::shown(name));
}

// A separator that may have been meant in the first record's only field.
char other_separator(const CsvReader& reader) noexcept {
  for (const char separator : {';', '\t', '|', ','}) {
    if (reader[0].find(separator) != std::string_view::npos) {
      return separator;
    }
  }
  return '\0';
}

Result<std::int64_t> find_target(const CsvReader& reader, const Table& table,
                                 const CsvSetOptions& options) {
  std::int64_t found = options.target_column;
  found += found < 0 ? table.columns : 0;
  if (!options.target.empty()) {
    const auto same = [&](const memory::String& name) {
      return std::string_view(name) == options.target;
    };
    const auto at = std::find_if(table.names.begin(), table.names.end(), same);
    if (std::count_if(table.names.begin(), table.names.end(), same) > 1) {
      return refuse(FailureKind::kMismatch, reader,
                    "more than one column is called '{}'",
                    base::shown(options.target));
    }
    found = at == table.names.end() ? -1 : at - table.names.begin();
  }
  if (table.columns < 2) {
    if (const char other = other_separator(reader); other != '\0') {
      return refuse(FailureKind::kMismatch, reader,
                    "one column, which looks separated by {}; save the table "
                    "with commas",
                    other == '\t' ? "tabulators" : fmt::format("'{}'", other));
    }
  }
  if (found < 0 || found >= table.columns || table.columns < 2) {
    return refuse(FailureKind::kMismatch, reader,
                  "there is no column '{}' beside others, of {} columns; say "
                  "which is the target",
                  options.target.empty()
                      ? fmt::format("{}", options.target_column)
                      : base::shown(options.target),
                  table.columns);
  }
  return found;
}

// Table of the reader's current record, which is the first one.
Result<Table> table_of(const CsvReader& reader, const CsvSetOptions& options) {
  Table table;
  table.columns = reader.size();
  if (options.header) {
    for (std::int64_t i = 0; i < reader.size(); ++i) {
      const std::string_view name = trimmed(reader[i]);
      table.names.emplace_back(
          name, memory::Allocator<char>(memory::Category::kData));
    }
  }
  return find_target(reader, table, options).map([&](std::int64_t target) {
    table.target = target;
    return std::move(table);
  });
}

bool is_one_of(std::string_view field,
               std::initializer_list<std::string_view> words) noexcept {
  constexpr auto kIsSame = [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b;
  };
  const std::string_view text = trimmed(field);
  return std::ranges::any_of(words, [&](std::string_view word) {
    return std::ranges::equal(text, word, kIsSame);
  });
}

// RETURNS: advice about a field that is not the number that it should be.
const char* remedy_of(std::string_view field, bool is_label) noexcept {
  if (is_one_of(field, {"true", "false", "yes", "no"})) {
    return "write 1 for true and yes, 0 for false and no";
  }
  if (is_one_of(field, {"", "null", "none", "nan", "na", "n/a"})) {
    return is_label ? "give the row a label, or leave the line out"
                    : "give the row a number there, or leave the line out";
  }
  return is_label ? "number the classes from 0, or leave the line out"
                  : "correct it or leave the line out";
}

Result<void> read_row(const CsvReader& reader, const Table& table,
                      CsvTarget kind, Row& row) {
  if (reader.size() != table.columns) {
    return refuse(FailureKind::kCorrupt, reader,
                  "{} fields, the first record has {}", reader.size(),
                  table.columns);
  }
  std::size_t feature = 0;
  for (std::int64_t column = 0; column < table.columns; ++column) {
    const double value = number_of(reader[column]);
    const bool is_label = column == table.target && kind == CsvTarget::kLabel;
    constexpr double kLargestLabel = std::numeric_limits<std::int32_t>::max();
    constexpr double kLargest{std::numeric_limits<float>::max()};
    const double most = is_label ? kLargestLabel : kLargest;
    const bool is_good =
        std::abs(value) <= most &&
        (!is_label || (value >= 0.0 && value == std::trunc(value)));
    if (!is_good) {
      return refuse(FailureKind::kCorrupt, reader, "{}: '{}' is not a {}; {}",
                    name_of(table, column), base::shown(reader[column]),
                    is_label ? "label (0, 1, ...)" : "finite number of f32",
                    remedy_of(reader[column], is_label));
    }
    if (column == table.target) {
      row.target = value;
    } else if (!row.features.empty()) {
      row.features[feature++] = static_cast<float>(value);
    }
  }
  return {};
}

// Calls take(table, row, number) for each row; RETURNS: the table of them all.
template <class Take>
Result<Table> for_each_row(files::Door& door, const std::string& path,
                           const CsvSetOptions& options, const Take& take) {
  auto reader = CsvReader::open(door, path,
                                {.separator = options.separator,
                                 .longest_record = options.longest_record});
  if (!reader) {
    return tl::unexpected(std::move(reader.error()));
  }
  Table table;
  for (std::int64_t number = options.header ? -1 : 0;; ++number) {
    const auto more = reader->next();
    if (!more) {
      return tl::unexpected(more.error());
    }
    if (!*more) {
      return table;
    }
    if (table.columns == 0) {
      auto found = table_of(*reader, options);
      if (!found) {
        return found;
      }
      table = std::move(*found);
    }
    if (number >= 0) {
      if (auto taken = take(*reader, table, number); !taken) {
        return tl::unexpected(std::move(taken.error()));
      }
    }
  }
}

// The failure of a second pass that meets what the first one did not count.
tl::unexpected<Failure> changed(const std::string& path) {
  return failure(
      FailureKind::kCorrupt,
      base::shown_path(path) + ": changed while it was read; try again");
}

Result<void> fill(files::Door& door, const std::string& path,
                  const CsvSetOptions& options, Tensor& features,
                  Tensor& targets) {
  if (!features.array()->storage()->has_elements()) {
    // A rehearsal: the memory of a second pass, and nothing else.
    const auto skip = [](const CsvReader&, const Table&, std::int64_t) {
      return Result<void>();
    };
    return for_each_row(door, path, options, skip).map([](const Table&) {});
  }
  const std::int64_t rows = features.size(0);
  const auto width = static_cast<std::size_t>(features.size(1));
  const auto values = features.mutable_values<float>();
  std::int64_t filled = 0;
  const auto take = [&](const CsvReader& reader, const Table& table,
                        std::int64_t number) -> Result<void> {
    if (number >= rows ||
        static_cast<std::size_t>(table.columns) != width + 1) {
      return changed(path);
    }
    const auto at = static_cast<std::size_t>(number);
    Row row{values.subspan(at * width, width)};
    auto good = read_row(reader, table, options.kind, row);
    if (options.kind == CsvTarget::kValue) {
      targets.mutable_values<float>()[at] = static_cast<float>(row.target);
    } else {
      targets.mutable_values<std::int32_t>()[at] =
          static_cast<std::int32_t>(row.target);
    }
    ++filled;
    return good;
  };
  return for_each_row(door, path, options, take)
      .and_then([&](const Table&) -> Result<void> {
        return filled == rows ? Result<void>() : changed(path);
      });
}

}  // namespace

Result<CsvSet> read_csv(files::Door& door, const std::string& path,
                        const CsvSetOptions& options) {
  const memory::ContextGuard guard(
      [](memory::Context& c) { c.category = memory::Category::kData; });
  std::int64_t rows = 0;
  std::int64_t classes = 0;
  Row checked;
  auto table = for_each_row(
      door, path, options,
      [&](const CsvReader& reader, const Table& found, std::int64_t number) {
        rows = number + 1;
        auto good = read_row(reader, found, options.kind, checked);
        if (good && options.kind == CsvTarget::kLabel) {
          classes =
              std::max(classes, static_cast<std::int64_t>(checked.target) + 1);
        }
        return good;
      });
  if (!table) {
    return tl::unexpected(std::move(table.error()));
  }
  if (rows == 0) {
    return failure(FailureKind::kCorrupt,
                   base::shown_path(path) + ": holds no record");
  }
  Tensor features = empty({rows, table->columns - 1}, f32);
  Tensor targets = empty({rows}, options.kind == CsvTarget::kLabel ? i32 : f32);
  if (auto filled = fill(door, path, options, features, targets); !filled) {
    return tl::unexpected(std::move(filled.error()));
  }
  if (!table->names.empty()) {
    table->names.erase(table->names.begin() + table->target);
  }
  return CsvSet(std::move(features), std::move(targets),
                std::move(table->names), classes);
}

}  // namespace neap::data
