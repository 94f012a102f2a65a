// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The files that golden/record.py wrote, and pixels of its formula, for tests.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

#include "neap/data/images/image.hpp"

namespace neap::data {

inline std::string golden_path(const std::string& name) {
  return std::string(NEAP_IMAGES_GOLDEN) + "/" + name;
}

inline std::string golden(const std::string& name) {
  std::ifstream file(golden_path(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string bytes_of(const Image& image) {
  return {image.pixels.begin(), image.pixels.end()};
}

/// The three-channel picture that PIL was given.
inline Image pattern_image(std::int64_t height, std::int64_t width) {
  Image image;
  image.height = height;
  image.width = width;
  image.channels = 3;
  for (std::int64_t row = 0; row < height; ++row) {
    for (std::int64_t column = 0; column < width; ++column) {
      for (std::int64_t channel = 0; channel < 3; ++channel) {
        const std::int64_t value = row * 1543 + column * 2311 + channel * 9007 +
                                   ((row * column * 97) ^ 0x2b31);
        image.pixels.push_back(
            static_cast<std::uint8_t>((value & 0xffff) >> 8));
      }
    }
  }
  return image;
}

/// The largest difference of two texts of bytes; 256 where lengths differ.
inline int largest_difference(const std::string& a, const std::string& b) {
  int most = a.size() == b.size() ? 0 : 256;
  for (std::size_t i = 0; most < 256 && i < a.size(); ++i) {
    most = std::max(most, std::abs(static_cast<unsigned char>(a[i]) -
                                   static_cast<unsigned char>(b[i])));
  }
  return most;
}

}  // namespace neap::data
