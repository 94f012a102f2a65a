// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/formats/gzip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>

#include "neap/base/error.hpp"

namespace neap::formats {
namespace {

constexpr int kGzipWithLargestWindow = 15 + 16;

// The longest match, 258 bytes, takes at least two bits.
constexpr Bytes kDeflateBest = 258 * 8 / 2;

Bytes most_inside(Bytes compressed) noexcept {
  Bytes most = 0;
  return __builtin_mul_overflow(compressed, kDeflateBest, &most) ? kUnlimited
                                                                 : most;
}

Bytef* as_zlib(std::byte* bytes) noexcept {
  return reinterpret_cast<Bytef*>(bytes);
}

// Owns its file. zlib keeps a pointer to `stream_`: the object stays in place.
class GzipSource final : public files::ByteSource {
 public:
  GzipSource(files::File file, Bytes size);
  ~GzipSource() override;

  Result<Bytes> read(std::span<std::byte> into) override;
  files::Remaining remaining() const noexcept override;
  std::string_view name() const noexcept override { return file_.name(); }

 private:
  static constexpr std::size_t kInputBytes = 32 * 1024;
  // zlib 1.2 takes 40 KiB (state and window), other builds a little more.
  static constexpr std::size_t kHeapBytes = 48 * 1024;

  static void* take(void* self, unsigned items, unsigned size) noexcept;
  static void give_back(void* self, void* block) noexcept;
  Result<bool> refill();
  Result<void> begin_member();
  Result<void> inflate_some();

  files::File file_;
  Bytes at_most_;          // bytes that can still come
  bool in_member_ = true;  // false between members
  bool is_at_end_ = false;
  z_stream stream_{};
  std::size_t heap_used_ = 0;
  alignas(std::max_align_t) std::array<std::byte, kHeapBytes> heap_;
  std::array<std::byte, kInputBytes> input_;
};

GzipSource::GzipSource(files::File file, Bytes size)
    : file_(std::move(file)), at_most_(most_inside(size)) {
  stream_.zalloc = &take;
  stream_.zfree = &give_back;
  stream_.opaque = this;
  if (::inflateInit2(&stream_, kGzipWithLargestWindow) != Z_OK) {
    throw InternalError(
        "gzip: this build of zlib needs more memory than known");
  }
}

GzipSource::~GzipSource() {
  ::inflateEnd(&stream_);
}

void* GzipSource::take(void* self, unsigned items, unsigned size) noexcept {
  auto& source = *static_cast<GzipSource*>(self);
  constexpr std::size_t kUnit = alignof(std::max_align_t);
  const std::size_t wanted =
      (std::size_t{items} * size + kUnit - 1) / kUnit * kUnit;
  if (wanted > kHeapBytes - source.heap_used_) {
    return nullptr;
  }
  void* block = source.heap_.data() + source.heap_used_;
  source.heap_used_ += wanted;
  return block;
}

// zlib gives back only at the end, and then everything.
void GzipSource::give_back(void*, void*) noexcept {}

Result<Bytes> GzipSource::read(std::span<std::byte> into) {
  const auto room = static_cast<uInt>(
      std::min<std::size_t>(into.size(), std::numeric_limits<uInt>::max()));
  stream_.next_out = as_zlib(into.data());
  stream_.avail_out = room;
  while (room > 0 && stream_.avail_out == room && !is_at_end_) {
    auto step = refill().and_then([&](bool has_input) -> Result<void> {
      if (!has_input && in_member_) {
        return failure(FailureKind::kTruncated,
                       fmt::format("{}: the gzip data ends early; fetch the "
                                   "file again",
                                   name()));
      }
      is_at_end_ = !has_input;
      return is_at_end_ ? Result<void>{} : inflate_some();
    });
    if (!step) {
      return tl::make_unexpected(std::move(step.error()));
    }
  }
  const Bytes count = room - stream_.avail_out;
  at_most_ -= std::min(count, at_most_);
  return count;
}

// False where the file has no more.
Result<bool> GzipSource::refill() {
  if (stream_.avail_in > 0) {
    return true;
  }
  return file_.read(input_).map([&](Bytes count) {
    stream_.next_in = as_zlib(input_.data());
    stream_.avail_in = static_cast<uInt>(count);
    return count > 0;
  });
}

// The bytes that follow a member must look like another one.
Result<void> GzipSource::begin_member() {
  if (*stream_.next_in != std::to_integer<Bytef>(kGzipMagic[0])) {
    return failure(FailureKind::kCorrupt,
                   fmt::format("{}: has bytes after the end of its gzip data; "
                               "fetch the file again",
                               name()));
  }
  ::inflateReset(&stream_);
  in_member_ = true;
  return {};
}

Result<void> GzipSource::inflate_some() {
  if (!in_member_) {
    auto begun = begin_member();
    if (!begun) {
      return begun;
    }
  }
  const int status = ::inflate(&stream_, Z_NO_FLUSH);
  if (status == Z_STREAM_END) {
    in_member_ = false;
    return {};
  }
  if (status == Z_OK) {
    return {};
  }
  if (status == Z_MEM_ERROR) {
    throw InternalError(
        "gzip: this build of zlib needs more memory than known");
  }
  return failure(
      FailureKind::kCorrupt,
      fmt::format("{}: the gzip data is damaged ({}); fetch the file again",
                  name(),
                  stream_.msg != nullptr ? stream_.msg : "no progress"));
}

files::Remaining GzipSource::remaining() const noexcept {
  return {is_at_end_ ? 0 : at_most_, is_at_end_};
}

}  // namespace

memory::Owned<files::ByteSource> open_gzip(files::File file, Bytes size) {
  return memory::make_owned<GzipSource>(memory::Category::kData,
                                        std::move(file), size);
}

}  // namespace neap::formats
