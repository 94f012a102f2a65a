// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/formats/safetensors_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "neap/base/shown.hpp"
#include "neap/formats/json_cursor.hpp"
#include "neap/formats/safetensors_checksums.hpp"

namespace neap::formats {
namespace {

// Dtypes of the format that Neap does not read.
constexpr std::string_view kOtherDTypes[] = {
    "C64", "F8_E5M2", "F8_E4M3", "F8_E8M0",    "F8_E4M3FNUZ",
    "F4",  "F6_E2M3", "F6_E3M2", "F8_E5M2FNUZ"};

struct StoredCode {
  std::string_view name;
  StoredType type;
};
constexpr StoredCode kStoredCodes[] = {
    {"F64", StoredType::kF64},  {"F32", StoredType::kF32},
    {"F16", StoredType::kF16},  {"BF16", StoredType::kBF16},
    {"I64", StoredType::kI64},  {"I32", StoredType::kI32},
    {"I16", StoredType::kI16},  {"I8", StoredType::kI8},
    {"U64", StoredType::kU64},  {"U32", StoredType::kU32},
    {"U16", StoredType::kU16},  {"U8", StoredType::kU8},
    {"BOOL", StoredType::kBool}};

const StoredCode* find_code(std::string_view name) noexcept {
  const auto* const found =
      std::ranges::find(kStoredCodes, name, &StoredCode::name);
  return found != std::end(kStoredCodes) ? found : nullptr;
}

// Reads the text from front to back. Functions give false after a fault.
class Parser {
 public:
  Parser(std::string_view text, std::string_view file) noexcept
      : json_(text), file_(file) {}

  bool parse() {
    if (!json_.expect('{')) {
      return false;
    }
    memory::String key{memory::Allocator<char>(memory::Category::kData)};
    if (!json_.accept('}')) {
      do {
        if (!json_.string(key) || !json_.expect(':') || !member(key)) {
          return false;
        }
      } while (json_.accept(','));
      if (!json_.expect('}')) {
        return false;
      }
    }
    return json_.finish();
  }

  SafetensorsHeader& header() noexcept { return header_; }

  Failure failure() {
    if (refusal_) {
      return std::move(*refusal_);
    }
    return {FailureKind::kCorrupt,
            fmt::format("{}: {} at byte {} of its safetensors header; fetch "
                        "the file again",
                        file_, json_.fault(), json_.position())};
  }

 private:
  template <class... Args>
  bool refuse(FailureKind kind, fmt::format_string<Args...> format,
              Args&&... args) {
    refusal_ = {kind,
                fmt::format("{}: {}", file_,
                            fmt::format(format, std::forward<Args>(args)...))};
    return false;
  }
  bool twice(std::string_view name) {
    return refuse(FailureKind::kCorrupt,
                  "its safetensors header has {} twice; fetch the file again",
                  quoted(name));
  }

  bool member(const memory::String& key) {
    if (key == kMetadataKey) {
      return has_metadata_ ? twice(key) : metadata();
    }
    return entry(key);
  }

  bool metadata() {
    has_metadata_ = true;
    if (!json_.expect('{')) {
      return false;
    }
    if (json_.accept('}')) {
      return true;
    }
    const memory::Allocator<char> at(memory::Category::kData);
    do {
      MetadataItem item{memory::String(at), memory::String(at)};
      if (!json_.string(item.key) || !json_.expect(':') ||
          !json_.string(item.value)) {
        return false;
      }
      if (item.key == kHeaderDigestKey) {
        header_.header_digest_end = json_.position() - 1;  // before the quote
      }
      header_.metadata.push_back(std::move(item));
    } while (json_.accept(','));
    return json_.expect('}');
  }

  // The fields of an entry that have come.
  struct Seen {
    bool dtype = false;
    bool shape = false;
    bool offsets = false;
  };

  bool entry(const memory::String& name) {
    const memory::Allocator<char> at(memory::Category::kData);
    SafetensorsEntry entry{memory::String(name, at)};
    Seen seen;
    memory::String key(at);
    if (!json_.expect('{')) {
      return false;
    }
    do {
      if (!json_.string(key) || !json_.expect(':') ||
          !field(key, entry, seen)) {
        return false;
      }
    } while (json_.accept(','));
    if (!json_.expect('}')) {
      return false;
    }
    if (!seen.dtype || !seen.shape || !seen.offsets) {
      return refuse(FailureKind::kCorrupt,
                    "its safetensors header does not say {} of {}; fetch the "
                    "file again",
                    !seen.dtype   ? "dtype"
                    : !seen.shape ? "shape"
                                  : "data_offsets",
                    quoted(name));
    }
    header_.entries.push_back(std::move(entry));
    return true;
  }

  bool field(const memory::String& key, SafetensorsEntry& entry, Seen& seen) {
    if (key == "dtype") {
      return std::exchange(seen.dtype, true) ? twice(key) : dtype(entry);
    }
    if (key == "shape") {
      return std::exchange(seen.shape, true) ? twice(key) : shape(entry);
    }
    if (key == "data_offsets") {
      return std::exchange(seen.offsets, true) ? twice(key) : offsets(entry);
    }
    return refuse(FailureKind::kUnsupported,
                  "its safetensors header says {} of {}, which is not known",
                  quoted(key), quoted(entry.name));
  }

  bool dtype(SafetensorsEntry& entry) {
    memory::String code{memory::Allocator<char>(memory::Category::kData)};
    if (!json_.string(code)) {
      return false;
    }
    if (const StoredCode* known = find_code(code)) {
      entry.stored = known->type;
      entry.dtype = widened(known->type);
      return true;
    }
    if (std::ranges::find(kOtherDTypes, std::string_view(code)) !=
        std::end(kOtherDTypes)) {
      return refuse(FailureKind::kUnsupported,
                    "{} is of dtype {}, which is not read; convert it to F32",
                    quoted(entry.name), std::string_view(code));
    }
    return refuse(FailureKind::kCorrupt,
                  "{} is of dtype {}, which does not exist; fetch the file "
                  "again",
                  quoted(entry.name), quoted(code));
  }

  bool shape(SafetensorsEntry& entry) {
    if (!json_.expect('[')) {
      return false;
    }
    if (json_.accept(']')) {
      return true;
    }
    do {
      std::int64_t extent = 0;
      if (!json_.number(extent)) {
        return false;
      }
      if (entry.shape.rank() == kMaxRank) {
        return refuse(FailureKind::kUnsupported,
                      "{} has more than {} dimensions, which is not read",
                      quoted(entry.name), kMaxRank);
      }
      entry.shape.push_back(extent);
    } while (json_.accept(','));
    return json_.expect(']');
  }

  bool offsets(SafetensorsEntry& entry) {
    return json_.expect('[') && json_.number(entry.begin) &&
           json_.expect(',') && json_.number(entry.end) && json_.expect(']');
  }

  JsonCursor json_;
  std::string_view file_;
  SafetensorsHeader header_;
  bool has_metadata_ = false;
  std::optional<Failure> refusal_;
};

// The whole of a header against itself and against the file.
class Checker {
 public:
  Checker(SafetensorsHeader& header, Bytes data_bytes, std::string_view file)
      : header_(header), data_bytes_(data_bytes), file_(file) {}

  Result<void> check() {
    for (const SafetensorsEntry& entry : header_.entries) {
      if (auto good = check_size(entry); !good) {
        return good;
      }
    }
    std::ranges::sort(header_.entries, [](const auto& a, const auto& b) {
      return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
    });
    return check_layout().and_then([&] { return check_names(); }).and_then([&] {
      return check_keys();
    });
  }

 private:
  template <class... Args>
  tl::unexpected<Failure> refuse(FailureKind kind,
                                 const SafetensorsEntry& entry,
                                 fmt::format_string<Args...> format,
                                 Args&&... args) const {
    return failure(
        kind, fmt::format("{}: {} {}; fetch the file again", file_,
                          quoted(entry.name),
                          fmt::format(format, std::forward<Args>(args)...)));
  }

  // Without a product that does not fit.
  Result<void> check_size(const SafetensorsEntry& entry) const {
    Bytes needed = size_of(entry.stored);
    bool fits = true;
    bool is_empty = false;
    for (const std::int64_t extent : entry.shape) {
      is_empty |= extent == 0;
      fits &= !__builtin_mul_overflow(needed, extent, &needed);
    }
    needed = is_empty ? 0 : needed;
    if (!fits && !is_empty) {
      return refuse(FailureKind::kTooLarge, entry,
                    "has the shape {}, beyond any memory",
                    format_shape(entry.shape));
    }
    if (entry.begin > entry.end || entry.end - entry.begin != needed) {
      return refuse(FailureKind::kCorrupt, entry,
                    "has bytes [{}, {}), its shape {} of {} needs {}",
                    entry.begin, entry.end, format_shape(entry.shape),
                    name_of(entry.stored), needed);
    }
    if (entry.end > data_bytes_) {
      return refuse(FailureKind::kTruncated, entry,
                    "ends at byte {} of the data, of which there are {}",
                    entry.end, data_bytes_);
    }
    return {};
  }

  Result<void> check_layout() const {
    Bytes filled = 0;
    for (const SafetensorsEntry& entry : header_.entries) {
      if (entry.begin != filled) {
        return refuse(FailureKind::kCorrupt, entry,
                      "begins at byte {} of the data, {} byte {}", entry.begin,
                      entry.begin < filled ? "inside of what ends at"
                                           : "beyond a gap from",
                      filled);
      }
      filled = entry.end;
    }
    if (filled != data_bytes_) {
      return failure(
          FailureKind::kCorrupt,
          fmt::format("{}: has {} bytes beyond the {} that its safetensors "
                      "header names; fetch the file again",
                      file_, data_bytes_ - filled, filled));
    }
    return {};
  }

  Result<void> check_names() {
    header_.by_name.resize(header_.entries.size());
    std::iota(header_.by_name.begin(), header_.by_name.end(), 0U);
    const auto name_of_index = [&](std::uint32_t i) {
      return std::string_view(header_.entries[i].name);
    };
    std::ranges::sort(header_.by_name, {}, name_of_index);
    const auto twice =
        std::ranges::adjacent_find(header_.by_name, {}, name_of_index);
    return twice == header_.by_name.end()
               ? Result<void>()
               : refuse(FailureKind::kCorrupt, header_.entries[*twice],
                        "is named twice");
  }

  Result<void> check_keys() {
    std::ranges::sort(header_.metadata, {}, &MetadataItem::key);
    const auto twice =
        std::ranges::adjacent_find(header_.metadata, {}, &MetadataItem::key);
    return twice == header_.metadata.end()
               ? Result<void>()
               : failure(FailureKind::kCorrupt,
                         fmt::format("{}: its metadata have {} twice; fetch "
                                     "the file again",
                                     file_, quoted(twice->key)));
  }

  SafetensorsHeader& header_;
  Bytes data_bytes_;
  std::string_view file_;
};

}  // namespace

std::string quoted(std::string_view name) {
  return fmt::format("\"{}\"", base::shown(name));
}

Result<SafetensorsHeader> parse_safetensors_header(std::string_view text,
                                                   Bytes data_bytes,
                                                   std::string_view file) {
  Parser parser(text, file);
  if (!parser.parse()) {
    return tl::unexpected<Failure>(parser.failure());
  }
  SafetensorsHeader header = std::move(parser.header());
  return Checker(header, data_bytes, file).check().map([&] {
    return std::move(header);
  });
}

}  // namespace neap::formats
