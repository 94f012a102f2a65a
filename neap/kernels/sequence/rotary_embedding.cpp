// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/sequence/rotary_embedding.hpp"

#include <array>
#include <cmath>

#include "neap/base/ceil_div.hpp"
#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/engine/strides.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/sequence/rotary_embedding.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/elementwise/trig-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// The cosine and the sine of position rates[j]. All arrays have room for whole
// vectors.
template <class T>
void turn(double position, const double* rates, std::int64_t pairs,
          double* work, T* cosines, T* sines) {
  const hn::ScalableTag<double> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto at = hn::Set(d, position);
  for (std::int64_t j = 0; j < pairs; j += lanes) {
    const auto angle = hn::Mul(at, hn::LoadU(d, rates + j));
    hn::StoreU(cos_of(d, angle), d, work);
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      cosines[j + lane] = static_cast<T>(work[lane]);
    }
    hn::StoreU(sin_of(d, angle), d, work);
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      sines[j + lane] = static_cast<T>(work[lane]);
    }
  }
}

// The first elements of a row's pairs, and how far the second ones are.
template <class T>
struct PairsOfRow {
  T* data;
  std::int64_t step;
  std::int64_t apart;
};

// A row. Pairs are read before they are written: y may be x.
template <class T>
HWY_INLINE void rotate(const PairsOfRow<const T>& x, const PairsOfRow<T>& y,
                       std::int64_t pairs, const T* cosines, const T* sines) {
  for (std::int64_t j = 0; j < pairs; ++j) {
    const T a = x.data[j * x.step];
    const T b = x.data[j * x.step + x.apart];
    y.data[j * y.step] = a * cosines[j] - b * sines[j];
    y.data[j * y.step + y.apart] = b * cosines[j] + a * sines[j];
  }
}

}  // namespace

/// Rows [begin, end) of every matrix.
template <class T>
void rotary_rows(const Args& args, std::int64_t begin, std::int64_t end,
                 std::byte* scratch) {
  constexpr std::int64_t kMostLanes = 16;
  const auto& attrs = args.attrs_as<RotaryAttrs>();
  const Strided& x = args.in[0];
  const Strided& y = args.out[0];
  const std::int64_t pairs = x.shape.back() / 2;
  const std::int64_t room = pairs + kMostLanes;
  auto* rates = reinterpret_cast<double*>(scratch);
  double* work = rates + room;
  T* cosines = reinterpret_cast<T*>(work + kMostLanes);
  T* sines = cosines + room;
  for (std::int64_t j = 0; j < room; ++j) {
    rates[j] = j < pairs ? rotary_rate(attrs, j, pairs) : 0.0;
  }
  const int leading = x.shape.rank() - 2;
  const Shape extents(x.shape.span().first(static_cast<std::size_t>(leading)));
  const std::int64_t matrices = extents.element_count();
  const auto step = [&](const Strided& s) {
    return s.strides.back() * (attrs.interleaved ? 2 : 1);
  };
  const auto apart = [&](const Strided& s) {
    return s.strides.back() * (attrs.interleaved ? 1 : pairs);
  };
  const bool is_dense =
      !attrs.interleaved && x.strides.back() == 1 && y.strides.back() == 1;
  for (std::int64_t row = begin; row < end; ++row) {
    const std::int64_t position =
        args.in.size() > 1
            ? args.in[1].as<const std::int64_t>()[row * args.in[1].strides[0]]
            : attrs.first + row;
    const auto place = static_cast<double>(position);
    turn(attrs.inverse && position != 0 ? -place : place, rates, pairs, work,
         cosines, sines);
    for (std::int64_t m = 0; m < matrices; ++m) {
      const T* from = x.as<const T>() + offset_at(extents, x.strides, m) +
                      row * x.strides.back(2);
      T* to = y.as<T>() + offset_at(extents, y.strides, m) +
              row * y.strides.back(2);
      if (is_dense) {
        rotate<T>({from, 1, pairs}, {to, 1, pairs}, pairs, cosines, sines);
      } else {
        rotate<T>({from, step(x), apart(x)}, {to, step(y), apart(y)}, pairs,
                  cosines, sines);
      }
    }
  }
}

using RotaryFunction = void (*)(const Args&, std::int64_t, std::int64_t,
                                std::byte*);

RotaryFunction rotary_function(DType dtype) {
  return dtype == f32 ? rotary_rows<float> : rotary_rows<double>;
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(rotary_function);

// Rates, a vector, cosines and sines, with room for whole vectors.
Bytes part_bytes(const Args& args) noexcept {
  constexpr Bytes kMostLanes = 16;
  const Bytes room = args.in[0].shape.back() / 2 + kMostLanes;
  return (3 * room + kMostLanes) * static_cast<Bytes>(sizeof(double));
}

std::int64_t rows_of(const Args& args) noexcept {
  return args.in[0].shape.element_count() == 0 ? 0 : args.in[0].shape.back(2);
}

// Rows of a thread's smallest range.
std::int64_t grain_of(const Args& args) noexcept {
  constexpr std::int64_t kWork = 4096;  // elements
  const std::int64_t rows = rows_of(args);
  return rows == 0 ? 1 : kWork * rows / args.in[0].shape.element_count() + 1;
}

std::int64_t parts_of(const Args& args) noexcept {
  const std::int64_t grains = base::ceil_div(rows_of(args), grain_of(args));
  return std::min<std::int64_t>(grains, args.executor->threads());
}

Bytes rotary_scratch(const Args& args) noexcept {
  return parts_of(args) * part_bytes(args);
}

void rotary_embedding(const Args& args) noexcept {
  const auto function = HWY_DYNAMIC_DISPATCH(rotary_function)(args.in[0].dtype);
  const std::int64_t parts = parts_of(args);
  const std::int64_t rows = rows_of(args);
  const Bytes bytes = part_bytes(args);
  const auto run = [&](int part) noexcept {
    function(args, rows * part / parts, rows * (part + 1) / parts,
             args.scratch.data() + part * bytes);
  };
  if (parts == 1) {
    run(0);
  } else if (parts > 1) {
    threads::parallel_parts(*args.executor, static_cast<int>(parts), run);
  }
}

template <class T>
void rotary_reference(const Args& args) noexcept {
  const auto& attrs = args.attrs_as<RotaryAttrs>();
  const std::int64_t width = args.in[0].shape.back();
  const std::int64_t rows = args.in[0].shape.back(2);
  const std::int64_t pairs = width / 2;
  for (std::int64_t i = 0; i < args.in[0].shape.element_count(); i += width) {
    const std::int64_t row = i / width % rows;
    const std::int64_t position = args.in.size() > 1
                                      ? element<std::int64_t>(args.in[1], row)
                                      : attrs.first + row;
    for (std::int64_t j = 0; j < pairs; ++j) {
      const double angle =
          static_cast<double>(attrs.inverse ? -position : position) *
          rotary_rate(attrs, j, pairs);
      const std::int64_t first = i + (attrs.interleaved ? 2 * j : j);
      const std::int64_t second = first + (attrs.interleaved ? 1 : pairs);
      const auto a = static_cast<double>(element<T>(args.in[0], first));
      const auto b = static_cast<double>(element<T>(args.in[0], second));
      element<T>(args.out[0], first) =
          static_cast<T>(a * std::cos(angle) - b * std::sin(angle));
      element<T>(args.out[0], second) =
          static_cast<T>(b * std::cos(angle) + a * std::sin(angle));
    }
  }
}

constexpr std::array kKernels = float_rows<"rotary_embedding">(
    {.run = rotary_embedding, .scratch = rotary_scratch},
    {rotary_reference<float>}, {rotary_reference<double>});

}  // namespace

constinit const KernelList rotary_embedding_kernels{"rotary_embedding",
                                                    kKernels};

}  // namespace neap::kernels
#endif  // HWY_ONCE
