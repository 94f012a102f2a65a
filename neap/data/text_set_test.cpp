// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/text_set.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "neap/data/loader.hpp"
#include "neap/data/utf8.hpp"
#include "neap/files/fault_door.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/formats/gzip_for_test.hpp"
#include "neap/tensor/create.hpp"

namespace neap::data {
namespace {

using files::system_door;
using testing::HasSubstr;

// Input and target of a sample, as text.
using Sample = std::pair<std::string, std::string>;

Sample sample(const TextSet& set, std::int64_t index, std::int64_t epoch = 0) {
  const auto count = static_cast<std::size_t>(set.options().block);
  std::vector<std::int64_t> input(count);
  std::vector<std::int64_t> target(count);
  set.load({epoch, index}, std::as_writable_bytes(std::span(input)),
           std::as_writable_bytes(std::span(target)));
  const auto text = [&](const auto& tokens) {
    return std::string(std::string_view(set.vocabulary().decode(tokens)));
  };
  return {text(input), text(target)};
}

Text text_of(std::string_view text, Symbols symbols = Symbols::kCharacters) {
  return tokenise(text, symbols).value();
}

TEST(TextSetTest, ReturnsBlocksAndTheNextTokens) {
  const TextSet set(text_of("abcdefgh"), {.block = 3});
  EXPECT_EQ(set.size(), 2);
  EXPECT_EQ(sample(set, 0), Sample("abc", "bcd"));
  EXPECT_EQ(sample(set, 1), Sample("def", "efg"));
  EXPECT_EQ(TextSet(text_of("abcdefg"), {.block = 3}).size(), 2);
  EXPECT_EQ(TextSet(text_of("abcdef"), {.block = 3}).size(), 1);
  EXPECT_EQ(TextSet(text_of("abc"), {.block = 3}).size(), 0);
  EXPECT_EQ(TextSet(text_of(""), {.block = 3}).size(), 0);
}

TEST(TextSetTest, TakesAStrideAndAPart) {
  const TextSet set(text_of("abcdefgh"),
                    {.block = 2, .begin = 1, .end = 7, .stride = 1});
  EXPECT_EQ(set.size(), 4);
  EXPECT_EQ(sample(set, 0), Sample("bc", "cd"));
  EXPECT_EQ(sample(set, 3), Sample("ef", "fg"));
}

TEST(TextSetTest, DrawsEveryStartEquallyOften) {
  const TextSet set(
      text_of("abcdefgh"),
      {.block = 3, .begin = 1, .random = true, .seed = 5, .samples = 8000});
  std::array<int, 8> count{};
  for (std::int64_t index = 0; index < set.size(); ++index) {
    const auto [input, target] = sample(set, index, 2);
    ASSERT_EQ(input.substr(1), target.substr(0, 2));
    ++count[static_cast<std::size_t>(input[0] - 'a')];
  }
  for (std::size_t start = 0; start < count.size(); ++start) {
    EXPECT_NEAR(count[start], start >= 1 && start <= 4 ? 2000 : 0, 200);
  }
}

TEST(TextSetTest, DrawsBySeedEpochAndIndexAlone) {
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    text += static_cast<char>('a' + i * 7 % 23);
  }
  const BlockOptions options{.block = 8, .random = true, .seed = 5};
  const TextSet set(text_of(text), options);
  const TextSet same(text_of(text), options);
  EXPECT_EQ(set.size(), 124);
  EXPECT_EQ(sample(set, 17, 3), sample(same, 17, 3));
  int equal = 0;
  for (std::int64_t index = 0; index < set.size(); ++index) {
    equal += sample(set, index, 3) == sample(set, index, 4) ? 1 : 0;
  }
  EXPECT_LT(equal, 20);
}

TEST(TextSetTest, FillsALoadersBatches) {
  const TextSet set(text_of("abcdefghi"), {.block = 2});
  Loader loader(set, {.batch = 3, .prefetch = 1});
  loader.start(0);
  const Batch* batch = loader.next();
  EXPECT_EQ(batch->input.shape(), (Shape{3, 2}));
  EXPECT_EQ(batch->input.dtype(), i64);
  EXPECT_EQ(batch->target.at({2, 1}), 6.0);
}

TEST(TextSetTest, KeepsTokensAtTheirSmallestWidth) {
  EXPECT_EQ(text_of("abcabc").bytes(), 6);
  EXPECT_EQ(text_of("abcabc", Symbols::kBytes).bytes(), 6);
  std::string many;
  for (char32_t point = 0x100; point < 0x100 + 257; ++point) {
    append_utf8(many, point);
  }
  const Text text = text_of(many);
  EXPECT_EQ(text.size(), 257);
  EXPECT_EQ(text.bytes(), 514);
  const TextSet set(text, {.block = 256});
  EXPECT_EQ(sample(set, 0).first, many.substr(0, many.size() - 2));
}

TEST(TextSetTest, SplitsATextIntoItsBeginningAndItsEnd) {
  const TextParts parts =
      split_text(text_of("abcdefghijklmnopqrst"),
                 {.block = 2, .validation = 0.25, .samples = 7})
          .value();
  EXPECT_EQ(parts.train.tokens(), 15);
  EXPECT_EQ(parts.train.size(), 7);
  EXPECT_EQ(parts.validation.tokens(), 5);
  EXPECT_EQ(sample(parts.validation, 0), Sample("pq", "qr"));
  EXPECT_EQ(parts.train.vocabulary(), parts.validation.vocabulary());
}

TEST(TextSetTest, RefusesATextWithoutAWholeBlock) {
  const Text text = text_of("abcdefghij");
  EXPECT_EQ(split_text(text, {.block = 2, .validation = 0.1}).error().kind,
            FailureKind::kMismatch);
  EXPECT_TRUE(split_text(text, {.block = 2, .validation = 0.3}).has_value());
  EXPECT_TRUE(split_text(text, {.block = 9, .validation = 0.0}).has_value());
  EXPECT_FALSE(split_text(text, {.block = 10, .validation = 0.0}).has_value());
  EXPECT_THROW(static_cast<void>(split_text(text, {.validation = 1.0})),
               ValueError);
}

TEST(TextSetTest, RefusesOptionsThatMakeNoSense) {
  const Text text = text_of("abcdefghij");
  EXPECT_THROW(TextSet(text, {.block = 0}), ValueError);
  EXPECT_THROW(TextSet(text, {.stride = -1}), ValueError);
  EXPECT_THROW(TextSet(text, {.samples = -1}), ValueError);
  EXPECT_THROW(TextSet(text, {.begin = 4, .end = 3}), ValueError);
  EXPECT_THROW(TextSet(text, {.end = 11}), ValueError);
  EXPECT_THROW(Text(zeros({3}, u8), Vocabulary()), ShapeError);
  EXPECT_THROW(Text(zeros({3, 1}), Vocabulary()), DTypeError);
}

TEST(TextFileTest, IsReadPlainAndCompressed) {
  const files::TemporaryFolder folder;
  const std::string text = "In the beginning\n\xE2\x82\xAC";
  const std::string plain = folder.put("a.txt", text);
  const std::string compressed = folder.put("a.gz", formats::gzip(text));
  for (const std::string& path : {plain, compressed}) {
    const auto parts =
        read_text(system_door(), path, {.block = 17, .validation = 0.0});
    ASSERT_TRUE(parts.has_value()) << parts.error().message;
    const TextSet whole(
        tokenise_file(system_door(), path, Symbols::kBytes).value(),
        {.block = 19});
    EXPECT_EQ(sample(parts->train, 0).second, text.substr(1));
    EXPECT_EQ(sample(whole, 0).first, text.substr(0, 19));
  }
}

TEST(TextFileTest, CutsCharactersAtTheBuffersEndAtNoPlace) {
  // Three bytes a character, so that one lies across the 64 KiB of a buffer.
  std::string text = "a";
  for (int i = 0; i < 50'000; ++i) {
    append_utf8(text, 0x20AC);
  }
  const Text tokens = text_of(text);
  EXPECT_EQ(tokens.size(), 50'001);
  EXPECT_EQ(tokens.vocabulary().size(), 2);
  text[120'001] = ' ';
  EXPECT_THAT(tokenise(text, Symbols::kCharacters).error().message,
              HasSubstr("at byte 120002"));
}

TEST(TextFileTest, RefusesWhatIsNotUtf8AndNamesFileAndByte) {
  const files::TemporaryFolder folder;
  const std::string path = folder.put("a.txt", "abc\xE2\x82");
  const auto parts = read_text(system_door(), path, {.block = 1});
  ASSERT_FALSE(parts.has_value());
  EXPECT_EQ(parts.error().kind, FailureKind::kCorrupt);
  EXPECT_EQ(parts.error().message,
            path +
                ": not UTF-8 at byte 3; convert it, or take bytes for "
                "symbols");
  EXPECT_TRUE(
      read_text(system_door(), path,
                {.symbols = Symbols::kBytes, .block = 1, .validation = 0.4})
          .has_value());
}

TEST(TextFileTest, NamesAFileThatIsNotThereOnce) {
  const auto parts = read_text(system_door(), "/nowhere/a.txt", {});
  ASSERT_FALSE(parts.has_value());
  EXPECT_EQ(parts.error().message,
            "cannot open /nowhere/a.txt: No such file or directory; check the "
            "path");
}

TEST(TextFileTest, PassesOnAFailureOfEachOperation) {
  const files::TemporaryFolder folder;
  const std::string path = folder.put("a.txt", "abcdefgh");
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  std::int64_t n = 1;
  for (;; ++n) {
    files::FaultDoor door(system_door(), {.fail_at = n, .longest_read = 3});
    const auto text = tokenise_file(door, path, Symbols::kCharacters);
    if (text.has_value()) {
      EXPECT_EQ(text->size(), 8);
      break;
    }
    EXPECT_EQ(text.error().kind, FailureKind::kIo) << n;
    EXPECT_EQ(domain->stats().live, 0);
  }
  EXPECT_GT(n, 10);
}

TEST(TextFileTest, HoldsTheTokensAndNothingElse) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  const Text text = text_of(std::string(1'000'000, 'a'));
  EXPECT_LE(domain->stats().live, 1'000'000 + 1 * kKiB);
  EXPECT_LE(domain->stats().live_peak, 1'000'000 + 256 * kKiB);
}

TEST(TextOfIdsTest, IdsTakeAsFewBytesAsHoldThem) {
  const auto width_of = [](std::int64_t limit) {
    const std::vector<std::int64_t> ids{0, limit - 1, limit / 2};
    const Text text = text_of_ids(ids, limit);
    std::vector<std::int64_t> back(3);
    text.copy(0, back);
    EXPECT_EQ(back, ids) << limit;
    EXPECT_EQ(text.size(), 3);
    return text.bytes() / 3;
  };
  EXPECT_EQ(width_of(256), 1);
  EXPECT_EQ(width_of(257), 2);
  EXPECT_EQ(width_of(65'536), 2);
  EXPECT_EQ(width_of(65'537), 3);
  EXPECT_EQ(width_of(151'936), 3);
  EXPECT_EQ(width_of(std::int64_t{1} << 32), 4);
}

TEST(TextOfIdsTest, IdsThatAreNoneAreRefused) {
  const std::array<std::int64_t, 1> five{5};
  const std::array<std::int64_t, 1> less{-1};
  EXPECT_THROW(static_cast<void>(text_of_ids(five, 5)), ValueError);
  EXPECT_THROW(static_cast<void>(text_of_ids(less, 5)), ValueError);
  EXPECT_THROW(static_cast<void>(text_of_ids({}, 0)), ValueError);
}

}  // namespace
}  // namespace neap::data
