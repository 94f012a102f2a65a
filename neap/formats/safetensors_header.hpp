// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The header of a safetensors file, read and made. Of this room alone.
#pragma once

#include <array>

#include "neap/formats/safetensors.hpp"

namespace neap::formats {

inline constexpr std::string_view kMetadataKey = "__metadata__";
/// The length of the header stands before it.
inline constexpr std::size_t kLengthBytes = 8;

struct DTypeCode {
  std::string_view name;  // in a header
  DType dtype;
};

/// The dtypes of tensors that are written, in the order of data in a file:
/// larger elements first.
inline constexpr std::array kDTypeCodes = {
    DTypeCode{"I64", DType::kI64},   DTypeCode{"F64", DType::kF64},
    DTypeCode{"F32", DType::kF32},   DTypeCode{"I32", DType::kI32},
    DTypeCode{"BF16", DType::kBF16}, DTypeCode{"U8", DType::kU8},
    DTypeCode{"BOOL", DType::kBool}};

struct SafetensorsHeader {
  memory::Vector<SafetensorsEntry> entries{
      // in the order of the data
      memory::Allocator<SafetensorsEntry>(memory::Category::kData)};
  memory::Vector<std::uint32_t> by_name{
      // indices of entries
      memory::Allocator<std::uint32_t>(memory::Category::kData)};
  Metadata metadata{memory::Allocator<MetadataItem>(memory::Category::kData)};
  /// The end of the digits of the header's own checksum in the text; 0: none.
  std::size_t header_digest_end = 0;
};

/// `data_bytes`: what follows the header; `file`: for messages.
Result<SafetensorsHeader> parse_safetensors_header(std::string_view text,
                                                   Bytes data_bytes,
                                                   std::string_view file);

/// The name as messages have it: in quotes, escaped, cut where it is long.
std::string quoted(std::string_view name);

}  // namespace neap::formats
