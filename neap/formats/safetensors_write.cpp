// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <iterator>
#include <numeric>
#include <tuple>
#include <utility>

#include "neap/base/raise.hpp"
#include "neap/files/whole_file.hpp"
#include "neap/formats/elements.hpp"
#include "neap/formats/json_cursor.hpp"
#include "neap/formats/safetensors_header.hpp"
#include "neap/tensor/host_access.hpp"

namespace neap::formats {
namespace {

using base::raise;

// Positions in a list, in the order that they are written in.
using Order = memory::Vector<std::uint32_t>;

Order positions(std::size_t count) {
  Order order(count, memory::Allocator<std::uint32_t>(memory::Category::kData));
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

std::size_t rank_of(DType dtype) noexcept {
  return static_cast<std::size_t>(
      std::ranges::find(kDTypeCodes, dtype, &DTypeCode::dtype) -
      kDTypeCodes.begin());
}

void check_text(const char* what, std::string_view text) {
  if (!is_utf8(text)) {
    raise<NameError>("write_safetensors: a {} of {} bytes is not UTF-8", what,
                     text.size());
  }
}

Order order_of(std::span<const NamedTensor> tensors, const CallSite& site) {
  Order by_name = positions(tensors.size());
  const auto name_of_index = [&](std::uint32_t i) { return tensors[i].name; };
  std::ranges::sort(by_name, {}, name_of_index);
  const auto twice = std::ranges::adjacent_find(by_name, {}, name_of_index);
  if (twice != by_name.end()) {
    raise<NameError>("write_safetensors: the name {} is given twice",
                     std::string_view(quoted(tensors[*twice].name)));
  }
  for (const NamedTensor& tensor : tensors) {
    check_text("name", tensor.name);
    if (tensor.name == kMetadataKey) {
      raise<NameError>("write_safetensors: {} is no name for a tensor",
                       kMetadataKey);
    }
    tensor::check_host_access(tensor.tensor, "write_safetensors", site);
  }
  std::ranges::sort(by_name, {}, [&](std::uint32_t i) {
    return std::tuple(rank_of(tensors[i].tensor.dtype()), tensors[i].name);
  });
  return by_name;
}

Order order_of(const Metadata& metadata) {
  Order order = positions(metadata.size());
  const auto key_of = [&](std::uint32_t i) {
    return std::string_view(metadata[i].key);
  };
  std::ranges::sort(order, {}, key_of);
  const auto twice = std::ranges::adjacent_find(order, {}, key_of);
  if (twice != order.end()) {
    raise<NameError>("write_safetensors: the key {} is given twice",
                     std::string_view(quoted(metadata[*twice].key)));
  }
  for (const MetadataItem& item : metadata) {
    check_text("key", item.key);
    check_text("value", item.value);
  }
  return order;
}

void append_metadata(memory::String& out, const Metadata& metadata) {
  append_json_string(out, kMetadataKey);
  out += ":{";
  const char* separator = "";
  for (const std::uint32_t i : order_of(metadata)) {
    out += std::exchange(separator, ",");
    append_json_string(out, metadata[i].key);
    out += ':';
    append_json_string(out, metadata[i].value);
  }
  out += '}';
}

Bytes bytes_of(const Tensor& tensor) {
  return base::checked_mul(tensor.element_count(), size_of(tensor.dtype()));
}

// RETURNS: where the tensor ends.
Bytes append_tensor(memory::String& out, const NamedTensor& named,
                    Bytes begin) {
  const Tensor& tensor = named.tensor;
  const auto into = std::back_inserter(out);
  append_json_string(out, named.name);
  fmt::format_to(into, R"(:{{"dtype":"{}","shape":[)",
                 kDTypeCodes[rank_of(tensor.dtype())].name);
  const char* separator = "";
  for (const std::int64_t extent : tensor.shape()) {
    fmt::format_to(into, "{}{}", std::exchange(separator, ","), extent);
  }
  const Bytes end = base::checked_add(begin, bytes_of(tensor));
  fmt::format_to(into, R"(],"data_offsets":[{},{}]}})", begin, end);
  return end;
}

// The length in front and the spaces behind included.
memory::String header_of(std::span<const NamedTensor> tensors,
                         const Order& order, const Metadata& metadata) {
  memory::String out(kLengthBytes, ' ',
                     memory::Allocator<char>(memory::Category::kData));
  out += '{';
  const char* separator = "";
  if (!metadata.empty()) {
    append_metadata(out, metadata);
    separator = ",";
  }
  Bytes end = 0;
  for (const std::uint32_t i : order) {
    out += std::exchange(separator, ",");
    end = append_tensor(out, tensors[i], end);
  }
  out += '}';
  out.resize((out.size() + kLengthBytes - 1) / kLengthBytes * kLengthBytes,
             ' ');
  const std::uint64_t length = out.size() - kLengthBytes;
  if (length > static_cast<std::uint64_t>(kMaxSafetensorsHeader)) {
    raise<ValueError>("write_safetensors: a header of {} bytes, at most {}",
                      length, kMaxSafetensorsHeader);
  }
  std::memcpy(out.data(), &length, kLengthBytes);
  return out;
}

Result<void> write_elements(files::File& file, const Tensor& tensor) {
  const tensor::Strided view = tensor.array()->strided();
  const auto total = static_cast<std::size_t>(bytes_of(tensor));
  if (tensor.is_contiguous()) {
    return files::write_all(file, {view.data, total});
  }
  std::array<std::byte, 8 * kKiB> buffer;
  const auto size = static_cast<std::size_t>(size_of(view.dtype));
  for (std::size_t done = 0; done < total;) {
    const std::span part(buffer.data(), std::min(total - done, buffer.size()));
    gather(view, static_cast<std::int64_t>(done / size), part);
    if (auto written = files::write_all(file, part); !written) {
      return written;
    }
    done += part.size();
  }
  return {};
}

}  // namespace

Result<void> write_safetensors(files::Door& door, const std::string& path,
                               std::span<const NamedTensor> tensors,
                               const Metadata& metadata, CallSite site) {
  const Order order = order_of(tensors, site);
  const memory::String header = header_of(tensors, order, metadata);
  return files::write_atomically(
      door, path, [&](files::File& file) -> Result<void> {
        auto written = files::write_all(file, std::as_bytes(std::span(header)));
        for (const std::uint32_t i : order) {
          if (!written) {
            return written;
          }
          written = write_elements(file, tensors[i].tensor);
        }
        return written;
      });
}

}  // namespace neap::formats
