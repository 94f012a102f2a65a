// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// SizeTable: lines of a name, a detail and a size in bytes, for a terminal (at
// most 80 columns) or as Markdown. Names and details may be foreign texts.
#pragma once

#include <cstddef>
#include <string_view>

#include "neap/memory/containers.hpp"

namespace neap::report {

enum class Style { kText, kMarkdown };

/// Appends a foreign text, in at most `width` characters before it is escaped.
void append_name(memory::String& out, Style style, std::string_view name,
                 std::size_t width = 60);

/// LIFETIME: the titles outlive the table.
class SizeTable {
 public:
  /// With `is_change`, sizes have signs.
  SizeTable(Style style, std::string_view name, std::string_view detail,
            bool is_change = false)
      : style_(style), name_(name), detail_(detail), is_change_(is_change) {}

  void add(std::string_view name, std::string_view detail, Bytes bytes);
  /// The sum of all lines so far.
  Bytes total() const noexcept { return total_; }
  void append_to(memory::String& out) const;

 private:
  struct Row {
    memory::String name;
    memory::String detail;
    Bytes bytes = 0;
  };

  void append_text(memory::String& out) const;
  void append_markdown(memory::String& out) const;

  Style style_;
  std::string_view name_;
  std::string_view detail_;
  bool is_change_;
  memory::Vector<Row> rows_;
  Bytes total_ = 0;
};

}  // namespace neap::report
