// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/images/jpeg_memory.hpp"

// It needs the header above.
#include <jerror.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "neap/data/images/decoders.hpp"
#include "neap/data/images/orientation.hpp"

namespace neap::data::images {
namespace {

// Encoders write about ten. Each may be short and cost a walk over all blocks.
constexpr int kMostScans = 100;
constexpr int kInks = 4;  // components of CMYK

struct Jpeg {
  explicit Jpeg(Decoding& of) noexcept : decoding(of), memory(of) {}
  ~Jpeg() { end(); }
  Jpeg(const Jpeg&) = delete;
  Jpeg& operator=(const Jpeg&) = delete;

  /// Frees what the library took; a second call does nothing.
  void end() noexcept { jpeg_destroy_decompress(&reader); }

  Decoding& decoding;
  JpegMemory memory;
  jpeg_decompress_struct reader{};
  jpeg_error_mgr errors{};
  jpeg_source_mgr source{};
  jpeg_progress_mgr progress{};
  JSAMPROW pixels = nullptr;  // (height, width, 3)
  int orientation = kUpright;
  bool has_exif = false;  // the first such segment holds, and only a header's
};

Jpeg& jpeg_of(j_common_ptr reader) noexcept {
  return *static_cast<Jpeg*>(reader->client_data);
}
Jpeg& jpeg_of(j_decompress_ptr reader) noexcept {
  return *static_cast<Jpeg*>(reader->client_data);
}

template <std::size_t n>
bool is_said(j_common_ptr reader,
             const std::array<J_MESSAGE_CODE, n>& codes) noexcept {
  return std::any_of(codes.begin(), codes.end(),
                     [&](int code) { return code == reader->err->msg_code; });
}

[[noreturn]] void fail(j_common_ptr reader) noexcept {
  constexpr std::array kVariants = {
      JERR_ARITH_NOTIMPL,      JERR_BAD_PRECISION,        JERR_CCIR601_NOTIMPL,
      JERR_CONVERSION_NOTIMPL, JERR_FRACT_SAMPLE_NOTIMPL, JERR_NOT_COMPILED,
      JERR_SOF_UNSUPPORTED};
  std::array<char, JMSG_LENGTH_MAX> text{};
  reader->err->format_message(reader, text.data());
  jpeg_of(reader).decoding.fail(is_said(reader, kVariants)
                                    ? FailureKind::kUnsupported
                                    : FailureKind::kCorrupt,
                                text.data());
}

void on_error(j_common_ptr reader) noexcept {
  fail(reader);
}

// A warning that pixels are invented is an error; nothing else is said.
void on_message(j_common_ptr reader, int level) noexcept {
  constexpr std::array kInvented = {JWRN_HIT_MARKER, JWRN_HUFF_BAD_CODE,
                                    JWRN_ARITH_BAD_CODE, JWRN_MUST_RESYNC,
                                    JWRN_JPEG_EOF};
  if (level < 0 && is_said(reader, kInvented)) {
    fail(reader);
  }
}

void stay_silent(j_common_ptr) noexcept {}

void show_piece(Jpeg& jpeg) noexcept {
  const auto piece = jpeg.decoding.piece();
  jpeg.source.next_input_byte = reinterpret_cast<const JOCTET*>(piece.data());
  jpeg.source.bytes_in_buffer = piece.size();
}

void begin_source(j_decompress_ptr) noexcept {}
void end_source(j_decompress_ptr) noexcept {}

boolean next_piece(j_decompress_ptr reader) noexcept {
  Jpeg& jpeg = jpeg_of(reader);
  if (!jpeg.decoding.refill()) {
    jpeg.decoding.fail_truncated();
  }
  show_piece(jpeg);
  return TRUE;
}

void skip(j_decompress_ptr reader, long count) noexcept {
  auto left = static_cast<std::size_t>(std::max(count, 0L));
  jpeg_source_mgr& source = jpeg_of(reader).source;
  while (left > source.bytes_in_buffer) {
    left -= source.bytes_in_buffer;
    next_piece(reader);
  }
  source.next_input_byte += left;
  source.bytes_in_buffer -= left;
}

// REQUIRES: count at most what the pieces of the file hold, else it fails.
void read_bytes(j_decompress_ptr reader, std::span<std::byte> into) noexcept {
  jpeg_source_mgr& source = jpeg_of(reader).source;
  while (!into.empty()) {
    if (source.bytes_in_buffer == 0) {
      next_piece(reader);
    }
    const std::size_t count = std::min(into.size(), source.bytes_in_buffer);
    std::memcpy(into.data(), source.next_input_byte, count);
    source.next_input_byte += count;
    source.bytes_in_buffer -= count;
    into = into.subspan(count);
  }
}

// An APP1 segment: EXIF, or other notes, which are passed over. The library
// would keep them all; this keeps one of at most 64 KiB while it is looked at.
boolean look_for_exif(j_decompress_ptr reader) noexcept {
  constexpr std::size_t kName = 6;  // bytes of "Exif", 0, 0
  constexpr std::size_t kOfLength = 2;
  Jpeg& jpeg = jpeg_of(reader);
  std::array<std::byte, kOfLength> length{};
  read_bytes(reader, length);
  const std::size_t whole = (std::to_integer<std::size_t>(length[0]) << 8U) +
                            std::to_integer<std::size_t>(length[1]);
  const std::size_t size = whole < kOfLength ? 0 : whole - kOfLength;
  if (jpeg.has_exif || size < kName) {
    skip(reader, static_cast<long>(size));
    return TRUE;
  }
  std::array<std::byte, kName> name{};
  read_bytes(reader, name);
  if (!is_exif(name)) {
    skip(reader, static_cast<long>(size - kName));
    return TRUE;
  }
  auto* block = static_cast<std::byte*>(jpeg.decoding.take(size));
  std::memcpy(block, name.data(), kName);
  read_bytes(reader, std::span(block, size).subspan(kName));
  jpeg.orientation = orientation_of({block, size});
  jpeg.has_exif = true;
  jpeg.decoding.heap().give_back(block);
  return TRUE;
}

void count_scans(j_common_ptr reader) noexcept {
  Jpeg& jpeg = jpeg_of(reader);
  if (jpeg.reader.input_scan_number > kMostScans) {
    jpeg.decoding.fail(FailureKind::kTooLarge, "it has more than 100 scans");
  }
}

void connect(Jpeg& jpeg) noexcept {
  jpeg.reader.err = jpeg_std_error(&jpeg.errors);
  jpeg.errors.error_exit = &on_error;
  jpeg.errors.emit_message = &on_message;
  jpeg.errors.output_message = &stay_silent;
  jpeg.reader.client_data = &jpeg;
  jpeg_create_decompress(&jpeg.reader);
  jpeg.memory.serve(jpeg.reader);
  jpeg.source.init_source = &begin_source;
  jpeg.source.fill_input_buffer = &next_piece;
  jpeg.source.skip_input_data = &skip;
  jpeg.source.resync_to_restart = &jpeg_resync_to_restart;
  jpeg.source.term_source = &end_source;
  jpeg.reader.src = &jpeg.source;
  jpeg.progress.progress_monitor = &count_scans;
  jpeg.reader.progress = &jpeg.progress;
  show_piece(jpeg);
}

void read_header(Jpeg& jpeg) noexcept {
  connect(jpeg);
  jpeg_decompress_struct& reader = jpeg.reader;
  jpeg_set_marker_processor(&reader, JPEG_APP0 + 1, &look_for_exif);
  jpeg_read_header(&reader, TRUE);
  jpeg.has_exif = true;  // what comes between scans is too late
  switch (reader.jpeg_color_space) {
    case JCS_GRAYSCALE:
    case JCS_RGB:
    case JCS_YCbCr:
      reader.out_color_space = JCS_RGB;
      break;
    case JCS_CMYK:
    case JCS_YCCK:
      reader.out_color_space = JCS_CMYK;
      break;
    default:
      jpeg.decoding.fail(FailureKind::kUnsupported,
                         "it has other colours than grey, RGB and CMYK");
  }
  if (reader.data_precision != BITS_IN_JSAMPLE) {
    jpeg.decoding.fail(FailureKind::kUnsupported,
                       "it has other than 8 bits a channel");
  }
}

// Inks as Adobe writes them: 255 is none. c k / 255, rounded, which has no
// ties.
void to_rgb(const JSAMPLE* inks, JDIMENSION count, JSAMPROW out) noexcept {
  constexpr int kFull = 255;
  for (; count > 0; --count, inks += kInks) {
    for (int channel = 0; channel < 3; ++channel) {
      *out++ = static_cast<JSAMPLE>((2 * inks[channel] * inks[3] + kFull) /
                                    (2 * kFull));
    }
  }
}

void read_pixels(Jpeg& jpeg) noexcept {
  jpeg_decompress_struct& reader = jpeg.reader;
  jpeg_start_decompress(&reader);
  const bool has_inks = reader.out_color_space == JCS_CMYK;
  if (reader.output_components != (has_inks ? kInks : 3)) {
    jpeg.decoding.fail(FailureKind::kUnsupported,
                       "its pixels do not become red, green and blue");
  }
  const std::size_t row_bytes = std::size_t{3} * reader.output_width;
  JSAMPROW inks = nullptr;
  if (has_inks) {
    inks = static_cast<JSAMPROW>(
        jpeg.decoding.take(std::size_t{kInks} * reader.output_width));
  }
  while (reader.output_scanline < reader.output_height) {
    JSAMPROW row = jpeg.pixels + row_bytes * reader.output_scanline;
    jpeg_read_scanlines(&reader, has_inks ? &inks : &row, 1);
    if (has_inks) {
      to_rgb(inks, reader.output_width, row);
    }
  }
  jpeg_finish_decompress(&reader);
}

}  // namespace

Bytes jpeg_heap(std::int64_t height, std::int64_t width,
                bool has_scans) noexcept {
  // Ten groups of up to four rows for each of four components, rows for their
  // upsampling, and the row of inks.
  constexpr Bytes kEachColumn = 256;
  constexpr Bytes kSmall = 512 * kKiB;
  constexpr std::int64_t kPadding = 32;   // blocks of 8 in units of up to 4
  constexpr Bytes kCoefficients = 2 * 4;  // bytes, of four components
  const Bytes rows = kSmall + kEachColumn * (width + kPadding);
  return has_scans
             ? rows + kCoefficients * (height + kPadding) * (width + kPadding)
             : rows;
}

Result<ImageHeader> look_at_jpeg(Decoding& decoding,
                                 const ImageLimits& limits) {
  Jpeg jpeg(decoding);
  if (!decoding.run(&read_header, jpeg)) {
    return decoding.failure();
  }
  const std::uint32_t height = jpeg.reader.image_height;
  const std::uint32_t width = jpeg.reader.image_width;
  const bool has_scans = jpeg_has_multiple_scans(&jpeg.reader) != FALSE;
  const Bytes heap = jpeg_heap(height, width, has_scans);
  if (!limits.turns_upright || jpeg.orientation < kFirstTransposed) {
    return make_header(decoding, height, width, heap, limits);
  }
  // The pixels are copied once the decoder's memory is free.
  return make_header(decoding, width, height,
                     std::max(heap, 3 * Bytes{height} * width), limits);
}

Result<Image> decode_jpeg(Decoding& decoding, const ImageLimits& limits) {
  Jpeg jpeg(decoding);
  if (!decoding.run(&read_header, jpeg)) {
    return decoding.failure();
  }
  const std::uint32_t height = jpeg.reader.image_height;
  const std::uint32_t width = jpeg.reader.image_width;
  auto image = make_image(decoding, height, width, limits);
  if (!image) {
    return image;
  }
  decoding.heap().set_limit(
      jpeg_heap(height, width, jpeg_has_multiple_scans(&jpeg.reader) != FALSE));
  jpeg.pixels = image->pixels.data();
  if (!decoding.run(&read_pixels, jpeg)) {
    return decoding.failure();
  }
  if (limits.turns_upright) {
    jpeg.end();
    decoding.heap().clear();
    turn_upright(*image, jpeg.orientation);
  }
  return image;
}

}  // namespace neap::data::images
