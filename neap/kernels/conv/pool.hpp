// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The common parts of the pooling kernels: windows, the codes of maxima, and
// rows cut by phases.
//
// x is (n, c, h, w). Output o of an axis looks at the elements
// o stride - padding + k dilation, k in [0, kernel), of which those that are
// there count; or, where the pooling is adaptive (kernel 0), at
// [floor(o in / out), ceil((o + 1) in / out)).
//
// A code says which element of its window is the largest: kh width + kw, with
// `width` the window's extent along w. Codes of one plane (n, c) are packed, in
// row-major order of the outputs, in as few bits as the window allows; a plane
// begins with a new byte.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "neap/base/ceil_div.hpp"
#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

struct PoolAxis {
  std::int64_t in = 1;
  std::int64_t out = 1;
  std::int64_t kernel = 1;  // 0: adaptive
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::int64_t dilation = 1;

  bool is_adaptive() const noexcept { return kernel == 0; }
  /// Elements of the largest window.
  std::int64_t width() const noexcept {
    return is_adaptive() ? std::min(base::ceil_div(in, out) + 1, in) : kernel;
  }
  /// Extent from the first element of a window to its last, both included.
  std::int64_t span() const noexcept { return (kernel - 1) * dilation + 1; }
  /// Windows of two elements that share none and are all there.
  bool is_by_pairs() const noexcept {
    return kernel == 2 && stride == 2 && padding == 0 && dilation == 1 &&
           2 * out <= in;
  }
};

struct PoolAttrs {
  PoolAxis h{};
  PoolAxis w{};
  std::int64_t divisor = 0;  // of averages; 0: how many elements there are
  bool counts_padding = true;
  bool keeps_codes = false;
  std::array<bool, 6> padding{};
};

/// The elements of a window that are there: begin, begin + step, .. below end.
struct Window {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t step = 1;
  std::int64_t skipped = 0;  // elements before `begin` that are padding
};

inline Window window_of(const PoolAxis& axis, std::int64_t o) noexcept {
  if (axis.is_adaptive()) {
    return {.begin = o * axis.in / axis.out,
            .end = base::ceil_div((o + 1) * axis.in, axis.out)};
  }
  const std::int64_t start = o * axis.stride - axis.padding;
  const std::int64_t skipped =
      start < 0 ? (axis.dilation - 1 - start) / axis.dilation : 0;
  return {.begin = start + skipped * axis.dilation,
          .end = std::min(start + axis.span(), axis.in),
          .step = axis.dilation,
          .skipped = skipped};
}

/// The element number k of the window, counted from its start. An invalid
/// number leads to some element, too.
inline std::int64_t place_of(const PoolAxis& axis, std::int64_t o,
                             std::int64_t k) noexcept {
  const std::int64_t place =
      axis.is_adaptive() ? o * axis.in / axis.out + k
                         : o * axis.stride - axis.padding + k * axis.dilation;
  return std::clamp<std::int64_t>(place, 0, axis.in - 1);
}

/// Number of a window's elements along one axis that an average counts.
inline std::int64_t counted(const PoolAttrs& attrs, const PoolAxis& axis,
                            std::int64_t o) noexcept {
  const Window window = window_of(axis, o);
  if (axis.is_adaptive() || !attrs.counts_padding) {
    return window.end - window.begin;
  }
  const std::int64_t start = o * axis.stride - axis.padding;
  return std::min(start + axis.kernel, axis.in + axis.padding) - start;
}

// --- codes -------------------------------------------------------------------

inline std::int64_t code_bits(const PoolAttrs& attrs) noexcept {
  const std::int64_t width = attrs.w.width();
  std::int64_t bits = 1;
  while (bits < 32 && width != 0 &&
         (std::int64_t{1} << bits) / width < attrs.h.width()) {
    bits *= 2;
  }
  return bits;
}

inline std::int64_t plane_code_bytes(const PoolAttrs& attrs) noexcept {
  return (attrs.h.out * attrs.w.out * code_bits(attrs) + 7) / 8;
}

/// Code i of a plane, whose bytes lie `stride` apart.
inline std::int64_t code_at(const std::byte* plane, std::int64_t stride,
                            std::int64_t bits, std::int64_t i) noexcept {
  const auto byte = [&](std::int64_t at) {
    return static_cast<std::int64_t>(plane[at * stride]);
  };
  if (bits < 8) {
    return byte(i * bits / 8) >> (i * bits % 8) & ((1 << bits) - 1);
  }
  std::int64_t code = 0;
  for (std::int64_t k = 0; k < bits / 8; ++k) {
    code |= byte(i * bits / 8 + k) << (8 * k);
  }
  return code;
}

/// Sets a code. REQUIRES: the plane's bytes were 0.
inline void set_code(std::byte* plane, std::int64_t bits, std::int64_t i,
                     std::int64_t code) noexcept {
  if (bits < 8) {
    plane[i * bits / 8] |= static_cast<std::byte>(code << (i * bits % 8));
    return;
  }
  for (std::int64_t k = 0; k < bits / 8; ++k) {
    plane[i * bits / 8 + k] = static_cast<std::byte>(code >> (8 * k));
  }
}

static_assert(std::endian::native == std::endian::little,
              "packing moves eight codes as one word");

/// `count` codes of one byte each to codes of 1, 2, 4 or 8 bits; up to seven
/// bytes after the last code are read.
void pack_codes(const std::uint8_t* codes, std::int64_t count,
                std::int64_t bits, std::byte* packed) noexcept;
/// The reverse; up to seven bytes after the last code are written.
void unpack_codes(const std::byte* packed, std::int64_t count,
                  std::int64_t bits, std::uint8_t* codes) noexcept;

// --- rows cut by phases ------------------------------------------------------

/// Elements that vector code may read or write behind the last one.
inline constexpr std::int64_t kPoolSlack = 16;

/// A row with its padding, cut so that element k of all windows of a row of
/// outputs lies in one piece, whatever the stride: element q (counted from the
/// first of the padding) is number q / stride of phase q mod stride.
///
///   stride 2, padding 1      . a b c d e f g      phase 0  . b d f
///                                                 phase 1  a c e g
struct Phases {
  explicit Phases(const PoolAxis& axis) noexcept
      : count(axis.out == 1 ? 1 : axis.stride),
        dilation(axis.dilation),
        padding(axis.padding),
        width(axis.in),
        length((axis.kernel - 1) * axis.dilation / count + axis.out +
               kPoolSlack),
        used(std::min(axis.in, (axis.out - 1) * axis.stride + axis.span() -
                                   axis.padding)) {}

  /// The offset of element k of the first window; that of the next is beside
  /// it.
  std::int64_t at(std::int64_t k) const noexcept {
    return k * dilation % count * length + k * dilation / count;
  }
  std::int64_t elements() const noexcept { return count * length; }

  std::int64_t count;
  std::int64_t dilation;
  std::int64_t padding;
  std::int64_t width;
  std::int64_t length;  // elements of a phase
  std::int64_t used;    // elements of the row that some window reads
};

/// Lays out parts of one block of bytes, each at the start of a cache line.
class BumpAllocator {
 public:
  Bytes take(Bytes bytes) noexcept {
    const Bytes at = total_;
    total_ += (bytes + 63) / 64 * 64;
    return at;
  }
  Bytes total() const noexcept { return total_; }

 private:
  Bytes total_ = 0;
};

// --- planes ------------------------------------------------------------------

/// A view (n, c, h, w) as planes.
class Planes {
 public:
  explicit Planes(const Strided& view) noexcept
      : data_(view.data),
        channels_(view.shape[1]),
        steps_{view.strides[0], view.strides[1]},
        row_(view.strides[2]),
        column_(view.strides[3]) {}

  /// The first element of plane `index`, and from row to row, and along one.
  template <class T>
  T* at(std::int64_t index) const noexcept {
    return reinterpret_cast<T*>(data_) + index / channels_ * steps_[0] +
           index % channels_ * steps_[1];
  }
  std::int64_t row() const noexcept { return row_; }
  std::int64_t column() const noexcept { return column_; }

 private:
  std::byte* data_;
  std::int64_t channels_;
  std::array<std::int64_t, 2> steps_;
  std::int64_t row_;
  std::int64_t column_;
};

/// The codes of planes: (n, c plane_code_bytes) of u8, any strides.
class CodePlanes {
 public:
  CodePlanes(const Strided& view, const PoolAttrs& attrs,
             std::int64_t channels) noexcept
      : data_(view.data),
        channels_(channels),
        sample_(view.strides[0]),
        step_(view.strides[1]),
        plane_(plane_code_bytes(attrs) * step_) {}

  const std::byte* at(std::int64_t index) const noexcept {
    return data_ + index / channels_ * sample_ + index % channels_ * plane_;
  }
  /// The distance of one byte to the next.
  std::int64_t step() const noexcept { return step_; }

 private:
  const std::byte* data_;
  std::int64_t channels_;
  std::int64_t sample_;
  std::int64_t step_;
  std::int64_t plane_;
};

/// How many threads divide the planes; a few thousand elements each at least.
inline int plane_parts(const Args& args, std::int64_t elements) noexcept {
  constexpr std::int64_t kWork = 8192;
  const Strided& view = args.in[0];
  return threads::range_count(*args.executor, view.shape[0] * view.shape[1],
                              kWork / std::max<std::int64_t>(elements, 1) + 1);
}

/// Calls body(part, plane) for every plane; a part is one thread's.
template <class Body>
void run_planes(const Args& args, std::int64_t elements,
                const Body& body) noexcept {
  const int parts = plane_parts(args, elements);
  if (parts == 0) {
    return;
  }
  const std::int64_t planes = args.in[0].shape[0] * args.in[0].shape[1];
  threads::parallel_parts(*args.executor, parts, [&](int part) noexcept {
    body(part, planes * part / parts, planes * (part + 1) / parts);
  });
}

/// The same by function(args, scratch, begin, end), each part with `part_bytes`
/// of scratch to itself.
template <class Function>
void run_planes_with_scratch(const Args& args, std::int64_t elements,
                             Bytes part_bytes, Function* function) noexcept {
  run_planes(args, elements,
             [&](int part, std::int64_t begin, std::int64_t end) noexcept {
               function(args, args.scratch.data() + part * part_bytes, begin,
                        end);
             });
}

// --- pooling -----------------------------------------------------------------

/// Elements of a plane of x.
inline std::int64_t pool_plane_elements(const Args& args) noexcept {
  const auto& attrs = args.attrs_as<PoolAttrs>();
  return attrs.h.in * attrs.w.in;
}

/// Scratch of one part, which `Layout` lays out.
template <class Layout>
Bytes pool_part_bytes(const Args& args) noexcept {
  return Layout(args.attrs_as<PoolAttrs>(), size_of(args.in[0].dtype)).total;
}

/// Scratch of all parts.
template <class Layout>
Bytes pool_scratch(const Args& args) noexcept {
  return plane_parts(args, pool_plane_elements(args)) *
         pool_part_bytes<Layout>(args);
}

/// Runs `function` over all planes, each part in scratch as by `Layout`.
template <class Layout, class Function>
void run_pool(const Args& args, Function* function) noexcept {
  run_planes_with_scratch(args, pool_plane_elements(args),
                          pool_part_bytes<Layout>(args), function);
}

/// Whether all windows are of one size: none is adaptive.
inline bool is_regular(const Args& args) noexcept {
  const auto& attrs = args.attrs_as<PoolAttrs>();
  return !attrs.h.is_adaptive() && !attrs.w.is_adaptive();
}

}  // namespace neap::kernels
