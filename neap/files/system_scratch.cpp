// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/files/system_scratch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "neap/base/shown.hpp"
#include "neap/files/door.hpp"
#include "neap/files/system_calls.hpp"

namespace neap::files::scratch {
namespace {

constexpr mode_t kOfTheUserAlone = 0600;

// Bytes that do not repeat within a page, so that no file system leaves a gap
// in their place or packs them.
struct Filling {
  static constexpr std::size_t kWords = 2048;  // 16 KiB
  alignas(kDirectAlignment) std::array<std::uint64_t, kWords> words{};

  constexpr Filling() noexcept {
    constexpr std::uint64_t kMultiplier = 6364136223846793005U;
    std::uint64_t state = 1;
    for (std::uint64_t& word : words) {
      state = state * kMultiplier + 1442695040888963407U;
      word = state;
    }
  }
};
constexpr Filling kFilling;

// A gathering write names the same filling so many times: 4 MiB in a call.
constexpr std::size_t kMostParts = 256;

bool is_in_memory(const struct statfs& facts) noexcept {
  switch (static_cast<std::uint32_t>(facts.f_type)) {
    case TMPFS_MAGIC:
    case RAMFS_MAGIC:
    case HUGETLBFS_MAGIC:
      return true;
    default:
      return false;
  }
}

Result<void> expect_disk(const std::string& folder) {
  if (auto whole = expect_whole("spill to", folder); !whole) {
    return whole;
  }
  struct statfs facts {};
  if (repeat_if_interrupted([&] { return ::statfs(folder.c_str(), &facts); }) !=
      0) {
    return refused("spill to", folder, errno);
  }
  if (is_in_memory(facts)) {
    return failure(
        FailureKind::kUnsupported,
        fmt::format("cannot spill to {}: the folder is in memory (tmpfs), so "
                    "that nothing would be saved; choose one on a disk",
                    base::shown_path(folder)));
  }
  return {};
}

bool lacks_nameless_files(int error) noexcept {
  return error == EOPNOTSUPP || error == EISDIR || error == ENOENT ||
         error == EINVAL;
}

// False where the system says that it wants more than kDirectAlignment.
bool has_usual_alignment([[maybe_unused]] int descriptor) noexcept {
#ifdef STATX_DIOALIGN
  struct statx facts {};
  if (::statx(descriptor, "", AT_EMPTY_PATH, STATX_DIOALIGN, &facts) == 0 &&
      (facts.stx_mask & STATX_DIOALIGN) != 0) {
    const auto fits = [](std::uint32_t unit) {
      return unit != 0 && kDirectAlignment % unit == 0;
    };
    return fits(facts.stx_dio_mem_align) && fits(facts.stx_dio_offset_align);
  }
#endif
  return true;
}

// Asked for after opening: a file that is created with O_DIRECT may be left
// behind by a file system that then refuses to open it.
bool make_direct(int descriptor) noexcept {
  const int flags = ::fcntl(descriptor, F_GETFL);
  return flags >= 0 && has_usual_alignment(descriptor) &&
         ::fcntl(descriptor, F_SETFL, flags | O_DIRECT) == 0;
}

// The whole pages that a range touches: the cache is dropped by pages.
struct Pages {
  Pages(Bytes offset, Bytes bytes) noexcept
      : begin(offset & ~(kDirectAlignment - 1)),
        size(base::round_up(offset + bytes, kDirectAlignment) - begin) {}
  Bytes begin;
  Bytes size;
};

bool is_unknown_call(int error) noexcept {
  return error == ENOSYS || error == EOPNOTSUPP || error == ESPIPE ||
         error == EINVAL;
}

Result<void> sync_range(File& file, const Pages& pages, unsigned flags) {
  if (repeat_if_interrupted([&] {
        return ::sync_file_range(file.handle(), pages.begin, pages.size, flags);
      }) != 0 &&
      !is_unknown_call(errno)) {
    return refused("write", file.name(), errno);
  }
  return {};
}

}  // namespace

int open_unlinked(const std::string& folder) {
  static constinit std::atomic<std::uint32_t> count{0};
  while (true) {
    const std::string path = fmt::format("{}/.neap-scratch-{}-{}", folder,
                                         ::getpid(), count.fetch_add(1));
    const int descriptor = repeat_if_interrupted([&] {
      return ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
                    kOfTheUserAlone);
    });
    if (descriptor < 0) {
      if (errno == EEXIST) {
        continue;
      }
      return -1;
    }
    if (::unlink(path.c_str()) != 0) {
      const int error = errno;
      ::close(descriptor);
      errno = error;
      return -1;
    }
    return descriptor;
  }
}

std::string name_in(const std::string& folder) {
  return folder + "/(scratch file)";
}

Result<Opened> open_in(const std::string& folder, bool may_be_direct) {
  if (auto on_disk = expect_disk(folder); !on_disk) {
    return tl::make_unexpected(std::move(on_disk.error()));
  }
  Opened opened;
  opened.descriptor = repeat_if_interrupted([&] {
    return ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC,
                  kOfTheUserAlone);
  });
  if (opened.descriptor < 0 && lacks_nameless_files(errno)) {
    opened.descriptor = open_unlinked(folder);
  }
  if (opened.descriptor < 0) {
    return refused("spill to", folder, errno);
  }
  opened.is_direct = may_be_direct && make_direct(opened.descriptor);
  if (!opened.is_direct) {
    // The system reads what it is asked for, and nothing ahead of it: that
    // would stay in its cache.
    static_cast<void>(
        ::posix_fadvise(opened.descriptor, 0, 0, POSIX_FADV_RANDOM));
  }
  return opened;
}

Result<Bytes> fill_at(File& file, Bytes offset, Bytes bytes) {
  std::array<iovec, kMostParts> parts;
  int count = 0;
  Bytes left = bytes;
  for (iovec& part : parts) {
    if (left == 0) {
      break;
    }
    const Bytes size =
        std::min(left, static_cast<Bytes>(sizeof(kFilling.words)));
    // The call reads what it is given; its type is that of a read, too.
    part = {const_cast<std::uint64_t*>(kFilling.words.data()),
            static_cast<std::size_t>(size)};
    left -= size;
    ++count;
  }
  const auto written = repeat_within_limit(
      [&] { return ::pwritev(file.handle(), parts.data(), count, offset); });
  if (written < 0) {
    return refused("write", file.name(), errno);
  }
  return Bytes{written};
}

Result<void> preallocate(File& file, Bytes offset, Bytes bytes) {
  if (bytes > 0 && repeat_within_limit([&] {
                     return ::fallocate(file.handle(), 0, offset, bytes);
                   }) != 0 &&
      errno != EOPNOTSUPP && errno != ENOSYS) {
    return refused("take space for", file.name(), errno);
  }
  return {};
}

Result<void> truncate(File& file, Bytes bytes) {
  if (repeat_within_limit([&] { return ::ftruncate(file.handle(), bytes); }) !=
      0) {
    return refused("cut", file.name(), errno);
  }
  return {};
}

Result<void> begin_writeback(File& file, Bytes offset, Bytes bytes) {
  return sync_range(file, Pages(offset, bytes), SYNC_FILE_RANGE_WRITE);
}

Result<void> drop_cached(File& file, Bytes offset, Bytes bytes) {
  const Pages pages(offset, bytes);
  if (auto written =
          sync_range(file, pages,
                     SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
                         SYNC_FILE_RANGE_WAIT_AFTER);
      !written) {
    return written;
  }
  // Advice: a file system that does not take it keeps its cache.
  static_cast<void>(::posix_fadvise(file.handle(), pages.begin, pages.size,
                                    POSIX_FADV_DONTNEED));
  return {};
}

Result<Bytes> free_bytes(File& file) {
  struct statvfs facts {};
  if (repeat_if_interrupted(
          [&] { return ::fstatvfs(file.handle(), &facts); }) != 0) {
    return refused("measure the disk of", file.name(), errno);
  }
  Bytes free = 0;
  if (__builtin_mul_overflow(facts.f_bavail, facts.f_frsize, &free)) {
    return kUnlimited;
  }
  return free;
}

}  // namespace neap::files::scratch
