// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Snapshots for tests: a small one that can be checked by hand, an empty one,
// and random ones whose blocks do not overlap and whose sums add up. The same
// seed gives the same snapshot.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "neap/memory/test_random.hpp"
#include "neap/report/snapshot.hpp"
#include "neap/report/snapshot_json.hpp"

namespace neap::report {

/// Names that are more than names in some format.
inline constexpr std::array<std::string_view, 5> kHostileNames = {
    "</script><img src=x onerror=\"alert(1)\">", "a;b\nc\td\x1b[31m",
    "\xff\xfe bad \xed\xa0\x80 utf-8 \xc3",
    "| `x` **b** [l](http://a) @you & <b>",
    "]]>--><!-- \\ \" ' \xe2\x80\xae rtl"};

inline TextId text_id(Snapshot& s, std::string_view text) {
  if (s.texts.empty()) {
    s.texts.emplace_back();
  }
  const auto at = std::find(s.texts.begin(), s.texts.end(), text);
  const auto id = static_cast<TextId>(at - s.texts.begin());
  if (at == s.texts.end()) {
    s.texts.emplace_back(text);
  }
  return id;
}

/// The bytes that live at a call, in whole units or without rounding.
inline Bytes live_at(const Snapshot& s, std::size_t call,
                     Bytes Snapshot::Block::*size = &Snapshot::Block::bytes) {
  Bytes sum = 0;
  for (const Snapshot::Block& block : s.blocks) {
    sum += block.first <= call && call <= block.last ? block.*size : 0;
  }
  return sum;
}

/// Computes the sums of what the snapshot lists; `program`, `idle` and
/// `overhead` are kept.
inline void add_up(Snapshot& s) {
  std::array<Bytes, 256> heights{};
  for (const Snapshot::Block& block : s.blocks) {
    heights[block.space] =
        std::max(heights[block.space], block.offset + block.bytes);
  }
  Snapshot::Sums& sums = s.sums;
  sums.arena = 0;
  for (const Bytes height : heights) {
    sums.arena += height;
  }
  sums.stays = 0;
  for (const Snapshot::Stay& stay : s.stays) {
    sums.stays += stay.bytes;
  }
  sums.live_at_peak = 0;
  for (std::size_t call = 0; call < s.calls.size(); ++call) {
    if (live_at(s, call) > sums.live_at_peak) {
      sums.live_at_peak = live_at(s, call);
      sums.peak_call = static_cast<std::uint32_t>(call);
    }
  }
  sums.used_at_peak = live_at(s, sums.peak_call, &Snapshot::Block::used);
  sums.lower_bound = sums.live_at_peak;
  sums.is_proven = sums.arena == sums.lower_bound;
  sums.reserved =
      sums.arena + sums.stays + sums.program + sums.idle + sums.overhead;
  sums.predicted = sums.reserved;
}

inline Snapshot empty_snapshot() {
  Snapshot s;
  text_id(s, "");
  return s;
}

/// Three calls: fc1 makes 1 000 B, relu takes them over, fc2 makes 64 B of
/// gradients beside them with scratch of 100 B; 4 096 B of weights stay.
inline Snapshot small_snapshot() {
  Snapshot s;
  s.title = "small";
  const auto text = [&](std::string_view name) { return text_id(s, name); };
  s.calls = {{text("matmul"), text("fc1"), text("net.cpp:7 (step)")},
             {text("relu"), text("fc1.act"), text("net.cpp:8 (step)")},
             {text("matmul"), text("fc2"), text("net.cpp:9 (step)"),
              Snapshot::Phase::kBackward}};
  const auto block = [&](std::uint32_t first, std::uint32_t last, Bytes offset,
                         Bytes used, std::string_view category) {
    Snapshot::Block b;
    b.first = first;
    b.last = last;
    b.offset = offset;
    b.used = used;
    b.bytes = base::round_up(used, 64);
    b.category = text(category);
    b.dtype = text("f32");
    b.shape = text("[" + std::to_string(used / 4) + "]");
    b.layer = s.calls[first].layer;
    b.line = s.calls[first].line;
    b.value = static_cast<std::uint32_t>(s.blocks.size());
    s.blocks.push_back(b);
  };
  block(0, 0, 0, 1000, "activations");
  block(1, 2, 0, 1000, "activations");
  s.blocks[1].over = 0;
  block(2, 2, 1024, 64, "gradients");
  block(2, 2, 1088, 100, "workspace");
  s.blocks[3].kind = Snapshot::Kind::kWorkspace;
  s.blocks[3].value = Snapshot::kNone;
  s.reads = {{0, 1}, {1, 2}};
  s.stays = {{text("fc1.weight"), text("parameters"), 4000},
             {text("fc1"), text("inputs"), 96}};
  s.sums.program = 500;
  s.sums.idle = 300;
  s.sums.overhead = 20;
  add_up(s);
  return s;
}

struct RandomOptions {
  std::uint32_t seed = 1;
  std::uint32_t calls = 60;
  std::uint32_t spaces = 1;
  bool is_hostile = false;  // in its names
  bool has_profile = false;
};

/// Makes the blocks of a random snapshot, a call after the other.
class RandomBlocks {
 public:
  RandomBlocks(Snapshot& s, memory::TestRandom& random, std::uint32_t spaces)
      : s_(s), random_(random), spaces_(spaces) {}

  /// The blocks of a call, by offset.
  void make(std::uint32_t call, std::uint32_t calls) {
    memory::Vector<Snapshot::Block> made;
    for (std::uint32_t n = random_() % 3 + 1; n > 0; --n) {
      Snapshot::Block b;
      b.first = call;
      b.last = std::min(calls - 1, call + random_() % (n == 1 ? 30 : 4));
      b.space = static_cast<std::uint8_t>(random_() % spaces_);
      b.used = random_() % 5000;
      b.bytes = base::round_up(b.used, 64);
      b.kind =
          static_cast<Snapshot::Kind>(random_() % 8 < 5 ? 0 : random_() % 4);
      place(b, made);
      made.push_back(b);
    }
    std::sort(made.begin(), made.end(),
              [](const auto& x, const auto& y) { return x.offset < y.offset; });
    s_.blocks.insert(s_.blocks.end(), made.begin(), made.end());
  }

 private:
  static bool meets(const Snapshot::Block& a, const Snapshot::Block& b) {
    return a.space == b.space && a.first <= b.last && b.first <= a.last &&
           a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
  }
  // RETURNS: the end of a block in the way; -1: there is none.
  Bytes end_in_the_way(const Snapshot::Block& b,
                       const memory::Vector<Snapshot::Block>& made) const {
    for (const auto* blocks : {&std::as_const(s_.blocks), &made}) {
      for (const Snapshot::Block& other : *blocks) {
        if (meets(b, other)) {
          return other.offset + other.bytes;
        }
      }
    }
    return -1;
  }
  // Over a block that has just ended where one fits, or above those in the way.
  void place(Snapshot::Block& b, const memory::Vector<Snapshot::Block>& made) {
    for (std::uint32_t i = 0; i < s_.blocks.size(); ++i) {
      const Snapshot::Block& old = s_.blocks[i];
      if (old.last + 1 == b.first && old.space == b.space &&
          b.bytes <= old.bytes) {
        b.offset = old.offset;
        if (end_in_the_way(b, made) < 0) {
          b.over = i;
          return;
        }
      }
    }
    b.offset = 0;
    for (Bytes end = 0; end >= 0; end = end_in_the_way(b, made)) {
      b.offset = end;
    }
  }

  Snapshot& s_;
  memory::TestRandom& random_;
  std::uint32_t spaces_;
};

inline Snapshot random_snapshot(const RandomOptions& options = {}) {
  memory::TestRandom random(options.seed);
  Snapshot s;
  s.title = "random, seed " + std::to_string(options.seed);
  const auto name = [&](std::string_view plain) {
    const bool is_plain = !options.is_hostile || random() % 2 == 0;
    return text_id(s, is_plain ? plain : kHostileNames[random() % 5]);
  };
  if (options.is_hostile) {
    s.title = kHostileNames[random() % 5];
  }
  constexpr std::array<std::string_view, 3> kOps = {"matmul", "relu", "add"};
  constexpr std::array<std::string_view, 4> kCategories = {
      "activations", "gradients", "workspace", "optimizer state"};
  RandomBlocks blocks(s, random, options.spaces);
  for (std::uint32_t i = 0; i < options.calls; ++i) {
    const std::string at = std::to_string(i % 7);
    s.calls.push_back({name(kOps[i % 3]), name("h." + at + ".attn"),
                       name("net.cpp:" + at + " (step)"),
                       static_cast<Snapshot::Phase>(i * 3 / options.calls)});
    s.calls.back().is_again = random() % 8 == 0;
    s.calls.back().ns = options.has_profile ? Bytes{random() % 100'000} : -1;
    s.calls.back().flops = random() % 2 == 0 ? Bytes{random()} : -1;
    blocks.make(i, options.calls);
  }
  for (std::uint32_t i = 0; i < s.blocks.size(); ++i) {
    Snapshot::Block& b = s.blocks[i];
    b.category = name(kCategories[random() % 4]);
    b.dtype = text_id(s, "f32");
    b.shape = text_id(s, "[" + std::to_string(b.used) + "]");
    b.layer = s.calls[b.first].layer;
    b.line = s.calls[b.first].line;
    b.value = i;
    for (std::uint32_t call = b.first + 1; call <= b.last; call += 2) {
      s.reads.push_back({i, call});
    }
  }
  for (Bytes i = 0; i < 20; ++i) {
    s.stays.push_back({name("h." + std::to_string(i / 3) + ".weight"),
                       name(i % 3 == 0 ? "optimizer state" : "parameters"),
                       (20 - i) * 1000});
  }
  s.sums.program = random() % 10'000;
  s.sums.idle = random() % 10'000;
  s.sums.overhead = random() % 1000;
  add_up(s);
  return s;
}

/// The text of the snapshot's file, before it is packed.
inline std::string json_of(const Snapshot& s) {
  class Text final : public files::ByteSink {
   public:
    Result<void> write(std::span<const std::byte> from) override {
      all.append(reinterpret_cast<const char*>(from.data()), from.size());
      return {};
    }
    std::string all;
  } text;
  Sink out(text);
  put_snapshot(out, s);
  out.finish().value();
  return text.all;
}

}  // namespace neap::report
