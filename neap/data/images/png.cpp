// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <png.h>

#include <algorithm>
#include <cstring>

#include "neap/data/images/decoders.hpp"

// All memory of libpng and its zlib is of the heap, which frees it: no object
// of theirs is destroyed, whatever state a failure left it in.
namespace neap::data::images {
namespace {

struct Png {
  Decoding& decoding;
  png_structp reader = nullptr;
  png_infop info = nullptr;
  std::span<const std::byte> piece{};  // what is left of the present one
  png_uint_32 height = 0;
  png_uint_32 width = 0;
  png_bytep pixels = nullptr;  // (height, width, 3)
};

Png& png_of(png_structp reader) noexcept {
  return *static_cast<Png*>(png_get_error_ptr(reader));
}

void on_error(png_structp reader, png_const_charp text) noexcept {
  png_of(reader).decoding.fail(FailureKind::kCorrupt, text);
}

void on_warning(png_structp, png_const_charp) noexcept {}

png_voidp take(png_structp reader, png_alloc_size_t bytes) noexcept {
  return static_cast<Png*>(png_get_mem_ptr(reader))->decoding.take(bytes);
}

void give_back(png_structp reader, png_voidp block) noexcept {
  static_cast<Png*>(png_get_mem_ptr(reader))->decoding.heap().give_back(block);
}

void read(png_structp reader, png_bytep into, std::size_t count) noexcept {
  Png& png = png_of(reader);
  while (count > 0) {
    if (png.piece.empty()) {
      if (!png.decoding.refill()) {
        png.decoding.fail_truncated();
      }
      png.piece = png.decoding.piece();
    }
    const std::size_t some = std::min(count, png.piece.size());
    std::memcpy(into, png.piece.data(), some);
    png.piece = png.piece.subspan(some);
    into += some;
    count -= some;
  }
}

void read_header(Png& png) noexcept {
  png.piece = png.decoding.piece();
  png.reader = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &png, &on_error,
                                        &on_warning, &png, &take, &give_back);
  png.info =
      png.reader != nullptr ? png_create_info_struct(png.reader) : nullptr;
  if (png.info == nullptr) {
    png.decoding.fail(FailureKind::kUnsupported,
                      "the libpng that runs is not the one of the build");
  }
  png_set_read_fn(png.reader, &png, &read);
  // Nothing but pixels, palette and transparency is read.
  png_set_keep_unknown_chunks(png.reader, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_set_user_limits(png.reader, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_read_info(png.reader, png.info);
  png.height = png_get_image_height(png.reader, png.info);
  png.width = png_get_image_width(png.reader, png.info);
}

// Whatever the file has, rows of eight-bit red, green and blue come out.
void ask_for_rgb(Png& png) noexcept {
  const int kind = png_get_color_type(png.reader, png.info);
  if (kind == PNG_COLOR_TYPE_PALETTE) {
    png_set_palette_to_rgb(png.reader);
  } else if ((kind & PNG_COLOR_MASK_COLOR) == 0) {
    png_set_expand_gray_1_2_4_to_8(png.reader);
    png_set_gray_to_rgb(png.reader);
  }
  png_set_scale_16(png.reader);
  png_set_strip_alpha(png.reader);
}

void read_pixels(Png& png) noexcept {
  ask_for_rgb(png);
  const int passes = png_set_interlace_handling(png.reader);
  png_read_update_info(png.reader, png.info);
  const std::size_t row_bytes = std::size_t{3} * png.width;
  if (png_get_rowbytes(png.reader, png.info) != row_bytes) {
    png.decoding.fail(FailureKind::kUnsupported,
                      "its pixels do not become red, green and blue");
  }
  for (int pass = 0; pass < passes; ++pass) {
    for (png_uint_32 row = 0; row < png.height; ++row) {
      png_read_row(png.reader, png.pixels + row * row_bytes, nullptr);
    }
  }
  png_read_end(png.reader, nullptr);
}

}  // namespace

Bytes png_heap(std::int64_t width) noexcept {
  // Two rows of at most eight bytes a pixel, and as much again where it is
  // interlaced; zlib's state and window.
  constexpr Bytes kEachPixel = 32;
  return Decoding::kBeforeHeader + kEachPixel * width;
}

Result<ImageHeader> look_at_png(Decoding& decoding, const ImageLimits& limits) {
  Png png{decoding};
  if (!decoding.run(&read_header, png)) {
    return decoding.failure();
  }
  return make_header(decoding, png.height, png.width, png_heap(png.width),
                     limits);
}

Result<Image> decode_png(Decoding& decoding, const ImageLimits& limits) {
  Png png{decoding};
  if (!decoding.run(&read_header, png)) {
    return decoding.failure();
  }
  auto image = make_image(decoding, png.height, png.width, limits);
  if (!image) {
    return image;
  }
  decoding.heap().set_limit(png_heap(png.width));
  png.pixels = image->pixels.data();
  if (!decoding.run(&read_pixels, png)) {
    return decoding.failure();
  }
  return image;
}

}  // namespace neap::data::images
