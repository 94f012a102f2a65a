// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Files of snapshots, and pages: what is damaged, cut short or hostile, and
// disks that fail.
#include "neap/report/snapshot_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <initializer_list>
#include <string>

#include "neap/base/philox.hpp"
#include "neap/files/fault_door.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/formats/gzip.hpp"
#include "neap/memory/budget.hpp"
#include "neap/report/folded.hpp"
#include "neap/report/ledger_rows.hpp"
#include "neap/report/page.hpp"
#include "neap/report/page_assets.hpp"
#include "neap/report/pickle.hpp"
#include "neap/report/picture.hpp"
#include "neap/report/profile_table.hpp"
#include "neap/report/snapshot_diff.hpp"
#include "neap/report/snapshot_for_test.hpp"
#include "neap/report/snapshot_json.hpp"
#include "neap/report/snapshot_text.hpp"
#include "neap/report/text_pool.hpp"
#include "neap/report/trace.hpp"

namespace neap::report {
namespace {

using files::TemporaryFolder;
using testing::HasSubstr;

// A change of a text, and a part of the message that it leads to.
struct Change {
  std::string_view from;
  std::string_view to;
  std::string_view fact;
};

void expect_refused(std::string text, const Change& change) {
  const std::size_t at = text.find(change.from);
  ASSERT_NE(at, std::string::npos) << change.from;
  text.replace(at, change.from.size(), change.to);
  const auto parsed = parse_snapshot(text);
  ASSERT_FALSE(parsed) << change.to;
  EXPECT_THAT(parsed.error().message, HasSubstr(change.fact)) << change.to;
}

// Two blocks over two calls, one after the other in the same memory.
Snapshot small(std::string_view layer = "fc1") {
  TextPool texts;
  Snapshot s;
  const TextId op = texts.id("relu");
  const TextId name = texts.id(layer);
  s.title = "small";
  for (int i = 0; i < 2; ++i) {
    s.calls.push_back({.op = op, .layer = name, .flops = 8, .moved = 64});
  }
  s.blocks.push_back({.bytes = 64, .used = 32, .layer = name, .value = 0});
  s.blocks.push_back({.first = 1,
                      .last = 1,
                      .bytes = 64,
                      .used = 40,
                      .layer = name,
                      .value = 1,
                      .over = 0});
  s.reads.push_back({0, 1});
  s.stays.push_back({name, op, 100});
  s.sums = {.reserved = 164,
            .arena = 64,
            .stays = 100,
            .lower_bound = 64,
            .is_proven = true,
            .live_at_peak = 64,
            .used_at_peak = 32};
  s.texts = texts.take();
  return s;
}

Result<void> write(files::Door& door, const std::string& path,
                   const Snapshot& s, bool is_page) {
  return is_page ? write_page(door, path, s) : write_snapshot(door, path, s);
}

TEST(SnapshotJsonTest, ReadsBackAsItWas) {
  const std::string text = json_of(small());
  EXPECT_EQ(text,
            "{\"neapmem\":1,\"title\":\"small\",\"eager\":false,"
            "\"texts\":[\"\",\"relu\",\"fc1\"],"
            "\"sums\":{\"reserved\":164,\"predicted\":-1,\"arena\":64,"
            "\"stays\":100,\"program\":0,\"idle\":0,\"overhead\":0,"
            "\"arguments\":0,\"external\":0,\"budget\":-1,\"lower_bound\":64,"
            "\"proven\":true,\"peak_call\":0,\"live_at_peak\":64,"
            "\"used_at_peak\":32},"
            "\"calls\":{\"op\":[1,1],\"layer\":[2,2],\"line\":[0,0],"
            "\"phase\":[0,0],\"again\":[0,0],\"flops\":[8,8],"
            "\"moved\":[64,64]},"
            "\"blocks\":{\"first\":[0,1],\"last\":[0,1],\"space\":[0,0],"
            "\"kind\":[0,0],\"offset\":[0,0],\"bytes\":[64,64],"
            "\"used\":[32,40],\"category\":[0,0],\"dtype\":[0,0],"
            "\"shape\":[0,0],\"layer\":[2,2],\"line\":[0,0],\"value\":[0,1],"
            "\"over\":[-1,0]},"
            "\"reads\":{\"block\":[0],\"call\":[1]},"
            "\"stays\":{\"owner\":[2],\"category\":[1],\"bytes\":[100]},"
            "\"steps\":{\"live\":[],\"held\":[],\"ns\":[]},"
            "\"refusals\":[],\"leaks\":[]}\n");
  EXPECT_EQ(json_of(parse_snapshot(text).value()), text);
}

// A profile's columns, and others that may miss, are there where known.
TEST(SnapshotJsonTest, WhatMayMissIsThereWhereItIsKnown) {
  Snapshot s = small();
  s.calls[1].ns = 500;
  s.calls[1].share = 432;
  s.sums.flops_a_second = 58'000'000'000;
  s.sums.bytes_a_second = 9'000'000'000;
  s.sums.lent = 64;
  s.steps.push_back({.live = 1, .held = 2, .ns = 3, .peak = 4});
  const std::string text = json_of(s);
  for (const std::string_view part :
       {"\"flops_a_second\":58000000000,\"bytes_a_second\":9000000000,"
        "\"lent\":64}",
        "\"ns\":[-1,500]", "\"share\":[-1,432]", "\"peak\":[4]"}) {
    EXPECT_THAT(text, HasSubstr(std::string(part)));
  }
  const Snapshot read = parse_snapshot(text).value();
  EXPECT_EQ(json_of(read), text);
  EXPECT_EQ(read.calls[1].share, 432);
  EXPECT_EQ(read.sums.held(), 100);
  for (const Change& change : {
           Change{"\"share\":[-1,432]", "\"share\":[-2,432]", "calls.share"},
           Change{"\"share\":[-1,432]", "\"share\":[7,432]", "of nothing"},
           Change{"\"ns\":[-1,500]", "\"ns\":[-1,0]", "of nothing"},
           Change{"\"share\":[-1,432]", "\"share\":[-1,0.5]", "not whole"},
           Change{"\"share\":[-1,432]", "\"share\":[-1]", "length"},
           Change{"\"share\":[-1,432]", "\"share\":[-1,9007199254740992]",
                  "calls.share"},
           Change{"\"flops_a_second\":58000000000,", "", "of nothing"},
           Change{"\"bytes_a_second\":9000000000", "\"bytes_a_second\":0",
                  "of nothing"},
           Change{"\"bytes_a_second\":9000000000", "\"bytes_a_second\":-2",
                  "sums.bytes_a_second"},
           Change{"\"lent\":64", "\"lent\":65", "sums.lent"},
           Change{"\"peak\":[4]", "\"peak\":[-2]", "steps.peak"},
       }) {
    expect_refused(text, change);
  }
}

TEST(SnapshotJsonTest, UnknownKeysAreSkippedAndOtherVersionsAreNot) {
  std::string text = json_of(small());
  text.insert(1 + std::string_view("\"neapmem\":1").size(),
              ",\"more\":{\"a\":[1,{\"b\":null}],\"c\":\"]}\"},\"n\":-1.5e3");
  text.insert(text.find("\"stays\":{") + 9, "\"extra\":[1,2,3],");
  EXPECT_EQ(json_of(parse_snapshot(text).value()), json_of(small()));
  const auto newer = parse_snapshot("{\"neapmem\":2,\"other\":[}");
  ASSERT_FALSE(newer);
  EXPECT_EQ(newer.error().kind, FailureKind::kUnsupported);
  EXPECT_FALSE(parse_snapshot("{\"title\":\"\",\"neapmem\":1}"));
  EXPECT_FALSE(parse_snapshot("{}"));
  EXPECT_FALSE(parse_snapshot("{\"neapmem\":1}"));
  EXPECT_FALSE(parse_snapshot(json_of(small()) + "{}"));
  std::string deep = "{\"neapmem\":1,\"x\":" + std::string(100, '[');
  EXPECT_FALSE(parse_snapshot(deep));
}

// Numbers that may not be, and tables that do not fit each other.
TEST(SnapshotJsonTest, WhatMakesNoSenseIsRefused) {
  const std::string good = json_of(small());
  for (const Change& change : {
           Change{"\"op\":[1,1]", "\"op\":[1,3]", "calls.op"},
           Change{"\"op\":[1,1]", "\"op\":[1]", "differ in length"},
           Change{"\"op\":[1,1]", "\"op\":[1,1,1]", "differ in length"},
           Change{"\"op\":[1,1]", "\"op\":[1,-1]", "calls.op"},
           Change{"\"op\":[1,1]", "\"op\":[1,4294967297]", "calls.op"},
           Change{"\"op\":[1,1]", "\"op\":[1,1.5]", "not whole"},
           Change{"\"op\":[1,1],", "", "calls.op is missing"},
           Change{"\"phase\":[0,0]", "\"phase\":[0,3]", "calls.phase"},
           Change{"\"phase\":[0,0]", "\"phase\":[0,259]", "calls.phase"},
           Change{"\"again\":[0,0]", "\"again\":[0,2]", "calls.again"},
           Change{"\"kind\":[0,0]", "\"kind\":[4,0]", "blocks.kind"},
           Change{"\"last\":[0,1]", "\"last\":[0,2]", "blocks.last"},
           Change{"\"first\":[0,1]", "\"first\":[1,1]", "makes no sense"},
           Change{"\"first\":[0,1]", "\"first\":[0,0]", "makes no sense"},
           Change{"\"used\":[32,40]", "\"used\":[32,65]", "makes no sense"},
           Change{"\"over\":[-1,0]", "\"over\":[-1,1]", "makes no sense"},
           Change{"\"over\":[-1,0]", "\"over\":[1,-1]", "makes no sense"},
           Change{"\"over\":[-1,0]", "\"over\":[-1,2]", "blocks.over"},
           Change{"\"space\":[0,0]", "\"space\":[0,256]", "blocks.space"},
           Change{"\"offset\":[0,0]", "\"offset\":[0,9007199254740992]",
                  "blocks.offset"},
           Change{"\"offset\":[0,0]", "\"offset\":[0,9007199254740991]",
                  "add up"},
           Change{"\"block\":[0]", "\"block\":[2]", "reads.block"},
           Change{"\"peak_call\":0", "\"peak_call\":2", "peak_call"},
           Change{"\"peak_call\":0", "\"peak_call\":4294967295", "peak_call"},
           Change{"\"arena\":64", "\"arena\":-1", "sums.arena"},
           Change{"\"reserved\":164", "\"reserved\":123", "sums.reserved"},
           Change{"\"idle\":0", "\"idle\":8", "sums.reserved"},
           Change{"\"proven\":true", "\"proven\":1", "expected true or false"},
           Change{"\"texts\":[\"\"", "\"texts\":[\"x\"", "texts"},
           Change{"\"reads\":{", "\"read\":{", "missing"},
           Change{"\"title\":\"small\"", "\"title\":7", "expected a string"},
           Change{"\"fc1\"", "\"\xff\"", "not UTF-8"},
       }) {
    expect_refused(good, change);
  }
}

// Whatever is changed in the text: a snapshot that can be walked, or a failure.
TEST(SnapshotJsonTest, AnyByteMayBeWrong) {
  const std::string good = json_of(small("</script>\n\xff"));
  const base::DrawKey key{5, 1};
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    std::string text = good;
    const auto draw = [&](std::uint64_t k) { return key.word(4 * i + k); };
    text[draw(0) % text.size()] = static_cast<char>(draw(1) % 256);
    if (draw(2) % 4 == 0) {
      text.resize(draw(3) % text.size());
    }
    if (const auto parsed = parse_snapshot(text)) {
      EXPECT_TRUE(check_snapshot(*parsed));
    }
  }
}

TEST(SnapshotFileTest, AnyFlippedBitAndAnyShorterFileIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.at("s.neapmem");
  write_snapshot(files::system_door(), path, small()).value();
  const std::string good = folder.get("s.neapmem");
  // Bits of the header that say nothing about the data: time, system, flags.
  constexpr std::size_t kHeader = 10;
  for (std::size_t bit = 8 * kHeader; bit < 8 * good.size(); ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    folder.put("s.neapmem", bad);
    // Some bits have no meaning: those between the data's end and its checksum.
    if (const auto read = read_snapshot(files::system_door(), path)) {
      EXPECT_EQ(json_of(*read), json_of(small())) << bit;
    }
  }
  for (std::size_t size = 0; size < good.size(); ++size) {
    folder.put("s.neapmem", good.substr(0, size));
    const auto read = read_snapshot(files::system_door(), path);
    ASSERT_FALSE(read) << size;
    EXPECT_THAT(read.error().message, HasSubstr("s.neapmem"));
  }
  EXPECT_EQ(read_snapshot(files::system_door(), folder.at("no")).error().kind,
            FailureKind::kNotFound);
}

TEST(SnapshotFileTest, ADiskThatFailsAtAnyCallLeavesWhatWasThere) {
  const TemporaryFolder folder;
  for (const bool is_page : {false, true}) {
    for (std::int64_t at = 1;; ++at) {
      const std::string path = folder.put("out", "before");
      files::FaultDoor door(files::system_door(), {.fail_at = at});
      const auto done = write(door, path, small(), is_page);
      if (door.operations() < at) {
        EXPECT_TRUE(done);
        break;
      }
      if (!done) {
        EXPECT_THAT(done.error().message, HasSubstr(folder.path()));
        const std::string now = folder.get("out");
        EXPECT_TRUE(now == "before" || now.size() > 300) << at;
      }
    }
    const std::string path = folder.put("out", "before");
    files::FaultDoor full(files::system_door(), {.space = 100});
    EXPECT_FALSE(write(full, path, small(), is_page));
    EXPECT_EQ(folder.get("out"), "before");
  }
}

TEST(SnapshotFileTest, WhatMakesNoSenseIsNotWritten) {
  const TemporaryFolder folder;
  Snapshot wrong = small();
  wrong.blocks[0].bytes = Bytes{1} << 53;
  for (const bool is_page : {false, true}) {
    const auto done =
        write(files::system_door(), folder.at("out"), wrong, is_page);
    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().message, HasSubstr("blocks.bytes"));
    EXPECT_EQ(folder.get("out"), "");
  }
}

// Whoever made it: nothing is written and nothing crashes.
TEST(SnapshotFileTest, EveryWriterRefusesWhatMakesNoSense) {
  const TemporaryFolder folder;
  const std::string path = folder.at("out");
  files::Door& door = files::system_door();
  const Snapshot good = small();
  using Spoil = void (*)(Snapshot&);
  for (const Spoil spoil : std::initializer_list<Spoil>{
           [](Snapshot& s) { s.texts.clear(); },
           [](Snapshot& s) { s.calls[0].op = 99; },
           [](Snapshot& s) { s.calls.clear(); },
           [](Snapshot& s) { s.calls[0].phase = Snapshot::Phase{200}; },
           [](Snapshot& s) { s.blocks[0].kind = Snapshot::Kind{200}; },
           [](Snapshot& s) { s.blocks[0].first = 1U << 31U; },
           [](Snapshot& s) { s.blocks[1].layer = Snapshot::kNone; },
           [](Snapshot& s) { s.blocks[0].bytes = kUnlimited; },
           [](Snapshot& s) { s.reads[0].block = Snapshot::kNone - 1; },
           [](Snapshot& s) { s.stays[0].owner = 99; }}) {
    Snapshot bad = small();
    spoil(bad);
    EXPECT_FALSE(write_snapshot(door, path, bad));
    EXPECT_FALSE(write_page(door, path, bad));
    EXPECT_FALSE(write_page(door, path, good, &bad));
    EXPECT_FALSE(write_pickle(door, path, bad));
    EXPECT_FALSE(write_trace(door, path, bad));
    EXPECT_FALSE(write_folded(door, path, bad));
    EXPECT_FALSE(write_svg(door, path, bad));
    EXPECT_THROW(static_cast<void>(to_text(bad)), ValueError);
    EXPECT_THROW(static_cast<void>(to_markdown(bad)), ValueError);
    EXPECT_THROW(static_cast<void>(diff(good, bad)), ValueError);
    EXPECT_THROW(static_cast<void>(diff(bad, good)), ValueError);
    EXPECT_THROW(static_cast<void>(profile_table(bad)), ValueError);
    EXPECT_FALSE(std::filesystem::exists(path));
  }
}

TEST(SnapshotFileTest, LongTextsTakeNoMoreMemory) {
  const TemporaryFolder folder;
  Snapshot s = small();
  s.title.assign(3'000'000, '<');
  s.title += "\u00e9\U0001f30a";
  s.texts[1].assign(3'000'001, '\x01');
  memory::Domain& reports = report_domain();
  for (const bool is_page : {false, true}) {
    reports.reset_peak();
    const Bytes before = reports.stats().live;
    write(files::system_door(), folder.at("out"), s, is_page).value();
    EXPECT_LT(reports.stats().live_peak - before, kMiB);
  }
  write_snapshot(files::system_door(), folder.at("s"), s).value();
  const Snapshot read =
      read_snapshot(files::system_door(), folder.at("s")).value();
  EXPECT_TRUE(read.title == s.title && read.texts[1] == s.texts[1]);
}

TEST(SnapshotFileTest, AFileThatInflatesForEverIsRefused) {
  const TemporaryFolder folder;
  {
    auto file = files::system_door().open_write(folder.at("s")).value();
    files::FileSink to(file);
    const auto gzip = formats::gzip_into(to);
    const std::string blanks(1 << 20, ' ');
    for (int i = 0; i < 257; ++i) {
      gzip->write(std::as_bytes(std::span(blanks))).value();
    }
    gzip->finish().value();
    file.close().value();
  }
  const auto read = read_snapshot(files::system_door(), folder.at("s"));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, FailureKind::kTooLarge);
  std::string many = "{\"neapmem\":1,\"texts\":[\"\"";
  for (int i = 0; i < (1 << 22); ++i) {
    many += ",\"\"";
  }
  EXPECT_EQ(parse_snapshot(many + "]}").error().kind, FailureKind::kTooLarge);
}

TEST(SnapshotFileTest, WhatCouldNotBeReadIsNotWritten) {
  const TemporaryFolder folder;
  Snapshot rows = small();
  rows.steps.resize(kMostRows + 1);
  Snapshot text = small();
  text.leaks.emplace_back(50'000'000, '\x01');  // six bytes each in JSON
  for (const Snapshot* s : {&rows, &text}) {
    const auto done = write_snapshot(files::system_door(), folder.at("s"), *s);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, FailureKind::kTooLarge);
  }
}

TEST(SnapshotFileTest, NoMemoryLeavesWhatWasThere) {
  const TemporaryFolder folder;
  memory::Domain& reports = report_domain();
  for (const bool is_page : {false, true}) {
    const std::string path = folder.put("out", "before");
    const Bytes before = reports.stats().live;
    {
      const Budget tight(before + 4 * kKiB, reports);
      EXPECT_THROW(static_cast<void>(
                       write(files::system_door(), path, small(), is_page)),
                   OutOfMemory);
    }
    EXPECT_EQ(folder.get("out"), "before");
    EXPECT_EQ(reports.stats().live, before);
  }
}

// --- pages -------------------------------------------------------------------

std::size_t count_of(const std::string& text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

TEST(PageTest, HasEachPartOnceAndNamesNeverEndIt) {
  const TemporaryFolder folder;
  const std::string hostile =
      "</script><img src=x onerror=alert(1)><!--DATA-->";
  for (const bool has_two : {false, true}) {
    const Snapshot s = small(hostile);
    write_page(files::system_door(), folder.at("page"), s,
               has_two ? &s : nullptr)
        .value();
    const std::string page = folder.get("page");
    EXPECT_EQ(count_of(page, "<script"), has_two ? 3U : 2U);
    EXPECT_EQ(count_of(page, "</script"), has_two ? 3U : 2U);
    EXPECT_EQ(count_of(page, "<img"), 0U);
    EXPECT_EQ(count_of(page, "<!--"), 0U);
    EXPECT_TRUE(page.find(kPageStyle) != std::string::npos);
    EXPECT_TRUE(page.find(kPageScript) != std::string::npos);
    EXPECT_EQ(count_of(page, "\\u003c/script>\\u003cimg"), has_two ? 2U : 1U);
    EXPECT_EQ(count_of(page, "default-src 'none'"), 1U);
    EXPECT_EQ(count_of(page, "http:"), 0U);
    EXPECT_EQ(count_of(page, "https:"), 0U);
  }
}

TEST(PageTest, LargeDataIsCompressed) {
  const TemporaryFolder folder;
  Snapshot s = small();
  s.calls.resize(100'000);
  write_page(files::system_door(), folder.at("page"), s).value();
  const std::string page = folder.get("page");
  EXPECT_EQ(count_of(page, "data-encoding=\"gzip-base64\""), 1U);
  EXPECT_LT(page.size(), std::size_t{120'000});
}

TEST(PageTest, CodeAndStyleAreAtMostSixtyKilobytes) {
  EXPECT_LE(kPageStyle.size() + kPageScript.size(), std::size_t{60 * 1024});
}

}  // namespace
}  // namespace neap::report
