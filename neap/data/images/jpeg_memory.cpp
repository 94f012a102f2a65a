// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/images/jpeg_memory.hpp"

#include <cstring>
#include <type_traits>

// The blocks of a whole component, (height, width) once they are there. The
// library leaves this type to its memory manager.
struct jvirt_barray_control {  // NOLINT(readability-identifier-naming)
  JBLOCKARRAY rows;
  JDIMENSION height;
  JDIMENSION width;
  jvirt_barray_control* next;
};

namespace neap::data::images {
namespace {

// Vector code reads and writes whole registers beyond the end of a row.
constexpr std::size_t kSampleUnit = 128;

std::size_t in_units(std::size_t bytes, std::size_t unit) noexcept {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

JpegMemory::JpegMemory(Decoding& decoding) noexcept : decoding_(&decoding) {
  methods_.alloc_small = &take;
  methods_.alloc_large = &take;
  methods_.alloc_sarray = &take_samples;
  methods_.alloc_barray = &take_blocks;
  methods_.request_virt_sarray = &promise_samples;
  methods_.request_virt_barray = &promise_blocks;
  methods_.realize_virt_arrays = &keep_promises;
  methods_.access_virt_sarray = &show_samples;
  methods_.access_virt_barray = &show_blocks;
  methods_.free_pool = &free_pool;
  methods_.self_destruct = &destroy;
}

void JpegMemory::serve(jpeg_decompress_struct& jpeg) noexcept {
  library_ = jpeg.mem;
  methods_.max_memory_to_use = library_->max_memory_to_use;
  methods_.max_alloc_chunk = library_->max_alloc_chunk;
  jpeg.mem = &methods_;
}

JpegMemory& JpegMemory::of(j_common_ptr jpeg) noexcept {
  static_assert(std::is_standard_layout_v<JpegMemory>);
  return *reinterpret_cast<JpegMemory*>(jpeg->mem);
}

void* JpegMemory::take(j_common_ptr jpeg, int, std::size_t bytes) noexcept {
  return of(jpeg).decoding_->take(bytes);
}

// Rows of samples, whose pointers stand before them in one block.
JSAMPARRAY JpegMemory::take_samples(j_common_ptr jpeg, int pool,
                                    JDIMENSION width,
                                    JDIMENSION height) noexcept {
  const std::size_t row = in_units(width, kSampleUnit);
  const std::size_t pointers =
      in_units(std::size_t{height} * sizeof(JSAMPROW), kSampleUnit);
  auto* block = static_cast<std::byte*>(
      take(jpeg, pool, pointers + row * height + kSampleUnit));
  auto* rows = reinterpret_cast<JSAMPARRAY>(block);
  for (JDIMENSION i = 0; i < height; ++i) {
    rows[i] = reinterpret_cast<JSAMPROW>(block + pointers + row * i);
  }
  return rows;
}

JBLOCKARRAY JpegMemory::take_blocks(j_common_ptr jpeg, int pool,
                                    JDIMENSION width,
                                    JDIMENSION height) noexcept {
  const std::size_t pointers =
      in_units(std::size_t{height} * sizeof(JBLOCKROW), kSampleUnit);
  const std::size_t row = std::size_t{width} * sizeof(JBLOCK);
  auto* block =
      static_cast<std::byte*>(take(jpeg, pool, pointers + row * height));
  auto* rows = reinterpret_cast<JBLOCKARRAY>(block);
  for (JDIMENSION i = 0; i < height; ++i) {
    rows[i] = reinterpret_cast<JBLOCKROW>(block + pointers + row * i);
  }
  return rows;
}

// Whole planes of samples: for palettes, which are not asked for, and for
// lossless JPEGs.
jvirt_sarray_ptr JpegMemory::promise_samples(j_common_ptr jpeg, int, boolean,
                                             JDIMENSION, JDIMENSION,
                                             JDIMENSION) noexcept {
  of(jpeg).decoding_->fail(FailureKind::kUnsupported,
                           "a JPEG of this kind is not read");
}

JSAMPARRAY JpegMemory::show_samples(j_common_ptr jpeg, jvirt_sarray_ptr,
                                    JDIMENSION, JDIMENSION, boolean) noexcept {
  of(jpeg).decoding_->fail(FailureKind::kUnsupported,
                           "a JPEG of this kind is not read");
}

jvirt_barray_ptr JpegMemory::promise_blocks(j_common_ptr jpeg, int pool,
                                            boolean, JDIMENSION width,
                                            JDIMENSION height,
                                            JDIMENSION) noexcept {
  auto* promised = static_cast<jvirt_barray_ptr>(
      take(jpeg, pool, sizeof(jvirt_barray_control)));
  jvirt_barray_ptr& latest = of(jpeg).promised_;
  *promised = {nullptr, height, width, latest};
  latest = promised;
  return promised;
}

// Zeros stand where a file says nothing, whether or not they were asked for.
void JpegMemory::keep_promises(j_common_ptr jpeg) noexcept {
  for (auto* it = of(jpeg).promised_; it != nullptr; it = it->next) {
    if (it->rows == nullptr) {
      it->rows = take_blocks(jpeg, JPOOL_IMAGE, it->width, it->height);
      if (it->height > 0) {
        std::memset(static_cast<void*>(it->rows[0]), 0,
                    sizeof(JBLOCK) * it->width * it->height);
      }
    }
  }
}

JBLOCKARRAY JpegMemory::show_blocks(j_common_ptr jpeg, jvirt_barray_ptr blocks,
                                    JDIMENSION first, JDIMENSION count,
                                    boolean) noexcept {
  if (blocks->rows == nullptr || first > blocks->height ||
      count > blocks->height - first) {
    of(jpeg).decoding_->fail(FailureKind::kCorrupt,
                             "its blocks are not where they should be");
  }
  return blocks->rows + first;
}

// One image is read by a decoder, and its heap frees everything soon after.
void JpegMemory::free_pool(j_common_ptr, int) noexcept {}

void JpegMemory::destroy(j_common_ptr jpeg) noexcept {
  jpeg->mem = of(jpeg).library_;
  jpeg->mem->self_destruct(jpeg);
}

}  // namespace neap::data::images
