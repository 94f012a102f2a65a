// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/images/image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "neap/base/outside.hpp"
#include "neap/base/raise.hpp"
#include "neap/data/images/decoders.hpp"
#include "neap/data/images/grey.hpp"

namespace neap::data {
namespace images {
namespace {

constexpr std::int64_t kMostPixels = std::int64_t{1} << 40U;

constexpr std::array kPngMagic = {
    std::byte{0x89}, std::byte{'P'},  std::byte{'N'},  std::byte{'G'},
    std::byte{'\r'}, std::byte{'\n'}, std::byte{0x1A}, std::byte{'\n'}};
constexpr std::array kJpegMagic = {std::byte{0xFF}, std::byte{0xD8},
                                   std::byte{0xFF}};

bool begins_with(std::span<const std::byte> bytes,
                 std::span<const std::byte> magic) noexcept {
  return bytes.size() >= magic.size() &&
         std::equal(magic.begin(), magic.end(), bytes.begin());
}

void read_first_piece(Decoding& decoding) noexcept {
  if (!decoding.refill()) {
    decoding.fail(FailureKind::kTruncated, "it is empty");
  }
}

void refuse_format(Decoding& decoding) noexcept {
  decoding.fail(FailureKind::kUnsupported, "it is neither PNG nor JPEG");
}

void refuse_size(Decoding& decoding) noexcept {
  decoding.fail(FailureKind::kTooLarge,
                "its header announces more pixels than are allowed");
}

// Calls one or the other function, by how the file begins.
template <class Made>
using Decoder = Result<Made> (*)(Decoding&, const ImageLimits&);
template <class Made>
Result<Made> by_format(Decoding& decoding, const ImageLimits& limits,
                       Decoder<Made> png, Decoder<Made> jpeg) {
  if (!decoding.run(&read_first_piece, decoding)) {
    return decoding.failure();
  }
  if (begins_with(decoding.piece(), kPngMagic)) {
    return png(decoding, limits);
  }
  if (begins_with(decoding.piece(), kJpegMagic)) {
    return jpeg(decoding, limits);
  }
  decoding.run(&refuse_format, decoding);
  return decoding.failure();
}

bool is_allowed(std::int64_t height, std::int64_t width,
                const ImageLimits& limits) noexcept {
  return std::max(height, width) <= kMostSide &&
         height <= limits.pixels / std::max<std::int64_t>(1, width);
}

// In place, and the rest is freed.
void make_grey(Image& image) {
  const std::uint8_t* from = image.pixels.data();
  const auto count = static_cast<std::size_t>(image.height * image.width);
  for (std::size_t i = 0; i < count; ++i, from += 3) {
    image.pixels[i] = grey_of(from);
  }
  image.channels = 1;
  image.pixels.resize(count);
  image.pixels.shrink_to_fit();
}

}  // namespace

Result<ImageHeader> make_header(Decoding& decoding, std::uint32_t height,
                                std::uint32_t width, Bytes heap,
                                const ImageLimits& limits) {
  if (!is_allowed(height, width, limits)) {
    decoding.run(&refuse_size, decoding);
    return decoding.failure();
  }
  const std::int64_t pixels = std::int64_t{height} * width;
  return ImageHeader{height, width, Decoding::kPieceBytes + 3 * pixels + heap};
}

Result<Image> make_image(Decoding& decoding, std::uint32_t height,
                         std::uint32_t width, const ImageLimits& limits) {
  if (!is_allowed(height, width, limits)) {
    decoding.run(&refuse_size, decoding);
    return decoding.failure();
  }
  Image image;
  image.height = height;
  image.width = width;
  image.channels = 3;
  image.pixels.resize(static_cast<std::size_t>(3 * image.height * image.width));
  return image;
}

}  // namespace images

Bytes most_bytes_of_image(const ImageLimits& limits) {
  // The padding of blocks is largest where both sides are.
  const std::int64_t side = std::min(limits.pixels, images::kMostSide);
  const Bytes padding = images::jpeg_heap(side, side, true) -
                        images::jpeg_heap(0, 0, true) - 8 * side * side;
  const Bytes jpeg =
      images::jpeg_heap(0, 0, true) + padding + 8 * limits.pixels;
  return images::Decoding::kPieceBytes + 3 * limits.pixels +
         std::max(images::png_heap(side), jpeg);
}

void check_limits(const ImageLimits& limits) {
  if ((limits.channels != 1 && limits.channels != 3) || limits.pixels < 1 ||
      limits.pixels > images::kMostPixels) {
    base::raise<ValueError>(
        "images: {} channels and at most {} pixels, expected 1 or 3 channels "
        "and a limit of 1 to 2^40",
        limits.channels, limits.pixels);
  }
}

Result<Image> read_image(files::ByteSource& source, const ImageLimits& limits) {
  base::tell_of_question("read_image", "for the pixels of a file", {});
  check_limits(limits);
  images::Decoding decoding(source);
  auto image = images::by_format<Image>(decoding, limits, &images::decode_png,
                                        &images::decode_jpeg);
  if (image && limits.channels == 1) {
    images::make_grey(*image);
  }
  return image;
}

namespace {

// Calls made_of(source) for an open file.
template <class Made, class MadeOf>
Result<Made> of_file(files::Door& door, const std::string& path,
                     const MadeOf& made_of) {
  auto file = door.open_read(path);
  if (!file) {
    return tl::unexpected(std::move(file.error()));
  }
  const auto size = file->size();
  if (!size) {
    return tl::unexpected(size.error());
  }
  files::PlainSource source(std::move(*file), *size);
  return made_of(source);
}

}  // namespace

Result<Image> read_image(files::Door& door, const std::string& path,
                         const ImageLimits& limits) {
  return of_file<Image>(door, path, [&](files::ByteSource& source) {
    return read_image(source, limits);
  });
}

Result<ImageHeader> read_image_header(files::Door& door,
                                      const std::string& path,
                                      const ImageLimits& limits) {
  base::tell_of_question("read_image_header", "for the size of a file's image",
                         {});
  check_limits(limits);
  return of_file<ImageHeader>(door, path, [&](files::ByteSource& source) {
    images::Decoding decoding(source);
    return images::by_format<ImageHeader>(
        decoding, limits, &images::look_at_png, &images::look_at_jpeg);
  });
}

}  // namespace neap::data
