// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/folded.hpp"

#include <cctype>

#include "neap/report/sink.hpp"
#include "neap/report/snapshot_walk.hpp"
#include "neap/report/wording.hpp"

namespace neap::report {
namespace {

// The frames of a line, then the line itself.
class Stack {
 public:
  explicit Stack(Sink& out) : out_(out) {}

  Stack& frame(std::string_view text) {
    text_ += text_.empty() ? "" : ";";
    append_frame(text_, text);
    return *this;
  }
  /// "h.3.attn.qkv" as h.3, attn, qkv: a number stays with the name before it.
  Stack& path(std::string_view path) {
    for (std::size_t dot = 0; dot < path.size(); ++dot) {
      const bool is_end =
          path[dot] == '.' && dot > 0 && dot + 1 < path.size() &&
          std::isdigit(static_cast<unsigned char>(path[dot + 1])) == 0;
      if (is_end) {
        frame(path.substr(0, dot));
        path.remove_prefix(dot + 1);
        dot = 0;
      }
    }
    return frame(path);
  }
  void put(Bytes bytes) {
    if (bytes != 0) {
      out_.put(text_);
      out_.format(" {}\n", bytes);
    }
    text_.clear();
  }

 private:
  Sink& out_;
  memory::String text_;
};

void write(Sink& out, const Snapshot& s) {
  Stack stack(out);
  for (const Snapshot::Block& block : s.blocks) {
    if (is_live(block, s.sums.peak_call)) {
      stack.path(s.text(block.layer))
          .frame(s.text(block.category))
          .frame(s.text(s.calls[block.first].op))
          .frame(s.text(block.line))
          .put(block.used);
    }
  }
  const memory::Vector<std::string_view> layers = layers_of_stays(s);
  for (std::size_t i = 0; i < s.stays.size(); ++i) {
    const std::string_view owner = s.text(s.stays[i].owner);
    stack.path(layers[i]).frame(s.text(s.stays[i].category));
    if (layers[i].size() < owner.size()) {
      stack.frame(owner.substr(layers[i].size() + 1));
    }
    stack.put(s.stays[i].bytes);
  }
  for (const PeakRow& row : rows_at_peak(s)) {
    if (row.part != Part::kValues && row.part != Part::kStays) {
      stack.frame(name_of(row.part)).put(row.bytes);
    }
  }
}

}  // namespace

Result<void> write_folded(files::Door& door, const std::string& path,
                          const Snapshot& snapshot) {
  return write_file(door, path, snapshot,
                    [&](Sink& sink) { write(sink, snapshot); });
}

}  // namespace neap::report
