// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/files/scratch_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <utility>

#include "neap/base/shown.hpp"

namespace neap::files {
namespace {

bool is_multiple(Bytes value, Bytes unit) noexcept {
  return (value & (unit - 1)) == 0;
}

}  // namespace

Result<ScratchFile> ScratchFile::create(Door& door, const std::string& folder,
                                        Bytes size, Options options) {
  auto opened = door.open_scratch(folder, options.may_be_direct);
  if (!opened) {
    return tl::make_unexpected(std::move(opened.error()));
  }
  ScratchFile file(door, std::move(*opened));
  if (auto grown = file.grow(size); !grown) {
    return tl::make_unexpected(std::move(grown.error()));
  }
  return file;
}

Result<void> ScratchFile::grow(Bytes size) {
  if (size <= size_) {
    return {};
  }
  if (size > kUnlimited - kDirectAlignment) {
    return failure(FailureKind::kTooLarge,
                   fmt::format("cannot take {} B for {}: no disk has as many; "
                               "ask for fewer",
                               size, file_.name()));
  }
  // Whole pages, so that a direct file can be written to its end.
  const Bytes more = base::round_up(size, kDirectAlignment) - size_;
  auto taken = expect_room(more).and_then([&] { return take(size_, more); });
  if (!taken) {
    // The failure that led here is the one to report.
    static_cast<void>(door_->truncate(file_, size_));
    unsettled_ = {};
    return taken;
  }
  size_ += more;
  return {};
}

Result<void> ScratchFile::expect_room(Bytes bytes) {
  return door_->free_bytes(file_).and_then([&](Bytes free) -> Result<void> {
    if (bytes <= free) {
      return {};
    }
    return failure(
        FailureKind::kIo,
        fmt::format("cannot take {} for {}: its disk has {} left; free some "
                    "space or choose another folder",
                    format_bytes(bytes), file_.name(), format_bytes(free)));
  });
}

// Takes the space and writes it once.
Result<void> ScratchFile::take(Bytes offset, Bytes bytes) {
  return door_->preallocate(file_, offset, bytes)
      .and_then([&] {
        return move_all("write", bytes, [&](Bytes done, Bytes most) {
          return settled(door_->fill_at(file_, offset + done, most),
                         offset + done);
        });
      })
      .and_then([&] {
        const Range last = std::exchange(unsettled_, {});
        return is_direct_ ? Result<void>()
                          : door_->drop_cached(file_, last.offset, last.bytes);
      });
}

Result<void> ScratchFile::check(Bytes offset, const std::byte* memory,
                                std::size_t bytes) const {
  const auto size = static_cast<Bytes>(bytes);
  if (offset < 0 || size > size_ || offset > size_ - size) {
    return failure(
        FailureKind::kTooLarge,
        fmt::format("cannot use {} bytes at {} of {}: it has {} B; grow it "
                    "first",
                    size, offset, file_.name(), size_));
  }
  const auto address = static_cast<Bytes>(
      reinterpret_cast<std::uintptr_t>(memory) & (kDirectAlignment - 1));
  if (is_direct_ && !is_multiple(offset | size | address, kDirectAlignment)) {
    return failure(
        FailureKind::kMismatch,
        fmt::format("cannot use {} bytes at {} of {}: direct transfers need "
                    "memory, offset and size in multiples of {}; align them or "
                    "open the file with may_be_direct = false",
                    size, offset, file_.name(), kDirectAlignment));
  }
  return {};
}

template <class Move>
Result<void> ScratchFile::move_all(const char* verb, Bytes bytes,
                                   const Move& move) {
  Bytes done = 0;
  while (done < bytes) {
    const Result<Bytes> count = move(done, std::min(bytes - done, kPieceBytes));
    if (!count) {
      return tl::make_unexpected(count.error());
    }
    // A direct transfer goes on at a whole page.
    const Bytes usable =
        done + *count == bytes ? *count : *count & ~(alignment() - 1);
    if (usable <= 0) {
      return failure(FailureKind::kTruncated,
                     fmt::format("cannot {} {}: only {} of {} bytes were moved",
                                 verb, file_.name(), done, bytes));
    }
    done += usable;
  }
  return {};
}

// Passes on the count of a write at `offset`. In a buffered file the piece
// begins its way to the disk, and the piece before ends it.
Result<Bytes> ScratchFile::settled(Result<Bytes> count, Bytes offset) {
  if (is_direct_ || !count) {
    return count;
  }
  const Range before = std::exchange(unsettled_, {offset, *count});
  return door_->begin_writeback(file_, offset, *count)
      .and_then([&] {
        return before.bytes == 0
                   ? Result<void>()
                   : door_->drop_cached(file_, before.offset, before.bytes);
      })
      .and_then([&] { return count; });
}

Result<void> ScratchFile::write_at(Bytes offset,
                                   std::span<const std::byte> from) {
  return check(offset, from.data(), from.size()).and_then([&] {
    return move_all(
        "write", static_cast<Bytes>(from.size()), [&](Bytes done, Bytes most) {
          const auto part = from.subspan(static_cast<std::size_t>(done),
                                         static_cast<std::size_t>(most));
          return settled(door_->write_at(file_, offset + done, part),
                         offset + done);
        });
  });
}

Result<void> ScratchFile::read_at(Bytes offset, std::span<std::byte> into) {
  return check(offset, into.data(), into.size()).and_then([&] {
    return move_all(
        "read", static_cast<Bytes>(into.size()),
        [&](Bytes done, Bytes most) -> Result<Bytes> {
          auto count =
              door_->read_at(file_, offset + done,
                             into.subspan(static_cast<std::size_t>(done),
                                          static_cast<std::size_t>(most)));
          if (is_direct_ || !count) {
            return count;
          }
          return door_->drop_cached(file_, offset + done, *count).and_then([&] {
            return count;
          });
        });
  });
}

namespace {

constexpr int kPieces = 16;

// Calls move(offset) for each piece; returns the bytes a second that three of
// four pieces reach.
template <class Move>
Result<Bytes> usual_rate(Bytes piece, Bytes pieces, const Move& move) {
  using Clock = std::chrono::steady_clock;
  std::array<std::int64_t, kPieces> times{};
  for (Bytes i = 0; i < pieces; ++i) {
    const auto start = Clock::now();
    if (auto moved = move(i * piece); !moved) {
      return tl::make_unexpected(std::move(moved.error()));
    }
    const std::chrono::nanoseconds took = Clock::now() - start;
    times[static_cast<std::size_t>(i)] =
        std::max<std::int64_t>(took.count(), 1);
  }
  const auto end = times.begin() + pieces;
  const auto usual = times.begin() + (3 * pieces - 1) / 4;
  std::nth_element(times.begin(), usual, end);
  constexpr double kNanosecondsOfASecond = 1e9;
  return static_cast<Bytes>(kNanosecondsOfASecond * static_cast<double>(piece) /
                            static_cast<double>(*usual));
}

}  // namespace

Result<Rates> measure_rates(ScratchFile& file, std::span<std::byte> piece) {
  const auto bytes = static_cast<Bytes>(piece.size());
  if (bytes == 0 || bytes > file.size()) {
    return failure(
        FailureKind::kTooLarge,
        fmt::format("cannot measure a scratch file of {} bytes with pieces of "
                    "{}; make it larger",
                    file.size(), bytes));
  }
  const Bytes pieces = std::min<Bytes>(kPieces, file.size() / bytes);
  const auto written = usual_rate(bytes, pieces, [&](Bytes offset) {
    return file.write_at(offset, piece);
  });
  if (!written) {
    return tl::make_unexpected(written.error());
  }
  const auto read = usual_rate(
      bytes, pieces, [&](Bytes offset) { return file.read_at(offset, piece); });
  if (!read) {
    return tl::make_unexpected(read.error());
  }
  return Rates{.written = *written, .read = *read};
}

}  // namespace neap::files
