// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// TextTable: lines of cells in aligned columns, two blanks apart. The memory is
// the containers' own: HeapText for tables of bounded length, and containers of
// the allocator (memory/) for those as long as a program. The memory tables of
// report/ and nn/ write their own lines: their columns have fixed widths, which
// fit a terminal and do not move from one table to the next.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "neap/base/assert.hpp"

namespace neap::base {

struct HeapText {
  using String = std::string;
  template <class T>
  using Vector = std::vector<T>;
};

struct TextColumn {
  std::string_view title;
  bool is_number = false;  // aligned to the right
};

/// LIFETIME: the titles outlive the table.
template <class Memory = HeapText>
class TextTable {
 public:
  using String = typename Memory::String;
  template <class T>
  using Vector = typename Memory::template Vector<T>;
  using Column = TextColumn;

  TextTable(std::initializer_list<Column> columns)
      : TextTable(Vector<Column>(columns)) {}
  explicit TextTable(Vector<Column> columns)
      : columns_(std::move(columns)), widths_(columns_.size(), 0) {}

  /// Adds a line. REQUIRES: as many cells as columns.
  template <class Cells = std::initializer_list<std::string_view>>
  void add(const Cells& cells) {
    NEAP_ASSERT(cells.size() == columns_.size(), "a cell for each column");
    std::size_t column = 0;
    for (const std::string_view cell : cells) {
      text_ += cell;
      ends_.push_back(text_.size());
      widths_[column] = std::max(widths_[column], cell.size());
      ++column;
    }
  }
  void add(std::initializer_list<std::string_view> cells) {
    add<std::initializer_list<std::string_view>>(cells);
  }
  std::size_t rows() const noexcept { return ends_.size() / columns_.size(); }

  /// Appends titles and lines, each behind `indent` blanks; columns in which no
  /// line has anything are left out, and no line ends in blanks.
  void append_to(String& out, std::size_t indent = 0) const {
    append_line(out, indent, [&](std::size_t c) { return columns_[c].title; });
    for (std::size_t row = 0; row < rows(); ++row) {
      append_line(out, indent, [&](std::size_t c) {
        return cell(row * columns_.size() + c);
      });
    }
  }

 private:
  std::string_view cell(std::size_t index) const {
    const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
    return std::string_view(text_).substr(begin, ends_[index] - begin);
  }

  template <class TextOf>
  void append_line(String& out, std::size_t indent,
                   const TextOf& text_of) const {
    std::size_t blanks = indent;  // owed to the columns so far
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (widths_[c] == 0) {
        continue;
      }
      const std::string_view text = text_of(c);
      const std::size_t width = std::max(widths_[c], columns_[c].title.size());
      const std::size_t gap = width - text.size();
      if (!text.empty()) {
        out.append(blanks + (columns_[c].is_number ? gap : 0), ' ');
        out += text;
        blanks = columns_[c].is_number ? 0 : gap;
      } else {
        blanks += width;
      }
      blanks += 2;
    }
    out += '\n';
  }

  Vector<Column> columns_;
  Vector<std::size_t> widths_;  // of the cells, titles left out
  Vector<std::size_t> ends_;    // of each cell in text_
  String text_;
};

}  // namespace neap::base
