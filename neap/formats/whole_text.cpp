// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/formats/whole_text.hpp"

#include <fmt/format.h>

#include "neap/files/whole_file.hpp"

namespace neap::formats {

Result<memory::String> read_whole_text(files::Door& door,
                                       const std::string& path, Bytes most) {
  auto file = door.open_read(path);
  if (!file) {
    return tl::make_unexpected(std::move(file.error()));
  }
  const auto size = file->size();
  if (!size) {
    return tl::make_unexpected(size.error());
  }
  if (*size > most) {
    return failure(FailureKind::kTooLarge,
                   fmt::format("{}: has {} bytes, at most {} are read",
                               file->name(), *size, most));
  }
  memory::String text{memory::Allocator<char>(memory::Category::kData)};
  text.resize(static_cast<std::size_t>(*size));
  return files::read_exact_at(*file, 0, std::as_writable_bytes(std::span(text)))
      .map([&] { return std::move(text); });
}

}  // namespace neap::formats
