// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "neap/base/raise.hpp"
#include "neap/files/whole_file.hpp"
#include "neap/formats/elements.hpp"
#include "neap/formats/safetensors_checksums.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/host_access.hpp"

namespace neap::formats {
namespace {

static_assert(std::endian::native == std::endian::little,
              "elements are read and written as they lie in memory");

// Size of a read and its digest; a second-level cache holds it.
constexpr std::size_t kPieceBytes = 128 * kKiB;

struct Length {
  Bytes header = 0;
  Bytes data = 0;
};

Result<Length> read_length(files::File& file) {
  const auto size = file.size();
  if (!size) {
    return tl::make_unexpected(size.error());
  }
  const Bytes rest = *size - static_cast<Bytes>(kLengthBytes);
  if (rest < 0) {
    return failure(FailureKind::kTruncated,
                   fmt::format("{}: has {} bytes, a safetensors file at least "
                               "{}; fetch it again",
                               file.name(), *size, kLengthBytes));
  }
  std::array<std::byte, kLengthBytes> bytes{};
  if (auto read = files::read_exact_at(file, 0, bytes); !read) {
    return tl::make_unexpected(std::move(read.error()));
  }
  const auto length = std::bit_cast<std::uint64_t>(bytes);
  if (length > static_cast<std::uint64_t>(kMaxSafetensorsHeader)) {
    return failure(FailureKind::kTooLarge,
                   fmt::format("{}: a safetensors header of {} bytes, at most "
                               "{} are read; give a safetensors file",
                               file.name(), length, kMaxSafetensorsHeader));
  }
  const auto header = static_cast<Bytes>(length);
  if (header > rest) {
    return failure(FailureKind::kTruncated,
                   fmt::format("{}: a safetensors header of {} bytes in {} "
                               "that follow; fetch the file again",
                               file.name(), header, rest));
  }
  return Length{header, rest - header};
}

Result<void> check_bools(std::span<const std::byte> bytes,
                         std::string_view file, const SafetensorsEntry& entry) {
  const bool is_good =
      entry.stored != StoredType::kBool ||
      std::ranges::all_of(bytes, [](std::byte b) { return b <= std::byte{1}; });
  return is_good ? Result<void>()
                 : failure(FailureKind::kCorrupt,
                           fmt::format("{}: {} has a bool that is neither 0 "
                                       "nor 1; fetch the file again",
                                       file, quoted(entry.name)));
}

}  // namespace

const memory::String* find_key(const Metadata& metadata,
                               std::string_view key) noexcept {
  const auto found = std::ranges::find(metadata, key, &MetadataItem::key);
  return found != metadata.end() ? &found->value : nullptr;
}

Result<SafetensorsFile> SafetensorsFile::open(files::Door& door,
                                              const std::string& path,
                                              Verify verify) {
  auto file = door.open_read(path);
  if (!file) {
    return tl::make_unexpected(std::move(file.error()));
  }
  const auto length = read_length(*file);
  if (!length) {
    return tl::make_unexpected(length.error());
  }
  memory::String text{memory::Allocator<char>(memory::Category::kData)};
  text.resize(static_cast<std::size_t>(length->header));
  if (auto read = files::read_exact_at(*file, static_cast<Bytes>(kLengthBytes),
                                       std::as_writable_bytes(std::span(text)));
      !read) {
    return tl::make_unexpected(std::move(read.error()));
  }
  auto header = parse_safetensors_header(text, length->data, file->name());
  if (!header) {
    return tl::make_unexpected(std::move(header.error()));
  }
  auto digests = take_checksums(*header, text, file->name(), verify);
  if (!digests) {
    return tl::make_unexpected(std::move(digests.error()));
  }
  SafetensorsFile out(std::move(*file),
                      static_cast<Bytes>(kLengthBytes) + length->header);
  out.entries_ = std::move(header->entries);
  out.by_name_ = std::move(header->by_name);
  out.metadata_ = std::move(header->metadata);
  out.digests_ = std::move(*digests);
  return out;
}

const SafetensorsEntry* SafetensorsFile::find(
    std::string_view name) const noexcept {
  const auto name_of_index = [&](std::uint32_t i) {
    return std::string_view(entries_[i].name);
  };
  const auto found =
      std::ranges::lower_bound(by_name_, name, {}, name_of_index);
  return found != by_name_.end() && name_of_index(*found) == name
             ? &entries_[*found]
             : nullptr;
}

const memory::String* SafetensorsFile::find_text(
    std::string_view key) const noexcept {
  const auto key_of = [](const MetadataItem& item) {
    return std::string_view(item.key);
  };
  const auto found = std::ranges::lower_bound(metadata_, key, {}, key_of);
  return found != metadata_.end() && key_of(*found) == key ? &found->value
                                                           : nullptr;
}

Result<void> SafetensorsFile::read_elements(const SafetensorsEntry& entry,
                                            std::int64_t first,
                                            std::span<std::byte> into) {
  const Bytes size = size_of(entry.stored);
  const Bytes all = entry.end - entry.begin;
  const auto wanted = static_cast<Bytes>(into.size());
  if (first < 0 || first > all / size || wanted > all - first * size ||
      wanted % size != 0) {
    base::raise<ValueError>("read_elements: {} bytes from element {} of {}",
                            wanted, first, all / size);
  }
  Bytes from = entry.begin + first * size;
  if (first == 0) {
    digest_.reset();
    digested_to_ = from;
  }
  while (!into.empty()) {
    const std::span piece = into.first(std::min(into.size(), kPieceBytes));
    if (auto read = read_piece(entry, from, piece); !read) {
      digested_to_ = -1;
      return read;
    }
    from += static_cast<Bytes>(piece.size());
    into = into.subspan(piece.size());
  }
  const bool is_whole = digested_to_ == entry.end && from == entry.end;
  return has_checksums() && is_whole ? compare_digest(entry) : Result<void>();
}

// Digested while it is still in a cache.
Result<void> SafetensorsFile::read_piece(const SafetensorsEntry& entry,
                                         Bytes from,
                                         std::span<std::byte> into) {
  if (auto read = files::read_exact_at(file_, data_start_ + from, into);
      !read) {
    return read;
  }
  if (has_checksums() && digested_to_ == from) {
    digest_.update(into);
    digested_to_ += static_cast<Bytes>(into.size());
  }
  return check_bools(into, name(), entry);
}

Result<void> SafetensorsFile::compare_digest(
    const SafetensorsEntry& entry) const {
  // Entries lie by their bytes; those of one place are empty and equal.
  const auto bytes_of = [](const SafetensorsEntry& e) {
    return std::pair(e.begin, e.end);
  };
  const auto index = static_cast<std::size_t>(
      std::ranges::lower_bound(entries_, bytes_of(entry), {}, bytes_of) -
      entries_.begin());
  const std::string_view written =
      std::string_view(digests_).substr(index * kDigestDigits, kDigestDigits);
  const DigestText found = digest_text(digest_.value());
  const std::string_view read(found.data(), found.size());
  if (read == written) {
    return {};
  }
  return failure(
      FailureKind::kCorrupt,
      fmt::format("{}: the elements of {} have the checksum {}, not {} as when "
                  "they were written: the file is damaged; use another copy, "
                  "or read it without verification (--verify off)",
                  name(), quoted(entry.name), read, written));
}

Result<void> SafetensorsFile::read(const SafetensorsEntry& entry,
                                   const Tensor& into, CallSite site) {
  if (entry.dtype != into.dtype() || entry.shape != into.shape()) {
    return failure(FailureKind::kMismatch,
                   fmt::format("{}: {} is {} {}, expected {} {}", name(),
                               quoted(entry.name), name_of(entry.dtype),
                               format_shape(entry.shape), name_of(into.dtype()),
                               format_shape(into.shape())));
  }
  tensor::check_host_access(into, "read_safetensors", site, true);
  into.array()->storage()->bump_version(base::intern(site));
  return read_into(entry, into.array()->strided());
}

Result<void> SafetensorsFile::read_into(const SafetensorsEntry& entry,
                                        const tensor::Strided& into) {
  if (entry.shape != into.shape || !may_convert(entry.stored, into.dtype)) {
    return failure(FailureKind::kMismatch,
                   fmt::format("{}: {} is {} {}, which does not become {} {}",
                               name(), quoted(entry.name),
                               name_of(entry.stored), format_shape(entry.shape),
                               name_of(into.dtype), format_shape(into.shape)));
  }
  const bool is_same =
      is_native(entry.stored) && widened(entry.stored) == into.dtype;
  const bool is_dense = tensor::is_contiguous(
      {into.dtype, into.shape, into.strides, /*offset=*/0});
  if (is_same && is_dense) {
    const auto bytes = static_cast<std::size_t>(entry.end - entry.begin);
    return read_elements(entry, 0, {into.data, bytes});
  }
  constexpr std::size_t kElements = 4 * kKiB;  // at once
  std::array<std::byte, 8 * kElements> stored;
  std::array<std::byte, 8 * kElements> converted;
  const auto size = static_cast<std::size_t>(size_of(entry.stored));
  const auto wide = static_cast<std::size_t>(size_of(into.dtype));
  const auto total = static_cast<std::size_t>(entry.end - entry.begin) / size;
  for (std::size_t done = 0; done < total;) {
    const std::size_t count = std::min(total - done, kElements);
    const auto first = static_cast<std::int64_t>(done);
    const std::span part(stored.data(), count * size);
    if (auto read = read_elements(entry, first, part); !read) {
      return read;
    }
    const std::span result =
        is_dense ? std::span(into.data + done * wide, count * wide)
                 : std::span(converted.data(), count * wide);
    if (is_same) {
      scatter(part, into, first);
    } else if (!convert(entry.stored, part, into.dtype, result)) {
      return failure(FailureKind::kMismatch,
                     fmt::format("{}: {} has a number that {} has not", name(),
                                 quoted(entry.name), name_of(into.dtype)));
    } else if (!is_dense) {
      scatter(result, into, first);
    }
    done += count;
  }
  return {};
}

Result<Tensor> SafetensorsFile::read(const SafetensorsEntry& entry,
                                     CallSite site) {
  Tensor into = empty(entry.shape, entry.dtype, site);
  return read(entry, into, site).map([&] { return into; });
}

Result<void> read_safetensors(files::Door& door, const std::string& path,
                              std::span<const NamedTensor> into, Verify verify,
                              CallSite site) {
  auto file = SafetensorsFile::open(door, path, verify);
  if (!file) {
    return tl::make_unexpected(std::move(file.error()));
  }
  for (const NamedTensor& wanted : into) {
    const SafetensorsEntry* entry = file->find(wanted.name);
    if (entry == nullptr || entry->dtype != wanted.tensor.dtype() ||
        entry->shape != wanted.tensor.shape()) {
      return failure(
          FailureKind::kMismatch,
          fmt::format(
              "{}: {} is {}, expected {} {}", file->name(), quoted(wanted.name),
              entry == nullptr ? "not there"
                               : fmt::format("{} {}", name_of(entry->dtype),
                                             format_shape(entry->shape)),
              name_of(wanted.tensor.dtype()),
              format_shape(wanted.tensor.shape())));
    }
  }
  for (const NamedTensor& wanted : into) {
    if (auto read = file->read(*file->find(wanted.name), wanted.tensor, site);
        !read) {
      return read;
    }
  }
  return {};
}

}  // namespace neap::formats
