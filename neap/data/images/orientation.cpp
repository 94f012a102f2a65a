// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/images/orientation.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "neap/data/images/resize.hpp"

namespace neap::data::images {
namespace {

constexpr std::array kExif = {std::byte{'E'}, std::byte{'x'}, std::byte{'i'},
                              std::byte{'f'}, std::byte{0},   std::byte{0}};

// The TIFF file that an EXIF segment holds, in either order of bytes.
class Tiff {
 public:
  explicit Tiff(std::span<const std::byte> bytes) noexcept
      : bytes_(bytes),
        is_little_(bytes.size() > 1 && bytes[0] == std::byte{'I'}) {}

  bool is_valid() const noexcept {
    constexpr std::uint32_t kMagic = 42;
    const auto order = static_cast<std::byte>(is_little_ ? 'I' : 'M');
    return bytes_.size() >= kHeader && bytes_[0] == order &&
           bytes_[1] == order && number(2, 2) == kMagic;
  }

  bool holds(std::size_t at, std::size_t count) const noexcept {
    return at <= bytes_.size() && count <= bytes_.size() - at;
  }

  /// REQUIRES: holds(at, count).
  std::uint32_t number(std::size_t at, std::size_t count) const noexcept {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t place = is_little_ ? count - 1 - i : i;
      value =
          (value << 8U) | std::to_integer<std::uint32_t>(bytes_[at + place]);
    }
    return value;
  }

  std::size_t first_directory() const noexcept { return number(4, 4); }

 private:
  static constexpr std::size_t kHeader = 8;

  std::span<const std::byte> bytes_;
  bool is_little_;
};

// The value of an entry of a directory, 0 where it is no single number.
std::uint32_t number_of_entry(const Tiff& tiff, std::size_t entry) noexcept {
  constexpr std::uint32_t kShort = 3;
  constexpr std::uint32_t kLong = 4;
  const std::uint32_t type = tiff.number(entry + 2, 2);
  if ((type != kShort && type != kLong) || tiff.number(entry + 4, 4) != 1) {
    return 0;
  }
  return tiff.number(entry + 8, type == kShort ? 2 : 4);
}

// Where pixel (row, column) of the upright image is stored, in pixels.
struct Source {
  std::int64_t height;  // as stored
  std::int64_t width;
  bool is_from_below;  // upright columns go up in the stored image
  bool is_from_right;  // upright rows go left

  std::int64_t at(std::int64_t row, std::int64_t column) const noexcept {
    const std::int64_t stored_row =
        is_from_below ? height - 1 - column : column;
    return stored_row * width + (is_from_right ? width - 1 - row : row);
  }
};

// Writes one square of the upright image, whose rows are `columns` long.
void turn_square(const Image& stored, const Source& source, ImageBox square,
                 std::int64_t columns, std::uint8_t* upright) noexcept {
  const std::int64_t channels = stored.channels;
  for (std::int64_t row = square.top; row < square.top + square.height; ++row) {
    for (std::int64_t column = square.left; column < square.left + square.width;
         ++column) {
      std::copy_n(stored.pixels.data() + channels * source.at(row, column),
                  channels, upright + channels * (row * columns + column));
    }
  }
}

// Exchanges rows and columns in squares, whose lines stay in the cache.
void transpose(Image& image, bool is_from_below, bool is_from_right) {
  constexpr std::int64_t kSide = 32;
  auto upright = memory::Vector<std::uint8_t>(
      image.pixels.size(), 0,
      memory::Allocator<std::uint8_t>(memory::Category::kData));
  const Source source{image.height, image.width, is_from_below, is_from_right};
  const std::int64_t rows = image.width;
  const std::int64_t columns = image.height;
  for (std::int64_t top = 0; top < rows; top += kSide) {
    for (std::int64_t left = 0; left < columns; left += kSide) {
      turn_square(image, source,
                  {top, left, std::min(kSide, rows - top),
                   std::min(kSide, columns - left)},
                  columns, upright.data());
    }
  }
  image.pixels = std::move(upright);
  std::swap(image.height, image.width);
}

void swap_pixels(Image& image, std::int64_t a, std::int64_t b) noexcept {
  std::uint8_t* first = image.pixels.data() + image.channels * a;
  std::swap_ranges(first, first + image.channels,
                   image.pixels.data() + image.channels * b);
}

void mirror(Image& image) noexcept {
  for (std::int64_t row = 0; row < image.height; ++row) {
    const std::int64_t begin = row * image.width;
    for (std::int64_t column = 0; column < image.width / 2; ++column) {
      swap_pixels(image, begin + column, begin + image.width - 1 - column);
    }
  }
}

void rotate_half(Image& image) noexcept {
  const std::int64_t count = image.height * image.width;
  for (std::int64_t i = 0; i < count / 2; ++i) {
    swap_pixels(image, i, count - 1 - i);
  }
}

}  // namespace

bool is_exif(std::span<const std::byte> segment) noexcept {
  return segment.size() >= kExif.size() &&
         std::equal(kExif.begin(), kExif.end(), segment.begin());
}

int orientation_of(std::span<const std::byte> segment) noexcept {
  constexpr std::size_t kEntryBytes = 12;
  constexpr std::uint32_t kOrientation = 0x0112;
  constexpr std::uint32_t kMostOrientation = 8;
  if (!is_exif(segment)) {
    return kUpright;
  }
  const Tiff tiff(segment.subspan(kExif.size()));
  if (!tiff.is_valid() || !tiff.holds(tiff.first_directory(), 2)) {
    return kUpright;
  }
  std::uint32_t found = kUpright;
  std::size_t entry = tiff.first_directory() + 2;
  for (std::uint32_t left = tiff.number(entry - 2, 2);
       left > 0 && tiff.holds(entry, kEntryBytes);
       --left, entry += kEntryBytes) {
    if (tiff.number(entry, 2) == kOrientation) {
      found = number_of_entry(tiff, entry);  // the last one holds, as for PIL
    }
  }
  return found >= 1 && found <= kMostOrientation ? static_cast<int>(found)
                                                 : kUpright;
}

void turn_upright(Image& image, int orientation) {
  switch (orientation) {
    case 2:
      mirror(image);
      break;
    case 3:
      rotate_half(image);
      break;
    case 4:
      rotate_half(image);
      mirror(image);
      break;
    case 5:
      transpose(image, false, false);
      break;
    case 6:
      transpose(image, true, false);
      break;
    case 7:
      transpose(image, true, true);
      break;
    case 8:
      transpose(image, false, true);
      break;
    default:
      break;
  }
}

}  // namespace neap::data::images
