// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Power cuts: a door that records what is done to files, and a disk on which
// any first part of that is done again, as it might be found after the power
// was cut. A file system keeps less than was asked for: what was not synced may
// be lost, in part or in another order.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "neap/files/door.hpp"

namespace neap::tests {

enum class FileStep {
  kCreate,  // or empty
  kAppend,  // open at the end
  kWrite,
  kSync,
  kRename,
  kRemove,
  kSyncFolder
};

struct FileOperation {
  FileStep step = FileStep::kWrite;
  std::string path{};
  std::string other{};  // of kRename: to; of kWrite: the bytes
};

/// LIFETIME: the inner door outlives it, and both the files.
class RecordingDoor final : public files::Door {
 public:
  explicit RecordingDoor(files::Door& inner) noexcept : inner_(inner) {}

  const std::vector<FileOperation>& operations() const noexcept {
    return operations_;
  }

  Result<files::File> open_read(const std::string& path) override;
  Result<files::File> open_write(const std::string& path) override;
  Result<files::File> open_append(const std::string& path) override;
  Result<Bytes> read(files::File& file, std::span<std::byte> into) override;
  Result<Bytes> read_at(files::File& file, Bytes offset,
                        std::span<std::byte> into) override;
  Result<Bytes> write(files::File& file,
                      std::span<const std::byte> from) override;
  Result<void> sync(files::File& file) override;
  Result<Bytes> size(files::File& file) override;
  Result<void> set_mode(files::File& file, std::uint32_t mode) override;
  Result<void> close(files::File& file) override;
  void abandon(files::File& file) noexcept override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<void> remove(const std::string& path) override;
  Result<void> make_directory(const std::string& path) override;
  Result<void> sync_directory(const std::string& path) override;
  Result<bool> exists(const std::string& path) override;
  Result<files::PathFacts> inspect(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& directory) override;

 private:
  Result<files::File> adopt(Result<files::File> file, FileStep step,
                            const std::string& path);

  files::Door& inner_;
  std::vector<FileOperation> operations_;
  std::map<int, std::string> paths_;  // of open files, by handle
};

/// The part of the changes since the last sync that the disk kept.
enum class AfterCut {
  kAll,              // everything
  kTornWrite,        // all, but the last write by half
  kNothing,          // neither data nor names
  kNamesAlone,       // a rename before the data that it is to show
  kNamesWithZeroes,  // names and lengths; the data are zeroes
  kDataAlone         // no creation, rename and removal
};
inline constexpr std::array kEveryAfterCut = {
    AfterCut::kAll,        AfterCut::kTornWrite,       AfterCut::kNothing,
    AfterCut::kNamesAlone, AfterCut::kNamesWithZeroes, AfterCut::kDataAlone};

using Disk = std::map<std::string, std::string>;  // content by path

/// `before` is the disk, synced, on which the first `count` operations were
/// asked for when the power was cut.
Disk disk_after(const Disk& before,
                const std::vector<FileOperation>& operations, std::size_t count,
                AfterCut kept);

}  // namespace neap::tests
