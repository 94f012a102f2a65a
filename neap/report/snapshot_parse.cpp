// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "neap/formats/json_cursor.hpp"
#include "neap/report/snapshot_columns.hpp"
#include "neap/report/snapshot_json.hpp"

namespace neap::report {
namespace {

// Numbers that fit the member of a row, whatever is in other tables.
bool is_storable(Holds holds, std::int64_t number) noexcept {
  constexpr std::int64_t kMostPositions = Snapshot::kNone;
  switch (holds) {
    case Holds::kNumber:
      return number >= 0 && number <= kLargestNumber;
    case Holds::kNumberOrNone:
      return number >= -1 && number <= kLargestNumber;
    case Holds::kBlockOrNone:
      return number >= -1 && number < kMostPositions;
    case Holds::kText:
    case Holds::kCall:
    case Holds::kBlock:
      return number >= 0 && number < kMostPositions;
    case Holds::kPhase:
    case Holds::kKind:
    case Holds::kSpace:
      return number >= 0 && number < 256;
    case Holds::kStepKind:
      return number >= -1 && number < 3;
    case Holds::kFlag:
    case Holds::kTruth:
      return number == 0 || number == 1;
  }
  return false;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : json_(text) {}

  Result<Snapshot> run() {
    read_all();
    if (fault_.empty() && json_.is_good() && !has_all()) {
      fault_ = "a table is missing";
    }
    if (!fault_.empty() || !json_.is_good()) {
      return failure(kind_, fault_.empty()
                                ? fmt::format("at byte {}: {}",
                                              json_.position(), json_.fault())
                                : std::move(fault_));
    }
    if (auto good = check_snapshot(out_); !good) {
      return tl::make_unexpected(std::move(good.error()));
    }
    return std::move(out_);
  }

 private:
  // A row takes more memory than its text.
  template <class Rows>
  bool has_room(const Rows& rows) {
    return rows.size() < kMostRows ||
           refuse("a table of more than 4 194 304 rows",
                  FailureKind::kTooLarge);
  }

  // Calls read(key) for each member of an object.
  template <class Read>
  bool object(const Read& read) {
    if (!json_.expect('{') || json_.accept('}')) {
      return json_.is_good();
    }
    memory::String key;
    do {
      if (!json_.string(key) || !json_.expect(':') || !read(key)) {
        return false;
      }
    } while (json_.accept(','));
    return json_.expect('}');
  }
  // Calls read() for each element of an array.
  template <class Read>
  bool array(const Read& read) {
    if (!json_.expect('[') || json_.accept(']')) {
      return json_.is_good();
    }
    do {
      if (!read()) {
        return false;
      }
    } while (json_.accept(','));
    return json_.expect(']');
  }

  bool refuse(std::string fact, FailureKind kind = FailureKind::kCorrupt) {
    fault_ = std::move(fact);
    kind_ = kind;
    return false;
  }

  // The version is the first key, before anything that another one may mean.
  void read_all() {
    bool is_first = true;
    const bool is_whole = object([&](const memory::String& key) {
      if (std::exchange(is_first, false)) {
        return key == "neapmem" ? version()
                                : refuse("its first key is not neapmem");
      }
      return part(key);
    });
    if (is_whole && is_first) {
      refuse("its first key is not neapmem");
    }
    if (is_whole) {
      json_.finish();
    }
  }

  bool version() {
    std::int64_t number = 0;
    if (!json_.number(number)) {
      return false;
    }
    return number == kSnapshotVersion ||
           refuse(fmt::format("it is of version {}, and this Neap reads {}",
                              number, kSnapshotVersion),
                  FailureKind::kUnsupported);
  }

  // A table that is there twice could hide that another is missing.
  bool is_new(std::string_view key, std::uint32_t& seen, std::size_t at) {
    const std::uint32_t bit = 1U << at;
    if ((seen & bit) != 0) {
      return refuse(fmt::format("{} is there twice", key));
    }
    seen |= bit;
    return true;
  }

  bool part(const memory::String& key) {
    constexpr std::array<std::string_view, 11> kParts = {
        "title", "eager",  "texts", "sums",  "refusals", "leaks",
        "calls", "blocks", "reads", "stays", "steps"};
    const auto found = std::find(kParts.begin(), kParts.end(), key);
    if (found == kParts.end()) {
      return json_.skip();
    }
    if (!is_new(key, parts_,
                static_cast<std::size_t>(found - kParts.begin()))) {
      return false;
    }
    if (key == "title") {
      return json_.string(out_.title);
    }
    if (key == "eager") {
      return json_.boolean(out_.is_eager);
    }
    if (key == "texts") {
      return texts(out_.texts);
    }
    if (key == "sums") {
      return sums();
    }
    if (key == "refusals") {
      return texts(out_.refusals);
    }
    if (key == "leaks") {
      return texts(out_.leaks);
    }
    return table(key, "calls", out_.calls) &&
           table(key, "blocks", out_.blocks) &&
           table(key, "reads", out_.reads) && table(key, "stays", out_.stays) &&
           table(key, "steps", out_.steps);
  }

  bool texts(memory::Vector<memory::String>& out) {
    return array(
        [&] { return has_room(out) && json_.string(out.emplace_back()); });
  }

  bool sums() {
    std::uint32_t seen = 0;
    return object([&](const memory::String& key) {
             using Sums = Snapshot::Sums;
             const auto* column = find<Sums>("sums", key, seen);
             if (column == nullptr) {
               return fault_.empty() && json_.skip();
             }
             std::int64_t number = 0;
             bool truth = false;
             const bool is_read = column->holds == Holds::kTruth
                                      ? json_.boolean(truth)
                                      : json_.integer(number);
             if (is_read) {
               set(*column, "sums", out_.sums, truth ? 1 : number);
             }
             return is_read && fault_.empty();
           }) &&
           has_columns<Snapshot::Sums>("sums", seen);
  }

  // nullptr: a key that is skipped, or one that is there twice, which fails.
  template <class Row>
  const Column<Row>* find(std::string_view table, std::string_view name,
                          std::uint32_t& seen) {
    const auto& all = Columns<Row>::kAll;
    const auto found = std::find_if(
        all.begin(), all.end(),
        [&](const Column<Row>& column) { return column.name == name; });
    if (found == all.end()) {
      return nullptr;
    }
    const auto at = static_cast<std::size_t>(found - all.begin());
    return is_new(fmt::format("{}.{}", table, name), seen, at) ? &*found
                                                               : nullptr;
  }

  template <class Row>
  bool has_columns(std::string_view table, std::uint32_t seen) {
    tables_ += 1;
    const auto& all = Columns<Row>::kAll;
    for (std::size_t k = 0; k < all.size(); ++k) {
      if ((seen >> k & 1U) == 0 && !all[k].may_miss) {
        return refuse(fmt::format("{}.{} is missing", table, all[k].name));
      }
    }
    return true;
  }

  template <class Row>
  void set(const Column<Row>& column, std::string_view table, Row& row,
           std::int64_t number) {
    if (!is_storable(column.holds, number)) {
      refuse(
          fmt::format("{}.{}: {} is impossible", table, column.name, number));
      return;
    }
    column.set(row, number);
  }

  // True where the key is another's.
  template <class Row>
  bool table(const memory::String& key, std::string_view name,
             memory::Vector<Row>& rows) {
    if (key != name) {
      return true;
    }
    std::uint32_t seen = 0;
    std::optional<std::size_t> length;
    return object([&](const memory::String& column_name) {
             const Column<Row>* column = find<Row>(name, column_name, seen);
             return column == nullptr ? fault_.empty() && json_.skip()
                                      : column_of(*column, name, rows, length);
           }) &&
           has_columns<Row>(name, seen);
  }

  template <class Row>
  bool column_of(const Column<Row>& column, std::string_view name,
                 memory::Vector<Row>& rows,
                 std::optional<std::size_t>& length) {
    std::size_t at = 0;
    const bool is_whole = array([&] {
      std::int64_t number = 0;
      if (!json_.integer(number)) {
        return false;
      }
      if (!length) {
        if (!has_room(rows)) {
          return false;
        }
        rows.emplace_back();
      } else if (at == *length) {
        return refuse(fmt::format("{}: its columns differ in length", name));
      }
      set(column, name, rows[at++], number);
      return fault_.empty();
    });
    if (is_whole && length && at != *length) {
      return refuse(fmt::format("{}: its columns differ in length", name));
    }
    length = at;
    return is_whole;
  }

  bool has_all() const noexcept { return tables_ >= 6; }

  formats::JsonCursor json_;
  Snapshot out_;
  std::string fault_;
  FailureKind kind_ = FailureKind::kCorrupt;
  std::uint32_t parts_ = 0;  // that were read
  int tables_ = 0;
};

}  // namespace

Result<Snapshot> parse_snapshot(std::string_view text) {
  return Parser(text).run();
}

}  // namespace neap::report
