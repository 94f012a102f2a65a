// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Sums of what rows add to dw and db of a norm (layer_norm_grad.hpp): down the
// columns, in the order of the rows.
#if defined(NEAP_KERNELS_NORM_COLUMNS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_NORM_COLUMNS_INL_HPP_
#undef NEAP_KERNELS_NORM_COLUMNS_INL_HPP_
#else
#define NEAP_KERNELS_NORM_COLUMNS_INL_HPP_
#endif

#include <array>

#include "hwy/highway.h"
#include "neap/kernels/norm/layer_norm_grad.hpp"
#include "neap/kernels/norm/norm-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

// A few rows, whose columns are added up panel by panel.
constexpr std::int64_t kRowsAtOnce = 32;

template <class T, bool kCentered>
class Columns {
 public:
  explicit Columns(const Args& args)
      : dy_(last_axis(args.in[0])),
        x_(last_axis(args.in[1])),
        stats_(last_axis(args.in[2])),
        dy_block_(dy_),
        x_block_(x_),
        dw_(args.attrs_as<NormGradAttrs>().dw ? args.out[1].as<T>() : nullptr),
        db_(args.attrs_as<NormGradAttrs>().db ? args.out[2].as<T>() : nullptr) {
  }

  void run(std::int64_t begin, std::int64_t end, std::int64_t first,
           std::int64_t last) {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    constexpr std::size_t kWide = 4;  // vectors of a panel
    const auto wide = static_cast<std::int64_t>(kWide) * lanes;
    for (; begin < end; begin += kRowsAtOnce) {
      const std::int64_t rows = std::min(kRowsAtOnce, end - begin);
      for (std::int64_t row = 0; row < rows; ++row) {
        load_row(begin + row, row);
      }
      std::int64_t column = first;
      for (; column + wide <= last; column += wide) {
        panel<kWide>(rows, column, lanes);
      }
      for (; column < last; column += lanes) {
        panel<1>(rows, column, std::min(lanes, last - column));
      }
    }
  }

 private:
  struct Row {
    const T* dy = nullptr;
    const T* x = nullptr;
    Normal<T, kCentered> normal;
  };

  void load_row(std::int64_t row, std::int64_t at) {
    rows_[static_cast<std::size_t>(at)] = {
        dy_.at<const T>(row), x_.at<const T>(row),
        normal_of<T, kCentered>(stats_.at<const double>(row), stats_.stride())};
  }

  // kVectors full vectors of columns, or `valid` columns of one.
  template <std::size_t kVectors>
  HWY_INLINE void panel(std::int64_t rows, std::int64_t column,
                        std::int64_t valid) {
    const hn::ScalableTag<T> d;
    using V = hn::Vec<decltype(d)>;
    const std::size_t lanes = hn::Lanes(d);
    const auto some = static_cast<std::size_t>(valid);
    const auto load = [&](const T* from) HWY_ATTR {
      return some == lanes ? hn::LoadU(d, from) : load_some(d, from, some);
    };
    const std::int64_t count =
        kVectors == 1 ? valid : static_cast<std::int64_t>(kVectors * lanes);
    V dw[kVectors];
    V db[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) {
      dw[v] = dw_ != nullptr ? load(dw_ + column + v * lanes) : hn::Zero(d);
      db[v] = db_ != nullptr ? load(db_ + column + v * lanes) : hn::Zero(d);
    }
    for (std::int64_t i = 0; i < rows; ++i) {
      const Row& row = rows_[static_cast<std::size_t>(i)];
      const T* dy = dy_block_.read(row.dy, column, count);
      const T* x = x_block_.read(row.x, column, count);
      for (std::size_t v = 0; v < kVectors; ++v) {
        const V g = load(dy + v * lanes);
        const V xhat = row.normal.xhat(d, load(x + v * lanes));
        dw[v] = hn::MulAdd(g, xhat, dw[v]);
        db[v] = hn::Add(db[v], g);
      }
    }
    const auto store = [&](V sum, T* to) HWY_ATTR {
      if (some == lanes) {
        hn::StoreU(sum, d, to);
      } else {
        store_some(d, sum, to, some);
      }
    };
    for (std::size_t v = 0; v < kVectors; ++v) {
      if (dw_ != nullptr) {
        store(dw[v], dw_ + column + v * lanes);
      }
      if (db_ != nullptr) {
        store(db[v], db_ + column + v * lanes);
      }
    }
  }

  Rows dy_;
  Rows x_;
  Rows stats_;
  RowBlock<T> dy_block_;
  RowBlock<T> x_block_;
  T* dw_;
  T* db_;
  std::array<Row, kRowsAtOnce> rows_;
};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#endif
