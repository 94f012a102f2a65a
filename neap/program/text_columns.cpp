// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/text_columns.hpp"

#include <algorithm>

#include "neap/base/assert.hpp"

namespace neap::compiler {

TextColumns::TextColumns(std::initializer_list<Column> columns)
    : columns_(columns.begin(), columns.end()), widths_(columns.size(), 0) {}

void TextColumns::add(std::initializer_list<std::string_view> cells) {
  NEAP_ASSERT(cells.size() == columns_.size(), "a cell for each column");
  std::size_t column = 0;
  for (const std::string_view cell : cells) {
    text_ += cell;
    ends_.push_back(text_.size());
    widths_[column] = std::max(widths_[column], cell.size());
    ++column;
  }
}

std::string_view TextColumns::cell(std::size_t index) const {
  const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
  return std::string_view(text_).substr(begin, ends_[index] - begin);
}

void TextColumns::append_to(memory::String& out) const {
  const auto line = [&](const auto& text_of) {
    std::size_t blanks = 0;  // owed to the columns so far
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
  };
  line([&](std::size_t c) { return columns_[c].title; });
  for (std::size_t row = 0; row < rows(); ++row) {
    line([&](std::size_t c) { return cell(row * columns_.size() + c); });
  }
}

}  // namespace neap::compiler
