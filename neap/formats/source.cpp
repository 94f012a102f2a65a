// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/formats/source.hpp"

#include "neap/formats/gzip.hpp"

namespace neap::formats {
namespace {

using files::ByteSource;
using files::File;
using files::PlainSource;
using memory::Category;
using memory::make_owned;
using memory::Owned;

struct Opened {
  File file;
  Bytes size;
};

Result<Opened> open_with_size(files::Door& door, const std::string& path) {
  return door.open_read(path).and_then([](File&& file) {
    return file.size().map([&](Bytes size) {
      return Opened{std::move(file), size};
    });
  });
}

// Looks through a handle of its own: a door does not seek.
Result<bool> begins_as_gzip(files::Door& door, const std::string& path) {
  return open_with_size(door, path).and_then([](Opened&& opened) {
    PlainSource source(std::move(opened.file), opened.size);
    std::array<std::byte, kGzipMagic.size()> found{};
    return files::read_full(source, found).map([&](Bytes) {
      return found == kGzipMagic;
    });
  });
}

}  // namespace

Result<Owned<ByteSource>> open_source(files::Door& door,
                                      const std::string& path) {
  return begins_as_gzip(door, path).and_then([&](bool is_gzip) {
    return open_with_size(door, path)
        .map([&](Opened&& opened) -> Owned<ByteSource> {
          auto& [file, size] = opened;
          if (is_gzip) {
            return open_gzip(std::move(file), size);
          }
          return make_owned<PlainSource>(Category::kData, std::move(file),
                                         size);
        });
  });
}

}  // namespace neap::formats
