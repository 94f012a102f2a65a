// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/snapshot_json.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "neap/report/snapshot_columns.hpp"

namespace neap::report {
namespace {

void put_number(Sink& out, std::int64_t number) {
  std::array<char, 24> digits;
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.put(std::string_view(digits.data(),
                           static_cast<std::size_t>(end - digits.data())));
}

void put_key(Sink& out, std::string_view name, bool is_first) {
  out.put(is_first ? "\"" : ",\"");
  out.put(name);
  out.put("\":");
}

template <class Texts>
void put_texts(Sink& out, const Texts& texts) {
  out.put('[');
  bool is_first = true;
  for (const auto& text : texts) {
    if (!std::exchange(is_first, false)) {
      out.put(',');
    }
    out.put_json(text);
  }
  out.put(']');
}

template <class Row>
void put_column(Sink& out, const memory::Vector<Row>& rows,
                const Column<Row>& column) {
  out.put('[');
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i != 0) {
      out.put(',');
    }
    put_number(out, column.get(rows[i]));
  }
  out.put(']');
}

template <class Row>
void put_table(Sink& out, std::string_view name,
               const memory::Vector<Row>& rows) {
  put_key(out, name, false);
  out.put('{');
  bool is_first = true;
  for (const Column<Row>& column : Columns<Row>::kAll) {
    if (column.may_miss &&
        std::all_of(rows.begin(), rows.end(),
                    [&](const Row& row) { return column.get(row) == -1; })) {
      continue;
    }
    put_key(out, column.name, std::exchange(is_first, false));
    put_column(out, rows, column);
  }
  out.put('}');
}

void put_sums(Sink& out, const Snapshot::Sums& sums) {
  put_key(out, "sums", false);
  out.put('{');
  bool is_first = true;
  for (const auto& column : Columns<Snapshot::Sums>::kAll) {
    if (column.may_miss && column.get(sums) == -1) {
      continue;
    }
    put_key(out, column.name, std::exchange(is_first, false));
    if (column.holds == Holds::kTruth) {
      out.put(column.get(sums) != 0 ? "true" : "false");
    } else {
      put_number(out, column.get(sums));
    }
  }
  out.put('}');
}

}  // namespace

void put_snapshot(Sink& out, const Snapshot& s) {
  out.put("{\"neapmem\":");
  put_number(out, kSnapshotVersion);
  put_key(out, "title", false);
  out.put_json(s.title);
  put_key(out, "eager", false);
  out.put(s.is_eager ? "true" : "false");
  put_key(out, "texts", false);
  put_texts(out, s.texts);
  put_sums(out, s.sums);
  put_table(out, "calls", s.calls);
  put_table(out, "blocks", s.blocks);
  put_table(out, "reads", s.reads);
  put_table(out, "stays", s.stays);
  put_table(out, "steps", s.steps);
  put_key(out, "refusals", false);
  put_texts(out, s.refusals);
  put_key(out, "leaks", false);
  put_texts(out, s.leaks);
  out.put("}\n");
}

}  // namespace neap::report
