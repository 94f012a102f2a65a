// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/files/fault_door.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "neap/base/shown.hpp"

namespace neap::files {
namespace {

// The first `most` bytes.
template <class Byte>
std::span<Byte> cut(std::span<Byte> bytes, Bytes most) noexcept {
  const Bytes size = std::min(static_cast<Bytes>(bytes.size()), most);
  return bytes.first(static_cast<std::size_t>(size));
}

}  // namespace

Result<void> FaultDoor::step(std::string_view what, std::string_view path) {
  const std::int64_t number = operations_.fetch_add(1) + 1;
  if (faults_.stop_at != 0 && number >= faults_.stop_at) {
    return failure(FailureKind::kInterrupted,
                   fmt::format("cannot {} {}: stopped on purpose at operation "
                               "{}",
                               what, base::shown_path(path), faults_.stop_at));
  }
  if (number == faults_.fail_at) {
    return failure(FailureKind::kIo,
                   fmt::format("cannot {} {}: failed on purpose at operation "
                               "{}",
                               what, base::shown_path(path), number));
  }
  return {};
}

Result<File> FaultDoor::adopt(Result<File> file) noexcept {
  if (file) {
    file->set_door(*this);
  }
  return file;
}

Result<File> FaultDoor::open_read(const std::string& path) {
  return step("open", path).and_then([&] {
    return adopt(inner_.open_read(path));
  });
}

Result<File> FaultDoor::open_write(const std::string& path) {
  return step("create", path).and_then([&] {
    return adopt(inner_.open_write(path));
  });
}

Result<File> FaultDoor::open_append(const std::string& path) {
  return step("open", path).and_then([&] {
    return adopt(inner_.open_append(path));
  });
}

Result<Bytes> FaultDoor::read(File& file, std::span<std::byte> into) {
  return step("read", file.name()).and_then([&] {
    return inner_.read(file, cut(into, faults_.longest_read));
  });
}

Result<Bytes> FaultDoor::read_at(File& file, Bytes offset,
                                 std::span<std::byte> into) {
  return step("read", file.name()).and_then([&] {
    return inner_.read_at(file, offset, cut(into, faults_.longest_read));
  });
}

Result<Bytes> FaultDoor::write(File& file, std::span<const std::byte> from) {
  auto may = step("write", file.name());
  if (!may) {
    return tl::make_unexpected(std::move(may.error()));
  }
  if (faults_.space == kUnlimited) {
    return inner_.write(file, cut(from, faults_.longest_write));
  }
  const Bytes left = space_left_.load();
  if (left == 0 && !from.empty()) {
    return failure(FailureKind::kIo,
                   fmt::format("cannot write {}: no space left on device; free "
                               "some space",
                               file.name()));
  }
  auto written =
      inner_.write(file, cut(from, std::min(left, faults_.longest_write)));
  space_left_ -= written.value_or(0);
  return written;
}

Result<void> FaultDoor::sync(File& file) {
  return step("sync", file.name()).and_then([&] { return inner_.sync(file); });
}

Result<Bytes> FaultDoor::size(File& file) {
  return step("measure", file.name()).and_then([&] {
    return inner_.size(file);
  });
}

Result<void> FaultDoor::set_mode(File& file, std::uint32_t mode) {
  return step("set the mode of", file.name()).and_then([&] {
    return inner_.set_mode(file, mode);
  });
}

Result<void> FaultDoor::close(File& file) {
  return step("close", file.name()).and_then([&] {
    return inner_.close(file);
  });
}

// Not an operation: a process that is killed gives its files back too.
void FaultDoor::abandon(File& file) noexcept {
  inner_.abandon(file);
}

Result<void> FaultDoor::rename(const std::string& from, const std::string& to) {
  return step("rename", from).and_then([&] { return inner_.rename(from, to); });
}

Result<void> FaultDoor::remove(const std::string& path) {
  return step("remove", path).and_then([&] { return inner_.remove(path); });
}

Result<void> FaultDoor::make_directory(const std::string& path) {
  return step("make folder", path).and_then([&] {
    return inner_.make_directory(path);
  });
}

Result<void> FaultDoor::sync_directory(const std::string& path) {
  return step("sync folder", path).and_then([&] {
    return inner_.sync_directory(path);
  });
}

Result<bool> FaultDoor::exists(const std::string& path) {
  return step("look for", path).and_then([&] { return inner_.exists(path); });
}

Result<PathFacts> FaultDoor::inspect(const std::string& path) {
  return step("inspect", path).and_then([&] { return inner_.inspect(path); });
}

Result<std::vector<std::string>> FaultDoor::list(const std::string& directory) {
  return step("list folder", directory).and_then([&] {
    return inner_.list(directory);
  });
}

}  // namespace neap::files
