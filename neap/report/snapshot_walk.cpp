// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/snapshot_walk.hpp"

#include <charconv>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "neap/memory/tag.hpp"

namespace neap::report {
namespace {

constexpr std::int64_t kNsOfACall = 1000;  // without a profile
constexpr std::string_view kOthers = "others";

using Key = std::tuple<Part, std::string_view, std::string_view>;

// Rows by part, layer and category.
class Rows {
 public:
  void add(Part part, std::string_view layer, std::string_view category,
           Bytes bytes) {
    PeakRow& row = rows_[{part, layer, category}];
    row.part = part;
    row.layer = layer;
    row.category = category;
    row.bytes += bytes;
    ++row.count;
  }
  void add(Part part, Bytes bytes) { add(part, {}, {}, bytes); }

  memory::Vector<PeakRow> largest_first() const {
    memory::Vector<PeakRow> out;
    out.reserve(rows_.size());
    for (const auto& [key, row] : rows_) {
      if (row.bytes != 0) {
        out.push_back(row);
      }
    }
    std::stable_sort(
        out.begin(), out.end(), [](const PeakRow& a, const PeakRow& b) {
          return a.part != b.part ? a.part < b.part : a.bytes > b.bytes;
        });
    return out;
  }

 private:
  std::map<Key, PeakRow, std::less<>,
           memory::Allocator<std::pair<const Key, PeakRow>>>
      rows_;
};

bool is_below_layer(std::string_view category) noexcept {
  using memory::Category;
  return category == memory::name_of(Category::kParameters) ||
         category == memory::name_of(Category::kBuffers) ||
         category == memory::name_of(Category::kOptimizerState);
}

}  // namespace

memory::Vector<std::int64_t> call_starts(const Snapshot& s) {
  const bool has_profile = std::any_of(s.calls.begin(), s.calls.end(),
                                       [](const auto& c) { return c.ns >= 0; });
  memory::Vector<std::int64_t> starts(s.calls.size() + 1, 0);
  for (std::size_t i = 0; i < s.calls.size(); ++i) {
    const std::int64_t ns =
        has_profile ? std::max<std::int64_t>(s.calls[i].ns, 0) : kNsOfACall;
    starts[i + 1] = starts[i] + ns;
  }
  return starts;
}

Categories::Categories(const Snapshot& s) : series(s.texts.size(), kMost) {
  for (const Snapshot::Block& block : s.blocks) {
    if (of(block) != kMost) {
      continue;
    }
    // A table of texts may have one twice.
    const std::string_view own = s.text(block.category);
    auto found = std::find(names.begin(), names.end(), own);
    if (found == names.end() && names.size() < kMost) {
      const std::string_view name = names.size() + 1 < kMost ? own : kOthers;
      found = std::find(names.begin(), names.end(), name);
      found = found == names.end() ? names.insert(found, name) : found;
    }
    const std::ptrdiff_t at = std::min<std::ptrdiff_t>(
        found - names.begin(), static_cast<std::ptrdiff_t>(names.size()) - 1);
    series[block.category] = static_cast<std::uint32_t>(at);
  }
}

ArenaMap::ArenaMap(const Snapshot& s) noexcept {
  std::array<Bytes, 256> heights{};
  for (const Snapshot::Block& block : s.blocks) {
    Bytes& height = heights[block.space];
    height = std::max(height, block.offset + block.bytes);
  }
  for (std::size_t space = 0; space < heights.size(); ++space) {
    base[space] = end;
    end += heights[space];
  }
  end = std::max(end, s.sums.arena);
}

std::string_view name_of(Part part) noexcept {
  switch (part) {
    case Part::kValues:
      return "values";
    case Part::kRounding:
      return "rounding of the values";
    case Part::kGaps:
      return "gaps of the arena";
    case Part::kStays:
      return "what stays";
    case Part::kProgram:
      return "program and plan";
    case Part::kIdle:
      return "idle pages";
    case Part::kOverhead:
      return "allocator's rounding";
    case Part::kUnlisted:
      return "not listed";
  }
  return "?";
}

memory::Vector<std::string_view> layers_of_stays(const Snapshot& s) {
  std::set<std::string_view, std::less<>, memory::Allocator<std::string_view>>
      below;
  for (const Snapshot::Stay& stay : s.stays) {
    if (is_below_layer(s.text(stay.category))) {
      below.insert(s.text(stay.owner));
    }
  }
  memory::Vector<std::string_view> layers;
  layers.reserve(s.stays.size());
  for (const Snapshot::Stay& stay : s.stays) {
    const std::string_view owner = s.text(stay.owner);
    const std::size_t dot = owner.rfind('.');
    layers.push_back(below.contains(owner) && dot != std::string_view::npos
                         ? owner.substr(0, dot)
                         : owner);
  }
  return layers;
}

memory::Vector<PeakRow> rows_at_peak(const Snapshot& s) {
  Rows rows;
  Bytes gaps = s.sums.arena;
  for (const Snapshot::Block& block : s.blocks) {
    if (is_live(block, s.sums.peak_call)) {
      rows.add(Part::kValues, s.text(block.layer), s.text(block.category),
               block.used);
      rows.add(Part::kRounding, block.bytes - block.used);
      gaps -= block.bytes;
    }
  }
  const memory::Vector<std::string_view> layers = layers_of_stays(s);
  Bytes unlisted = s.sums.reserved - s.sums.arena - s.sums.program -
                   s.sums.idle - s.sums.overhead;
  for (std::size_t i = 0; i < s.stays.size(); ++i) {
    rows.add(Part::kStays, layers[i], s.text(s.stays[i].category),
             s.stays[i].bytes);
    unlisted -= s.stays[i].bytes;
  }
  rows.add(Part::kGaps, gaps);
  rows.add(Part::kProgram, s.sums.program);
  rows.add(Part::kIdle, s.sums.idle);
  rows.add(Part::kOverhead, s.sums.overhead);
  rows.add(Part::kUnlisted, unlisted);
  return rows.largest_first();
}

SourceLine parse_line(std::string_view line) noexcept {
  const std::string_view place = line.substr(0, line.rfind(" ("));
  const std::size_t colon = place.rfind(':');
  if (colon == std::string_view::npos) {
    return {.file = line};
  }
  SourceLine out{.file = place.substr(0, colon)};
  const char* const end = place.data() + place.size();
  const auto read = std::from_chars(place.data() + colon + 1, end, out.number);
  if (read.ec != std::errc() || read.ptr != end || out.number < 0) {
    return {.file = line};
  }
  return out;
}

}  // namespace neap::report
