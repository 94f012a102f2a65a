// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Files that lie: each is refused for what it says, in one line, before memory
// is asked for by its numbers.
#include <gmock/gmock.h>

#include <cstring>
#include <random>

#include "neap/files/temporary_folder.hpp"
#include "neap/formats/safetensors_header.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/door_test.hpp"

namespace neap::formats {
namespace {

using ::testing::HasSubstr;

std::string with_length(std::uint64_t length, const std::string& rest) {
  std::string file(sizeof(length), '\0');
  std::memcpy(file.data(), &length, sizeof(length));
  return file + rest;
}

std::string file_of(const std::string& header, std::size_t data_bytes = 0) {
  return with_length(header.size(), header + std::string(data_bytes, '\1'));
}

// A tensor "a" of a dtype, a shape and offsets.
std::string tensor(const std::string& dtype, const std::string& shape,
                   const std::string& offsets) {
  return R"({"a":{"dtype":")" + dtype + R"(","shape":)" + shape +
         R"(,"data_offsets":)" + offsets + "}}";
}

class SafetensorsHostileTest : public DoorTest {
 protected:
  Result<SafetensorsFile> open(const std::string& content) {
    return SafetensorsFile::open(files::system_door(),
                                 folder_.put("x.safetensors", content));
  }
  void refuse(const std::string& content, FailureKind kind,
              const std::string& says) {
    const Bytes peak_before = domain_->stats().live_peak;
    const auto file = open(content);
    ASSERT_FALSE(file.has_value()) << content;
    EXPECT_EQ(file.error().kind, kind) << file.error().message;
    EXPECT_THAT(file.error().message, HasSubstr(says));
    EXPECT_THAT(file.error().message, HasSubstr("x.safetensors: "));
    EXPECT_EQ(file.error().message.find('\n'), std::string::npos);
    const Bytes most = 64 * static_cast<Bytes>(content.size()) + 4 * kKiB;
    EXPECT_LE(domain_->stats().live_peak, std::max(peak_before, most));
  }
  void refuse_header(const std::string& header, const std::string& says,
                     FailureKind kind = FailureKind::kCorrupt,
                     std::size_t data_bytes = 4) {
    SCOPED_TRACE(header.substr(0, 200));
    refuse(file_of(header, data_bytes), kind, says);
  }

  files::TemporaryFolder folder_;
};

TEST_F(SafetensorsHostileTest, AFileTooShortForItsLengthIsTruncated) {
  refuse("", FailureKind::kTruncated, "has 0 bytes");
  refuse("1234567", FailureKind::kTruncated, "has 7 bytes");
  refuse(with_length(3, "{}"), FailureKind::kTruncated, "3 bytes in 2");
  const std::string whole = file_of(tensor("F32", "[1]", "[0,4]"), 4);
  ASSERT_TRUE(open(whole).has_value());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    refuse(whole.substr(0, size), FailureKind::kTruncated, "");
  }
}

TEST_F(SafetensorsHostileTest, ALengthBeyondTheBoundIsTooLarge) {
  for (const std::uint64_t length :
       {std::uint64_t{100'000'001}, std::uint64_t{1} << 62U,
        std::uint64_t{1} << 63U, ~std::uint64_t{0}}) {
    refuse(with_length(length, "{}"), FailureKind::kTooLarge, "at most");
  }
}

TEST_F(SafetensorsHostileTest, BytesBehindTheDataAreRefused) {
  refuse_header("{}", "has 4 bytes beyond the 0");
  refuse_header(tensor("U8", "[3]", "[0,3]"), "has 1 bytes beyond the 3");
}

TEST_F(SafetensorsHostileTest, WhatIsNoJsonIsRefusedWithItsPlace) {
  refuse_header("", "expected '{' at byte 0");
  refuse_header("[]", "expected '{' at byte 0");
  refuse_header("{", "expected a string at byte 1");
  refuse_header("{}{}", "text after the end at byte 2");
  refuse_header("{} x", "text after the end at byte 3");
  refuse_header(R"({"a")", "expected ':' at byte 4");
  refuse_header(R"({"a":{},})", "expected a string");
  refuse_header(R"({"a":1})", "expected '{'");
  refuse_header(R"({"a":null})", "expected '{'");
  refuse_header(R"({a:{}})", "expected a string");
  refuse_header(std::string("{}\0", 3), "text after the end");
}

TEST_F(SafetensorsHostileTest, DeepHeadersAreRefusedAtOnce) {
  refuse_header(std::string(1'000'000, '{'), "expected a string");
  refuse_header(std::string(1'000'000, '['), "expected '{'");
  refuse_header(R"({"a":)" + std::string(1'000'000, '['), "expected '{'");
  refuse_header(tensor("U8", std::string(1'000'000, '['), "[0,4]"),
                "expected a whole number");
  refuse_header(R"({"__metadata__":{"a":{"b":1}}})", "expected a string");
}

TEST_F(SafetensorsHostileTest, TextThatIsNotUtf8IsRefused) {
  refuse_header("{\"\xFF\":{}}", "not UTF-8");
  refuse_header("{\"\xC0\x80\":{}}", "not UTF-8");
  refuse_header("{\"__metadata__\":{\"k\":\"\xED\xA0\x80\"}}", "not UTF-8");
  refuse_header(R"({"\ud800":{}})", "an unpaired surrogate");
  refuse_header("{\"a\nb\":{}}", "a control character");
}

TEST_F(SafetensorsHostileTest, NothingMayStandTwice) {
  const std::string a = R"("a":{"dtype":"U8","shape":[2],"data_offsets":)";
  refuse_header("{" + a + "[0,2]}," + a + "[2,4]}}", R"("a" is named twice)");
  // The same name, escaped.
  const std::string b = R"("\u0061":{"dtype":"U8","shape":[2],"data_offsets":)";
  refuse_header("{" + a + "[0,2]}," + b + "[2,4]}}", R"("a" is named twice)");
  refuse_header(
      R"({"a":{"dtype":"U8","dtype":"U8","shape":[4],"data_offsets":[0,4]}})",
      R"("dtype" twice)");
  refuse_header(
      R"({"a":{"dtype":"U8","shape":[4],"shape":[4],"data_offsets":[0,4]}})",
      R"("shape" twice)");
  refuse_header(R"({"__metadata__":{},"__metadata__":{}})",
                R"("__metadata__" twice)");
  refuse_header(R"({"__metadata__":{"k":"1","k":"2"}})", R"("k" twice)",
                FailureKind::kCorrupt, 0);
}

TEST_F(SafetensorsHostileTest, EveryFieldMustBeThereAndNoOther) {
  refuse_header(R"({"a":{}})", "expected a string");
  refuse_header(R"({"a":{"dtype":"U8","shape":[4]}})",
                R"(does not say data_offsets of "a")");
  refuse_header(R"({"a":{"dtype":"U8","data_offsets":[0,4]}})",
                R"(does not say shape of "a")");
  refuse_header(R"({"a":{"shape":[4],"data_offsets":[0,4]}})",
                R"(does not say dtype of "a")");
  refuse_header(
      R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4],"x":{}}})",
      R"(says "x" of "a")", FailureKind::kUnsupported);
}

TEST_F(SafetensorsHostileTest, DTypesThatAreNotReadAreRefused) {
  for (const char* dtype : {"F4", "F8_E4M3", "F8_E5M2", "C64"}) {
    refuse_header(tensor(dtype, "[4]", "[0,4]"), "which is not read",
                  FailureKind::kUnsupported);
  }
  for (const char* dtype : {"", "f32", "F33", "F32 "}) {
    refuse_header(tensor(dtype, "[4]", "[0,4]"), "does not exist");
  }
  refuse_header(R"({"a":{"dtype":"C64"})", "which is not read",
                FailureKind::kUnsupported, 0);
  refuse_header(R"({"a":{"dtype":7,"shape":[4],"data_offsets":[0,4]}})",
                "expected a string");
}

TEST_F(SafetensorsHostileTest, ShapesMustBeWholeNumbersThatFit) {
  refuse_header(tensor("U8", "[-4]", "[0,4]"), "not negative");
  refuse_header(tensor("U8", "[4.0]", "[0,4]"), "not whole");
  refuse_header(tensor("U8", "[4e0]", "[0,4]"), "not whole");
  refuse_header(tensor("U8", "[04]", "[0,4]"), "begins with 0");
  refuse_header(tensor("U8", "[\"4\"]", "[0,4]"), "expected a whole number");
  refuse_header(tensor("U8", "[4,]", "[0,4]"), "expected a whole number");
  refuse_header(tensor("U8", "4", "[0,4]"), "expected '['");
  refuse_header(tensor("U8", "[18446744073709551620]", "[0,4]"),
                "beyond 63 bits");
  refuse_header(tensor("U8", "[1,1,1,1,1,1,1,1,4]", "[0,4]"),
                "more than 8 dimensions", FailureKind::kUnsupported);
}

TEST_F(SafetensorsHostileTest, ProductsThatDoNotFitAreTooLarge) {
  // 2^32 x 2^32 and 2^62 x 4 bytes are 0 in 64 bits.
  refuse_header(tensor("U8", "[4294967296,4294967296]", "[0,0]"),
                "beyond any memory", FailureKind::kTooLarge, 0);
  refuse_header(tensor("F32", "[4611686018427387904]", "[0,0]"),
                "beyond any memory", FailureKind::kTooLarge, 0);
  EXPECT_TRUE(open(file_of(tensor("F32", "[4294967296,4294967296,0]", "[0,0]")))
                  .has_value());
}

TEST_F(SafetensorsHostileTest, ShapeAndDTypeMustNeedTheBytesThatAreNamed) {
  refuse_header(tensor("F32", "[1]", "[0,3]"), "needs 4");
  refuse_header(tensor("F32", "[2]", "[0,4]"), "needs 8");
  refuse_header(tensor("F32", "[]", "[0,8]"), "needs 4");
  refuse_header(tensor("U8", "[0]", "[0,4]"), "needs 0");
  refuse_header(tensor("F32", "[1]", "[4,0]"), "needs 4");
  refuse_header(tensor("U8", "[1099511627776]", "[0,4]"),
                "needs 1099511627776");
}

TEST_F(SafetensorsHostileTest, OffsetsMustLieInTheFile) {
  refuse_header(tensor("U8", "[8]", "[0,8]"), "ends at byte 8",
                FailureKind::kTruncated);
  refuse_header(tensor("U8", "[1099511627776]", "[0,1099511627776]"),
                "ends at byte 1099511627776", FailureKind::kTruncated);
  refuse_header(
      tensor("U8", "[1]", "[9223372036854775806,9223372036854775807]"),
      "ends at byte", FailureKind::kTruncated);
  refuse_header(tensor("U8", "[4]", "[-4,0]"), "not negative");
  refuse_header(tensor("U8", "[4]", "[0]"), "expected ','");
  refuse_header(tensor("U8", "[4]", "[0,4,8]"), "expected ',' or ']'");
}

TEST_F(SafetensorsHostileTest, TensorsMustNeitherOverlapNorLeaveGaps) {
  const auto two = [](const std::string& first, const std::string& second) {
    return R"({"a":{"dtype":"U8","shape":[2],"data_offsets":)" + first +
           R"(},"b":{"dtype":"U8","shape":[2],"data_offsets":)" + second + "}}";
  };
  EXPECT_TRUE(open(file_of(two("[0,2]", "[2,4]"), 4)).has_value());
  EXPECT_TRUE(open(file_of(two("[2,4]", "[0,2]"), 4)).has_value());
  refuse_header(two("[0,2]", "[0,2]"), "inside of what ends at byte 2");
  refuse_header(two("[0,2]", "[1,3]"), "inside of what ends at byte 2");
  refuse_header(two("[0,2]", "[3,5]"), "beyond a gap from byte 2",
                FailureKind::kCorrupt, 5);
  refuse_header(two("[1,3]", "[3,5]"), "beyond a gap from byte 0",
                FailureKind::kCorrupt, 5);
}

TEST_F(SafetensorsHostileTest, LongNamesAreCutInMessages) {
  const std::string name =
      std::string(79, 'n') + "\xC3\xA9" + std::string(100'000, 'n');
  const auto file = open(file_of("{\"" + name + R"(":{"dtype":"C64"}})"));
  ASSERT_FALSE(file.has_value());
  EXPECT_LT(file.error().message.size(), 400U);
  EXPECT_THAT(file.error().message, HasSubstr("nnn\xC3\xA9...\""));
}

// Whatever a byte is changed to, the header is refused or is another good one,
// whose tensors fill the data.
TEST_F(SafetensorsHostileTest, NoChangedByteDoesHarm) {
  const std::string whole =
      R"({"__metadata__":{"format":"pt"},)"
      R"("a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
      R"("b.c":{"dtype":"BOOL","shape":[3],"data_offsets":[8,11]}})";
  constexpr Bytes kData = 11;
  std::mt19937 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): repeatable
  int refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string changed = whole;
    const std::size_t changes = 1 + random() % 3;
    for (std::size_t i = 0; i < changes; ++i) {
      constexpr std::string_view kLikely = "0123456789{}[]\":,-.e\\u";
      changed[random() % whole.size()] =
          random() % 2 == 0 ? kLikely[random() % kLikely.size()]
                            : static_cast<char>(random());
    }
    const auto header = parse_safetensors_header(changed, kData, "x");
    if (!header) {
      ++refused;
      continue;
    }
    Bytes filled = 0;
    for (const SafetensorsEntry& entry : header->entries) {
      EXPECT_EQ(entry.begin, filled);
      filled += entry.shape.element_count() * size_of(entry.stored);
    }
    EXPECT_EQ(filled, kData) << changed;
  }
  EXPECT_GT(refused, 10'000);
  EXPECT_LT(refused, 20'000);
}

}  // namespace
}  // namespace neap::formats
