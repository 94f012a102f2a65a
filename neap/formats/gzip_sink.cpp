// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>

#include "neap/base/error.hpp"
#include "neap/formats/gzip.hpp"

namespace neap::formats {
namespace {

constexpr int kGzipWithLargestWindow = 15 + 16;
constexpr int kDefaultMemory = 8;  // zlib's scale

// zlib keeps a pointer to `stream_`: the object stays in place.
class Deflating final : public GzipSink {
 public:
  explicit Deflating(files::ByteSink& to);
  ~Deflating() override { ::deflateEnd(&stream_); }

  Result<void> write(std::span<const std::byte> from) override;
  Result<void> finish() override { return deflate_all(Z_FINISH); }

 private:
  static constexpr std::size_t kOutputBytes = 32 * 1024;
  // zlib 1.2 takes 262 KiB (state, window, tables), other builds a little more.
  static constexpr std::size_t kHeapBytes = 288 * 1024;

  static void* take(void* self, unsigned items, unsigned size) noexcept;
  // zlib gives back only at the end, and then everything.
  static void give_back(void* /*self*/, void* /*block*/) noexcept {}
  Result<void> deflate_all(int flush);

  files::ByteSink& to_;
  z_stream stream_{};
  std::size_t heap_used_ = 0;
  alignas(std::max_align_t) std::array<std::byte, kHeapBytes> heap_;
  std::array<std::byte, kOutputBytes> output_;
};

Deflating::Deflating(files::ByteSink& to) : to_(to) {
  stream_.zalloc = &take;
  stream_.zfree = &give_back;
  stream_.opaque = this;
  if (::deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
                     kGzipWithLargestWindow, kDefaultMemory,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
    throw InternalError(
        "gzip: this build of zlib needs more memory than known");
  }
}

void* Deflating::take(void* self, unsigned items, unsigned size) noexcept {
  auto& sink = *static_cast<Deflating*>(self);
  constexpr std::size_t kUnit = alignof(std::max_align_t);
  const std::size_t wanted =
      (std::size_t{items} * size + kUnit - 1) / kUnit * kUnit;
  if (wanted > kHeapBytes - sink.heap_used_) {
    return nullptr;
  }
  void* block = sink.heap_.data() + sink.heap_used_;
  sink.heap_used_ += wanted;
  return block;
}

Result<void> Deflating::write(std::span<const std::byte> from) {
  while (!from.empty()) {
    const std::size_t part =
        std::min<std::size_t>(from.size(), std::numeric_limits<uInt>::max());
    // zlib does not write to its input, whose pointer is not to a constant.
    stream_.next_in =
        reinterpret_cast<Bytef*>(const_cast<std::byte*>(from.data()));
    stream_.avail_in = static_cast<uInt>(part);
    from = from.subspan(part);
    if (auto done = deflate_all(Z_NO_FLUSH); !done) {
      return done;
    }
  }
  return {};
}

// Until all input is taken and, at the end, all output written.
Result<void> Deflating::deflate_all(int flush) {
  do {
    stream_.next_out = reinterpret_cast<Bytef*>(output_.data());
    stream_.avail_out = static_cast<uInt>(output_.size());
    if (::deflate(&stream_, flush) == Z_STREAM_ERROR) {
      throw InternalError("gzip: written to after its end");
    }
    const auto made = std::span<const std::byte>(output_).first(
        output_.size() - stream_.avail_out);
    if (auto done = to_.write(made); !done) {
      return done;
    }
  } while (stream_.avail_out == 0);
  return {};
}

}  // namespace

memory::Owned<GzipSink> gzip_into(files::ByteSink& to) {
  return memory::make_owned<Deflating>(memory::Category::kData, to);
}

}  // namespace neap::formats
