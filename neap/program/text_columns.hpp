// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// TextColumns: lines of cells in aligned columns, for tables as long as a
// program: its memory comes through the door.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string_view>

#include "neap/memory/containers.hpp"

namespace neap::compiler {

class TextColumns {
 public:
  struct Column {
    std::string_view title;
    bool is_number = false;  // aligned to the right
  };
  TextColumns(std::initializer_list<Column> columns);

  /// Adds a line; as many cells as columns.
  void add(std::initializer_list<std::string_view> cells);
  std::size_t rows() const noexcept { return ends_.size() / columns_.size(); }

  /// Appends titles and lines, two blanks between columns; columns in which no
  /// line has anything are left out, and nothing hangs over at the right.
  void append_to(memory::String& out) const;

 private:
  std::string_view cell(std::size_t index) const;

  memory::Vector<Column> columns_;
  memory::Vector<std::size_t> widths_;  // of the cells, titles left out
  memory::Vector<std::size_t> ends_;    // of each cell in text_
  memory::String text_;
};

}  // namespace neap::compiler
