// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Writes the exports of made-up snapshots into a folder, each beside a file of
// its numbers, with which viewers_test.py compares them.
//
// usage: neap_report_samples FOLDER
#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "neap/files/whole_file.hpp"
#include "neap/report/folded.hpp"
#include "neap/report/pickle.hpp"
#include "neap/report/picture.hpp"
#include "neap/report/snapshot_for_test.hpp"
#include "neap/report/snapshot_text.hpp"
#include "neap/report/trace.hpp"

namespace neap::report {
namespace {

void write_text(const std::string& path, std::string_view text) {
  files::write_atomically(files::system_door(), path, [&](files::File& file) {
    return files::write_all(file, std::as_bytes(std::span(text)));
  }).value();
}

std::string numbers_of(const Snapshot& s) {
  std::string live;
  for (std::size_t call = 0; call < s.calls.size(); ++call) {
    live += fmt::format("{}{}", call == 0 ? "" : ",", live_at(s, call));
  }
  std::string blocks;
  for (const Snapshot::Block& b : s.blocks) {
    blocks += fmt::format("{}[{},{},{},{},{}]", blocks.empty() ? "" : ",",
                          b.first, b.last, b.space, b.offset, b.bytes);
  }
  return fmt::format(
      "{{\"reserved\":{},\"arena\":{},\"stays\":{},\"program\":{},"
      "\"live_at_peak\":{},\"peak_call\":{},\"live\":[{}],\"blocks\":[{}]}}\n",
      s.sums.reserved, s.sums.arena, s.sums.stays, s.sums.program,
      s.sums.live_at_peak, s.sums.peak_call, live, blocks);
}

void write_all(const std::string& path, const Snapshot& s) {
  files::Door& door = files::system_door();
  write_pickle(door, path + ".pickle", s).value();
  write_trace(door, path + ".trace.json", s).value();
  write_folded(door, path + ".folded", s).value();
  write_svg(door, path + ".svg", s).value();
  write_text(path + ".txt", to_text(s));
  write_text(path + ".md", to_markdown(s));
  const Diff change = diff(small_snapshot(), s);
  write_text(path + ".diff.txt", to_text(change));
  write_text(path + ".diff.md", to_markdown(change));
  write_text(path + ".numbers.json", numbers_of(s));
}

void write_samples(const std::string& folder) {
  write_all(folder + "/empty", empty_snapshot());
  write_all(folder + "/small", small_snapshot());
  write_all(folder + "/hostile", random_snapshot({.is_hostile = true}));
  write_all(folder + "/spaces", random_snapshot({.seed = 2, .spaces = 2}));
  write_all(folder + "/profile",
            random_snapshot({.seed = 3, .has_profile = true}));
  write_all(folder + "/long", random_snapshot({.seed = 4, .calls = 1200}));
  Snapshot large = random_snapshot({.seed = 5});
  for (Snapshot::Block& block : large.blocks) {  // sizes beyond 32 bits
    block.offset <<= 24U;
    block.bytes <<= 24U;
    block.used <<= 24U;
  }
  add_up(large);
  write_all(folder + "/large", large);
}

}  // namespace
}  // namespace neap::report

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: neap_report_samples FOLDER\n", stderr);
    return 2;
  }
  try {
    neap::report::write_samples(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
