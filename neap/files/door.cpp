// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/files/door.hpp"

#include <fmt/format.h>

#include "neap/base/shown.hpp"

namespace neap::files {
namespace {

tl::unexpected<Failure> unsupported(std::string_view path) {
  return failure(FailureKind::kUnsupported,
                 fmt::format("cannot use {}: there are no scratch files behind "
                             "this door; use another",
                             base::shown_path(path)));
}

}  // namespace

Door::~Door() = default;

Result<Scratch> Door::open_scratch(const std::string& folder,
                                   bool /*may_be_direct*/) {
  return unsupported(folder);
}

Result<Bytes> Door::write_at(File& file, Bytes /*offset*/,
                             std::span<const std::byte> /*from*/) {
  return unsupported(file.name());
}

Result<Bytes> Door::fill_at(File& file, Bytes /*offset*/, Bytes /*bytes*/) {
  return unsupported(file.name());
}

Result<void> Door::preallocate(File& file, Bytes /*offset*/, Bytes /*bytes*/) {
  return unsupported(file.name());
}

Result<void> Door::truncate(File& file, Bytes /*bytes*/) {
  return unsupported(file.name());
}

Result<void> Door::begin_writeback(File& file, Bytes /*offset*/,
                                   Bytes /*bytes*/) {
  return unsupported(file.name());
}

Result<void> Door::drop_cached(File& file, Bytes /*offset*/, Bytes /*bytes*/) {
  return unsupported(file.name());
}

Result<Bytes> Door::free_bytes(File& file) {
  return unsupported(file.name());
}

std::string directory_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) {
    return ".";
  }
  return std::string(path.substr(0, slash == 0 ? 1 : slash));
}

}  // namespace neap::files
