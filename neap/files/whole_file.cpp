// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/files/whole_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "neap/base/shown.hpp"

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

// A device or pipe: there is no old content to keep, and nothing to sync.
Result<void> write_straight(Door& door, const std::string& path,
                            internal::Writer writer, const void* context) {
  auto opened = door.open_write(path);
  if (!opened) {
    return tl::make_unexpected(std::move(opened.error()));
  }
  File file = std::move(*opened);
  return writer(context, file).and_then([&] { return file.close(); });
}

// Writes beside the file that `facts` names, and renames over it.
Result<void> write_beside(Door& door, const PathFacts& facts,
                          internal::Writer writer, const void* context) {
  const std::string temporary = temporary_beside(facts.target);
  TemporaryGuard guard(door, temporary);
  auto opened = door.open_write(temporary);
  if (!opened) {
    return tl::make_unexpected(std::move(opened.error()));
  }
  guard.arm();
  File file = std::move(*opened);
  if (facts.kind == PathKind::kFile) {
    auto kept = door.set_mode(file, facts.mode);
    if (!kept) {
      return kept;
    }
  }
  return writer(context, file)
      .and_then([&] { return file.sync(); })
      .and_then([&] { return file.close(); })
      .and_then([&] { return door.rename(temporary, facts.target); })
      .and_then([&] {
        guard.disarm();
        return door.sync_directory(directory_of(facts.target));
      });
}

// read_part(done, into) reads what follows the first `done` bytes.
template <class ReadPart>
Result<void> read_whole(const File& file, std::span<std::byte> into,
                        const ReadPart& read_part) {
  const std::size_t wanted = into.size();
  while (!into.empty()) {
    const Result<Bytes> count = read_part(wanted - into.size(), into);
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

}  // namespace

Result<void> read_exact(File& file, std::span<std::byte> into) {
  return read_whole(file, into, [&](std::size_t, std::span<std::byte> rest) {
    return file.read(rest);
  });
}

Result<void> read_exact_at(File& file, Bytes offset,
                           std::span<std::byte> into) {
  return read_whole(
      file, into, [&](std::size_t done, std::span<std::byte> rest) {
        return file.read_at(offset + static_cast<Bytes>(done), rest);
      });
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
  const auto facts = door.inspect(path);
  if (!facts) {
    return tl::make_unexpected(facts.error());
  }
  switch (facts->kind) {
    case PathKind::kDirectory:
      return failure(FailureKind::kIo,
                     fmt::format("cannot write {}: Is a directory; give a file",
                                 base::shown_path(path)));
    case PathKind::kOther:
      return write_straight(door, path, writer, context);
    default:
      return write_beside(door, *facts, writer, context);
  }
}

}  // namespace internal
}  // namespace neap::files
