// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/files/byte_source.hpp"

#include <algorithm>

namespace neap::files {

ByteSource::~ByteSource() = default;

Result<Bytes> PlainSource::read(std::span<std::byte> into) {
  return file_.read(into).map([&](Bytes count) {
    left_ -= std::min(count, left_);
    return count;
  });
}

Result<Bytes> read_full(ByteSource& source, std::span<std::byte> into) {
  Bytes total = 0;
  while (!into.empty()) {
    auto count = source.read(into);
    if (!count) {
      return count;
    }
    if (*count == 0) {
      break;
    }
    total += *count;
    into = into.subspan(static_cast<std::size_t>(*count));
  }
  return total;
}

}  // namespace neap::files
