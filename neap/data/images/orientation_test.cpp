// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/images/orientation.hpp"

#include <gtest/gtest.h>

#include <string>

#include "neap/data/images/golden_for_test.hpp"
#include "neap/files/temporary_folder.hpp"

namespace neap::data::images {
namespace {

using files::system_door;

std::string number(std::uint32_t value, int bytes, bool is_little) {
  std::string text;
  for (int i = 0; i < bytes; ++i) {
    const int shift = 8 * (is_little ? i : bytes - 1 - i);
    text += static_cast<char>(value >> static_cast<unsigned>(shift));
  }
  return text;
}

struct Entry {
  std::uint32_t tag = 0x0112;
  std::uint32_t type = 3;
  std::uint32_t value = 6;
  std::uint32_t count = 1;
};

struct Written {
  std::vector<Entry> entries = {{}};
  bool is_little = false;
  std::uint32_t magic = 42;
  std::uint32_t offset = 8;   // of the directory
  std::uint32_t count = ~0U;  // of entries as it says; the true one
};

std::string exif(const Written& w) {
  const auto put = [&](std::uint32_t value, int bytes) {
    return number(value, bytes, w.is_little);
  };
  std::string text("Exif\0\0", 6);
  text += (w.is_little ? "II" : "MM") + put(w.magic, 2) + put(w.offset, 4);
  text += put(
      w.count == ~0U ? static_cast<std::uint32_t>(w.entries.size()) : w.count,
      2);
  for (const Entry& entry : w.entries) {
    text += put(entry.tag, 2) + put(entry.type, 2) + put(entry.count, 4);
    text +=
        entry.type == 3 ? put(entry.value, 2) + put(0, 2) : put(entry.value, 4);
  }
  return text;
}

int orientation(const std::string& segment) {
  return orientation_of(std::as_bytes(std::span(segment)));
}

TEST(OrientationTest, IsReadInEitherOrderOfBytes) {
  for (const bool is_little : {false, true}) {
    for (std::uint32_t value = 1; value <= 8; ++value) {
      EXPECT_EQ(orientation(exif({.entries = {{.tag = 0x010f, .value = 77},
                                              {.value = value}},
                                  .is_little = is_little})),
                static_cast<int>(value));
    }
    EXPECT_EQ(orientation(exif({.entries = {{.type = 4, .value = 8}},
                                .is_little = is_little})),
              8);
  }
}

TEST(OrientationTest, IsTheLastOfSeveralAsForPil) {
  EXPECT_EQ(orientation(exif({.entries = {{.value = 6}, {.value = 3}}})), 3);
}

TEST(OrientationTest, IsUprightWhereNothingIsUnderstood) {
  for (const Written& one : {Written{.entries = {}},
                             {.entries = {{.value = 0}}},
                             {.entries = {{.value = 9}}},
                             {.entries = {{.value = 65'535}}},
                             {.entries = {{.type = 4, .value = 0xffff'ffff}}},
                             {.entries = {{.type = 1}}},
                             {.entries = {{.count = 2}}},
                             {.entries = {{.count = 0}}},
                             {.entries = {{.tag = 0x0113}}},
                             {.magic = 43},
                             {.offset = 9},
                             {.offset = 0xffff'ffff},
                             {.offset = 0xffff'fffe},
                             {.count = 0}}) {
    EXPECT_EQ(orientation(exif(one)), kUpright);
  }
  std::string other = exif({});
  other[0] = 'e';
  EXPECT_EQ(orientation(other), kUpright);
  other = exif({});
  other[7] = 'I';  // one byte of the order is another
  EXPECT_EQ(orientation(other), kUpright);
}

TEST(OrientationTest, IsReadWhereMoreEntriesAreAnnouncedThanThere) {
  EXPECT_EQ(orientation(exif({.count = 65'535})), 6);
}

TEST(OrientationTest, IsUprightWhereverTheSegmentIsCutOff) {
  const std::string whole = exif({});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string part = whole.substr(0, size);  // checked by sanitizers
    EXPECT_EQ(orientation(part), kUpright) << size;
  }
}

TEST(OrientationTest, TurnsAsPilDoes) {
  for (int number = 1; number <= 8; ++number) {
    Image image = pattern_image(5, 4);
    turn_upright(image, number);
    EXPECT_EQ(image.height, number < kFirstTransposed ? 5 : 4);
    EXPECT_EQ(image.width, number < kFirstTransposed ? 4 : 5);
    EXPECT_EQ(bytes_of(image),
              number == 1
                  ? bytes_of(pattern_image(5, 4))
                  : golden("upright_" + std::to_string(number) + ".rgb"))
        << number;
  }
}

// Squares of 32 pixels, and what is left of them.
TEST(OrientationTest, TurnsLargeImagesPixelByPixel) {
  const Image stored = pattern_image(71, 45);
  Image image = pattern_image(71, 45);
  turn_upright(image, 6);
  for (std::int64_t row = 0; row < 45; ++row) {
    for (std::int64_t column = 0; column < 71; ++column) {
      for (std::int64_t channel = 0; channel < 3; ++channel) {
        const auto at = static_cast<std::size_t>((row * 71 + column) * 3);
        const auto from =
            static_cast<std::size_t>(((70 - column) * 45 + row) * 3);
        const auto c = static_cast<std::size_t>(channel);
        ASSERT_EQ(image.pixels[at + c], stored.pixels[from + c]);
      }
    }
  }
}

// The segment is put behind the file's first two bytes.
std::string with_segments(std::string jpeg,
                          const std::vector<std::string>& segments) {
  std::string all;
  for (const std::string& segment : segments) {
    all += "\xff\xe1" +
           number(static_cast<std::uint32_t>(segment.size() + 2), 2, false) +
           segment;
  }
  return jpeg.insert(2, all);
}

class TurnedFileTest : public testing::Test {
 protected:
  // The image of the bytes, after its header was compared with it.
  Image read(const std::string& bytes, const ImageLimits& limits = {}) {
    const std::string path = folder_.put("picture.jpg", bytes);
    const auto header = read_image_header(system_door(), path, limits);
    const Bytes before = domain_->stats().live;
    domain_->reset_peak();
    auto image = read_image(system_door(), path, limits);
    if (!image || !header) {
      ADD_FAILURE() << image.error().message;
      return {};
    }
    EXPECT_EQ(header->height, image->height);
    EXPECT_EQ(header->width, image->width);
    EXPECT_LE(domain_->stats().live_peak - before, header->most_bytes);
    EXPECT_EQ(domain_->stats().live - before,
              static_cast<Bytes>(image->pixels.capacity()));
    return std::move(*image);
  }

  Domain::Handle domain_ = Domain::create();
  UseDomain use_{*domain_};
  files::TemporaryFolder folder_;
  std::string plain_ = golden("sampled.jpg");
};

TEST_F(TurnedFileTest, HasThePixelsThatPilTurns) {
  const Image image = read(golden("turned.jpg"));
  EXPECT_EQ(image.height, 27);
  EXPECT_EQ(image.width, 21);
  EXPECT_LE(largest_difference(bytes_of(image), golden("turned.rgb")), 2);
}

TEST_F(TurnedFileTest, TakesTheTurnedPixelsBesidesTheStoredOnes) {
  std::string large = plain_;
  const auto frame = large.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  large.replace(frame + 5, 4, "\x0b\xb8\x0f\xa0");  // 3000 by 4000
  const auto header_of = [&](const std::string& bytes) {
    return *read_image_header(system_door(), folder_.put("large.jpg", bytes));
  };
  const ImageHeader stored = header_of(large);
  const ImageHeader turned = header_of(with_segments(large, {exif({})}));
  EXPECT_EQ(turned.height, 4000);
  EXPECT_EQ(turned.width, 3000);
  const Bytes pixels = Bytes{3} * 3000 * 4000;
  EXPECT_LT(stored.most_bytes, pixels + 2 * kMiB);
  EXPECT_GE(turned.most_bytes, 2 * pixels);
  EXPECT_EQ(header_of(with_segments(large, {exif({.entries = {{.value = 3}}})}))
                .most_bytes,
            stored.most_bytes);
}

TEST_F(TurnedFileTest, IsAsStoredWhereThatIsAskedFor) {
  const std::string turned = with_segments(plain_, {exif({})});
  const Image as_stored = read(turned, {.turns_upright = false});
  EXPECT_EQ(as_stored.height, 21);
  EXPECT_EQ(bytes_of(as_stored), bytes_of(read(plain_)));
}

TEST_F(TurnedFileTest, IsTurnedInGreyAndWithScansToo) {
  const Image grey = read(with_segments(plain_, {exif({})}), {.channels = 1});
  EXPECT_EQ(grey.height, 27);
  for (const char* name : {"progressive.jpg", "cmyk.jpg", "grey.jpg"}) {
    Image expected = read(golden(name));
    turn_upright(expected, 6);
    EXPECT_EQ(bytes_of(read(with_segments(golden(name), {exif({})}))),
              bytes_of(expected))
        << name;
  }
}

TEST_F(TurnedFileTest, FollowsTheFirstExifAmongOtherNotes) {
  const std::string xmp = "http://ns.adobe.com/xap/1.0/";
  const Image image = read(with_segments(
      plain_, {xmp, "", "Ex", exif({}), exif({.entries = {{.value = 3}}})}));
  EXPECT_EQ(image.height, 27);
}

// All that the library would keep is passed over, a segment at a time.
TEST_F(TurnedFileTest, TakesNoMemoryForManyLongSegments) {
  std::string much = exif({});
  much.resize(65'533);
  std::vector<std::string> all(100, much);
  all.insert(all.begin(), std::string(65'533, 'x'));
  const Image image = read(with_segments(plain_, all));
  EXPECT_EQ(image.height, 27);
  EXPECT_LT(domain_->stats().live_peak, 600 * kKiB);
}

TEST_F(TurnedFileTest, AnUnreadableSegmentLeavesTheImageAsItIs) {
  const std::string broken = exif({.offset = 0xffff'fff0});
  EXPECT_EQ(bytes_of(read(with_segments(plain_, {broken}))),
            bytes_of(read(plain_)));
  std::string too_short = plain_;
  too_short.insert(2, std::string("\xff\xe1\0\1", 4));  // less than its length
  EXPECT_EQ(bytes_of(read(too_short)), bytes_of(read(plain_)));
}

TEST_F(TurnedFileTest, ACutSegmentIsACutFile) {
  const std::string whole = with_segments(plain_, {exif({})});
  for (std::size_t size = 3; size < 40; ++size) {
    const std::string path = folder_.put("cut.jpg", whole.substr(0, size));
    EXPECT_EQ(read_image(system_door(), path).error().kind,
              FailureKind::kTruncated)
        << size;
    EXPECT_EQ(domain_->stats().live, 0);
  }
}

TEST_F(TurnedFileTest, SurvivesEveryFailureOfMemory) {
  const std::string path =
      folder_.put("turned.jpg", with_segments(plain_, {exif({})}));
  int n = 1;
  for (bool is_read = false; !is_read && n < 1000; ++n) {
    domain_->fail_at(n);
    try {
      is_read = read_image(system_door(), path).has_value();
      EXPECT_TRUE(is_read);
    } catch (const OutOfMemory&) {
    }
    ASSERT_EQ(domain_->stats().live, 0) << n;
  }
  domain_->fail_at(0);
  EXPECT_GT(n, 5);
  EXPECT_LT(n, 1000);
}

}  // namespace
}  // namespace neap::data::images
