// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// FileRecords: samples that stay in their file, which may be larger than the
// memory there is. A file of records of one size is read a record at a time,
// straight before it is needed: by the loader's reader thread, where it has
// one. The user defines what a record means.
//
//   // Tokens of two bytes: blocks of 256 and the next token each.
//   auto file = data::RecordFile::open(door, "tokens.bin",
//                                      {.record = 2 * 257, .stride = 2 * 256});
//   const data::FileRecords set(std::move(*file), spec,
//       [](std::span<const std::byte> record, std::span<std::byte> input,
//          std::span<std::byte> target) noexcept { ... });
//   data::Loader loader(set, {.batch = 32, .shuffle = true, .prefetch = 2});
#pragma once

#include <mutex>
#include <string>
#include <utility>

#include "neap/data/dataset.hpp"
#include "neap/data/fingerprint.hpp"
#include "neap/files/door.hpp"
#include "neap/memory/containers.hpp"

namespace neap::data {

struct RecordLayout {
  Bytes header = 0;  // bytes in front of the first record
  Bytes record = 0;
  /// Bytes from one record's start to the next one's; 0: record.
  Bytes stride = 0;
};

class NEAP_API RecordFile {
 public:
  /// Failures: kTruncated where the header or the first record is not whole,
  /// or, records standing side by side, the last one; file-system failures.
  /// THROWS: ValueError unless record > 0, stride >= 0 and header >= 0.
  /// LIFETIME: `door` outlives it.
  [[nodiscard]] static Result<RecordFile> open(files::Door& door,
                                               const std::string& path,
                                               const RecordLayout& layout);

  std::int64_t size() const noexcept { return size_; }
  Bytes record_bytes() const noexcept { return layout_.record; }
  /// The fingerprint of the sizes.
  std::uint64_t fingerprint() const noexcept {
    return data::fingerprint(
        {layout_.header, layout_.record, layout_.stride, size_});
  }
  /// Fills `into` with record `index`. Failure kTruncated where the file has
  /// become shorter meanwhile. REQUIRES: index in [0, size()), room for one.
  [[nodiscard]] Result<void> read(std::int64_t index,
                                  std::span<std::byte> into);

 private:
  RecordFile(files::File file, const RecordLayout& layout,
             std::int64_t size) noexcept
      : file_(std::move(file)), layout_(layout), size_(size) {}

  files::File file_;
  RecordLayout layout_;
  std::int64_t size_;
};

/// Decode(record, input, target) noexcept writes a sample. Any thread may load,
/// one after another; the buffer of one record is taken at construction.
template <class Decode>
class FileRecords {
 public:
  /// THROWS: OutOfMemory.
  FileRecords(RecordFile file, const SampleSpec& spec, Decode decode)
      : file_(std::move(file)),
        spec_(spec),
        decode_(std::move(decode)),
        record_(static_cast<std::size_t>(file_.record_bytes()), std::byte{0},
                memory::Allocator<std::byte>(memory::Category::kData)) {
    static_assert(
        std::is_nothrow_invocable_v<const Decode&, std::span<const std::byte>,
                                    std::span<std::byte>, std::span<std::byte>>,
        "records are decoded as decode(record, input, target) noexcept");
  }

  std::int64_t size() const noexcept { return file_.size(); }
  SampleSpec spec() const { return spec_; }
  Result<void> load(std::int64_t index, std::span<std::byte> input,
                    std::span<std::byte> target) const {
    const std::lock_guard lock(mutex_);
    auto read = file_.read(index, record_);
    if (read) {
      decode_(std::span<const std::byte>(record_), input, target);
    }
    return read;
  }
  /// Fingerprint of the sizes, and of the first record and the last; one that
  /// cannot be read counts as none.
  std::uint64_t fingerprint() const {
    const std::lock_guard lock(mutex_);
    std::uint64_t found = file_.fingerprint();
    for (const std::int64_t index : {std::int64_t{0}, file_.size() - 1}) {
      if (file_.read(index, record_)) {
        found = data::fingerprint(record_, found);
      }
    }
    return found;
  }

 private:
  mutable std::mutex mutex_;  // guards file and buffer
  mutable RecordFile file_;
  SampleSpec spec_;
  Decode decode_;
  mutable memory::Vector<std::byte> record_;
};

}  // namespace neap::data
