// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/channel.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "neap/base/raise.hpp"
#include "neap/files/door.hpp"
#include "neap/files/io_error.hpp"
#include "neap/files/scratch_file.hpp"

namespace neap::compiler {
namespace {

// Where all cores compute, moving a MiB takes so much of their time: the bus,
// and the turns of the thread that moves it.
constexpr std::int64_t kBusNanoseconds = 40'000;

constexpr Bytes kPieceBytes = kMiB;
constexpr Bytes kPieces = 64;

// The time of 64 MiB says less of writes, which a disk's cache takes first.
constexpr std::int64_t kWritePercent = 40;
constexpr std::int64_t kFetchPercent = 60;

std::int64_t counted_on(std::int64_t rate, std::int64_t percent) {
  const auto safe = static_cast<std::uint64_t>(rate / 100 * percent);
  const auto width = static_cast<unsigned>(std::bit_width(safe));
  const unsigned below = width > 3 ? width - 3 : 0U;
  return std::max<std::int64_t>(
      static_cast<std::int64_t>(safe >> below << below), 1);
}

// A block of the domain's, for the time of a measurement.
class Piece {
 public:
  explicit Piece(Bytes size) : domain_(memory::domain()) {
    block_ = domain_.allocate(
        size, memory::current_tag(memory::Category::kWorkspace), kSpillUnit);
  }
  ~Piece() { domain_.release(block_); }
  Piece(const Piece&) = delete;
  Piece& operator=(const Piece&) = delete;

  std::span<std::byte> bytes() const noexcept {
    return {static_cast<std::byte*>(block_.data),
            static_cast<std::size_t>(block_.size)};
  }

 private:
  memory::Domain& domain_;
  memory::Block block_;
};

neap::Result<files::Rates> measured(const SpillOptions& options) {
  const Piece piece(kPieceBytes);
  auto file = files::ScratchFile::create(door_of(options), options.folder,
                                         kPieces * kPieceBytes);
  if (!file) {
    return tl::unexpected(file.error());
  }
  return files::measure_rates(*file, piece.bytes());
}

// In a run; a day has as many runs as fit into it one after the other.
Bytes most_written(const SpillOptions& options, std::int64_t price) {
  if (options.most_written_a_day == kUnlimited) {
    return options.most_written;
  }
  const double share = static_cast<double>(price) / kNanosecondsOfDay;
  return std::min(
      options.most_written,
      static_cast<Bytes>(static_cast<double>(options.most_written_a_day) *
                         std::min(share, 1.0)));
}

}  // namespace

files::Door& door_of(const SpillOptions& options) {
  return options.door != nullptr ? *options.door : files::system_door();
}

SpillOptions with_rates(const SpillOptions& options) {
  SpillOptions out = options;
  if (options.folder.empty() ||
      (options.write_rate > 0 && options.fetch_rate > 0)) {
    return out;
  }
  const auto rates = measured(options);
  if (!rates) {
    base::raise<IoError>("compile: .spill: {}", rates.error().message);
  }
  if (out.write_rate <= 0) {
    out.write_rate = counted_on(rates->written, kWritePercent);
  }
  if (out.fetch_rate <= 0) {
    out.fetch_rate = counted_on(rates->read, kFetchPercent);
  }
  return out;
}

std::optional<budget::Channel> channel_of(const SpillOptions& options,
                                          std::int64_t price) {
  if (options.folder.empty()) {
    return std::nullopt;
  }
  const SpillOptions known = with_rates(options);
  return budget::Channel{.write_rate = known.write_rate,
                         .read_rate = known.fetch_rate,
                         .bus_price = kBusNanoseconds,
                         .most_written = most_written(known, price)};
}

}  // namespace neap::compiler
