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
  if (faults_.fail_at != 0 && number >= faults_.fail_at &&
      number - faults_.fail_at < faults_.failures) {
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
    return lie(inner_.read(file, cut(into, faults_.longest_read)), into);
  });
}

Result<Bytes> FaultDoor::read_at(File& file, Bytes offset,
                                 std::span<std::byte> into) {
  return step("read", file.name()).and_then([&] {
    return lie(inner_.read_at(file, offset, cut(into, faults_.longest_read)),
               into);
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
    return full(file);
  }
  auto written =
      inner_.write(file, cut(from, std::min(left, faults_.longest_write)));
  space_left_ -= written.value_or(0);
  return written;
}

tl::unexpected<Failure> FaultDoor::full(const File& file) const {
  return failure(FailureKind::kIo,
                 fmt::format("cannot write {}: no space left on device; free "
                             "some space",
                             file.name()));
}

Result<Bytes> FaultDoor::lie(Result<Bytes> count,
                             std::span<std::byte> into) noexcept {
  constexpr std::byte kBit{0x10};
  if (count && *count > 0) {
    const std::int64_t number = reads_.fetch_add(1) + 1;
    if (faults_.lie_at != 0 && number >= faults_.lie_at &&
        number - faults_.lie_at < faults_.lies) {
      into[static_cast<std::size_t>(*count / 2)] ^= kBit;
    }
  }
  return count;
}

Result<void> FaultDoor::take_space(File& file, Bytes offset, Bytes bytes) {
  if (faults_.space == kUnlimited) {
    return {};
  }
  return inner_.size(file).and_then([&](Bytes size) -> Result<void> {
    const Bytes more = std::max<Bytes>(offset + bytes - size, 0);
    if (more > space_left_.load()) {
      return full(file);
    }
    space_left_ -= more;
    return {};
  });
}

Result<Scratch> FaultDoor::open_scratch(const std::string& folder,
                                        bool may_be_direct) {
  return step("spill to", folder).and_then([&] {
    auto scratch = inner_.open_scratch(folder, may_be_direct);
    if (scratch) {
      scratch->file.set_door(*this);
    }
    return scratch;
  });
}

Result<Bytes> FaultDoor::write_at(File& file, Bytes offset,
                                  std::span<const std::byte> from) {
  const auto part = cut(from, faults_.longest_write);
  return step("write", file.name())
      .and_then([&] {
        return take_space(file, offset, static_cast<Bytes>(part.size()));
      })
      .and_then([&] { return inner_.write_at(file, offset, part); });
}

Result<Bytes> FaultDoor::fill_at(File& file, Bytes offset, Bytes bytes) {
  const Bytes part = std::min(bytes, faults_.longest_write);
  return step("write", file.name())
      .and_then([&] { return take_space(file, offset, part); })
      .and_then([&] { return inner_.fill_at(file, offset, part); });
}

Result<void> FaultDoor::preallocate(File& file, Bytes offset, Bytes bytes) {
  return step("take space for", file.name())
      .and_then([&] { return take_space(file, offset, bytes); })
      .and_then([&] { return inner_.preallocate(file, offset, bytes); });
}

Result<void> FaultDoor::truncate(File& file, Bytes bytes) {
  return step("cut", file.name())
      .and_then([&] { return inner_.size(file); })
      .and_then([&](Bytes size) -> Result<void> {
        auto cut = inner_.truncate(file, bytes);
        if (cut && faults_.space != kUnlimited) {
          space_left_ += std::max<Bytes>(size - bytes, 0);
        }
        return cut;
      });
}

Result<void> FaultDoor::begin_writeback(File& file, Bytes offset, Bytes bytes) {
  return step("write", file.name()).and_then([&] {
    return inner_.begin_writeback(file, offset, bytes);
  });
}

Result<void> FaultDoor::drop_cached(File& file, Bytes offset, Bytes bytes) {
  return step("write", file.name()).and_then([&] {
    return inner_.drop_cached(file, offset, bytes);
  });
}

Result<Bytes> FaultDoor::free_bytes(File& file) {
  return step("measure the disk of", file.name()).and_then([&] {
    return inner_.free_bytes(file);
  });
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
