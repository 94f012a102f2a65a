// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// TextTable: lines of cells in aligned columns, two blanks apart.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "neap/base/api.hpp"

namespace neap::report {

/// For tables of bounded length: it takes its memory from the heap.
class TextTable {
 public:
  /// The first `numbers` columns are aligned to the right.
  TextTable(std::initializer_list<std::string_view> titles,
            std::size_t numbers);
  /// REQUIRES: a cell for each title.
  void add(std::initializer_list<std::string> cells);
  int rows() const noexcept { return static_cast<int>(lines_.size()) - 1; }
  /// Indented by two; the last column is not filled up.
  std::string text() const;

 private:
  std::size_t numbers_;
  std::vector<std::vector<std::string>> lines_;  // titles first
  std::vector<std::size_t> widths_;
};

}  // namespace neap::report
