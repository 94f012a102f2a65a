// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <tuple>
#include <utility>

#include "neap/base/json_string.hpp"
#include "neap/base/raise.hpp"
#include "neap/files/whole_file.hpp"
#include "neap/formats/elements.hpp"
#include "neap/formats/json_cursor.hpp"
#include "neap/formats/safetensors_checksums.hpp"
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

Order order_of(std::span<const NamedTensor> tensors) {
  Order by_name = positions(tensors.size());
  const auto name_of_index = [&](std::uint32_t i) { return tensors[i].name; };
  std::ranges::sort(by_name, {}, name_of_index);
  const auto twice = std::ranges::adjacent_find(by_name, {}, name_of_index);
  if (twice != by_name.end()) {
    raise<NameError>("write_safetensors: the name {} is given twice",
                     quoted(tensors[*twice].name));
  }
  for (const NamedTensor& tensor : tensors) {
    check_text("name", tensor.name);
    if (tensor.name == kMetadataKey) {
      raise<NameError>("write_safetensors: {} is no name for a tensor",
                       kMetadataKey);
    }
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
                     quoted(metadata[*twice].key));
  }
  for (const MetadataItem& item : metadata) {
    if (item.key.starts_with(kDigestPrefix)) {
      raise<NameError>(
          "write_safetensors: the key {} is that of a checksum, which the file "
          "gets anyway",
          quoted(item.key));
    }
    check_text("key", item.key);
    check_text("value", item.value);
  }
  return order;
}

Bytes bytes_of(const Tensor& tensor) {
  return base::checked_mul(tensor.element_count(), size_of(tensor.dtype()));
}

// Text on its way to a file, through a buffer of fixed size; before start() it
// is counted, and digested where there is a digest. The first failure ends it.
class TextFile {
 public:
  TextFile() { piece_.reserve(kPiece); }

  void start(files::File& file) noexcept {
    file_ = &file;
    digest_ = nullptr;
  }
  void start(Digest& digest) noexcept {
    digest_ = &digest;
    count_ = 0;
  }
  std::uint64_t count() const noexcept { return count_; }
  void count_from_here() noexcept { count_ = 0; }

  void put(std::string_view text) {
    count_ += text.size();
    if (digest_ != nullptr) {
      digest_->update(text);
    }
    while (file_ != nullptr && written_ && !text.empty()) {
      const std::size_t size = std::min(text.size(), buffer_.size() - used_);
      std::ranges::copy(text.substr(0, size), buffer_.data() + used_);
      used_ += size;
      text.remove_prefix(size);
      if (used_ == buffer_.size()) {
        flush();
      }
    }
  }
  void put_string(std::string_view text) {  // of JSON
    piece_.clear();
    base::append_json_string(piece_, text);
    put(piece_);
  }
  void put_number(std::int64_t number) {
    put(std::string_view(fmt::format_int(number).c_str()));
  }
  Result<void> finish() {
    flush();
    return written_;
  }

 private:
  static constexpr std::size_t kPiece = 256;  // longer ones make it grow

  void flush() {
    if (written_) {
      written_ = files::write_all(
          *file_, std::as_bytes(std::span(buffer_).first(used_)));
    }
    used_ = 0;
  }

  files::File* file_ = nullptr;
  Digest* digest_ = nullptr;
  std::uint64_t count_ = 0;
  std::array<char, 4 * kKiB> buffer_{};
  std::size_t used_ = 0;
  Result<void> written_;
  memory::String piece_{memory::Allocator<char>(memory::Category::kData)};
};

// visit(bytes) for all elements, piece by piece, as they lie in a file. visit
// gives false to end.
template <class Visit>
void visit_elements(const Tensor& tensor, const CallSite& site,
                    const Visit& visit) {
  const tensor::HostLook look(tensor, "write_safetensors", site);
  const tensor::Strided view = look.strided();
  const auto total = static_cast<std::size_t>(bytes_of(tensor));
  if (tensor.is_contiguous()) {
    visit(std::span<const std::byte>(view.data, total));
    return;
  }
  std::array<std::byte, 8 * kKiB> buffer;
  const auto size = static_cast<std::size_t>(size_of(view.dtype));
  for (std::size_t done = 0; done < total;) {
    const std::span part(buffer.data(), std::min(total - done, buffer.size()));
    gather(view, static_cast<std::int64_t>(done / size), part);
    if (!visit(std::span<const std::byte>(part))) {
      return;
    }
    done += part.size();
  }
}

std::uint64_t digest_of(const Tensor& tensor, const CallSite& site) {
  Digest digest;
  visit_elements(tensor, site, [&](std::span<const std::byte> bytes) {
    digest.update(bytes);
    return true;
  });
  return digest.value();
}

// The header of a file. How much memory it takes hangs on how many tensors and
// metadata there are, not on how long a number in them is: a training asks for
// the same at each of its saves.
class Header {
 public:
  Header(std::span<const NamedTensor> tensors, const Metadata& metadata)
      : tensors_(tensors),
        metadata_(metadata),
        order_(order_of(tensors)),
        metadata_order_(order_of(metadata)),
        digests_(tensors.size(),
                 memory::Allocator<std::uint64_t>(memory::Category::kData)) {
    put();
    length_ = (text_.count() + kLengthBytes - 1) / kLengthBytes * kLengthBytes;
    if (length_ > static_cast<std::uint64_t>(kMaxSafetensorsHeader)) {
      raise<ValueError>("write_safetensors: a header of {} bytes, at most {}",
                        length_, kMaxSafetensorsHeader);
    }
  }

  /// The order of the tensors in the file.
  const Order& order() const noexcept { return order_; }

  /// With the length in front and the spaces behind. Looks at all elements
  /// first, for their digests.
  Result<void> write(files::File& file, const CallSite& site) {
    for (std::size_t i = 0; i < digests_.size(); ++i) {
      digests_[i] = digest_of(tensors_[order_[i]].tensor, site);
    }
    const auto front = std::bit_cast<std::array<char, kLengthBytes>>(length_);
    const std::string_view length(front.data(), front.size());
    Digest digest;
    text_.start(digest);
    put_padded();
    text_.put(length);
    own_digest_ = digest_text(digest.value());
    text_.start(file);
    text_.put(length);
    text_.count_from_here();
    put_padded();
    return text_.finish();
  }

 private:
  void put_padded() {
    put();
    while (text_.count() < length_) {
      text_.put(" ");
    }
  }
  void put() {
    text_.put("{");
    put_metadata();
    Bytes end = 0;
    for (const std::uint32_t i : order_) {
      text_.put(",");
      end = put_tensor(tensors_[i], end);
    }
    text_.put("}");
  }
  void put_metadata() {
    text_.put_string(kMetadataKey);
    text_.put(":{");
    text_.put_string(kHeaderDigestKey);
    text_.put(":\"");
    put_digest(own_digest_);
    text_.put("\",");
    text_.put_string(kTensorDigestsKey);
    text_.put(":\"");
    for (const std::uint64_t digest : digests_) {
      put_digest(digest_text(digest));
    }
    text_.put("\"");
    for (const std::uint32_t i : metadata_order_) {
      text_.put(",");
      text_.put_string(metadata_[i].key);
      text_.put(":");
      text_.put_string(metadata_[i].value);
    }
    text_.put("}");
  }
  // RETURNS: where the tensor ends.
  Bytes put_tensor(const NamedTensor& named, Bytes begin) {
    const Tensor& tensor = named.tensor;
    text_.put_string(named.name);
    text_.put(R"(:{"dtype":")");
    text_.put(kDTypeCodes[rank_of(tensor.dtype())].name);
    text_.put(R"(","shape":[)");
    const char* separator = "";
    for (const std::int64_t extent : tensor.shape()) {
      text_.put(std::exchange(separator, ","));
      text_.put_number(extent);
    }
    const Bytes end = base::checked_add(begin, bytes_of(tensor));
    text_.put(R"(],"data_offsets":[)");
    text_.put_number(begin);
    text_.put(",");
    text_.put_number(end);
    text_.put("]}");
    return end;
  }

  void put_digest(const DigestText& digits) {
    text_.put({digits.data(), digits.size()});
  }

  std::span<const NamedTensor> tensors_;
  const Metadata& metadata_;
  Order order_;
  Order metadata_order_;
  memory::Vector<std::uint64_t> digests_;  // by order_; 0 until write()
  DigestText own_digest_ = kBlankDigest;
  TextFile text_;
  std::uint64_t length_ = 0;  // of the text, with the spaces behind
};

Result<void> write_elements(files::File& file, const Tensor& tensor,
                            const CallSite& site) {
  Result<void> written;
  visit_elements(tensor, site, [&](std::span<const std::byte> bytes) {
    written = files::write_all(file, bytes);
    return written.has_value();
  });
  return written;
}

}  // namespace

Result<void> write_safetensors(files::Door& door, const std::string& path,
                               std::span<const NamedTensor> tensors,
                               const Metadata& metadata, CallSite site) {
  for (const NamedTensor& tensor : tensors) {
    tensor::check_host_look(tensor.tensor, "write_safetensors", site);
  }
  Header header(tensors, metadata);
  return files::write_atomically(
      door, path, [&](files::File& file) -> Result<void> {
        auto written = header.write(file, site);
        for (const std::uint32_t i : header.order()) {
          if (!written) {
            return written;
          }
          written = write_elements(file, tensors[i].tensor, site);
        }
        return written;
      });
}

void rehearse_safetensors(std::span<const NamedTensor> tensors,
                          const Metadata& metadata, Bytes look) {
  const Header header(tensors, metadata);
  if (look != 0) {
    tensor::Storage::allocate(
        look, memory::current_tag(memory::Category::kData), memory::domain());
  }
}

}  // namespace neap::formats
