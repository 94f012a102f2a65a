// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/files/whole_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace neap::files {
namespace {

// Beside `path`, so that a rename stays within one file system; no other
// thread or process has the same.
std::string temporary_beside(const std::string& path) {
  static constinit std::atomic<std::uint32_t> count{0};
  return fmt::format("{}.{}-{}.tmp", path, ::getpid(), count.fetch_add(1));
}

// Removes the temporary file unless it has become the real one.
class TemporaryGuard {
 public:
  TemporaryGuard(Door& door, const std::string& path) noexcept
      : door_(door), path_(path) {}
  TemporaryGuard(const TemporaryGuard&) = delete;
  TemporaryGuard& operator=(const TemporaryGuard&) = delete;
  ~TemporaryGuard() {
    if (is_armed_) {
      // The failure that led here is the one to report.
      try {
        static_cast<void>(door_.remove(path_));
      } catch (...) {  // no memory for a message that nobody reads
      }
    }
  }
  void arm() noexcept { is_armed_ = true; }
  void disarm() noexcept { is_armed_ = false; }

 private:
  Door& door_;
  const std::string& path_;
  bool is_armed_ = false;
};

Result<void> write_and_close(Result<File> opened, internal::Writer writer,
                             const void* context) {
  if (!opened) {
    return tl::make_unexpected(std::move(opened.error()));
  }
  File file = std::move(*opened);
  return writer(context, file)
      .and_then([&] { return file.sync(); })
      .and_then([&] { return file.close(); });
}

}  // namespace

Result<void> read_exact(File& file, std::span<std::byte> into) {
  const std::size_t wanted = into.size();
  while (!into.empty()) {
    const auto count = file.read(into);
    if (!count) {
      return tl::make_unexpected(count.error());
    }
    if (*count == 0) {
      return failure(FailureKind::kTruncated,
                     fmt::format("{} ends early: {} of {} bytes are there",
                                 file.name(), wanted - into.size(), wanted));
    }
    into = into.subspan(static_cast<std::size_t>(*count));
  }
  return {};
}

Result<void> write_all(File& file, std::span<const std::byte> from) {
  while (!from.empty()) {
    const auto count = file.write(from);
    if (!count) {
      return tl::make_unexpected(count.error());
    }
    from = from.subspan(static_cast<std::size_t>(*count));
  }
  return {};
}

namespace internal {

Result<void> write_atomically(Door& door, const std::string& path,
                              Writer writer, const void* context) {
  const std::string temporary = temporary_beside(path);
  TemporaryGuard guard(door, temporary);
  auto opened = door.open_write(temporary);
  if (opened) {
    guard.arm();
  }
  return write_and_close(std::move(opened), writer, context)
      .and_then([&] { return door.rename(temporary, path); })
      .and_then([&] {
        guard.disarm();
        return door.sync_directory(directory_of(path));
      });
}

}  // namespace internal
}  // namespace neap::files
