// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// TensorBoard's event files: frames of TFRecord, each around a protocol buffer
// `Event` of the few fields that scalars need.
//
//   frame    | length u64 | masked crc of length | data | masked crc of data |
//   Event    1: wall_time double, 2: step int64, 3: file_version string,
//            5: Summary { 1: Value { 1: tag string, 2: simple_value float } }
//
// All numbers are little-endian; the CRC is CRC-32C, masked as TFRecord asks.
// A file begins with one Event of file_version "brain.Event:2".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "neap/base/api.hpp"
#include "neap/memory/containers.hpp"

namespace neap::formats {

struct Scalar {
  std::string_view tag;  // "train/loss": the slash separates groups
  double value = 0.0;    // written as a float
};

/// Append one frame to `out`. `wall_time` is in seconds since 1970.
/// THROW: OutOfMemory.
NEAP_API void append_version_event(memory::Vector<std::byte>& out,
                                   double wall_time);
NEAP_API void append_scalars(memory::Vector<std::byte>& out, double wall_time,
                             std::int64_t step,
                             std::span<const Scalar> scalars);

}  // namespace neap::formats
