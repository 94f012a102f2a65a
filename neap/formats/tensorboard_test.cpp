// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/formats/tensorboard.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "neap/formats/crc32c.hpp"

namespace neap::formats {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// Bit by bit: shares nothing with the table.
std::uint32_t slow_crc32c(std::string_view text) {
  std::uint32_t value = 0xFFFFFFFF;
  for (const char c : text) {
    value ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) {
      value = (value & 1U) != 0 ? value >> 1U ^ 0x82F63B78U : value >> 1U;
    }
  }
  return ~value;
}

TEST(Crc32cTest, HasTheValuesOfTheRfc) {
  EXPECT_EQ(crc32c(bytes_of("123456789")), 0xE3069283U);
  EXPECT_EQ(crc32c(bytes_of(std::string(32, '\0'))), 0x8A9136AAU);
  EXPECT_EQ(crc32c(bytes_of(std::string(32, '\xFF'))), 0x62A8AB43U);
  EXPECT_EQ(crc32c({}), 0U);
  EXPECT_EQ(crc32c(bytes_of("TensorBoard")), slow_crc32c("TensorBoard"));
}

// A reader of its own for TFRecord frames and protocol buffers.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}
  bool is_at_end() const { return text_.empty(); }

  std::string_view take(std::size_t count) {
    EXPECT_LE(count, text_.size());
    const auto part = text_.substr(0, count);
    text_.remove_prefix(std::min(count, text_.size()));
    return part;
  }
  template <class T>
  T number() {
    T value{};
    const auto part = take(sizeof(T));
    std::memcpy(&value, part.data(), part.size());
    return value;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = number<std::uint8_t>();
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) {
        return value;
      }
    }
  }
  // The data of the next frame, its checksums held against it.
  std::string_view frame() {
    const auto masked = [](std::string_view part) {
      const std::uint32_t crc = slow_crc32c(part);
      return (crc >> 15U | crc << 17U) + 0xA282EAD8U;
    };
    const auto head = take(8);
    EXPECT_EQ(number<std::uint32_t>(), masked(head));
    const auto data = take(Reader(head).number<std::uint64_t>());
    EXPECT_EQ(number<std::uint32_t>(), masked(data));
    return data;
  }

 private:
  std::string_view text_;
};

struct Event {
  double wall_time = 0.0;
  std::int64_t step = 0;
  std::string version;
  std::vector<std::pair<std::string, float>> scalars;
};

std::pair<std::string, float> value_of(std::string_view data) {
  Reader reader(data);
  EXPECT_EQ(reader.number<std::uint8_t>(), 0x0A);
  const std::string tag(reader.take(reader.varint()));
  EXPECT_EQ(reader.number<std::uint8_t>(), 0x15);
  const auto value = reader.number<float>();
  EXPECT_TRUE(reader.is_at_end());
  return {tag, value};
}

Event event_of(std::string_view data) {
  Event event;
  for (Reader reader(data); !reader.is_at_end();) {
    switch (reader.number<std::uint8_t>()) {
      case 0x09:
        event.wall_time = reader.number<double>();
        break;
      case 0x10:
        event.step = static_cast<std::int64_t>(reader.varint());
        break;
      case 0x1A:
        event.version = reader.take(reader.varint());
        break;
      case 0x2A:
        for (Reader summary(reader.take(reader.varint()));
             !summary.is_at_end();) {
          EXPECT_EQ(summary.number<std::uint8_t>(), 0x0A);
          event.scalars.push_back(value_of(summary.take(summary.varint())));
        }
        break;
      default:
        ADD_FAILURE() << "a field that was never written";
        return event;
    }
  }
  return event;
}

class TensorboardTest : public testing::Test {
 protected:
  memory::Vector<std::byte> out_;
  std::string_view text() const {
    return {reinterpret_cast<const char*>(out_.data()), out_.size()};
  }
};

TEST_F(TensorboardTest, BeginsWithItsVersion) {
  append_version_event(out_, 1.5);
  Reader reader(text());
  const Event event = event_of(reader.frame());
  EXPECT_EQ(event.version, "brain.Event:2");
  EXPECT_EQ(event.wall_time, 1.5);
  EXPECT_TRUE(reader.is_at_end());
  // An event as tensorboard's own writer has it, for wall time 1.5.
  constexpr std::string_view kWhole(
      "\x18\0\0\0\0\0\0\0\xA3\x7F\x4B\x22"
      "\x09\0\0\0\0\0\0\xF8\x3F\x1A\x0D"
      "brain.Event:2",
      12 + 11 + 13);
  EXPECT_EQ(text().substr(0, kWhole.size()), kWhole);
}

TEST_F(TensorboardTest, WritesScalarsOneFrameAStep) {
  const std::string long_tag(300, 'x');
  append_scalars(out_, 2.0, 1, std::vector<Scalar>{{"train/loss", 0.5}});
  append_scalars(out_, 3.0, std::int64_t{1} << 40,
                 std::vector<Scalar>{{"a", -1.0}, {long_tag, 1e30}, {"", 0.0}});
  append_scalars(out_, 4.0, 0, {});
  Reader reader(text());
  const Event first = event_of(reader.frame());
  EXPECT_EQ(first.step, 1);
  EXPECT_EQ(first.scalars[0], std::pair(std::string("train/loss"), 0.5F));
  const Event second = event_of(reader.frame());
  EXPECT_EQ(second.wall_time, 3.0);
  EXPECT_EQ(second.step, std::int64_t{1} << 40);
  ASSERT_EQ(second.scalars.size(), 3U);
  EXPECT_EQ(second.scalars[1], std::pair(long_tag, 1e30F));
  EXPECT_TRUE(event_of(reader.frame()).scalars.empty());
  EXPECT_TRUE(reader.is_at_end());
}

}  // namespace
}  // namespace neap::formats
