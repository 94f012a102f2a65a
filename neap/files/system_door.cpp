// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// POSIX files: interrupted calls are repeated, descriptors are not inherited.
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>

#include "neap/base/immortal.hpp"
#include "neap/base/shown.hpp"
#include "neap/files/door.hpp"
#include "neap/files/system_calls.hpp"
#include "neap/files/system_scratch.hpp"

namespace neap::files {
namespace {

// A call moves at most this much: the system's own bound is near 2 GiB.
constexpr std::size_t kLargestTransfer = std::size_t{1} << 30U;

constexpr int kMostLinks = 40;  // one after the other: as the system's bound
constexpr mode_t kPermissions = 0777;

class SystemDoor final : public Door {
 public:
  Result<File> open_read(const std::string& path) override {
    // O_NONBLOCK: opening a pipe that nobody writes to must not wait.
    auto file = open(path, O_RDONLY | O_NONBLOCK, "open");
    if (!file) {
      return file;
    }
    struct stat facts {};
    if (::fstat(file->handle(), &facts) != 0) {
      return refused("open", path, errno);
    }
    if (S_ISDIR(facts.st_mode)) {
      return refused("open", path, EISDIR);
    }
    if (!S_ISREG(facts.st_mode)) {
      return failure(FailureKind::kUnsupported,
                     fmt::format("cannot open {}: not a regular file (a pipe, "
                                 "socket or device); copy it to a file first",
                                 base::shown_path(path)));
    }
    return file;
  }

  Result<File> open_write(const std::string& path) override {
    return open(path, O_WRONLY | O_CREAT | O_TRUNC, "create");
  }

  Result<File> open_append(const std::string& path) override {
    return open(path, O_WRONLY | O_CREAT | O_APPEND, "open");
  }

  Result<Bytes> read(File& file, std::span<std::byte> into) override {
    const std::size_t size = std::min(into.size(), kLargestTransfer);
    const auto count = repeat_if_interrupted(
        [&] { return ::read(file.handle(), into.data(), size); });
    if (count < 0) {
      return refused("read", file.name(), errno);
    }
    return Bytes{count};
  }

  Result<Bytes> read_at(File& file, Bytes offset,
                        std::span<std::byte> into) override {
    const std::size_t size = std::min(into.size(), kLargestTransfer);
    const auto count = repeat_if_interrupted(
        [&] { return ::pread(file.handle(), into.data(), size, offset); });
    if (count < 0) {
      return refused("read", file.name(), errno);
    }
    return Bytes{count};
  }

  Result<Bytes> write(File& file, std::span<const std::byte> from) override {
    const std::size_t size = std::min(from.size(), kLargestTransfer);
    const auto count = repeat_within_limit(
        [&] { return ::write(file.handle(), from.data(), size); });
    if (count < 0) {
      return refused("write", file.name(), errno);
    }
    return Bytes{count};
  }

  Result<Scratch> open_scratch(const std::string& folder,
                               bool may_be_direct) override {
    const auto opened = scratch::open_in(folder, may_be_direct);
    if (!opened) {
      return tl::make_unexpected(opened.error());
    }
    return Scratch{File(*this, opened->descriptor, scratch::name_in(folder)),
                   opened->is_direct};
  }

  Result<Bytes> write_at(File& file, Bytes offset,
                         std::span<const std::byte> from) override {
    const std::size_t size = std::min(from.size(), kLargestTransfer);
    const auto count = repeat_within_limit(
        [&] { return ::pwrite(file.handle(), from.data(), size, offset); });
    if (count < 0) {
      return refused("write", file.name(), errno);
    }
    return Bytes{count};
  }

  Result<Bytes> fill_at(File& file, Bytes offset, Bytes bytes) override {
    return scratch::fill_at(file, offset, bytes);
  }

  Result<void> preallocate(File& file, Bytes offset, Bytes bytes) override {
    return scratch::preallocate(file, offset, bytes);
  }

  Result<void> truncate(File& file, Bytes bytes) override {
    return scratch::truncate(file, bytes);
  }

  Result<void> begin_writeback(File& file, Bytes offset, Bytes bytes) override {
    return scratch::begin_writeback(file, offset, bytes);
  }

  Result<void> drop_cached(File& file, Bytes offset, Bytes bytes) override {
    return scratch::drop_cached(file, offset, bytes);
  }

  Result<Bytes> free_bytes(File& file) override {
    return scratch::free_bytes(file);
  }

  Result<void> sync(File& file) override {
    // EINVAL: a pipe or device, which has nothing to sync.
    if (repeat_if_interrupted([&] { return ::fsync(file.handle()); }) != 0 &&
        errno != EINVAL) {
      return refused("sync", file.name(), errno);
    }
    return {};
  }

  Result<Bytes> size(File& file) override {
    struct stat facts {};
    if (::fstat(file.handle(), &facts) != 0) {
      return refused("measure", file.name(), errno);
    }
    return Bytes{facts.st_size};
  }

  Result<void> set_mode(File& file, std::uint32_t mode) override {
    // EPERM on a file of one's own: the file system keeps no such bits.
    if (::fchmod(file.handle(), static_cast<mode_t>(mode)) != 0 &&
        errno != EPERM && errno != EOPNOTSUPP) {
      return refused("set the mode of", file.name(), errno);
    }
    return {};
  }

  Result<void> close(File& file) override {
    const int descriptor = file.handle();
    file.forget();
    // Not repeated: after EINTR the descriptor is gone, and maybe another's.
    if (::close(descriptor) != 0 && errno != EINTR) {
      return refused("close", file.name(), errno);
    }
    return {};
  }

  void abandon(File& file) noexcept override { ::close(file.handle()); }

  Result<void> rename(const std::string& from, const std::string& to) override {
    if (auto whole = expect_whole("rename", from).and_then([&] {
          return expect_whole("rename to", to);
        });
        !whole) {
      return tl::make_unexpected(std::move(whole.error()));
    }
    if (::rename(from.c_str(), to.c_str()) != 0) {
      return refused(fmt::format("rename {} to", base::shown_path(from)), to,
                     errno);
    }
    return {};
  }

  Result<void> remove(const std::string& path) override {
    if (auto whole = expect_whole("remove", path); !whole) {
      return tl::make_unexpected(std::move(whole.error()));
    }
    if (::unlink(path.c_str()) != 0) {
      return refused("remove", path, errno);
    }
    return {};
  }

  Result<void> make_directory(const std::string& path) override {
    if (auto whole = expect_whole("make folder", path); !whole) {
      return tl::make_unexpected(std::move(whole.error()));
    }
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error) {
      return refused("make folder", path, error.value());
    }
    return {};
  }

  Result<void> sync_directory(const std::string& path) override {
    auto folder = open(path, O_RDONLY | O_DIRECTORY, "open folder");
    if (!folder) {
      return tl::make_unexpected(std::move(folder.error()));
    }
    const int status =
        repeat_if_interrupted([&] { return ::fsync(folder->handle()); });
    // EINVAL: a file system that has nothing to sync for folders.
    if (status != 0 && errno != EINVAL) {
      return refused("sync folder", path, errno);
    }
    return {};
  }

  Result<bool> exists(const std::string& path) override {
    if (auto whole = expect_whole("look for", path); !whole) {
      return tl::make_unexpected(std::move(whole.error()));
    }
    struct stat facts {};
    if (::stat(path.c_str(), &facts) == 0) {
      return true;
    }
    if (errno == ENOENT || errno == ENOTDIR) {
      return false;
    }
    return refused("look for", path, errno);
  }

  Result<PathFacts> inspect(const std::string& path) override {
    if (auto whole = expect_whole("inspect", path); !whole) {
      return tl::make_unexpected(std::move(whole.error()));
    }
    PathFacts facts{.target = path};
    struct stat found {};
    if (::stat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode)) {
      facts.kind =
          S_ISDIR(found.st_mode) ? PathKind::kDirectory : PathKind::kOther;
      facts.device = found.st_dev;
      facts.number = found.st_ino;
      return facts;
    }
    for (int links = 0; links <= kMostLinks; ++links) {
      // A link there stands for an open file (/dev/stdout), not for a name.
      if (facts.target.starts_with("/proc/")) {
        return PathFacts{.kind = PathKind::kOther, .target = path};
      }
      if (::lstat(facts.target.c_str(), &found) != 0) {
        if (errno == ENOENT) {
          return facts;
        }
        return refused("inspect", path, errno);
      }
      if (!S_ISLNK(found.st_mode)) {
        facts.kind = PathKind::kFile;
        facts.mode = found.st_mode & kPermissions;
        facts.device = found.st_dev;
        facts.number = found.st_ino;
        return facts;
      }
      std::error_code error;
      const std::filesystem::path link(facts.target);
      const auto next = std::filesystem::read_symlink(link, error);
      if (error) {
        return refused("inspect", path, error.value());
      }
      facts.target = (link.parent_path() / next).string();
    }
    return refused("inspect", path, ELOOP);
  }

  Result<std::vector<std::string>> list(const std::string& directory) override {
    if (auto whole = expect_whole("list folder", directory); !whole) {
      return tl::make_unexpected(std::move(whole.error()));
    }
    struct Closer {
      void operator()(DIR* open) const noexcept { ::closedir(open); }
    };
    const std::unique_ptr<DIR, Closer> open(::opendir(directory.c_str()));
    if (open == nullptr) {
      return refused("list folder", directory, errno);
    }
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = ::readdir(open.get())) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") {
        names.emplace_back(name);
      }
      errno = 0;
    }
    if (errno != 0) {
      return refused("list folder", directory, errno);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  Result<File> open(const std::string& path, int flags, std::string_view what) {
    if (auto whole = expect_whole(what, path); !whole) {
      return tl::make_unexpected(std::move(whole.error()));
    }
    constexpr mode_t kReadableByAll = 0666;  // less the user's mask
    const int descriptor = repeat_if_interrupted([&] {
      return ::open(path.c_str(), flags | O_CLOEXEC, kReadableByAll);
    });
    if (descriptor < 0) {
      return refused(what, path, errno);
    }
    return File(*this, descriptor, path);
  }
};

}  // namespace

Door& system_door() noexcept {
  static base::Immortal<SystemDoor> door;
  return *door;
}

}  // namespace neap::files
