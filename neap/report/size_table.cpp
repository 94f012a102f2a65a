// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/size_table.hpp"

#include "neap/base/append.hpp"
#include "neap/base/text_table.hpp"
#include "neap/report/wording.hpp"

namespace neap::report {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kDetailWidth = 22;
constexpr std::size_t kGaps = 6;  // between four columns

// Containers of text tables.
struct ReportText {
  using String = memory::String;
  template <class T>
  using Vector = memory::Vector<T>;
};

}  // namespace

void append_name(memory::String& out, Style style, std::string_view name,
                 std::size_t width) {
  const memory::String fitted = fit_name(name, width);
  if (style == Style::kText) {
    out += fitted;
  } else {
    report::append_markdown(out, fitted);
  }
}

void SizeTable::add(std::string_view name, std::string_view detail,
                    Bytes bytes) {
  rows_.push_back(
      {memory::String(name), fit_name(detail, kDetailWidth), bytes});
  total_ += bytes;
}

void SizeTable::append_to(memory::String& out) const {
  if (style_ == Style::kText) {
    append_text(out);
  } else {
    append_markdown(out);
  }
}

// Names have the width that the widest cells of the other columns leave.
void SizeTable::append_text(memory::String& out) const {
  memory::Vector<memory::String> sizes;
  memory::Vector<memory::String> exact;
  std::size_t taken = detail_.size();
  for (const Row& row : rows_) {
    sizes.push_back(signed_short(row.bytes, is_change_));
    exact.push_back(signed_grouped(row.bytes, is_change_));
    taken = std::max(taken, row.detail.size());
  }
  const auto width_of = [](const auto& cells) {
    std::size_t width = 0;
    for (const auto& cell : cells) {
      width = std::max(width, cell.size());
    }
    return width;
  };
  taken += width_of(sizes) + width_of(exact) + kGaps;
  base::TextTable<ReportText> table(
      {{name_, false}, {detail_, false}, {"", true}, {"bytes", true}});
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    table.add({fit_name(rows_[i].name, kWidth - taken), rows_[i].detail,
               sizes[i], exact[i]});
  }
  table.append_to(out);
}

void SizeTable::append_markdown(memory::String& out) const {
  base::append(out, "| {} | {} | bytes |\n|---|---|---:|\n", name_, detail_);
  for (const Row& row : rows_) {
    out += "| ";
    append_name(out, style_, row.name);
    out += " | ";
    append_name(out, style_, row.detail);
    base::append(out, " | {}{} |\n", is_change_ && row.bytes > 0 ? "+" : "",
                 format_bytes(row.bytes));
  }
}

}  // namespace neap::report
