// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/page_tables.hpp"

#include <algorithm>
#include <string>

#include "neap/report/page_map.hpp"
#include "neap/report/snapshot_walk.hpp"

namespace neap::report {
namespace {

constexpr std::size_t kMostRows = 200;

void put_number_cell(Sink& out, Bytes bytes) {
  out.format("<td class=\"n\">{}</td>", format_bytes(bytes));
}

void put_sum_row(Sink& out, std::string_view name, Bytes bytes) {
  out.format("<tr><th scope=\"row\">{}</th>", name);
  put_number_cell(out, bytes);
  out.put("</tr>\n");
}

void put_text_cell(Sink& out, std::string_view text) {
  out.put("<td>");
  out.put_xml(text);
  out.put("</td>");
}

// Rows that add up to what is reserved.
void put_sums(Sink& out, const Snapshot::Sums& sums) {
  out.put("<table><caption>What is reserved</caption><tbody>\n");
  put_sum_row(out, "values at the peak, their own bytes", sums.used_at_peak);
  put_sum_row(out, "their rounding", sums.live_at_peak - sums.used_at_peak);
  put_sum_row(out, "gaps between them", sums.arena - sums.live_at_peak);
  put_sum_row(out, "what stays", sums.stays);
  put_sum_row(out, "program and plan", sums.program);
  put_sum_row(out, "idle pages", sums.idle);
  put_sum_row(out, "the allocator's rounding", sums.overhead);
  out.put("<tr class=\"sum\"><th scope=\"row\">reserved</th>");
  put_number_cell(out, sums.reserved);
  out.put("</tr>\n");
  if (sums.needed() > sums.held()) {
    put_sum_row(out, "held at most in the whole run", sums.needed());
  }
  if (sums.lent > 0) {
    put_sum_row(out, "of it, lent by the caller", sums.lent);
  }
  out.put("</tbody></table>\n");
}

// The rows of a table that are not shown, in one.
void put_rest(Sink& out, std::size_t count, int columns, Bytes bytes) {
  if (count != 0) {
    out.format("<tr><th scope=\"row\" colspan=\"{}\">and {} more</th>", columns,
               count);
    put_number_cell(out, bytes);
    out.put("</tr>\n");
  }
}

void put_peak(Sink& out, const Snapshot& s) {
  const auto is_there = [&](const Snapshot::Block& block) {
    return is_live(block, s.sums.peak_call);
  };
  std::size_t count = 0;
  Bytes rest = 0;
  for (const Snapshot::Block& block : s.blocks) {
    count += is_there(block) ? 1 : 0;
    rest += is_there(block) ? block.bytes : 0;
  }
  out.put(
      "<table><caption>Values at the peak</caption><thead><tr><th>op</th>"
      "<th>layer</th><th>shape</th><th>category</th><th class=\"n\">bytes</th>"
      "</tr></thead><tbody>\n");
  for (const std::uint32_t i :
       largest_of(s, kMostRows, is_there,
                  [](const auto& block) { return block.bytes; })) {
    const Snapshot::Block& block = s.blocks[i];
    rest -= block.bytes;
    out.put("<tr><th scope=\"row\">");
    out.put_xml(s.text(s.calls[block.first].op));
    out.put("</th>");
    put_text_cell(out, s.text(block.layer));
    put_text_cell(out, s.text(block.shape));
    put_text_cell(out, s.text(block.category));
    put_number_cell(out, block.bytes);
    out.put("</tr>\n");
  }
  put_rest(out, count - std::min(count, kMostRows), 4, rest);
  out.put("</tbody></table>\n");
}

void put_stays(Sink& out, const Snapshot& s) {
  out.put(
      "<table><caption>What stays</caption><thead><tr><th>owner</th>"
      "<th>category</th><th class=\"n\">bytes</th></tr></thead><tbody>\n");
  Bytes rest = 0;
  for (std::size_t i = 0; i < s.stays.size(); ++i) {
    if (i >= kMostRows) {
      rest += s.stays[i].bytes;
      continue;
    }
    out.put("<tr><th scope=\"row\">");
    out.put_xml(s.text(s.stays[i].owner));
    out.put("</th>");
    put_text_cell(out, s.text(s.stays[i].category));
    put_number_cell(out, s.stays[i].bytes);
    out.put("</tr>\n");
  }
  put_rest(out, s.stays.size() - std::min(s.stays.size(), kMostRows), 2, rest);
  out.put("</tbody></table>\n");
}

void put_one(Sink& out, const Snapshot& s, std::string_view title) {
  if (!title.empty()) {
    out.format("<h2>{}</h2>\n", title);
  }
  put_sums(out, s.sums);
  out.put("<noscript>\n");
  put_map(out, s);
  out.put("</noscript>\n");
  put_peak(out, s);
  if (!s.stays.empty()) {
    put_stays(out, s);
  }
}

void put_title(Sink& out, const Snapshot& s) {
  out.put("<h1>");
  out.put_xml(s.title.empty() ? std::string_view("Memory of a step")
                              : std::string_view(s.title));
  out.format("</h1>\n<p>{} reserved: an arena of {}, and {} that stay.</p>\n",
             format_bytes(s.sums.reserved), format_bytes(s.sums.arena),
             format_bytes(s.sums.stays));
}

}  // namespace

void put_head(Sink& out, const Snapshot& a, const Snapshot* b) {
  put_title(out, a);
  if (b != nullptr) {
    put_title(out, *b);
  }
}

void put_tables(Sink& out, const Snapshot& a, const Snapshot* b) {
  put_one(out, a, b == nullptr ? "" : "A");
  if (b != nullptr) {
    put_one(out, *b, "B");
  }
}

}  // namespace neap::report
