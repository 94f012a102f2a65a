// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Door: the file system as Neap uses it. Everything that Neap reads or writes
// goes through an object of this class, so that a test can make any step fail.
// User files are read, never memory-mapped: a mapped file that shrinks ends the
// process.
//
// All failures are values; a message names the path, the fact and what to do. A
// write beyond the process's limit (ulimit -f) is one, and sends no signal.
// system_door() refuses a path with a zero byte (kUnsupported). A Door may be
// used by any number of threads; a File by one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "neap/base/api.hpp"
#include "neap/base/bytes.hpp"
#include "neap/base/result.hpp"
#include "neap/files/file.hpp"

namespace neap::files {

enum class PathKind { kNothing, kFile, kDirectory, kOther };

/// The thing at a path, symbolic links followed.
struct PathFacts {
  PathKind kind = PathKind::kNothing;  // kOther: a device, pipe or socket
  /// The path behind the links: the file's own, there or yet to be made. The
  /// path asked about where `kind` is kDirectory or kOther.
  std::string target;
  std::uint32_t mode = 0;  // permission bits, of a file
  /// The two numbers together identify a file or folder, whatever its name; 0
  /// where there is none, or the file system keeps none.
  std::uint64_t device = 0;
  std::uint64_t number = 0;
};

/// A file without a name, for what is written and read by one process alone.
struct Scratch {
  File file;
  /// Transfers go past the system's cache of pages; then memory, offsets and
  /// sizes are multiples of kDirectAlignment.
  bool is_direct = false;
};
inline constexpr Bytes kDirectAlignment = 4096;

class NEAP_API Door {
 public:
  Door() = default;
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;
  virtual ~Door();

  /// Opens a regular file for reading from its start.
  [[nodiscard]] virtual Result<File> open_read(const std::string& path) = 0;
  /// Creates the file or empties it, and opens it for writing.
  [[nodiscard]] virtual Result<File> open_write(const std::string& path) = 0;
  /// Opens for writing at the end, whatever is written meanwhile; creates the
  /// file where there is none.
  [[nodiscard]] virtual Result<File> open_append(const std::string& path) = 0;

  [[nodiscard]] virtual Result<Bytes> read(File& file,
                                           std::span<std::byte> into) = 0;
  /// Reads from `offset` on, and leaves the current position where it is.
  [[nodiscard]] virtual Result<Bytes> read_at(File& file, Bytes offset,
                                              std::span<std::byte> into) = 0;
  [[nodiscard]] virtual Result<Bytes> write(
      File& file, std::span<const std::byte> from) = 0;
  // --- scratch files; a Door without them refuses (kUnsupported) ---

  /// Opens an empty file in a folder, for reading and writing; it goes with its
  /// handle, and nothing of it is left where the process is killed. A folder in
  /// memory (tmpfs) is refused: what is written there frees no memory.
  [[nodiscard]] virtual Result<Scratch> open_scratch(const std::string& folder,
                                                     bool may_be_direct);
  /// Writes from `offset` on; may be short, never 0 but for an empty span.
  [[nodiscard]] virtual Result<Bytes> write_at(File& file, Bytes offset,
                                               std::span<const std::byte> from);
  /// Writes bytes without a meaning, which no file system stores as a gap; may
  /// be short.
  [[nodiscard]] virtual Result<Bytes> fill_at(File& file, Bytes offset,
                                              Bytes bytes);
  /// Takes space on the disk for a range, and makes the file as long; no effect
  /// where the file system cannot.
  [[nodiscard]] virtual Result<void> preallocate(File& file, Bytes offset,
                                                 Bytes bytes);
  /// Cuts the file off, or lengthens it, without taking space.
  [[nodiscard]] virtual Result<void> truncate(File& file, Bytes bytes);
  /// Begins to move a range that was written from the system's cache of pages
  /// to the disk, and does not wait for the end.
  [[nodiscard]] virtual Result<void> begin_writeback(File& file, Bytes offset,
                                                     Bytes bytes);
  /// Returns when a range is on the disk, and no longer in the cache of pages.
  [[nodiscard]] virtual Result<void> drop_cached(File& file, Bytes offset,
                                                 Bytes bytes);
  /// The bytes that may still be taken on the file's disk.
  [[nodiscard]] virtual Result<Bytes> free_bytes(File& file);

  [[nodiscard]] virtual Result<void> sync(File& file) = 0;
  [[nodiscard]] virtual Result<Bytes> size(File& file) = 0;
  /// Sets the permission bits; no effect where the file system keeps none.
  [[nodiscard]] virtual Result<void> set_mode(File& file,
                                              std::uint32_t mode) = 0;
  [[nodiscard]] virtual Result<void> close(File& file) = 0;
  /// Closes an open file, ignoring errors.
  virtual void abandon(File& file) noexcept = 0;

  /// Replaces `to` if it is there: at any instant `to` is the old or the new.
  [[nodiscard]] virtual Result<void> rename(const std::string& from,
                                            const std::string& to) = 0;
  [[nodiscard]] virtual Result<void> remove(const std::string& path) = 0;
  /// Creates a folder, and those above it; nothing where there is one.
  [[nodiscard]] virtual Result<void> make_directory(
      const std::string& path) = 0;
  /// Makes renames and removals in a folder survive a loss of power.
  [[nodiscard]] virtual Result<void> sync_directory(
      const std::string& path) = 0;
  /// True for a file or folder; false where there is none.
  [[nodiscard]] virtual Result<bool> exists(const std::string& path) = 0;
  [[nodiscard]] virtual Result<PathFacts> inspect(const std::string& path) = 0;
  /// Names in a folder, without "." and "..", in byte order.
  [[nodiscard]] virtual Result<std::vector<std::string>> list(
      const std::string& directory) = 0;
};

/// The system's files.
NEAP_API Door& system_door() noexcept;

/// The folder part of a path: "." where it names none.
NEAP_API std::string directory_of(std::string_view path);

}  // namespace neap::files
