// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/formats/csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "neap/base/error.hpp"
#include "neap/files/fault_door.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/formats/gzip_for_test.hpp"

namespace neap::formats {
namespace {

using files::system_door;
using testing::HasSubstr;

using Records = std::vector<std::vector<std::string>>;

Result<Records> read(files::Door& door, const std::string& path,
                     const CsvOptions& options = {}) {
  auto reader = CsvReader::open(door, path, options);
  if (!reader) {
    return tl::unexpected(reader.error());
  }
  Records records;
  while (true) {
    const auto more = reader->next();
    if (!more) {
      return tl::unexpected(more.error());
    }
    if (!*more) {
      return records;
    }
    records.emplace_back();
    for (std::int64_t i = 0; i < reader->size(); ++i) {
      records.back().emplace_back((*reader)[i]);
    }
  }
}

Result<Records> read(const std::string& content,
                     const CsvOptions& options = {}) {
  const files::TemporaryFolder folder;
  return read(system_door(), folder.put("a.csv", content), options);
}

Failure refusal(const std::string& content, const CsvOptions& options = {}) {
  const auto records = read(content, options);
  EXPECT_FALSE(records.has_value()) << content;
  return records.has_value() ? Failure{} : records.error();
}

TEST(CsvTest, ReadsRecordsWhateverEndsTheirLines) {
  const Records expected = {{"a", "b"}, {"1", ""}, {"", "2"}};
  EXPECT_EQ(read("a,b\n1,\n,2\n").value(), expected);
  EXPECT_EQ(read("a,b\r\n1,\r\n,2\r\n").value(), expected);
  EXPECT_EQ(read("a,b\n1,\r\n,2").value(), expected);
  EXPECT_EQ(read("\xEF\xBB\xBF"
                 "a,b\n\n1,\n\r\n,2\n\n\n")
                .value(),
            expected);
}

TEST(CsvTest, ReadsNothingOfNothing) {
  EXPECT_TRUE(read("").value().empty());
  EXPECT_TRUE(read("\n\r\n\n").value().empty());
  EXPECT_TRUE(read("\xEF\xBB\xBF").value().empty());
}

TEST(CsvTest, TakesQuotesOff) {
  EXPECT_EQ(read("\"a,\"\"b\"\"\n c\",d\n\"\"\n,\"\"\n").value(),
            (Records{{"a,\"b\"\n c", "d"}, {""}, {"", ""}}));
  EXPECT_EQ(read("\"x\"").value(), (Records{{"x"}}));
}

TEST(CsvTest, TakesAnotherSeparator) {
  EXPECT_EQ(read("a,b\t\"c\td\"\n", {.separator = '\t'}).value(),
            (Records{{"a,b", "c\td"}}));
  for (const char separator : {'"', '\n', '\r'}) {
    EXPECT_THROW(static_cast<void>(read("", {.separator = separator})),
                 ValueError);
  }
}

TEST(CsvTest, RefusesWhatIsNoneAndNamesTheLine) {
  for (const char* text : {"a\nb\"c\n", "a\n\"b\"c\n", "a\nb\rc\n", "a\nb\r",
                           "a\n\"b", "a\n\"b\"\"\n", "a\nb,\"c"}) {
    const Failure failure = refusal(text);
    EXPECT_EQ(failure.kind, FailureKind::kCorrupt);
    EXPECT_THAT(failure.message, HasSubstr("a.csv: line 2: ")) << text;
  }
}

TEST(CsvTest, BoundsARecord) {
  const std::string long_one(100, 'x');
  EXPECT_TRUE(read(long_one, {.longest_record = 100}).has_value());
  EXPECT_EQ(refusal(long_one, {.longest_record = 99}).kind,
            FailureKind::kTooLarge);
  EXPECT_TRUE(read(",,", {.most_fields = 3}).has_value());
  EXPECT_EQ(refusal(",,", {.most_fields = 2}).kind, FailureKind::kTooLarge);
  EXPECT_EQ(read("a", {.longest_record = 1, .most_fields = 1}).value(),
            (Records{{"a"}}));
  for (const CsvOptions& none :
       {CsvOptions{.longest_record = 0}, CsvOptions{.most_fields = 0}}) {
    EXPECT_THROW(static_cast<void>(read("a", none)), ValueError);
  }
}

TEST(CsvTest, TakesABoundedMemoryForAFileWithoutAnEndOfLine) {
  constexpr std::size_t kLength = 2'000'000;
  const files::TemporaryFolder folder;
  const std::string path = folder.put("a.csv", gzip(std::string(kLength, 'x')));
  const auto domain = memory::Domain::create();
  const memory::UseDomain use(*domain);
  EXPECT_EQ(read(system_door(), path).error().kind, FailureKind::kTooLarge);
  EXPECT_LT(domain->stats().live_peak, 4 * kMiB);
}

TEST(CsvTest, ReadsWhatIsLongerThanItsBuffer) {
  std::string text;
  Records expected;
  for (int i = 0; i < 20'000; ++i) {
    expected.push_back({std::to_string(i), "a\r\nb"});
    text += std::to_string(i) + ",\"a\r\nb\"\r\n";
  }
  ASSERT_GT(text.size(), 128 * 1024U);
  EXPECT_EQ(read(text).value(), expected);
  const files::TemporaryFolder folder;
  EXPECT_EQ(read(system_door(), folder.put("a.gz", gzip(text))).value(),
            expected);
}

TEST(CsvTest, SaysWhereARecordBegan) {
  const files::TemporaryFolder folder;
  auto reader =
      CsvReader::open(system_door(), folder.put("a", "a\n\n\"b\n\"\nc"))
          .value();
  for (const std::int64_t line : {1, 3, 5}) {
    EXPECT_TRUE(reader.next().value());
    EXPECT_EQ(reader.line(), line);
  }
  EXPECT_FALSE(reader.next().value());
}

TEST(CsvTest, AReaderThatWasMovedFromRefuses) {
  const files::TemporaryFolder folder;
  auto reader =
      CsvReader::open(system_door(), folder.put("a", "a\nb\n")).value();
  EXPECT_TRUE(reader.next().value());
  auto moved = std::move(reader);
  // NOLINTBEGIN(bugprone-use-after-move): that is what is tested
  EXPECT_THROW(static_cast<void>(reader.next()), UseAfterRelease);
  EXPECT_EQ(reader.name(), "");
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_TRUE(moved.next().value());
  EXPECT_EQ(moved[0], "b");
}

TEST(CsvTest, PassesOnAFailureOfEachOperation) {
  const files::TemporaryFolder folder;
  const std::string path = folder.put("a.csv", "a,b\n1,2\n");
  std::int64_t n = 1;
  for (;; ++n) {
    files::FaultDoor door(system_door(), {.fail_at = n, .longest_read = 3});
    const auto records = read(door, path);
    if (records.has_value()) {
      break;
    }
    ASSERT_EQ(records.error().kind, FailureKind::kIo);
  }
  EXPECT_GT(n, 6);
}

}  // namespace
}  // namespace neap::formats
