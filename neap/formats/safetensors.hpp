// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The safetensors format (github.com/huggingface/safetensors): named tensors in
// one file that holds nothing but names, shapes and elements.
//
//   8 bytes   N, little endian
//   N bytes   JSON, padded by spaces: {"__metadata__": {"key": "text", ...},
//             "fc1.weight": {"dtype": "F32", "shape": [2, 3],
//                            "data_offsets": [0, 24]}, ...}
//   the rest  the elements, row-major and little endian, without gaps
//
// A header is checked as a whole before any of its numbers is believed: it must
// be strict JSON of this form in UTF-8, name nothing twice, give every tensor
// as many bytes as dtype and shape need, and lay them out so that they fill the
// rest of the file to the last byte, one after the other.
//
// A file that Neap writes carries checksums of its header and of every tensor
// (docs/checkpoints.md). They are compared while the file is read; a file
// without them is read as it is.
#pragma once

#include <span>
#include <string>

#include "neap/files/door.hpp"
#include "neap/formats/digest.hpp"
#include "neap/formats/stored_type.hpp"
#include "neap/memory/containers.hpp"
#include "neap/tensor/tensor.hpp"

namespace neap::formats {

/// A longer header is refused, as the reference implementation does.
inline constexpr Bytes kMaxSafetensorsHeader = 100'000'000;

/// Whether checksums are compared, where a file has them.
enum class Verify : bool { kOff = false, kOn = true };

/// A file's entry of a tensor.
struct SafetensorsEntry {
  memory::String name{};  // UTF-8
  DType dtype = f32;      // of `stored`, or the next that has all of its values
  Shape shape{};
  Bytes begin = 0;  // offset of the elements from the end of the header
  Bytes end = 0;
  StoredType stored = StoredType::kF32;  // the type of the elements there
};

/// A text of the user's own: "__metadata__".
struct MetadataItem {
  memory::String key;
  memory::String value;
};
using Metadata = memory::Vector<MetadataItem>;

/// The value of a key, or nullptr.
NEAP_API const memory::String* find_key(const Metadata& metadata,
                                        std::string_view key) noexcept;

/// LIFETIME: the name outlives it.
struct NamedTensor {
  std::string_view name;
  Tensor tensor;
};

/// An open file, its header read and checked. It holds the header's content
/// (Category::kData); elements are read into the caller's memory. LIFETIME: the
/// files::Door outlives it.
class NEAP_API SafetensorsFile {
 public:
  /// Failures: those of the file system; kTruncated where the file is shorter
  /// than its header says, kTooLarge for a header or a shape beyond bounds,
  /// kUnsupported for a dtype or a rank that Neap has not, kCorrupt for all
  /// else, a header unlike its checksum included. THROWS: OutOfMemory.
  static Result<SafetensorsFile> open(files::Door& door,
                                      const std::string& path,
                                      Verify verify = Verify::kOn);

  /// The entries, in the order of the file.
  std::span<const SafetensorsEntry> entries() const noexcept {
    return entries_;
  }
  /// The metadata by key, without the checksums.
  const Metadata& metadata() const noexcept { return metadata_; }
  /// nullptr: there is none of that name.
  const SafetensorsEntry* find(std::string_view name) const noexcept;
  /// The metadata's value of a key, or nullptr.
  const memory::String* find_text(std::string_view key) const noexcept;
  /// The name for messages.
  std::string_view name() const noexcept { return file_.name(); }
  /// Whether tensors are compared with checksums of the file.
  bool has_checksums() const noexcept { return !digests_.empty(); }

  /// Reads elements [first, ...) of an entry, in row-major order, until `into`
  /// is full, as they are stored. An entry that is read from its start to its
  /// end, at once or in one piece after the other, is compared with its
  /// checksum when its last element is read; other pieces are not. Failures:
  /// those of the file system, kTruncated for a file that has become shorter,
  /// kCorrupt for a bool that is neither 0 nor 1 and for elements unlike their
  /// checksum. THROWS: ValueError unless `into` is whole elements of the entry.
  Result<void> read_elements(const SafetensorsEntry& entry, std::int64_t first,
                             std::span<std::byte> into);
  /// Reads an entry straight into a tensor of any strides; after a failure it
  /// may hold a part. A type that Neap has not is widened as it is read.
  /// Failures: as read_elements; kMismatch unless dtype and shape are the
  /// entry's. THROWS: DeviceError off the host; TraceError.
  Result<void> read(const SafetensorsEntry& entry, const Tensor& into,
                    CallSite site = CallSite::here());
  /// The same into a view of any dtype that may_convert(): elements are
  /// converted as they are read, by way of a few kilobytes. Failures: as
  /// read_elements; kMismatch for another shape, a dtype that they cannot be
  /// converted to, and an integer that does not fit it.
  Result<void> read_into(const SafetensorsEntry& entry,
                         const tensor::Strided& into);
  /// A new tensor. THROWS: OutOfMemory.
  Result<Tensor> read(const SafetensorsEntry& entry,
                      CallSite site = CallSite::here());

 private:
  SafetensorsFile(files::File file, Bytes data_start) noexcept
      : file_(std::move(file)), data_start_(data_start) {}

  Result<void> read_piece(const SafetensorsEntry& entry, Bytes from,
                          std::span<std::byte> into);
  Result<void> compare_digest(const SafetensorsEntry& entry) const;

  files::File file_;
  Bytes data_start_;  // offset in the file
  memory::Vector<SafetensorsEntry> entries_{
      memory::Allocator<SafetensorsEntry>(memory::Category::kData)};
  memory::Vector<std::uint32_t> by_name_{
      memory::Allocator<std::uint32_t>(memory::Category::kData)};
  Metadata metadata_{memory::Allocator<MetadataItem>(memory::Category::kData)};
  memory::String digests_{// kDigestDigits of each entry; empty: no checksums
                          memory::Allocator<char>(memory::Category::kData)};
  Digest digest_;  // digest of the data before digested_to_
  // Offset from data_start_; -1: no entry is being read.
  Bytes digested_to_ = -1;
};

/// Reads every tensor given, each under its name: all names, dtypes and shapes
/// are checked before the first element is read. Failures: as
/// SafetensorsFile::read, some tensors are then read and others are not
/// (neap::load leaves all unchanged); kMismatch for a name that is not there.
/// Other names of the file are left alone.
[[nodiscard]] NEAP_API Result<void> read_safetensors(
    files::Door& door, const std::string& path,
    std::span<const NamedTensor> into, Verify verify = Verify::kOn,
    CallSite site = CallSite::here());

/// Writes a file, whole or not at all (files::write_atomically). The order is
/// the reference implementation's, larger elements first and then by name, so
/// that every tensor is aligned and the same content gives the same bytes,
/// whatever the order given. Checksums are added to the metadata; for them,
/// elements are read once more than they are written. Tensors may have any
/// strides. THROWS: NameError for a name or key that is used twice,
/// "__metadata__", a key that begins with "neap.xxh3.", or text that is not
/// UTF-8; ValueError for a header beyond kMaxSafetensorsHeader; DeviceError off
/// the host; TraceError; OutOfMemory.
[[nodiscard]] NEAP_API Result<void> write_safetensors(
    files::Door& door, const std::string& path,
    std::span<const NamedTensor> tensors, const Metadata& metadata = {},
    CallSite site = CallSite::here());

/// Allocates what write_safetensors() allocates, frees it and writes nothing.
/// It reads no elements, so there may be none. Metadata of the same count and
/// keys need the same, if no value is beyond 256 bytes. `look`: bytes of the
/// largest tensor that is away (Storage), and is looked at in a copy.
/// THROWS: as write_safetensors, but for DeviceError and TraceError.
NEAP_API void rehearse_safetensors(std::span<const NamedTensor> tensors,
                                   const Metadata& metadata = {},
                                   Bytes look = 0);

}  // namespace neap::formats
