// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/picture.hpp"

#include "neap/base/shown.hpp"
#include "neap/report/colours.hpp"
#include "neap/report/sink.hpp"
#include "neap/report/snapshot_walk.hpp"
#include "neap/report/wording.hpp"

namespace neap::report {
namespace {

constexpr std::size_t kMostBlocks = 2000;
constexpr double kWidth = 900;
constexpr double kLeft = 72;  // of the map
constexpr double kRight = 884;
constexpr double kTop = 76;
constexpr double kBottom = 476;
constexpr double kLegend = 528;  // the first line's middle
constexpr double kLegendLine = 22;
constexpr std::size_t kLegendColumns = 4;
constexpr double kEdge = 3;  // smaller blocks are drawn without an edge

constexpr std::string_view kStyle =
    "<style>\n"
    "svg { background: #ffffff; font: 12px system-ui, sans-serif; }\n"
    "text { fill: #1d2329; } .soft { fill: #5d6873; }\n"
    ".title { font-size: 16px; font-weight: 600; }\n"
    ".ground { fill: #f1f3f5; } .line { stroke: #d3d8dd; }\n"
    ".peak { stroke: #c8202f; } .peak-text { fill: #c8202f; }\n"
    ".edge { stroke: #ffffff; stroke-width: 0.5; }\n"
    ".space { stroke: #1d2329; stroke-width: 1.5; }\n"
    ".space-text { paint-order: stroke; stroke: #f1f3f5; stroke-width: 4; }\n"
    ".hatch { stroke: #1d2329; stroke-width: 1.2; fill: none; }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "svg { background: #14171a; }\n"
    "text { fill: #e6e9ec; } .soft { fill: #9aa5b0; }\n"
    ".ground { fill: #22272c; } .line { stroke: #39414a; }\n"
    ".peak { stroke: #ff6b73; } .peak-text { fill: #ff6b73; }\n"
    ".edge { stroke: #14171a; } .space { stroke: #e6e9ec; }\n"
    ".space-text { stroke: #22272c; } }\n"
    "</style>\n"
    "<defs>\n"
    "<pattern id=\"hatch1\" width=\"6\" height=\"6\" "
    "patternUnits=\"userSpaceOnUse\">"
    "<path class=\"hatch\" d=\"M-1 1L1 -1M0 6L6 0M5 7L7 5\"/></pattern>\n"
    "<pattern id=\"hatch2\" width=\"6\" height=\"6\" "
    "patternUnits=\"userSpaceOnUse\">"
    "<path class=\"hatch\" d=\"M-1 5L1 7M0 0L6 6M5 -1L7 1\"/></pattern>\n"
    "<pattern id=\"hatch3\" width=\"5\" height=\"5\" "
    "patternUnits=\"userSpaceOnUse\">"
    "<path class=\"hatch\" d=\"M0 2.5H5\"/></pattern>\n"
    "</defs>\n";

constexpr std::array<std::string_view, 4> kKinds = {
    "value", "workspace", "recomputed", "fetched from the file"};

// Address x time, with which the largest are drawn.
double area_of(const Snapshot::Block& block) noexcept {
  return static_cast<double>(block.bytes) *
         (static_cast<double>(block.last) - block.first + 1);
}

// The least of 1, 2, 5, 10, ... times `unit` of which `most` reach `end`.
std::int64_t step_of(std::int64_t end, std::int64_t most) noexcept {
  std::int64_t step = 1;
  for (int i = 0; end / step > most; ++i) {
    step = i % 3 == 1 ? step / 2 * 5 : step * 2;
  }
  return step;
}

class Picture {
 public:
  Picture(Sink& out, const Snapshot& s)
      : s_(s),
        out_(out),
        map_(s),
        categories_(s),
        calls_(std::max<double>(1, static_cast<double>(s.calls.size()))),
        bytes_(std::max<double>(1, static_cast<double>(map_.end))) {}

  void write() {
    const std::size_t entries = categories_.names.size() + kKinds.size() - 1;
    const std::size_t lines = (entries + kLegendColumns - 1) / kLegendColumns;
    const double height = kLegend + kLegendLine * static_cast<double>(lines);
    out_.format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" "
        "height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\">\n<title>",
        kWidth, height);
    put_name(s_.title.empty() ? "a step" : s_.title);
    out_.put("</title>\n");
    out_.put(kStyle);
    put_head();
    put_axes();
    put_blocks();
    put_spaces();
    put_peak();
    put_phases();
    put_legend();
    out_.put("</svg>\n");
  }

 private:
  double x(double call) const noexcept {
    return kLeft + (kRight - kLeft) * call / calls_;
  }
  double y(Bytes place) const noexcept {
    return kBottom - (kBottom - kTop) * static_cast<double>(place) / bytes_;
  }

  // A foreign text, short and harmless.
  void put_name(std::string_view name) {
    out_.put_xml(base::shown(name, base::kMostShown));
  }
  void begin_text(double left, double top, std::string_view name,
                  std::string_view anchor = "start") {
    out_.format(
        "<text class=\"{}\" x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"{}\">",
        name, left, top, anchor);
  }
  void end_text() { out_.put("</text>\n"); }

  void put_head() {
    begin_text(16, 26, "title");
    put_name(s_.title.empty() ? "a step" : s_.title);
    end_text();
    begin_text(16, 46, "soft");
    out_.format("reserved {}, arena {}", format_bytes(s_.sums.reserved),
                format_bytes(s_.sums.arena));
    if (s_.blocks.size() > kMostBlocks) {
      out_.format("; the largest {} of {} values", format_grouped(kMostBlocks),
                  format_grouped(static_cast<std::int64_t>(s_.blocks.size())));
    }
    end_text();
  }

  void put_line(std::string_view name, double x1, double y1, double x2,
                double y2) {
    out_.format("<path class=\"{}\" d=\"M{:.2f} {:.2f}L{:.2f} {:.2f}\"/>\n",
                name, x1, y1, x2, y2);
  }

  void put_axes() {
    out_.format(
        "<rect class=\"ground\" x=\"{}\" y=\"{}\" width=\"{}\" "
        "height=\"{}\"/>\n",
        kLeft, kTop, kRight - kLeft, kBottom - kTop);
    Bytes step = 1;
    while (map_.end / step > 8) {
      step *= 2;
    }
    for (Bytes place = 0; place <= map_.end; place += step) {
      put_line("line", kLeft - 4, y(place), kRight, y(place));
      begin_text(kLeft - 8, y(place) + 4, "soft", "end");
      out_.put(format_bytes_short(place));
      end_text();
    }
    const auto calls = static_cast<std::int64_t>(s_.calls.size());
    const std::int64_t stride = step_of(calls, 10);
    for (std::int64_t call = 0; call < calls; call += stride) {
      const double left = x(static_cast<double>(call));
      put_line("line", left, kBottom, left, kBottom + 4);
      begin_text(left, kBottom + 16, "soft");
      out_.put(format_grouped(call));
      end_text();
    }
  }

  void put_blocks() {
    for (const std::uint32_t i : largest_blocks(s_, kMostBlocks, area_of)) {
      const Snapshot::Block& block = s_.blocks[i];
      const double width = x(block.last + 1.0) - x(block.first);
      const double bottom = y(map_.place_of(block));
      const double height = bottom - y(map_.place_of(block) + block.bytes);
      out_.put("<g>");
      put_rectangle(block, width, height, kColours[categories_.of(block)],
                    width > kEdge && height > kEdge);
      if (block.kind != Snapshot::Kind::kValue) {
        std::array<char, 16> hatch{};
        const std::size_t size = base::format_into(
            hatch, "url(#hatch{})", static_cast<int>(block.kind));
        put_rectangle(block, width, height, {hatch.data(), size}, false);
      }
      out_.put("<title>");
      put_title(block);
      out_.put("</title></g>\n");
    }
  }

  void put_rectangle(const Snapshot::Block& block, double width, double height,
                     std::string_view fill, bool has_edge) {
    out_.format(
        "<rect{} x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" "
        "height=\"{:.2f}\" fill=\"{}\"/>",
        has_edge ? " class=\"edge\"" : "", x(block.first),
        y(map_.place_of(block) + block.bytes), width, height, fill);
  }

  // The words for a reader who points at the block.
  void put_title(const Snapshot::Block& block) {
    put_name(s_.text(s_.calls[block.first].op));
    if (block.layer != 0) {
      out_.put(" of ");
      put_name(s_.text(block.layer));
    }
    out_.put(": ");
    put_name(s_.text(block.dtype));
    out_.put(' ');
    put_name(s_.text(block.shape));
    out_.format(", {}, calls {} to {}, ", format_bytes(block.bytes),
                block.first, block.last);
    put_name(s_.text(block.category));
    if (block.kind != Snapshot::Kind::kValue) {
      out_.format(", {}", kKinds[static_cast<std::size_t>(block.kind)]);
    }
  }

  // A line where the arena of a space begins, beyond the first.
  void put_spaces() {
    Bytes last = 0;
    for (std::size_t space = 1; space < map_.base.size(); ++space) {
      if (map_.base[space] > last && map_.base[space] < map_.end) {
        last = map_.base[space];
        put_line("space", kLeft, y(last), kRight, y(last));
        begin_text(kRight - 6, y(last) - 6, "space-text", "end");
        out_.format("space {}", space);
        end_text();
      }
    }
  }

  void put_peak() {
    if (s_.sums.peak_call >= s_.calls.size()) {
      return;  // no calls
    }
    const Snapshot::Call& call = s_.calls[s_.sums.peak_call];
    const double middle = x(s_.sums.peak_call + 0.5);
    put_line("peak", middle, kTop - 6, middle, kBottom);
    const bool is_left = middle < kWidth / 2;
    begin_text(middle + (is_left ? -2 : 2), kTop - 10, "peak-text",
               is_left ? "start" : "end");
    out_.format("peak: {} at call {}, ", format_bytes(s_.sums.live_at_peak),
                s_.sums.peak_call);
    out_.put_xml(fit_name(s_.text(call.op), 24));
    if (call.layer != 0) {
      out_.put(" of ");
      out_.put_xml(fit_name(s_.text(call.layer), 32));
    }
    end_text();
  }

  // The phases' names below the calls, where there is room for them.
  void put_phases() {
    static constexpr std::array<std::string_view, 3> kPhases = {
        "forward", "backward", "update"};
    constexpr double kRoom = 56;
    std::size_t first = 0;
    for (std::size_t call = 1; call <= s_.calls.size(); ++call) {
      if (call < s_.calls.size() &&
          s_.calls[call].phase == s_.calls[first].phase) {
        continue;
      }
      const double left = x(static_cast<double>(first));
      const double right = x(static_cast<double>(call));
      if (right - left >= kRoom) {
        put_line("line", left, kBottom + 20, left, kBottom + 34);
        begin_text(left + 4, kBottom + 31, "soft");
        out_.put(kPhases[static_cast<std::size_t>(s_.calls[first].phase)]);
        end_text();
      }
      first = call;
    }
  }

  void put_legend() {
    std::size_t entry = 0;
    for (const std::string_view name : categories_.names) {
      put_swatch(entry, kColours[entry], name);
      ++entry;
    }
    put_swatch(entry++, "url(#hatch1)", kKinds[1]);
    put_swatch(entry++, "url(#hatch2)", kKinds[2]);
    put_swatch(entry, "url(#hatch3)", kKinds[3]);
  }

  void put_swatch(std::size_t entry, std::string_view fill,
                  std::string_view name) {
    const double column = static_cast<double>(entry % kLegendColumns);
    const std::size_t whole_lines = entry / kLegendColumns;
    const auto line = static_cast<double>(whole_lines);
    const double left =
        kLeft + column * (kRight - kLeft) / static_cast<double>(kLegendColumns);
    const double middle = kLegend + kLegendLine * line;
    out_.format(
        "<rect x=\"{0:.2f}\" y=\"{1:.2f}\" width=\"16\" height=\"12\" "
        "fill=\"{3}\"/><rect x=\"{0:.2f}\" y=\"{1:.2f}\" width=\"16\" "
        "height=\"12\" fill=\"{2}\"/>",
        left, middle - 6, fill, kColours.back());
    begin_text(left + 22, middle + 4, "");
    out_.put_xml(fit_name(name, 26));
    end_text();
  }

  const Snapshot& s_;
  Sink& out_;
  const ArenaMap map_;
  const Categories categories_;
  const double calls_;
  const double bytes_;
};

}  // namespace

Result<void> write_svg(files::Door& door, const std::string& path,
                       const Snapshot& snapshot) {
  return write_file(door, path, snapshot,
                    [&](Sink& sink) { Picture(sink, snapshot).write(); });
}

}  // namespace neap::report
