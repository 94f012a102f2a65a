// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Compressing for tests, with zlib itself.
#pragma once

#include <zlib.h>

#include <stdexcept>
#include <string>

namespace neap::formats {

/// A gzip member.
inline std::string gzip(std::string text) {
  z_stream stream{};
  constexpr int kGzip = 15 + 16;
  if (::deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzip, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("gzip: deflateInit2 failed");
  }
  const auto size = static_cast<uLong>(text.size());
  std::string out(::deflateBound(&stream, size), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(size);
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  ::deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

}  // namespace neap::formats
