// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/files/scratch_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "neap/files/door_for_test.hpp"
#include "neap/files/fault_door.hpp"
#include "neap/files/io_error.hpp"
#include "neap/files/temporary_folder.hpp"

namespace neap::files {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Memory at a multiple of kDirectAlignment, with bytes told by a seed.
class Buffer {
 public:
  explicit Buffer(std::size_t size, unsigned seed = 1)
      : size_(size), blocks_(size / sizeof(Block) + 1) {
    for (std::byte& byte : bytes()) {
      seed = seed * 1664525U + 1013904223U;
      byte = static_cast<std::byte>(seed >> 24U);
    }
  }
  std::span<std::byte> bytes() { return {blocks_.front().bytes.data(), size_}; }
  friend bool operator==(Buffer& a, Buffer& b) {
    return std::memcmp(a.bytes().data(), b.bytes().data(), a.size_) == 0;
  }

 private:
  struct alignas(kDirectAlignment) Block {
    std::array<std::byte, kDirectAlignment> bytes;
  };
  std::size_t size_;
  std::vector<Block> blocks_;
};

constexpr std::size_t kPage = 4096;

// The parameter: whether transfers may be direct.
class ScratchFileTest : public testing::TestWithParam<bool> {
 protected:
  Result<ScratchFile> create(Door& door, Bytes size) {
    return ScratchFile::create(door, folder_.path(), size,
                               {.may_be_direct = GetParam()});
  }
  ScratchFile make(Bytes size) { return create(system_door(), size).value(); }

  TemporaryFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(, ScratchFileTest, testing::Bool(),
                         [](const auto& test) {
                           return test.param ? "Direct" : "Buffered";
                         });

TEST_P(ScratchFileTest, GivesBackWhatWasWritten) {
  ScratchFile file = make(64 * kKiB);
  Buffer first(3 * kPage, 1);
  Buffer second(5 * kPage, 2);
  EXPECT_TRUE(file.write_at(2 * kPage, first.bytes()).has_value());
  EXPECT_TRUE(file.write_at(9 * kPage, second.bytes()).has_value());
  Buffer back(5 * kPage, 3);
  EXPECT_TRUE(file.read_at(9 * kPage, back.bytes()).has_value());
  EXPECT_TRUE(back == second);
  Buffer front(3 * kPage, 4);
  EXPECT_TRUE(file.read_at(2 * kPage, front.bytes()).has_value());
  EXPECT_TRUE(front == first);
}

TEST_P(ScratchFileTest, MovesMoreThanAPiece) {
  const std::size_t size = ScratchFile::kPieceBytes + 2 * kPage;
  ScratchFile file = make(static_cast<Bytes>(size));
  Buffer value(size, 7);
  EXPECT_TRUE(file.write_at(0, value.bytes()).has_value());
  Buffer back(size, 8);
  EXPECT_TRUE(file.read_at(0, back.bytes()).has_value());
  EXPECT_TRUE(back == value);
}

TEST_P(ScratchFileTest, LeavesNothingInTheFolder) {
  {
    ScratchFile file = make(kPage);
    EXPECT_TRUE(system_door().list(folder_.path())->empty());
  }
  EXPECT_TRUE(system_door().list(folder_.path())->empty());
}

TEST_P(ScratchFileTest, KeepsWhatItHasWhenItGrows) {
  ScratchFile file = make(2 * kPage);
  Buffer value(2 * kPage, 5);
  EXPECT_TRUE(file.write_at(0, value.bytes()).has_value());
  EXPECT_TRUE(file.grow(100 * kPage).has_value());
  EXPECT_EQ(file.size(), 100 * kPage);
  EXPECT_TRUE(file.grow(kPage).has_value());
  EXPECT_EQ(file.size(), 100 * kPage);
  Buffer back(2 * kPage, 6);
  EXPECT_TRUE(file.read_at(0, back.bytes()).has_value());
  EXPECT_TRUE(back == value);
  EXPECT_TRUE(file.write_at(98 * kPage, value.bytes()).has_value());
}

// Keeps a number of the system's for the file that was opened last.
struct Watch : ForwardingDoor {
  using ForwardingDoor::ForwardingDoor;
  Result<Scratch> open_scratch(const std::string& folder,
                               bool may_be_direct) override {
    auto scratch = ForwardingDoor::open_scratch(folder, may_be_direct);
    if (scratch) {
      descriptor = scratch->file.handle();
    }
    return scratch;
  }
  Bytes bytes_on_disk() const {
    struct stat facts {};
    ::fstat(descriptor, &facts);
    return facts.st_blocks * 512;
  }
  int descriptor = -1;
};

TEST_P(ScratchFileTest, TakesItsSpaceWhileItIsMade) {
  Watch door(system_door());
  auto file = create(door, 300 * kPage).value();
  EXPECT_GE(door.bytes_on_disk(), 300 * kPage);
}

TEST_P(ScratchFileTest, WritesEveryByteOnceWhileItIsMade) {
  struct Count : ForwardingDoor {
    using ForwardingDoor::ForwardingDoor;
    Result<Bytes> fill_at(File& file, Bytes offset, Bytes bytes) override {
      EXPECT_EQ(offset, filled);
      auto count = ForwardingDoor::fill_at(file, offset, bytes);
      filled += count.value_or(0);
      return count;
    }
    Bytes filled = 0;
  };
  Count door(system_door());
  const Bytes size = 2 * ScratchFile::kPieceBytes + 3 * kPage;
  auto file = create(door, size).value();
  EXPECT_EQ(door.filled, size);
  Buffer end(kPage);
  EXPECT_TRUE(file.read_at(size - 4096, end.bytes()).has_value());
  EXPECT_NE(end.bytes()[0] | end.bytes()[1] | end.bytes()[2], std::byte{0});
}

TEST_P(ScratchFileTest, RefusesAFolderInMemory) {
  const auto file = ScratchFile::create(system_door(), "/dev/shm", kPage,
                                        {.may_be_direct = GetParam()});
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(file.error().kind, FailureKind::kUnsupported);
  EXPECT_EQ(
      file.error().message,
      "cannot spill to /dev/shm: the folder is in memory (tmpfs), so that "
      "nothing would be saved; choose one on a disk");
}

TEST_P(ScratchFileTest, RefusesAFolderThatIsNotThere) {
  const auto file = ScratchFile::create(system_door(), "/nowhere", kPage,
                                        {.may_be_direct = GetParam()});
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(file.error().kind, FailureKind::kNotFound);
  EXPECT_EQ(file.error().message,
            "cannot spill to /nowhere: No such file or directory; check the "
            "path");
}

TEST_P(ScratchFileTest, RefusesMoreThanTheDiskHasLeft) {
  const auto file = create(system_door(), Bytes{1} << 60U);
  ASSERT_FALSE(file.has_value());
  EXPECT_THAT(file.error().message,
              AllOf(HasSubstr("cannot take 1024.0 PiB"), HasSubstr("its disk"),
                    HasSubstr(folder_.path()),
                    HasSubstr("free some space or choose another folder")));
  EXPECT_EQ(create(system_door(), kUnlimited).error().kind,
            FailureKind::kTooLarge);
}

TEST_P(ScratchFileTest, ReportsAFullDiskWhileItIsMade) {
  FaultDoor door(system_door(), {.space = 10 * kPage});
  const auto file = create(door, 11 * kPage);
  ASSERT_FALSE(file.has_value());
  EXPECT_THAT(file.error().message, HasSubstr("no space left"));
  EXPECT_TRUE(create(door, 10 * kPage).has_value());
}

// Fails what is written behind the first 500 KiB while it is full.
struct Full : ForwardingDoor {
  using ForwardingDoor::ForwardingDoor;
  Result<Bytes> fill_at(File& file, Bytes offset, Bytes bytes) override {
    if (offset >= 500 * kKiB && is_full) {
      return failure(FailureKind::kIo, "full");
    }
    return ForwardingDoor::fill_at(file, offset,
                                   std::min<Bytes>(bytes, 4 * kPage));
  }
  bool is_full = true;
};

TEST_P(ScratchFileTest, GivesTheDiskItsRoomBackWhereItCannotGrow) {
  Watch watch(system_door());
  Full door(watch);
  auto file = create(door, 4 * kPage).value();
  const Bytes before = watch.bytes_on_disk();
  Buffer value(4 * kPage, 9);
  ASSERT_TRUE(file.write_at(0, value.bytes()).has_value());
  EXPECT_EQ(file.grow(kMiB).error().message, "full");
  EXPECT_EQ(file.size(), 4 * kPage);
  EXPECT_LE(watch.bytes_on_disk(), before);
  EXPECT_FALSE(file.write_at(4 * kPage, value.bytes()).has_value());
  Buffer back(4 * kPage, 1);
  EXPECT_TRUE(file.read_at(0, back.bytes()).has_value());
  EXPECT_TRUE(back == value);
  door.is_full = false;
  EXPECT_TRUE(file.grow(kMiB).has_value());
}

TEST_P(ScratchFileTest, RefusesWhatGoesBeyondItsEnd) {
  ScratchFile file = make(4 * kPage);
  Buffer value(2 * kPage);
  for (const Bytes offset :
       {Bytes{-4096}, Bytes{3 * kPage}, kUnlimited - 4095}) {
    const auto written = file.write_at(offset, value.bytes());
    ASSERT_FALSE(written.has_value()) << offset;
    EXPECT_EQ(written.error().kind, FailureKind::kTooLarge);
    EXPECT_FALSE(file.read_at(offset, value.bytes()).has_value());
  }
  EXPECT_TRUE(file.write_at(2 * kPage, value.bytes()).has_value());
}

TEST_P(ScratchFileTest, MovesTheRestOfShortTransfers) {
  FaultDoor door(system_door(),
                 {.longest_read = kPage, .longest_write = 2 * kPage});
  auto file = create(door, 16 * kPage).value();
  Buffer value(7 * kPage, 3);
  EXPECT_TRUE(file.write_at(4 * kPage, value.bytes()).has_value());
  Buffer back(7 * kPage, 4);
  EXPECT_TRUE(file.read_at(4 * kPage, back.bytes()).has_value());
  EXPECT_TRUE(back == value);
}

// Says of each transfer that some bytes of its last page were not moved.
struct Uneven : ForwardingDoor {
  using ForwardingDoor::ForwardingDoor;
  static Result<Bytes> less(Result<Bytes> count) {
    return count.map(
        [](Bytes bytes) { return bytes > Bytes{kPage} ? bytes - 100 : bytes; });
  }
  Result<Bytes> read_at(File& file, Bytes offset,
                        std::span<std::byte> into) override {
    return less(ForwardingDoor::read_at(file, offset, into));
  }
  Result<Bytes> write_at(File& file, Bytes offset,
                         std::span<const std::byte> from) override {
    return less(ForwardingDoor::write_at(file, offset, from));
  }
};

TEST_P(ScratchFileTest, GoesOnAfterTransfersThatEndWithinAPage) {
  Uneven door(system_door());
  auto file = create(door, 16 * kPage).value();
  Buffer value(7 * kPage, 3);
  EXPECT_TRUE(file.write_at(0, value.bytes()).has_value());
  Buffer back(7 * kPage, 4);
  EXPECT_TRUE(file.read_at(0, back.bytes()).has_value());
  EXPECT_TRUE(back == value);
}

TEST_P(ScratchFileTest, ReportsTransfersThatMoveNothing) {
  struct Stuck : ForwardingDoor {
    using ForwardingDoor::ForwardingDoor;
    Result<Bytes> read_at(File& /*file*/, Bytes /*offset*/,
                          std::span<std::byte> /*into*/) override {
      return Bytes{0};
    }
  };
  Stuck door(system_door());
  auto file = create(door, 4 * kPage).value();
  Buffer value(kPage);
  const auto read = file.read_at(0, value.bytes());
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().kind, FailureKind::kTruncated);
  EXPECT_THAT(read.error().message, HasSubstr("only 0 of 4096 bytes"));
}

// All that a queue does with a file; the first failure.
Result<void> use(Door& door, const std::string& folder, bool may_be_direct) {
  auto file = ScratchFile::create(door, folder, 8 * kPage,
                                  {.may_be_direct = may_be_direct});
  if (!file) {
    return tl::make_unexpected(file.error());
  }
  Buffer value(8 * kPage, 3);
  Buffer back(8 * kPage, 4);
  auto result = file->write_at(0, value.bytes())
                    .and_then([&] { return file->grow(20 * kPage); })
                    .and_then([&] { return file->write_at(0, value.bytes()); })
                    .and_then([&] { return file->read_at(0, back.bytes()); });
  EXPECT_TRUE(!result || back == value);
  return result;
}

TEST_P(ScratchFileTest, ReportsAFailureOfEveryOperation) {
  FaultDoor quiet(system_door(), {.longest_write = 3 * kPage});
  ASSERT_TRUE(use(quiet, folder_.path(), GetParam()).has_value());
  EXPECT_GT(quiet.operations(), 14);
  for (std::int64_t n = 1; n <= quiet.operations(); ++n) {
    FaultDoor door(system_door(), {.fail_at = n, .longest_write = 3 * kPage});
    const auto failed = use(door, folder_.path(), GetParam());
    ASSERT_FALSE(failed.has_value()) << n;
    EXPECT_EQ(failed.error().kind, FailureKind::kIo);
    EXPECT_THAT(failed.error().message, AllOf(HasSubstr("failed on purpose"),
                                              HasSubstr(folder_.path())));
    FaultDoor stopped(system_door(),
                      {.stop_at = n, .longest_write = 3 * kPage});
    EXPECT_FALSE(use(stopped, folder_.path(), GetParam()).has_value()) << n;
  }
  EXPECT_TRUE(system_door().list(folder_.path())->empty());
}

TEST(ScratchFileDirectTest, IsDirectOnTheDiskOfTheTests) {
  const TemporaryFolder folder;
  auto file = ScratchFile::create(system_door(), folder.path(), kPage).value();
  if (!file.is_direct()) {
    GTEST_SKIP() << "no direct transfers in " << folder.path();
  }
  EXPECT_EQ(file.alignment(), kDirectAlignment);
  EXPECT_TRUE(file.grow(4 * kPage).has_value());
  Buffer value(2 * kPage);
  const auto expect_refused = [&](Bytes offset, std::span<std::byte> memory) {
    const auto written = file.write_at(offset, memory);
    ASSERT_FALSE(written.has_value());
    EXPECT_EQ(written.error().kind, FailureKind::kMismatch);
    EXPECT_THAT(written.error().message, HasSubstr("multiples of 4096"));
    EXPECT_FALSE(file.read_at(offset, memory).has_value());
  };
  expect_refused(64, value.bytes().first(kPage));
  expect_refused(0, value.bytes().first(kPage - 64));
  expect_refused(0, value.bytes().subspan(64, kPage));
}

TEST(ScratchFileBufferedTest, TakesAnyOffsetSizeAndMemory) {
  const TemporaryFolder folder;
  auto file = ScratchFile::create(system_door(), folder.path(), 5000,
                                  {.may_be_direct = false})
                  .value();
  EXPECT_FALSE(file.is_direct());
  EXPECT_EQ(file.alignment(), 1);
  EXPECT_GE(file.size(), 5000);
  Buffer value(4000, 5);
  const auto odd = value.bytes().subspan(3, 3001);
  EXPECT_TRUE(file.write_at(1999, odd).has_value());
  Buffer back(3001, 6);
  EXPECT_TRUE(file.read_at(1999, back.bytes()).has_value());
  EXPECT_EQ(std::memcmp(back.bytes().data(), odd.data(), odd.size()), 0);
}

TEST(ScratchFileBufferedTest, LeavesNoMoreThanAPieceInTheCache) {
  // Counts what was begun and not dropped.
  struct Cache : ForwardingDoor {
    using ForwardingDoor::ForwardingDoor;
    Result<void> begin_writeback(File& file, Bytes offset,
                                 Bytes bytes) override {
      begun += bytes;
      most = std::max(most, begun - dropped);
      return ForwardingDoor::begin_writeback(file, offset, bytes);
    }
    Result<void> drop_cached(File& file, Bytes offset, Bytes bytes) override {
      dropped += bytes;
      return ForwardingDoor::drop_cached(file, offset, bytes);
    }
    Bytes begun = 0;
    Bytes dropped = 0;
    Bytes most = 0;
  };
  const TemporaryFolder folder;
  Cache door(system_door());
  const Bytes size = 5 * ScratchFile::kPieceBytes;
  auto file =
      ScratchFile::create(door, folder.path(), size, {.may_be_direct = false})
          .value();
  EXPECT_EQ(door.begun, size);
  EXPECT_EQ(door.dropped, size);
  Buffer value(static_cast<std::size_t>(size));
  EXPECT_TRUE(file.write_at(0, value.bytes()).has_value());
  EXPECT_EQ(door.begun - door.dropped, ScratchFile::kPieceBytes);
  EXPECT_EQ(door.most, 2 * ScratchFile::kPieceBytes);
}

TEST(ScratchFileBufferedTest, ReadsNothingAheadIntoTheCache) {
  const TemporaryFolder folder;
  Watch door(system_door());
  const Bytes size = 6 * ScratchFile::kPieceBytes;
  auto file =
      ScratchFile::create(door, folder.path(), size, {.may_be_direct = false})
          .value();
  Buffer value(static_cast<std::size_t>(ScratchFile::kPieceBytes));
  for (const Bytes piece : {0, 1, 3}) {
    ASSERT_TRUE(file.read_at(piece * ScratchFile::kPieceBytes, value.bytes())
                    .has_value());
  }
  void* map = ::mmap(nullptr, static_cast<std::size_t>(size), PROT_READ,
                     MAP_SHARED, door.descriptor, 0);
  ASSERT_NE(map, MAP_FAILED);
  std::vector<unsigned char> pages(static_cast<std::size_t>(size) / kPage);
  EXPECT_EQ(::mincore(map, static_cast<std::size_t>(size), pages.data()), 0);
  ::munmap(map, static_cast<std::size_t>(size));
  const auto is_there = [](unsigned char page) { return (page & 1U) != 0; };
  EXPECT_EQ(std::count_if(pages.begin(), pages.end(), is_there), 0);
}

void pause(long milliseconds) {
  const timespec time{.tv_sec = 0, .tv_nsec = milliseconds * 1'000'000};
  ::nanosleep(&time, nullptr);
}

// Every read waits, and one write in four waits long.
struct Slow : ForwardingDoor {
  using ForwardingDoor::ForwardingDoor;
  Result<Bytes> read_at(File& file, Bytes offset,
                        std::span<std::byte> into) override {
    pause(5);
    return ForwardingDoor::read_at(file, offset, into);
  }
  Result<Bytes> write_at(File& file, Bytes offset,
                         std::span<const std::byte> from) override {
    ++writes;
    if (writes % 4 == 0) {
      pause(200);
    }
    return ForwardingDoor::write_at(file, offset, from);
  }
  int writes = 0;
};

TEST(MeasureRatesTest, IsNotLedByTheSlowestPieces) {
  const TemporaryFolder folder;
  Slow door(system_door());
  auto file = ScratchFile::create(door, folder.path(), 256 * kPage).value();
  Buffer piece(16 * kPage);
  const auto rates = measure_rates(file, piece.bytes());
  ASSERT_TRUE(rates.has_value()) << rates.error().message;
  EXPECT_EQ(door.writes, 16);
  constexpr Bytes kBytesInAPause = 64 * kKiB * 1000 / 5;
  EXPECT_LE(rates->read, kBytesInAPause);
  EXPECT_GT(rates->read, 0);
  EXPECT_GT(rates->written, 64 * kKiB * 1000 / 200);
}

TEST(MeasureRatesTest, FailsAsItsTransfersDo) {
  const TemporaryFolder folder;
  Buffer piece(kPage);
  FaultDoor quiet(system_door());
  {
    auto file = ScratchFile::create(quiet, folder.path(), 4 * kPage).value();
    ASSERT_TRUE(measure_rates(file, piece.bytes()).has_value());
    EXPECT_FALSE(measure_rates(file, {}).has_value());
    Buffer larger(5 * kPage);
    EXPECT_FALSE(measure_rates(file, larger.bytes()).has_value());
  }
  for (std::int64_t n = 5; n <= quiet.operations(); ++n) {
    FaultDoor door(system_door(), {.fail_at = n});
    auto file = ScratchFile::create(door, folder.path(), 4 * kPage);
    EXPECT_FALSE(file && measure_rates(*file, piece.bytes())) << n;
  }
}

TEST(IoErrorTest, KeepsKindAndMessageOfAFailure) {
  const IoError error(Failure{FailureKind::kNotFound, "cannot open a"});
  EXPECT_STREQ(error.what(), "cannot open a");
  EXPECT_EQ(error.kind(), FailureKind::kNotFound);
  EXPECT_EQ(IoError("b").kind(), FailureKind::kIo);
}

}  // namespace
}  // namespace neap::files
