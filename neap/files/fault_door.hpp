// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// FaultDoor: a door in front of another that fails on purpose, for tests. Each
// call of a Door function but abandon() is one operation, counted from 1.
// LIFETIME: the inner door and this one outlive the files opened through it.
#pragma once

#include <atomic>
#include <cstdint>

#include "neap/files/door.hpp"

namespace neap::files {

struct Faults {
  /// This operation fails with FailureKind::kIo and has no effect; 0: none.
  std::int64_t fail_at = 0;
  /// This operation and all later ones fail with kInterrupted and have no
  /// effect, as if the process had been killed just before; 0: none.
  std::int64_t stop_at = 0;
  Bytes longest_read = kUnlimited;   // of one call
  Bytes longest_write = kUnlimited;  // of one call
  /// Room on the disk: what goes beyond fails as a full disk does.
  Bytes space = kUnlimited;
  /// The number of operations, from fail_at on, that fail.
  std::int64_t failures = 1;
  /// This read (of those that end well, counted from 1) gives one bit that is
  /// not in the file; 0: none.
  std::int64_t lie_at = 0;
  /// The number of reads, from lie_at on, that give a wrong bit.
  std::int64_t lies = 1;
};

class NEAP_API FaultDoor final : public Door {
 public:
  explicit FaultDoor(Door& inner, const Faults& faults = {}) noexcept
      : inner_(inner), faults_(faults), space_left_(faults.space) {}

  /// Operations asked for so far, failed ones included: how a sweep that fails
  /// each once knows its end.
  std::int64_t operations() const noexcept { return operations_.load(); }

  Result<File> open_read(const std::string& path) override;
  Result<File> open_write(const std::string& path) override;
  Result<File> open_append(const std::string& path) override;
  Result<Bytes> read(File& file, std::span<std::byte> into) override;
  Result<Bytes> read_at(File& file, Bytes offset,
                        std::span<std::byte> into) override;
  Result<Bytes> write(File& file, std::span<const std::byte> from) override;
  Result<Scratch> open_scratch(const std::string& folder,
                               bool may_be_direct) override;
  Result<Bytes> write_at(File& file, Bytes offset,
                         std::span<const std::byte> from) override;
  Result<Bytes> fill_at(File& file, Bytes offset, Bytes bytes) override;
  Result<void> preallocate(File& file, Bytes offset, Bytes bytes) override;
  Result<void> truncate(File& file, Bytes bytes) override;
  Result<void> begin_writeback(File& file, Bytes offset, Bytes bytes) override;
  Result<void> drop_cached(File& file, Bytes offset, Bytes bytes) override;
  Result<Bytes> free_bytes(File& file) override;
  Result<void> sync(File& file) override;
  Result<Bytes> size(File& file) override;
  Result<void> set_mode(File& file, std::uint32_t mode) override;
  Result<void> close(File& file) override;
  void abandon(File& file) noexcept override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<void> remove(const std::string& path) override;
  Result<void> make_directory(const std::string& path) override;
  Result<void> sync_directory(const std::string& path) override;
  Result<bool> exists(const std::string& path) override;
  Result<PathFacts> inspect(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& directory) override;

 private:
  // Counts an operation; a failure where this one is to fail.
  Result<void> step(std::string_view what, std::string_view path);
  Result<File> adopt(Result<File> file) noexcept;
  // A failure where a range that lengthens the file does not fit the disk.
  Result<void> take_space(File& file, Bytes offset, Bytes bytes);
  tl::unexpected<Failure> full(const File& file) const;
  Result<Bytes> lie(Result<Bytes> count, std::span<std::byte> into) noexcept;

  Door& inner_;
  const Faults faults_;
  std::atomic<std::int64_t> operations_{0};
  std::atomic<std::int64_t> reads_{0};
  std::atomic<Bytes> space_left_;
};

}  // namespace neap::files
