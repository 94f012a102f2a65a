// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// JpegMemory: libjpeg's memory manager, over the heap of a Decoding. The
// library's own takes memory by malloc and moves what is large to files of its
// own; it keeps the few KiB that creating a decoder takes, and nothing more.
// Of this room alone.
#pragma once

// libjpeg's header needs the one before it.
// clang-format off
#include <cstdio>
#include <jpeglib.h>
// clang-format on

#include <cstddef>

#include "neap/data/images/decoding.hpp"

namespace neap::data::images {

/// LIFETIME: it stays where it is until the decoder is destroyed, and outlives
/// that; the Decoding outlives both.
class JpegMemory {
 public:
  explicit JpegMemory(Decoding& decoding) noexcept;
  JpegMemory(const JpegMemory&) = delete;
  JpegMemory& operator=(const JpegMemory&) = delete;

  /// Takes over. REQUIRES: `jpeg` was just created.
  void serve(jpeg_decompress_struct& jpeg) noexcept;

 private:
  static JpegMemory& of(j_common_ptr jpeg) noexcept;
  static void* take(j_common_ptr jpeg, int pool, std::size_t bytes) noexcept;
  static JSAMPARRAY take_samples(j_common_ptr jpeg, int pool, JDIMENSION width,
                                 JDIMENSION height) noexcept;
  static JBLOCKARRAY take_blocks(j_common_ptr jpeg, int pool, JDIMENSION width,
                                 JDIMENSION height) noexcept;
  static jvirt_sarray_ptr promise_samples(j_common_ptr jpeg, int pool,
                                          boolean is_zero, JDIMENSION width,
                                          JDIMENSION height,
                                          JDIMENSION at_once) noexcept;
  static jvirt_barray_ptr promise_blocks(j_common_ptr jpeg, int pool,
                                         boolean is_zero, JDIMENSION width,
                                         JDIMENSION height,
                                         JDIMENSION at_once) noexcept;
  static void keep_promises(j_common_ptr jpeg) noexcept;
  static JSAMPARRAY show_samples(j_common_ptr jpeg, jvirt_sarray_ptr samples,
                                 JDIMENSION first, JDIMENSION count,
                                 boolean is_written) noexcept;
  static JBLOCKARRAY show_blocks(j_common_ptr jpeg, jvirt_barray_ptr blocks,
                                 JDIMENSION first, JDIMENSION count,
                                 boolean is_written) noexcept;
  static void free_pool(j_common_ptr jpeg, int pool) noexcept;
  static void destroy(j_common_ptr jpeg) noexcept;

  jpeg_memory_mgr methods_{};  // first: the library knows its address
  jpeg_memory_mgr* library_ = nullptr;
  Decoding* decoding_;
  jvirt_barray_ptr promised_ = nullptr;  // the latest
};

}  // namespace neap::data::images
