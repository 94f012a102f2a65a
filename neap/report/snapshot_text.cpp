// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/snapshot_text.hpp"

#include "neap/base/append.hpp"
#include "neap/report/ledger_rows.hpp"
#include "neap/report/size_table.hpp"
#include "neap/report/snapshot_check.hpp"
#include "neap/report/snapshot_walk.hpp"
#include "neap/report/wording.hpp"

namespace neap::report {
namespace {

constexpr std::size_t kMostValues = 20;
constexpr std::size_t kMostStays = 12;
constexpr std::size_t kMostInSentence = 3;

std::string_view name_of_layer(std::string_view layer) noexcept {
  return layer.empty() ? "(no layer)" : layer;
}

void add_more(SizeTable& table, std::int64_t count, Bytes bytes) {
  if (count > 0) {
    memory::String name(format_grouped(count));
    name += " more";
    table.add(name, {}, bytes);
  }
}

void add_largest(SizeTable& table, const memory::Vector<PeakRow>& rows,
                 Part part, std::size_t most) {
  std::int64_t left_out = 0;
  Bytes bytes = 0;
  for (const PeakRow& row : rows) {
    if (row.part != part) {
      continue;
    }
    if (most > 0) {
      table.add(name_of_layer(row.layer), row.category, row.bytes);
      --most;
    } else {
      ++left_out;
      bytes += row.bytes;
    }
  }
  add_more(table, left_out, bytes);
}

void add_part(SizeTable& table, const memory::Vector<PeakRow>& rows,
              Part part) {
  for (const PeakRow& row : rows) {
    if (row.part == part) {
      table.add(name_of(part), {}, row.bytes);
    }
  }
}

memory::String detail_of_budget(const Snapshot::Sums& sums) {
  const Bytes spare = sums.budget - sums.needed() - sums.external;
  // Idle pages are given back where they are needed. Nobody knows how many
  // there were when most was held, and neap plan counts on none.
  const Bytes idle = sums.held_at_most >= 0 ? 0 : sums.idle;
  memory::String out;
  if (spare < 0 && spare + idle >= 0) {
    out += "idle pages must go";
    return out;
  }
  out += format_bytes_short(spare < 0 ? -spare - idle : spare);
  out += spare < 0 ? " too little" : " to spare";
  return out;
}

memory::String at_least(Bytes bytes) {
  memory::String out("at least ");
  out += format_bytes_short(bytes);
  return out;
}

void append_sums(memory::String& out, Style style, const Snapshot::Sums& sums) {
  SizeTable table(style, "sum", "");
  memory::String predicted("predicted ");
  predicted += format_bytes_short(sums.predicted);
  table.add("reserved",
            sums.predicted < 0                ? ""
            : sums.predicted == sums.reserved ? "as predicted"
                                              : std::string_view(predicted),
            sums.reserved);
  table.add("arena",
            sums.arena == sums.lower_bound
                ? std::string_view("the least possible")
                : std::string_view(at_least(sums.lower_bound)),
            sums.arena);
  table.add(name_of(Part::kStays), {}, sums.stays);
  table.add(name_of(Part::kProgram), {}, sums.program);
  table.add(name_of(Part::kIdle), {}, sums.idle);
  table.add(name_of(Part::kOverhead), {}, sums.overhead);
  if (sums.needed() > sums.held()) {
    table.add("held at most", "in the whole run", sums.needed());
  }
  if (sums.lent > 0) {
    table.add("lent, of reserved", "by the caller", sums.lent);
  }
  if (sums.arguments > 0) {
    table.add("arguments", "beside these", sums.arguments);
  }
  if (sums.external > 0) {
    table.add("external", "beside these", sums.external);
  }
  if (sums.budget >= 0) {
    table.add("budget", detail_of_budget(sums), sums.budget);
  }
  table.append_to(out);
}

void append_place_of_peak(memory::String& out, Style style, const Snapshot& s) {
  out += "\nAt the peak";
  if (s.sums.peak_call < s.calls.size()) {
    const Snapshot::Call& call = s.calls[s.sums.peak_call];
    base::append(out, ", {} {} of {}, ", s.is_eager ? "event" : "call",
                 s.sums.peak_call, s.calls.size());
    append_name(out, style, s.text(call.op), 16);
    if (call.layer != 0) {
      out += " of ";
      append_name(out, style, s.text(call.layer), 24);
    }
  }
  out += style == Style::kText ? ":\n" : ":\n\n";
}

memory::String write(const Snapshot& s, Style style) {
  expect_sound(s);
  const memory::UseDomain use(report_domain());
  const memory::Vector<PeakRow> rows = rows_at_peak(s);
  memory::String out;
  out += style == Style::kText ? "" : "**";
  append_name(out, style, s.title.empty() ? "a step" : s.title, 76);
  out += style == Style::kText ? "\n" : "**\n\n";
  append_sums(out, style, s.sums);
  append_place_of_peak(out, style, s);
  SizeTable peak(style, "layer", "category");
  add_largest(peak, rows, Part::kValues, kMostValues);
  add_part(peak, rows, Part::kRounding);
  add_part(peak, rows, Part::kGaps);
  peak.add("arena", "", peak.total());
  peak.append_to(out);
  out += style == Style::kText ? "\nWhat stays:\n" : "\nWhat stays:\n\n";
  SizeTable stays(style, "layer", "category");
  add_largest(stays, rows, Part::kStays, kMostStays);
  add_part(stays, rows, Part::kUnlisted);
  stays.add("all", "", stays.total());
  stays.append_to(out);
  return out;
}

// "activations of h.3 +2.0 MiB"
void append_change(memory::String& out, Style style, const Diff::Row& row) {
  const bool has_layer = !row.category.empty() || !row.layer.empty();
  append_name(out, style, has_layer ? row.category : row.part);
  if (has_layer) {
    out += " of ";
    append_name(out, style, name_of_layer(row.layer));
  }
  out += ' ';
  out += signed_short(row.change());
}

// "peak +3.1 MiB: activations of h.3 +2.0 MiB, ...".
void append_sentence(memory::String& out, Style style, const Diff& diff) {
  const Bytes change = diff.after.reserved - diff.before.reserved;
  if (diff.rows.empty()) {
    base::append(out, "peak unchanged: {}\n",
                 format_bytes(diff.after.reserved));
    return;
  }
  base::append(out, "peak {}: ", std::string_view(signed_short(change)));
  std::size_t shown = 0;
  for (const Diff::Row& row : diff.rows) {
    if (shown == kMostInSentence) {
      out += ", ...";
      break;
    }
    out += shown++ == 0 ? "" : ", ";
    append_change(out, style, row);
  }
  out += '\n';
}

memory::String write(const Diff& diff, Style style) {
  const memory::UseDomain use(report_domain());
  memory::String out;
  if (style == Style::kMarkdown || diff.rows.empty()) {
    append_sentence(out, style, diff);
  }
  if (diff.rows.empty()) {
    return out;
  }
  const std::string_view line_end = style == Style::kText ? "\n" : "\n\n";
  out += style == Style::kText ? "" : "\n";
  for (const auto& [word, title, sums] :
       {std::tuple("before", &diff.title_before, &diff.before),
        std::tuple("after", &diff.title_after, &diff.after)}) {
    base::append(out, "{} {}", word, format_bytes(sums->reserved));
    if (!title->empty()) {
      out += ": ";
      append_name(out, style, *title, 30);
    }
    out += line_end;
  }
  SizeTable table(style, "layer", "category", true);
  std::size_t shown = 0;
  Bytes rest = 0;
  for (const Diff::Row& row : diff.rows) {
    if (shown == kMostValues) {
      rest += row.change();
      continue;
    }
    ++shown;
    const bool has_layer = !row.category.empty() || !row.layer.empty();
    memory::String detail(row.part == name_of(Part::kStays) ? "stays, " : "");
    detail += row.category;
    table.add(has_layer ? name_of_layer(row.layer) : row.part, detail,
              row.change());
  }
  add_more(table, static_cast<std::int64_t>(diff.rows.size() - shown), rest);
  table.add("all", "", table.total());
  table.append_to(out);
  return out;
}

}  // namespace

memory::String to_text(const Snapshot& snapshot) {
  return write(snapshot, Style::kText);
}

memory::String to_markdown(const Snapshot& snapshot) {
  return write(snapshot, Style::kMarkdown);
}

memory::String to_text(const Diff& diff) {
  return write(diff, Style::kText);
}

memory::String to_markdown(const Diff& diff) {
  return write(diff, Style::kMarkdown);
}

}  // namespace neap::report
