// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/text_table.hpp"

#include <algorithm>

namespace neap::report {

TextTable::TextTable(std::initializer_list<std::string_view> titles,
                     std::size_t numbers)
    : numbers_(numbers) {
  auto& line = lines_.emplace_back();
  for (const std::string_view title : titles) {
    line.emplace_back(title);
    widths_.push_back(title.size());
  }
}

void TextTable::add(std::initializer_list<std::string> cells) {
  const auto& line = lines_.emplace_back(cells);
  for (std::size_t i = 0; i < line.size(); ++i) {
    widths_[i] = std::max(widths_[i], line[i].size());
  }
}

std::string TextTable::text() const {
  std::string out;
  for (const auto& line : lines_) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string gap(widths_[i] - line[i].size(), ' ');
      const bool is_last = i + 1 == line.size();
      out += "  ";
      out += i < numbers_ ? gap + line[i] : line[i] + (is_last ? "" : gap);
    }
    out += '\n';
  }
  return out;
}

}  // namespace neap::report
