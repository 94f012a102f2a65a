// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Files that are damaged or made to harm: a typed failure, little memory, and
// nothing on stderr.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "neap/data/images/golden_for_test.hpp"
#include "neap/data/images/image.hpp"
#include "neap/files/temporary_folder.hpp"

namespace neap::data {
namespace {

using testing::HasSubstr;

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes += static_cast<char>(value >> static_cast<unsigned>(shift));
  }
  return bytes;
}

std::string chunk(const std::string& kind, const std::string& data) {
  const std::string body = kind + data;
  const auto sum = ::crc32(0, reinterpret_cast<const Bytef*>(body.data()),
                           static_cast<uInt>(body.size()));
  return big_endian(static_cast<std::uint32_t>(data.size())) + body +
         big_endian(static_cast<std::uint32_t>(sum));
}

const std::string kSignature = "\x89PNG\r\n\x1a\n";

std::string header(std::uint32_t width, std::uint32_t height, int depth,
                   int kind, int interlace = 0) {
  std::string data = big_endian(width) + big_endian(height);
  for (const int value : {depth, kind, 0, 0, interlace}) {
    data += static_cast<char>(value);
  }
  return kSignature + chunk("IHDR", data);
}

std::string deflated(const std::string& bytes) {
  std::string out(::compressBound(bytes.size()), '\0');
  uLongf size = out.size();
  EXPECT_EQ(
      ::compress(reinterpret_cast<Bytef*>(out.data()), &size,
                 reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()),
      Z_OK);
  out.resize(size);
  return out;
}

// A file in memory.
class TextSource final : public files::ByteSource {
 public:
  explicit TextSource(const std::string& text) : left_(text) {}
  Result<Bytes> read(std::span<std::byte> into) override {
    const std::size_t count = std::min(into.size(), left_.size());
    std::memcpy(into.data(), left_.data(), count);
    left_.remove_prefix(count);
    return static_cast<Bytes>(count);
  }
  files::Remaining remaining() const noexcept override {
    return {static_cast<Bytes>(left_.size()), true};
  }
  std::string_view name() const noexcept override { return "picture"; }

 private:
  std::string_view left_;
};

class HostileImageTest : public testing::Test {
 protected:
  ~HostileImageTest() override {
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  }

  // Reads these bytes; peak_ is how much memory that took, the image included.
  Result<Image> read(const std::string& bytes, const ImageLimits& limits = {}) {
    TextSource source(bytes);
    domain_->reset_peak();
    auto image = read_image(source, limits);
    peak_ = domain_->stats().live_peak;
    EXPECT_EQ(domain_->stats().live,
              image ? static_cast<Bytes>(image->pixels.capacity()) : 0);
    return image;
  }
  // The refusal of these bytes.
  Failure refusal(const std::string& bytes, const ImageLimits& limits = {}) {
    const auto image = read(bytes, limits);
    if (image) {
      return {FailureKind::kInterrupted, "it was read"};
    }
    EXPECT_THAT(image.error().message, HasSubstr("picture: "));
    return image.error();
  }
  FailureKind kind(const std::string& bytes) { return refusal(bytes).kind; }

  Domain::Handle domain_ = Domain::create();
  UseDomain use_{*domain_};
  Bytes peak_ = 0;
  bool is_captured_ = (testing::internal::CaptureStderr(), true);
};

TEST_F(HostileImageTest, IsNoImage) {
  EXPECT_EQ(kind(""), FailureKind::kTruncated);
  EXPECT_EQ(kind("GIF89a and so on"), FailureKind::kUnsupported);
  EXPECT_EQ(kind(std::string(1000, '\0')), FailureKind::kUnsupported);
  EXPECT_THAT(refusal("text").message, HasSubstr("neither PNG nor JPEG"));
}

TEST_F(HostileImageTest, IsCutOffAnywhere) {
  for (const char* name :
       {"rgb8.png", "grey1_interlaced.png", "palette4.png", "grey.jpg",
        "sampled.jpg", "restarts.jpg", "progressive.jpg", "cmyk.jpg"}) {
    const std::string whole = golden(name);
    ASSERT_GT(whole.size(), 90U);
    for (std::size_t size = 8; size < whole.size(); ++size) {
      const Failure found = refusal(whole.substr(0, size));
      ASSERT_TRUE(found.kind == FailureKind::kTruncated ||
                  found.kind == FailureKind::kCorrupt)
          << name << " of " << size << " bytes: " << found.message;
    }
  }
}

// Checksums cover a PNG; but the one of what is passed over is not looked at.
TEST_F(HostileImageTest, IsAPngWithOneByteThatIsAnother) {
  for (const char* name :
       {"rgb8", "palette4", "rgba16_interlaced", "chunks", "grey1"}) {
    const std::string whole = golden(std::string(name) + ".png");
    const std::string pixels = golden(std::string(name) + ".rgb");
    for (std::size_t at = 0; at < whole.size(); ++at) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ 0x5A);
      const auto image = read(bytes);
      ASSERT_TRUE(!image || bytes_of(*image) == pixels) << name << " " << at;
    }
  }
}

// A JPEG has no checksum: it may be read with other pixels.
TEST_F(HostileImageTest, IsAJpegWithOneByteThatIsAnother) {
  const ImageLimits limits{.pixels = 1 << 20};
  for (const char* name : {"sampled.jpg", "progressive.jpg", "cmyk.jpg"}) {
    const std::string whole = golden(name);
    for (std::size_t at = 0; at < whole.size(); ++at) {
      for (const int change : {0x5A, 0xFF}) {
        std::string bytes = whole;
        bytes[at] = static_cast<char>(bytes[at] ^ change);
        static_cast<void>(refusal(bytes, limits));
        ASSERT_LT(peak_, most_bytes_of_image(limits));
      }
    }
  }
}

TEST_F(HostileImageTest, AnnouncesMorePixelsThanAllowed) {
  const std::string rest =
      chunk("IDAT", deflated("nothing much")) + chunk("IEND", "");
  const Failure found = refusal(header(60'000, 60'000, 16, 6) + rest);
  EXPECT_EQ(found.kind, FailureKind::kTooLarge);
  EXPECT_THAT(found.message, HasSubstr("more pixels than are allowed"));
  EXPECT_LT(peak_, 100 * kKiB);
  EXPECT_EQ(kind(header(0x7fffffff, 0x7fffffff, 8, 2) + rest),
            FailureKind::kTooLarge);
  EXPECT_EQ(kind(header(65'536, 1, 8, 2) + rest), FailureKind::kTooLarge);
  EXPECT_EQ(kind(header(0, 5, 8, 2) + rest), FailureKind::kCorrupt);
  EXPECT_LT(peak_, 100 * kKiB);
}

TEST_F(HostileImageTest, MeetsTheLimitToThePixel) {
  const std::string whole = golden("rgb8.png");  // (11, 13)
  EXPECT_EQ(refusal(whole, {.pixels = 142}).kind, FailureKind::kTooLarge);
  EXPECT_EQ(refusal(whole, {.pixels = 143}).kind, FailureKind::kInterrupted);
  const std::string jpeg = golden("sampled.jpg");  // (21, 27)
  EXPECT_EQ(refusal(jpeg, {.pixels = 566}).kind, FailureKind::kTooLarge);
  EXPECT_EQ(refusal(jpeg, {.pixels = 567}).kind, FailureKind::kInterrupted);
}

TEST_F(HostileImageTest, AnnouncesALargeJpeg) {
  std::string jpeg = golden("progressive.jpg");
  const auto frame = jpeg.find("\xff\xc2");
  ASSERT_NE(frame, std::string::npos);
  jpeg.replace(frame + 5, 4, "\xff\xdc\xff\xdc");  // 65500 by 65500
  EXPECT_EQ(kind(jpeg), FailureKind::kTooLarge);
  EXPECT_LT(peak_, 100 * kKiB);
}

TEST_F(HostileImageTest, InflatesToMuchMoreThanItShould) {
  // Texts and profiles are passed over, whatever they inflate to.
  const std::string bomb = deflated(std::string(8'300'000, 'x'));
  const std::string pixels = deflated(std::string(4 * 3 + 1, '\0'));
  const std::string whole =
      header(4, 1, 8, 2) + chunk("iCCP", std::string("name\0\0", 6) + bomb) +
      chunk("zTXt", std::string("name\0\0", 6) + bomb) +
      chunk("zTXt", std::string("name\0\0", 6) +
                        deflated(std::string(1'000'000, 'x'))) +
      chunk("IDAT", pixels) + chunk("IEND", "");
  EXPECT_EQ(kind(whole), FailureKind::kInterrupted);
  EXPECT_LT(peak_, 200 * kKiB);
  // Pixels that no row has room for are passed over, too.
  static_cast<void>(
      refusal(header(4, 1, 8, 2) + chunk("IDAT", bomb) + chunk("IEND", "")));
  EXPECT_LT(peak_, 200 * kKiB);
}

TEST_F(HostileImageTest, HasFewerRowsThanAnnounced) {
  EXPECT_EQ(kind(header(4, 2, 8, 2) +
                 chunk("IDAT", deflated(std::string(4 * 3 + 1, '\0'))) +
                 chunk("IEND", "")),
            FailureKind::kCorrupt);
}

TEST_F(HostileImageTest, HasColoursThatThePaletteLacks) {
  // Index 3 of a palette with one entry.
  const std::string row = std::string("\0\x03", 2);
  const std::string whole = header(1, 1, 8, 3) + chunk("PLTE", "abc") +
                            chunk("IDAT", deflated(row)) + chunk("IEND", "");
  EXPECT_EQ(kind(whole), FailureKind::kInterrupted);
  EXPECT_EQ(kind(header(1, 1, 8, 3) + chunk("IDAT", deflated(row)) +
                 chunk("IEND", "")),
            FailureKind::kCorrupt);
}

// A scan of a progressive JPEG costs a few bytes and a walk over all blocks.
TEST_F(HostileImageTest, HasMoreScansThanAnyEncoderWrites) {
  std::string jpeg = golden("grey_progressive.jpg");
  const auto last = jpeg.rfind("\xff\xda");
  ASSERT_NE(last, std::string::npos);
  const std::string scan = jpeg.substr(last, jpeg.size() - 2 - last);
  jpeg.resize(jpeg.size() - 2);
  for (int i = 0; i < 120; ++i) {
    jpeg += scan;
  }
  jpeg += "\xff\xd9";
  const Failure found = refusal(jpeg);
  EXPECT_EQ(found.kind, FailureKind::kTooLarge);
  EXPECT_THAT(found.message, HasSubstr("100 scans"));
}

// The library would make up the rest of the pixels, and warn.
TEST_F(HostileImageTest, HasAScanThatLacksItsEnd) {
  for (const char* name : {"sampled.jpg", "progressive.jpg", "cmyk.jpg"}) {
    std::string jpeg = golden(name);
    jpeg.erase(jpeg.size() - 62, 60);
    const Failure found = refusal(jpeg);
    EXPECT_EQ(found.kind, FailureKind::kCorrupt) << name;
    EXPECT_THAT(found.message, HasSubstr("premature end")) << name;
  }
}

TEST_F(HostileImageTest, HasADepthThatIsNotRead) {
  std::string jpeg = golden("sampled.jpg");
  const auto frame = jpeg.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  jpeg[frame + 1] = '\xc1';
  jpeg[frame + 4] = '\x0c';  // 12 bits
  EXPECT_EQ(kind(jpeg), FailureKind::kUnsupported);
}

TEST_F(HostileImageTest, IsAFolder) {
  const files::TemporaryFolder folder;
  EXPECT_FALSE(read_image(files::system_door(), folder.path()).has_value());
}

}  // namespace
}  // namespace neap::data
