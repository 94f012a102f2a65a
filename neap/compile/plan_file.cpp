// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/plan_file.hpp"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>
#include <type_traits>

namespace neap::compiler {
namespace {

constexpr std::string_view kMagic = "NEAPPLAN";
constexpr std::size_t kHashBytes = sizeof(std::uint64_t);
constexpr std::size_t kHeadBytes =
    kMagic.size() + 2 * sizeof(std::uint32_t) + kPlanFacts * 8;
constexpr std::size_t kEntryBytes = 12;  // before a record
constexpr std::size_t kRunBytes = 9;
constexpr std::size_t kDropBytes = 4;
constexpr std::size_t kRecordBytes = 61;  // without channel and schedule
constexpr std::size_t kChannelBytes = 32;
constexpr std::size_t kAwayBytes = 2;
constexpr std::size_t kCountsBytes = 8;

constexpr std::uint8_t kHasChannel = 1;
constexpr std::uint8_t kHasSchedule = 2;
constexpr std::uint8_t kHasAway = 4;

constexpr std::uint8_t kIsEarly = 1;  // of what is away
constexpr std::uint8_t kHasWeights = 2;
constexpr std::uint8_t kInParts = 4;
constexpr std::uint8_t kMostPercent = 100;

// --- reading -----------------------------------------------------------------

// Reads numbers in order; one beyond the end is 0, and the reading has failed.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) noexcept : left_(bytes) {}

  template <class T>
  T number() noexcept {
    static_assert(std::is_integral_v<T>);
    std::make_unsigned_t<T> out = 0;
    const auto from = take(sizeof(T));
    for (std::size_t i = from.size(); i-- > 0;) {
      out = static_cast<std::make_unsigned_t<T>>(
          (std::uint64_t{out} << 8U) | std::to_integer<std::uint64_t>(from[i]));
    }
    return static_cast<T>(out);
  }
  std::span<const std::byte> take(std::size_t count) noexcept {
    if (count > left_.size()) {
      is_good_ = false;
      left_ = {};
      return {};
    }
    const auto out = left_.first(count);
    left_ = left_.subspan(count);
    return out;
  }
  std::size_t left() const noexcept { return left_.size(); }
  bool is_good() const noexcept { return is_good_; }

 private:
  std::span<const std::byte> left_;
  bool is_good_ = true;
};

tl::unexpected<Failure> corrupt(const char* fact) {
  return failure(FailureKind::kCorrupt, fact);
}

std::uint64_t hash_of(std::span<const std::byte> bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size());
}

// --- writing -----------------------------------------------------------------

class Writer {
 public:
  explicit Writer(std::size_t size) { bytes_.reserve(size); }

  template <class T>
  void number(T value) {
    static_assert(std::is_integral_v<T>);
    auto rest = static_cast<std::uint64_t>(value);
    for (std::size_t i = 0; i < sizeof(T); ++i, rest >>= 8U) {
      bytes_.push_back(static_cast<std::byte>(rest & 0xFFU));
    }
  }
  void add(std::span<const std::byte> more) {
    bytes_.insert(bytes_.end(), more.begin(), more.end());
  }
  std::span<const std::byte> bytes() const noexcept { return bytes_; }
  memory::Vector<std::byte> take() noexcept { return std::move(bytes_); }

 private:
  memory::Vector<std::byte> bytes_;
};

// --- a schedule --------------------------------------------------------------

void write(const budget::Schedule& schedule, Writer& out) {
  out.number(static_cast<std::uint32_t>(schedule.runs.size()));
  out.number(static_cast<std::uint32_t>(schedule.drops.size()));
  std::uint32_t drops = 0;
  for (const budget::Run& run : schedule.runs) {
    out.number(run.index);
    out.number(run.drops_end - drops);
    out.number(static_cast<std::uint8_t>(run.action));
    drops = run.drops_end;
  }
  for (const std::int32_t drop : schedule.drops) {
    out.number(drop);
  }
}

neap::Result<Away> read_away(Reader& in) {
  const auto percent = in.number<std::uint8_t>();
  const auto how = in.number<std::uint8_t>();
  if (percent == 0 || percent > kMostPercent ||
      how > (kIsEarly | kHasWeights | kInParts)) {
    return corrupt("a plan keeps an unknown part away");
  }
  return Away{.percent = percent,
              .is_early = (how & kIsEarly) != 0,
              .has_weights = (how & kHasWeights) != 0,
              .in_parts = (how & kInParts) != 0};
}

// The rest of a record.
neap::Result<budget::Schedule> read_schedule(Reader& in) {
  const auto runs = in.number<std::uint32_t>();
  const auto drops = in.number<std::uint32_t>();
  if (!in.is_good() ||
      in.left() != runs * kRunBytes + std::size_t{drops} * kDropBytes) {
    return corrupt("a schedule's length is wrong");
  }
  budget::Schedule out;
  out.runs.reserve(runs);
  out.drops.reserve(drops);
  std::uint32_t end = 0;
  for (std::uint32_t i = 0; i < runs; ++i) {
    const auto index = in.number<std::int32_t>();
    const auto count = in.number<std::uint32_t>();
    const auto action = in.number<std::uint8_t>();
    if (index < 0 || count > drops - end ||
        action > static_cast<std::uint8_t>(budget::Action::kAwait)) {
      return corrupt("a schedule has an invalid run");
    }
    end += count;
    out.runs.push_back({index, end, static_cast<budget::Action>(action)});
  }
  for (std::uint32_t i = 0; i < drops; ++i) {
    out.drops.push_back(in.number<std::int32_t>());
  }
  if (end != drops) {
    return corrupt("a schedule has invalid drops");
  }
  return out;
}

// The programs and records behind the head.
neap::Result<memory::Vector<PlanEntry>> read_entries(Reader& in,
                                                     std::uint32_t count) {
  if (count > in.left() / kEntryBytes) {
    return corrupt("it has fewer plans than it says");
  }
  memory::Vector<PlanEntry> entries;
  entries.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto program = in.number<std::uint64_t>();
    const auto bytes = in.number<std::uint32_t>();
    if (!entries.empty() && entries.back().program >= program) {
      return corrupt("its plans are not in order");
    }
    entries.push_back({program, in.take(bytes)});
  }
  if (!in.is_good() || in.left() != 0) {
    return corrupt("the length of a plan is wrong");
  }
  return entries;
}

}  // namespace

const PlanEntry* PlanTable::find(std::uint64_t program) const noexcept {
  const auto found = std::ranges::find(entries, program, &PlanEntry::program);
  return found == entries.end() ? nullptr : &*found;
}

neap::Result<PlanTable> parse_plan_file(std::span<const std::byte> bytes) {
  Reader head(bytes);
  const auto magic = head.take(kMagic.size());
  if (!head.is_good() ||
      std::memcmp(magic.data(), kMagic.data(), kMagic.size()) != 0) {
    return corrupt("it is no plan file");
  }
  if (head.number<std::uint32_t>() != kPlanFileVersion && head.is_good()) {
    return failure(FailureKind::kUnsupported,
                   "it is of another version of Neap");
  }
  if (bytes.size() < kHeadBytes + kHashBytes) {
    return failure(FailureKind::kTruncated, "its end is missing");
  }
  const auto body = bytes.first(bytes.size() - kHashBytes);
  if (Reader(bytes.subspan(body.size())).number<std::uint64_t>() !=
      hash_of(body)) {
    return corrupt("its checksum is wrong");
  }
  Reader in(body.subspan(kMagic.size() + sizeof(std::uint32_t)));
  const auto count = in.number<std::uint32_t>();
  PlanTable table;
  for (std::int64_t& fact : table.facts) {
    fact = in.number<std::int64_t>();
  }
  return read_entries(in, count).map([&](memory::Vector<PlanEntry>&& entries) {
    table.entries = std::move(entries);
    return std::move(table);
  });
}

neap::Result<PlanRecord> parse_plan_record(std::span<const std::byte> bytes) {
  Reader in(bytes);
  PlanRecord out;
  out.problem = in.number<std::uint64_t>();
  out.passes = in.number<std::uint32_t>();
  out.pieces = in.number<std::uint32_t>();
  out.micro_batches = in.number<std::uint32_t>();
  out.time_pieces = in.number<std::uint32_t>();
  for (std::int64_t* number :
       {&out.limit, &out.arena, &out.price, &out.extra, &out.bound}) {
    *number = in.number<std::int64_t>();
    if (*number < 0) {
      return corrupt("a plan has a negative number");
    }
  }
  const auto has = in.number<std::uint8_t>();
  constexpr std::uint8_t kAll = kHasChannel | kHasSchedule | kHasAway;
  if (!in.is_good() || has > kAll || ((has & kHasAway) != 0 && has != kAll)) {
    return corrupt("a plan is of an unknown kind");
  }
  if ((has & kHasAway) != 0) {
    const auto away = read_away(in);
    if (!away) {
      return tl::make_unexpected(away.error());
    }
    out.away = *away;
  }
  if ((has & kHasChannel) != 0) {
    budget::Channel& channel = out.channel.emplace();
    for (std::int64_t* number : {&channel.write_rate, &channel.read_rate,
                                 &channel.bus_price, &channel.most_written}) {
      *number = in.number<std::int64_t>();
    }
  }
  if ((has & kHasSchedule) != 0) {
    return read_schedule(in).map([&](budget::Schedule&& schedule) {
      out.schedule = std::move(schedule);
      return std::move(out);
    });
  }
  if (!in.is_good() || in.left() != 0) {
    return corrupt("the length of a plan is wrong");
  }
  return out;
}

memory::Vector<std::byte> plan_file_bytes(const PlanFacts& facts,
                                          std::span<const PlanEntry> entries) {
  std::size_t size = kHeadBytes + kHashBytes;
  for (const PlanEntry& entry : entries) {
    size += kEntryBytes + entry.record.size();
  }
  Writer out(size);
  out.add(std::as_bytes(std::span(kMagic)));
  out.number(kPlanFileVersion);
  out.number(static_cast<std::uint32_t>(entries.size()));
  for (const std::int64_t fact : facts) {
    out.number(fact);
  }
  for (const PlanEntry& entry : entries) {
    out.number(entry.program);
    out.number(static_cast<std::uint32_t>(entry.record.size()));
    out.add(entry.record);
  }
  out.number(hash_of(out.bytes()));
  return out.take();
}

memory::Vector<std::byte> plan_record_bytes(const PlanRecord& record) {
  const bool has_away = record.away.percent != 0;
  Writer out(kRecordBytes + (record.channel ? kChannelBytes : 0) +
             (has_away ? kAwayBytes : 0) +
             (record.schedule
                  ? kCountsBytes + record.schedule->runs.size() * kRunBytes +
                        record.schedule->drops.size() * kDropBytes
                  : 0));
  out.number(record.problem);
  out.number(record.passes);
  out.number(record.pieces);
  out.number(record.micro_batches);
  out.number(record.time_pieces);
  for (const std::int64_t number :
       {record.limit, record.arena, record.price, record.extra, record.bound}) {
    out.number(number);
  }
  out.number(static_cast<std::uint8_t>((record.channel ? kHasChannel : 0U) |
                                       (record.schedule ? kHasSchedule : 0U) |
                                       (has_away ? kHasAway : 0U)));
  if (has_away) {
    out.number(static_cast<std::uint8_t>(record.away.percent));
    out.number(
        static_cast<std::uint8_t>((record.away.is_early ? kIsEarly : 0U) |
                                  (record.away.has_weights ? kHasWeights : 0U) |
                                  (record.away.in_parts ? kInParts : 0U)));
  }
  if (record.channel) {
    const budget::Channel& channel = *record.channel;
    for (const std::int64_t number :
         {channel.write_rate, channel.read_rate, channel.bus_price,
          channel.most_written}) {
      out.number(number);
    }
  }
  if (record.schedule) {
    write(*record.schedule, out);
  }
  return out.take();
}

}  // namespace neap::compiler
