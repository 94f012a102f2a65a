// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/trace.hpp"

#include <utility>

#include "neap/base/append.hpp"
#include "neap/report/sink.hpp"
#include "neap/report/snapshot_profile.hpp"
#include "neap/report/snapshot_walk.hpp"
#include "neap/report/wording.hpp"

namespace neap::report {
namespace {

constexpr Bytes kMostBytes = 50'000'000;
constexpr std::size_t kMostArrows = 200;

// Names are there once a call: longer ones would break the bound of the file.
std::string_view cut(std::string_view name) noexcept {
  constexpr std::size_t kMostOfName = 200;
  return name.substr(0, kMostOfName);
}

memory::Vector<Bytes> scratch_of(const Snapshot& s) {
  memory::Vector<Bytes> out(s.calls.size(), 0);
  for (const Snapshot::Block& block : s.blocks) {
    if (block.kind == Snapshot::Kind::kWorkspace) {
      out[block.first] += block.bytes;
    }
  }
  return out;
}

// Names as JSON, each another: those that are cut, or are not UTF-8, may have
// become alike, and get a number.
memory::Vector<memory::String> keys_of(
    const memory::Vector<std::string_view>& names) {
  memory::Vector<memory::String> keys;
  for (const std::string_view name : names) {
    memory::String key;
    append_json(key, cut(name));
    for (int k = 2; std::find(keys.begin(), keys.end(), key) != keys.end();
         ++k) {
      memory::String numbered(cut(name));
      base::append(numbered, " ({})", k);
      key.clear();
      append_json(key, numbered);
    }
    keys.push_back(std::move(key));
  }
  return keys;
}

// The file, from its first byte to its last.
class TraceFile {
 public:
  /// A slice is of `stride` calls.
  TraceFile(Sink& out, const Snapshot& s, std::size_t stride)
      : s_(s),
        out_(out),
        stride_(stride),
        starts_(call_starts(s)),
        categories_(s),
        counters_(keys_of(categories_.names)),
        live_(categories_.names.size(), 0),
        scratch_(scratch_of(s)),
        walk_(s) {}

  void write() {
    out_.put("{\"displayTimeUnit\":\"ns\",");
    put_limits();
    out_.put("\"traceEvents\":[\n");
    out_.put("{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,");
    out_.put("\"args\":{\"name\":");
    put_name(s_.title);
    out_.put("}},\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,");
    out_.put("\"tid\":1,\"args\":{\"name\":\"calls\"}}");
    for (std::size_t first = 0; first < s_.calls.size(); first += stride_) {
      const std::size_t end = std::min(first + stride_, s_.calls.size());
      put_slice(first, end);
      put_counter(first, end);
    }
    put_peak();
    put_arrows();
    out_.put("\n]}\n");
  }

 private:
  // The limits that the shares of calls are of.
  void put_limits() {
    if (limits_of(s_).are_known()) {
      out_.format(
          "\"otherData\":{{\"limit, flops a second\":{},"
          "\"limit, bytes a second\":{}}},\n",
          s_.sums.flops_a_second, s_.sums.bytes_a_second);
    }
  }

  void put_name(std::string_view name) { out_.put_json(cut(name)); }

  // An event at the start of a call, up to its own keys.
  void begin(char phase, std::size_t call, std::string_view name) {
    out_.put(",\n{\"name\":");
    put_name(name);
    out_.format(",\"ph\":\"{}\",\"pid\":1,\"tid\":1", phase);
    put_time("ts", starts_[call]);
  }
  // Microseconds, as the format has them.
  void put_time(std::string_view key, std::int64_t ns) {
    out_.format(",\"{}\":{}.{:03}", key, ns / 1000, ns % 1000);
  }
  void put_text(std::string_view key, TextId text) {
    out_.format(",\"{}\":", key);
    put_name(s_.text(text));
  }

  // The calls of [first, end), named by the first.
  void put_slice(std::size_t first, std::size_t end) {
    static constexpr std::array<std::string_view, 3> kPhases = {
        "forward", "backward", "update"};
    const Snapshot::Call& call = s_.calls[first];
    begin('X', first, s_.text(call.op));
    put_time("dur", starts_[end] - starts_[first]);
    out_.format(",\"cat\":\"{}\",\"args\":{{\"call\":{}",
                kPhases[static_cast<std::size_t>(call.phase)], first);
    if (end - first > 1) {
      out_.format(",\"calls\":{}", end - first);
    }
    put_text("layer", call.layer);
    put_text("line", call.line);
    if (call.is_again) {
      out_.put(",\"again\":true");
    }
    if (call.moved >= 0) {
      out_.format(",\"bytes read and written\":{}", call.moved);
    }
    Bytes scratch = 0;
    for (std::size_t i = first; i < end; ++i) {
      scratch = std::max(scratch, scratch_[i]);
    }
    if (scratch > 0) {
      out_.format(",\"scratch\":{}", scratch);
    }
    if (call.flops >= 0) {
      out_.format(",\"flops\":{}", call.flops);
    }
    if (call.share >= 0) {
      out_.format(",\"percent of the machine's limit\":{}.{}", call.share / 10,
                  call.share % 10);
    }
    out_.put("}}");
  }

  // The live bytes at that call of [first, end) at which they are most.
  void put_counter(std::size_t first, std::size_t end) {
    memory::Vector<Bytes> most;
    Bytes most_sum = -1;
    const auto add = [&](std::uint32_t block, Bytes sign) {
      const Snapshot::Block& b = s_.blocks[block];
      live_[categories_.of(b)] += sign * b.bytes;
    };
    for (std::size_t call = first; call < end; ++call) {
      walk_.advance(
          static_cast<std::uint32_t>(call),
          [&](std::uint32_t block) { add(block, -1); },
          [&](std::uint32_t block) { add(block, 1); });
      const Bytes sum = std::accumulate(live_.begin(), live_.end(), Bytes{0});
      if (sum > most_sum) {
        most_sum = sum;
        most = live_;
      }
    }
    begin('C', first, "live bytes");
    out_.put(",\"args\":{");
    for (std::size_t i = 0; i < most.size(); ++i) {
      out_.put(i == 0 ? "" : ",");
      out_.put(counters_[i]);
      out_.format(":{}", most[i]);
    }
    out_.put("}}");
  }

  void put_peak() {
    if (s_.sums.peak_call < s_.calls.size()) {
      begin('i', s_.sums.peak_call, "peak");
      out_.format(
          ",\"s\":\"g\",\"args\":{{\"live bytes\":{},\"reserved\":{}}}}}",
          s_.sums.live_at_peak, s_.sums.reserved);
    }
  }

  void put_arrows() {
    memory::Vector<std::uint32_t> last(s_.blocks.size(), Snapshot::kNone);
    for (const Snapshot::Read& read : s_.reads) {
      last[read.block] = read.call;
    }
    for (const std::uint32_t i : largest_blocks(
             s_, kMostArrows, [](const auto& block) { return block.bytes; })) {
      if (last[i] != Snapshot::kNone) {
        const std::string_view name = s_.text(s_.blocks[i].shape);
        begin('s', s_.blocks[i].first, name);
        out_.format(",\"cat\":\"value\",\"id\":{}}}", i);
        begin('f', last[i], name);
        out_.format(",\"cat\":\"value\",\"id\":{},\"bp\":\"e\"}}", i);
      }
    }
  }

  const Snapshot& s_;
  Sink& out_;
  const std::size_t stride_;
  const memory::Vector<std::int64_t> starts_;
  const Categories categories_;
  const memory::Vector<memory::String> counters_;  // keys of the series
  memory::Vector<Bytes> live_;                     // of each series
  const memory::Vector<Bytes> scratch_;            // of each call
  BlockWalk walk_;
};

// The least number of calls a slice, a power of two, for which the file is
// small enough.
std::size_t stride_of(const Snapshot& s) {
  for (std::size_t stride = 1;; stride *= 2) {
    Sink counted;
    TraceFile(counted, s, stride).write();
    if (counted.size() <= kMostBytes || stride >= s.calls.size()) {
      return stride;
    }
  }
}

}  // namespace

Result<void> write_trace(files::Door& door, const std::string& path,
                         const Snapshot& snapshot) {
  return write_file(door, path, snapshot, [&](Sink& sink) {
    TraceFile(sink, snapshot, stride_of(snapshot)).write();
  });
}

}  // namespace neap::report
