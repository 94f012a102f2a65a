// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// One part of conv2d or conv_transpose2d of each channel by itself
// (conv_depthwise.hpp), in one thread. Compiled once for each instruction set;
// included by conv_ways.cpp alone.
//
//   slot   a vector of columns of the result that follow each other
//   line   a row of the result, numbered as depthwise_lines() says
//   tile   some lines of one slot, in registers. A row of the source is loaded
//          once for each tap along it and serves all lines that it reaches:
//          tap p of line t is row `kUp * number - kDown * t` of the source
#if defined(NEAP_KERNELS_CONV_DEPTHWISE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_CONV_DEPTHWISE_INL
#undef NEAP_KERNELS_CONV_DEPTHWISE_INL
#else
#define NEAP_KERNELS_CONV_DEPTHWISE_INL
#endif

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "hwy/highway.h"
#include "neap/kernels/conv/conv_depthwise.hpp"
#include "neap/kernels/conv/conv_masked-inl.hpp"
#include "neap/kernels/gemm/gemm_tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels::HWY_NAMESPACE {
#if HWY_TARGET == HWY_AVX3
namespace hn = hwy::HWY_NAMESPACE;

/// How columns of the source follow from a vector of places: one by one, every
/// other one, or each for two places of which one takes it.
enum class DepthwiseWalk : std::uint8_t { kOne, kOther, kHalf };

/// Some lines of a plane.
template <class T>
struct DepthwiseTile {
  const T* from = nullptr;  // the row of the source that line 0 takes by tap 0
  std::int64_t pitch = 0;   // to the row with the next number
  ConvRange inside;         // rows of the source, counted from that one
  const DepthwiseColumn* columns = nullptr;  // of each slot, for each tap along
  std::int64_t along = 0;                    // taps
  const T* weights = nullptr;                // kh x kw
  T start{};
  T* to = nullptr;
  std::int64_t to_pitch = 0;
  std::int64_t first = 0;  // line to be stored
  std::int64_t width = 0;  // of the lines
};

/// Loads the elements that one tap takes for a vector of output pixels.
template <DepthwiseWalk kWalk, class M, class T>
HWY_INLINE auto load_places(const T* from, const DepthwiseColumn& column,
                            const M& takes) {
  const hn::ScalableTag<T> d;
  if constexpr (kWalk == DepthwiseWalk::kOne) {
    return hn::MaskedLoad(takes, d, from);
  } else {
    const auto low =
        hn::MaskedLoad(hn::LoadMaskBits(d, column.low.data()), d, from);
    if constexpr (kWalk == DepthwiseWalk::kOther) {
      const auto high = hn::MaskedLoad(hn::LoadMaskBits(d, column.high.data()),
                                       d, from + kLanes<T>);
      return hn::ConcatEven(d, high, low);
    } else {
      const hn::RebindToSigned<decltype(d)> di;
      const auto half = hn::ShiftRight<1>(hn::Iota(di, 0));
      return hn::TableLookupLanes(low, hn::IndicesFromVec(d, half));
    }
  }
}

/// A masked store takes longer, so only where there must be one.
template <class V, class T>
HWY_INLINE void store_places(V sum, T* to, std::int64_t count) {
  const hn::ScalableTag<T> d;
  if (count >= kLanes<T>) {
    hn::StoreU(sum, d, to);
  } else {
    store_first(d, sum, to, count);
  }
}

/// The weights of one channel: in registers, where these suffice.
template <int kTaps, class T>
struct DepthwiseWeights {
  using D = hn::ScalableTag<T>;
  static constexpr int kHeld = kTaps == 3 || kTaps == 5 ? kTaps * kTaps : 0;
  hn::Vec<D> held[kHeld + 1];
  const T* from;

  HWY_INLINE explicit DepthwiseWeights(const T* weights) : from(weights) {
#pragma GCC unroll 32
    for (int i = 0; i < kHeld; ++i) {
      held[i] = hn::Set(D(), weights[i]);
    }
  }

  HWY_INLINE hn::Vec<D> of(std::int64_t tap) const {
    if constexpr (kHeld > 0) {
      return held[tap];
    } else {
      return hn::Set(D(), from[tap]);
    }
  }
};

/// kTaps down, and as many along; or along as many as the tile says, where
/// kTaps is 1.
template <DepthwiseWalk kWalk, int kTaps, int kLines, class T>
struct DepthwiseSums {
  static constexpr int kUp = kWalk == DepthwiseWalk::kHalf ? 2 : 1;
  static constexpr int kDown = kWalk == DepthwiseWalk::kOther ? 2 : 1;
  static constexpr int kRows = (kTaps - 1 + kDown * (kLines - 1)) / kUp + 1;
  using D = hn::ScalableTag<T>;
  using Weights = DepthwiseWeights<kTaps, T>;
  hn::Vec<D> at[kLines];
  const T* from[kTaps];  // of each tap along, where there are many down
  hn::Mask<D> takes[kTaps];

  HWY_INLINE void begin(const DepthwiseTile<T>& tile,
                        const DepthwiseColumn* columns) {
#pragma GCC unroll 16
    for (int line = 0; line < kLines; ++line) {
      at[line] = hn::Set(D(), tile.start);
    }
#pragma GCC unroll 8
    for (int q = 0; q < kTaps; ++q) {
      from[q] = tile.from + columns[q].at;
      takes[q] = hn::LoadMaskBits(D(), columns[q].takes.data());
    }
  }

  /// Adds the products of one row of the source and one tap along to all lines.
  template <int kRow>
  HWY_INLINE void add_column(const Weights& weights, const T* from,
                             const DepthwiseColumn& column,
                             const hn::Mask<D>& takes, std::int64_t q,
                             std::int64_t along) {
    const auto places = load_places<kWalk>(from, column, takes);
#pragma GCC unroll 16
    for (int line = 0; line < kLines; ++line) {
      const int p = kUp * kRow - kDown * line;
      if (p >= 0 && p < kTaps) {
        at[line] =
            add_where(takes, places, weights.of(p * along + q), at[line]);
      }
    }
  }

  template <int kRow>
  HWY_INLINE void add_row(const DepthwiseTile<T>& tile, const Weights& weights,
                          const DepthwiseColumn* columns) {
    if (kRow < tile.inside.begin || kRow >= tile.inside.end) {
      return;
    }
    const std::int64_t row = kRow * tile.pitch;
    if constexpr (kTaps == 1) {
      for (std::int64_t q = 0; q < tile.along; ++q) {
        add_column<kRow>(weights, tile.from + row + columns[q].at, columns[q],
                         hn::LoadMaskBits(D(), columns[q].takes.data()), q,
                         tile.along);
      }
    } else {
#pragma GCC unroll 8
      for (int q = 0; q < kTaps; ++q) {
        add_column<kRow>(weights, from[q] + row, columns[q], takes[q], q,
                         kTaps);
      }
    }
  }

  template <int... kNumbers>
  HWY_INLINE void add_rows(const DepthwiseTile<T>& tile, const Weights& weights,
                           const DepthwiseColumn* columns,
                           std::integer_sequence<int, kNumbers...> /* all */) {
    (add_row<kNumbers>(tile, weights, columns), ...);
  }
};

template <DepthwiseWalk kWalk, int kTaps, int kLines, class T>
void run_depthwise_tile(const DepthwiseTile<T>& tile) {
  using Sums = DepthwiseSums<kWalk, kTaps, kLines, T>;
  const DepthwiseWeights<kTaps, T> weights(tile.weights);
  const DepthwiseColumn* columns = tile.columns;
  T* HWY_RESTRICT to = tile.to;
  for (std::int64_t left = tile.width; left > 0; left -= kLanes<T>) {
    Sums sums;
    sums.begin(tile, columns);
    sums.add_rows(tile, weights, columns,
                  std::make_integer_sequence<int, Sums::kRows>());
#pragma GCC unroll 16
    for (int line = 0; line < kLines; ++line) {
      if (line >= tile.first) {
        store_places(sums.at[line], to + line * tile.to_pitch, left);
      }
    }
    columns += tile.along;
    to += kLanes<T>;
  }
}

/// As many lines as there are registers for sums, then what is left: at once,
/// where that is the usual kernel, else by halves. Even, but for the last one.
template <DepthwiseWalk kWalk, int kTaps, class T, int kLines = 8>
std::int64_t run_depthwise_lines(const DepthwiseTile<T>& tile,
                                 std::int64_t left) {
  constexpr int kLess = kTaps == 3 ? kLines - 1 : kLines / 2;
  if constexpr (kTaps == 5 && kLines == 8) {
    return run_depthwise_lines<kWalk, kTaps, T, kLess>(tile, left);
  } else if constexpr (kLines > 1) {
    if (left < kLines) {
      return run_depthwise_lines<kWalk, kTaps, T, kLess>(tile, left);
    }
  }
  run_depthwise_tile<kWalk, kTaps, kLines>(tile);
  return kLines;
}

template <DepthwiseWalk kWalk, class T>
std::int64_t run_depthwise_lines(const DepthwiseTile<T>& tile,
                                 std::int64_t taps, std::int64_t left) {
  switch (taps) {
    case 1:
      return run_depthwise_lines<kWalk, 1, T>(tile, left);
    case 3:
      return run_depthwise_lines<kWalk, 3, T>(tile, left);
    case 5:
      return run_depthwise_lines<kWalk, 5, T>(tile, left);
    default:
      return run_depthwise_lines<kWalk, 7, T>(tile, left);
  }
}

template <class T>
class ConvDepthwisePart {
 public:
  ConvDepthwisePart(const Conv& conv, ConvMakes makes,
                    const ConvDepthwisePlan& plan, std::int64_t part,
                    std::byte* scratch)
      : conv_(conv),
        makes_(makes),
        plan_(plan),
        source_(makes == ConvMakes::kY ? conv.x : conv.y),
        result_(makes == ConvMakes::kY ? conv.y : conv.x),
        along_(conv.attrs.kernel[1]),
        planes_{plan.part_planes * part,
                std::min(plan.part_planes * (part + 1), plan.planes)},
        columns_(reinterpret_cast<DepthwiseColumn*>(scratch)),
        copy_(reinterpret_cast<T*>(scratch + plan.table_bytes)) {}

  void run() {
    list_columns();
    const kernels::ConvAttrs& a = conv_.attrs;
    const std::int64_t rows = std::max(a.x_extent[0], a.y_extent[0]);
    const std::int64_t residues = std::min(depthwise_residues(conv_), rows);
    for (std::int64_t r = 0; r < residues; ++r) {
      run_planes(depthwise_lines(conv_, makes_, r));
    }
  }

 private:
  void run_planes(const DepthwiseLines& lines) {
    const std::int64_t channels = result_.shape[1];
    const Shape& s = source_.strides;
    std::int64_t sample = planes_.begin / channels;
    std::int64_t channel = planes_.begin % channels;
    T* to = result_.as<T>() + planes_.begin * places();
    for (std::int64_t plane = planes_.begin; plane < planes_.end; ++plane) {
      const T* from = source_.as<const T>() + sample * s[0] + channel * s[1];
      if (plane + 1 < planes_.end) {
        fetch(from + s[1], source_.shape[2] * source_.shape[3]);
        fetch(to + places(), places());
      }
      set_weights(channel);
      for (std::int64_t line = 0; line < lines.end;) {
        line += run_tile(lines, line, from, to);
      }
      to += places();
      if (++channel == channels) {
        channel = 0;
        ++sample;
      }
    }
  }

  std::int64_t places() const { return result_.shape[2] * result_.shape[3]; }

  /// Brings a small plane: while one is summed there is time for the next.
  static void fetch(const T* plane, std::int64_t count) {
    constexpr std::int64_t kMost = 4096;
    constexpr auto kLine = static_cast<std::int64_t>(64 / sizeof(T));
    for (std::int64_t i = 0; i < count && count <= kMost; i += kLine) {
      hwy::Prefetch(plane + i);
    }
  }

  /// Sets the weights of one channel, and the value that its sums start at.
  void set_weights(std::int64_t channel) {
    const Shape& s = conv_.w.strides;
    const T* from = conv_.w.as<const T>() + channel * s[0];
    weights_ = from;
    if (s[3] != 1 || s[2] != along_) {
      for (std::int64_t p = 0; p < conv_.attrs.kernel[0]; ++p) {
        for (std::int64_t q = 0; q < along_; ++q) {
          copy_[p * along_ + q] = from[p * s[2] + q * s[3]];
        }
      }
      weights_ = copy_;
    }
    start_ = conv_.has_bias()
                 ? conv_.bias.as<const T>()[channel * conv_.bias.strides[0]]
                 : T{0};
  }

  /// For each slot and tap along the rows.
  void list_columns() {
    DepthwiseColumn* to = columns_;
    for (std::int64_t slot = 0; slot < plan_.slots; ++slot) {
      for (std::int64_t q = 0; q < along_; ++q) {
        *to++ = depthwise_column(conv_, makes_, slot * kLanes<T>, q, kLanes<T>);
      }
    }
  }

  /// Some lines, the first of them an even one. RETURNS: how many.
  std::int64_t run_tile(const DepthwiseLines& lines, std::int64_t line,
                        const T* from, T* to) const {
    const std::int64_t taps = conv_.attrs.kernel[0];
    const std::int64_t step = conv_.attrs.stride[1];
    const bool is_y = makes_ == ConvMakes::kY;
    const std::int64_t number = is_y ? line * step : line / step;
    const std::int64_t width = result_.shape[3];
    const std::int64_t pitch = source_.strides[2];
    const DepthwiseTile<T> tile{
        .from = from + (lines.source + number * lines.source_step) * pitch,
        .pitch = lines.source_step * pitch,
        .inside = {lines.inside.begin - number, lines.inside.end - number},
        .columns = columns_,
        .along = along_,
        .weights = weights_,
        .start = start_,
        .to = to + (lines.result + line * lines.result_step) * width,
        .to_pitch = lines.result_step * width,
        .first = lines.first - line,
        .width = width};
    const std::int64_t left = lines.end - line;
    if (step == 1) {
      return run_depthwise_lines<DepthwiseWalk::kOne>(tile, taps, left);
    }
    return is_y ? run_depthwise_lines<DepthwiseWalk::kOther>(tile, taps, left)
                : run_depthwise_lines<DepthwiseWalk::kHalf>(tile, taps, left);
  }

  const Conv& conv_;
  const ConvMakes makes_;
  const ConvDepthwisePlan& plan_;
  const Strided& source_;
  const Strided& result_;
  const std::int64_t along_;  // taps
  const ConvRange planes_;    // of all samples
  DepthwiseColumn* const columns_;
  T* const copy_;               // of one channel's weights
  const T* weights_ = nullptr;  // of that channel, dense
  T start_{};
};

#endif  // AVX-512
}  // namespace neap::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggle
