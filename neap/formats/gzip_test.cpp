// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/formats/gzip.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "neap/files/fault_door.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/formats/gzip_for_test.hpp"

namespace neap::formats {
namespace {

using files::TemporaryFolder;
using testing::HasSubstr;

memory::Owned<files::ByteSource> open_at(files::Door& door,
                                         const std::string& path) {
  files::File file = door.open_read(path).value();
  const Bytes size = file.size().value();
  return open_gzip(std::move(file), size);
}

// All there is, in reads of `step` bytes.
Result<std::string> read_all(files::ByteSource& source, std::size_t step) {
  std::string text;
  while (true) {
    std::string part(step, '\0');
    const auto count = source.read(std::as_writable_bytes(std::span(part)));
    if (!count) {
      return tl::make_unexpected(count.error());
    }
    if (*count == 0) {
      return text;
    }
    text += part.substr(0, static_cast<std::size_t>(*count));
  }
}

Result<std::string> inflate(const std::string& content,
                            std::size_t step = 1000) {
  const TemporaryFolder folder;
  const auto source =
      open_at(files::system_door(), folder.put("a.gz", content));
  return read_all(*source, step);
}

// Long enough for many buffers, and hardly compressible.
std::string long_text() {
  std::string text;
  std::uint32_t state = 1;
  for (int i = 0; i < 200'000; ++i) {
    state = state * 1664525U + 1013904223U;
    text += static_cast<char>(state >> 24U);
  }
  return text;
}

TEST(GzipTest, ReadsWhatWasCompressed) {
  const std::string text = long_text();
  const std::string compressed = gzip(text);
  for (const std::size_t step : {7U, 1000U, 65536U, 1'000'000U}) {
    EXPECT_EQ(inflate(compressed, step).value(), text) << step;
  }
  EXPECT_EQ(inflate(gzip("")).value(), "");
}

TEST(GzipTest, ReadsOnThroughShortReadsOfTheFile) {
  const TemporaryFolder folder;
  files::FaultDoor door(files::system_door(), {.longest_read = 1});
  const auto source =
      open_at(door, folder.put("a.gz", gzip("some text") + gzip(" more")));
  EXPECT_EQ(read_all(*source, 3).value(), "some text more");
}

TEST(GzipTest, JoinsMembers) {
  EXPECT_EQ(inflate(gzip("one ") + gzip("") + gzip("two")).value(), "one two");
}

TEST(GzipTest, ReportsTruncationAtEveryLength) {
  const std::string whole = gzip("some text to be cut short");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const auto result = inflate(whole.substr(0, length));
    ASSERT_FALSE(result.has_value()) << length;
    EXPECT_EQ(result.error().kind, FailureKind::kTruncated) << length;
  }
}

TEST(GzipTest, ReportsTruncationOfALaterMember) {
  const std::string second = gzip("two");
  for (std::size_t length = 1; length < second.size(); ++length) {
    const auto result = inflate(gzip("one") + second.substr(0, length));
    ASSERT_FALSE(result.has_value()) << length;
    EXPECT_EQ(result.error().kind, FailureKind::kTruncated) << length;
  }
}

TEST(GzipTest, ReportsBytesAfterTheLastMember) {
  for (const std::string& tail : {std::string("x"), std::string(512, '\0')}) {
    const auto result = inflate(gzip("text") + tail);
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().kind, FailureKind::kCorrupt);
    EXPECT_THAT(result.error().message, HasSubstr("after the end"));
  }
}

TEST(GzipTest, ReportsAWrongChecksumAndAWrongLength) {
  std::string wrong_crc = gzip("some text");
  wrong_crc[wrong_crc.size() - 8] ^= 1;
  EXPECT_THAT(inflate(wrong_crc).error().message,
              HasSubstr("incorrect data check"));
  std::string wrong_length = gzip("some text");
  wrong_length[wrong_length.size() - 4] ^= 1;
  EXPECT_THAT(inflate(wrong_length).error().message,
              HasSubstr("incorrect length check"));
}

TEST(GzipTest, NeverTakesADamagedFileForAnotherText) {
  const std::string text = "some text, some text, and some more text";
  const std::string whole = gzip(text);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      const auto result = inflate(damaged);
      // Some bits carry nothing: the file's date, padding.
      if (result.has_value()) {
        EXPECT_EQ(*result, text) << at;
      }
    }
  }
}

TEST(GzipTest, FailsAgainAfterAFailure) {
  const TemporaryFolder folder;
  const auto source =
      open_at(files::system_door(), folder.put("a.gz", gzip("text") + "tail"));
  EXPECT_FALSE(read_all(*source, 100).has_value());
  EXPECT_FALSE(read_all(*source, 100).has_value());
}

TEST(GzipTest, PassesAFailureOfTheFileOn) {
  const TemporaryFolder folder;
  files::FaultDoor door(files::system_door(), {.fail_at = 3});
  const auto source = open_at(door, folder.put("a.gz", gzip("text")));
  EXPECT_EQ(read_all(*source, 100).error().kind, FailureKind::kIo);
}

TEST(GzipTest, PromisesAtLeastWhatComes) {
  const std::string zeros(5'000'000, '\0');
  const TemporaryFolder folder;
  const auto source =
      open_at(files::system_door(), folder.put("a.gz", gzip(zeros)));
  EXPECT_FALSE(source->remaining().is_exact);
  EXPECT_GE(source->remaining().at_most, 5'000'000);
  EXPECT_LT(source->remaining().at_most, 6'000'000);
  EXPECT_EQ(read_all(*source, 1000).value(), zeros);
  EXPECT_EQ(source->remaining().at_most, 0);
  EXPECT_TRUE(source->remaining().is_exact);
}

TEST(GzipTest, PromisesLessByWhatHasCome) {
  const std::string compressed = gzip(long_text());
  const auto size = static_cast<Bytes>(compressed.size());
  const TemporaryFolder folder;
  const auto source =
      open_at(files::system_door(), folder.put("a.gz", compressed));
  EXPECT_EQ(source->remaining().at_most, size * 1032);
  std::array<std::byte, 1000> part{};
  EXPECT_EQ(source->read(part).value(), 1000);
  EXPECT_EQ(source->remaining().at_most, size * 1032 - 1000);
}

TEST(GzipTest, ReadsNothingIntoNoRoom) {
  const TemporaryFolder folder;
  const auto source =
      open_at(files::system_door(), folder.put("a.gz", gzip("text")));
  EXPECT_EQ(source->read({}).value(), 0);
  EXPECT_EQ(read_all(*source, 100).value(), "text");
  EXPECT_EQ(source->read({}).value(), 0);
}

TEST(GzipTest, FollowsMatchesAsFarBackAsTheFormatReaches) {
  const std::string block = long_text().substr(0, 32'500);
  const std::string text = block + block + block;
  const std::string compressed = gzip(text);
  ASSERT_LT(compressed.size(), block.size() + 2000);
  EXPECT_EQ(inflate(compressed).value(), text);
}

TEST(GzipTest, RefusesDataInAnotherWrapping) {
  const std::string text = "some text";
  std::string wrapped(200, '\0');
  auto size = static_cast<uLongf>(wrapped.size());
  ASSERT_EQ(::compress(reinterpret_cast<Bytef*>(wrapped.data()), &size,
                       reinterpret_cast<const Bytef*>(text.data()),
                       static_cast<uLong>(text.size())),
            Z_OK);
  wrapped.resize(size);
  const auto result = inflate(wrapped);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().kind, FailureKind::kCorrupt);
}

TEST(GzipTest, AllocatesOneBlockOfTheDomainAndFreesIt) {
  const auto domain = memory::Domain::create();
  const memory::UseDomain use(*domain);
  EXPECT_EQ(inflate(gzip(long_text())).value(), long_text());
  EXPECT_EQ(domain->stats().allocations, 1);
  EXPECT_LT(domain->stats().live_peak, 88 * kKiB);
  EXPECT_EQ(domain->stats().live, 0);
}

// --- writing -----------------------------------------------------------------

std::string compressed(files::Door& door, const TemporaryFolder& folder,
                       std::string_view text, std::size_t step) {
  auto file = door.open_write(folder.at("out.gz")).value();
  files::FileSink to(file);
  const auto gzip = gzip_into(to);
  for (std::size_t at = 0; at < text.size(); at += step) {
    const std::string_view part = text.substr(at, step);
    gzip->write(std::as_bytes(std::span(part))).value();
  }
  gzip->finish().value();
  file.close().value();
  return folder.get("out.gz");
}

TEST(GzipSinkTest, WhatIsWrittenIsReadBackAndIsTheSameEachTime) {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 60'000; ++i) {
    text += std::to_string(i * 7919 % 10'007) + ",";
  }
  for (const std::string& whole : {std::string(), std::string("x"), text}) {
    const std::string one =
        compressed(files::system_door(), folder, whole, 1 << 20);
    const auto source = open_at(files::system_door(), folder.at("out.gz"));
    EXPECT_EQ(read_all(*source, 4096).value(), whole);
    EXPECT_EQ(compressed(files::system_door(), folder, whole, 1 << 20), one);
    EXPECT_EQ(one.substr(4, 4), std::string(4, '\0'));  // no date
  }
  compressed(files::system_door(), folder, text, 7);
  const auto source = open_at(files::system_door(), folder.at("out.gz"));
  EXPECT_EQ(read_all(*source, 1000).value(), text);
}

TEST(GzipSinkTest, ADiskThatFailsIsTold) {
  const TemporaryFolder folder;
  std::string noise;
  for (std::uint32_t i = 1; i < 200'000; ++i) {
    noise += static_cast<char>(i * 2654435761U >> 24U);
  }
  files::FaultDoor door(files::system_door(), {.space = 1000});
  auto file = door.open_write(folder.at("out.gz")).value();
  files::FileSink to(file);
  const auto gzip = gzip_into(to);
  auto done = gzip->write(std::as_bytes(std::span(noise)));
  if (done) {
    done = gzip->finish();
  }
  EXPECT_FALSE(done);
}

}  // namespace
}  // namespace neap::formats
