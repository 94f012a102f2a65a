// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/page_map.hpp"

#include <algorithm>

#include "neap/report/colours.hpp"
#include "neap/report/snapshot_walk.hpp"

namespace neap::report {
namespace {

constexpr std::size_t kMostBlocks = 2000;
// The picture in its own units, of which a pixel has some.
constexpr std::int64_t kWidth = 9999;
constexpr std::int64_t kHeight = 3999;

class Map {
 public:
  Map(Sink& out, const Snapshot& s)
      : s_(s), out_(out), arena_(s), categories_(s) {}

  void put() {
    const auto blocks = largest_blocks(s_, kMostBlocks, &area_of);
    out_.format(
        "<svg viewBox=\"0 0 {} {}\" width=\"100%\" height=\"400\" "
        "preserveAspectRatio=\"none\" role=\"img\">"
        "<title>Map of the arena: calls to the right, addresses upward, the "
        "largest {} of {} blocks</title>\n",
        kWidth, kHeight, blocks.size(), s_.blocks.size());
    for (std::size_t i = 0; i < categories_.names.size(); ++i) {
      out_.format("<path fill=\"{}\" d=\"", kColours[i]);
      for (const std::uint32_t at : blocks) {
        if (categories_.of(s_.blocks[at]) == i) {
          put_block(s_.blocks[at]);
        }
      }
      out_.put("\"/>\n");
    }
    out_.put("</svg>\n<p>");
    for (std::size_t i = 0; i < categories_.names.size(); ++i) {
      out_.format("<span class=\"swatch\" style=\"background:{}\"></span> ",
                  kColours[i]);
      out_.put_xml(categories_.names[i]);
      out_.put(" ");
    }
    out_.put("</p>\n");
  }

 private:
  static double area_of(const Snapshot::Block& block) noexcept {
    return static_cast<double>(block.bytes) *
           (static_cast<double>(block.last) - block.first + 1);
  }
  // `part` of `whole` as so many of `units`.
  static std::int64_t scaled(std::int64_t part, std::int64_t whole,
                             std::int64_t units) noexcept {
    return static_cast<std::int64_t>(static_cast<double>(part) /
                                     static_cast<double>(whole) *
                                     static_cast<double>(units));
  }

  // Nothing is so small that it vanishes.
  void put_block(const Snapshot::Block& block) {
    const auto calls = static_cast<std::int64_t>(s_.calls.size());
    const Bytes low = arena_.place_of(block);
    const std::int64_t left = scaled(block.first, calls, kWidth);
    const std::int64_t right =
        scaled(std::int64_t{block.last} + 1, calls, kWidth);
    const std::int64_t foot = kHeight - scaled(low, arena_.end, kHeight);
    const std::int64_t top =
        kHeight - scaled(low + block.bytes, arena_.end, kHeight);
    const std::int64_t wide = std::max<std::int64_t>(right - left, 1);
    out_.format("M{} {}h{}v{}h{}", left, top, wide,
                std::max<std::int64_t>(foot - top, 1), -wide);
  }

  const Snapshot& s_;
  Sink& out_;
  const ArenaMap arena_;
  const Categories categories_;
};

}  // namespace

void put_map(Sink& out, const Snapshot& snapshot) {
  if (!snapshot.blocks.empty() && snapshot.sums.arena > 0) {
    Map(out, snapshot).put();
  }
}

}  // namespace neap::report
