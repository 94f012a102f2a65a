// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/compare.hpp"

#include <functional>

#include "neap/kernels/float_kernels.hpp"
#include "neap/kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/compare.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

// A mask as truth values, a byte a lane.
template <class D, class M>
HWY_INLINE void store_truth(D d, M mask, std::uint8_t* to) {
  const hn::Rebind<std::int32_t, D> words;
  const hn::Rebind<std::uint8_t, D> bytes;
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    const auto ones =
        hn::IfThenElseZero(hn::RebindMask(words, mask), hn::Set(words, 1));
    hn::StoreU(hn::DemoteTo(bytes, ones), bytes, to);
  } else {
    const auto ones = hn::IfThenElseZero(mask, hn::Set(d, 1.0));
    hn::StoreU(hn::DemoteTo(bytes, hn::DemoteTo(words, ones)), bytes, to);
  }
}

// y = op(a, b); op gives a mask.
template <class Op, class T>
void compare_piece(const Piece& piece) noexcept {
  const T* const a = piece.at<const T>(0);
  const T* const b = piece.at<const T>(1);
  auto* const y = piece.at<std::uint8_t>(2);
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto count = static_cast<std::size_t>(piece.count);
  const Op op;
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    store_truth(d, op(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), y + i);
  }
  if (i < count) {
    HWY_ALIGN std::uint8_t truth[hn::MaxLanes(d)];
    store_truth(
        d, op(load_some(d, a + i, count - i), load_some(d, b + i, count - i)),
        truth);
    std::memcpy(y + i, truth, count - i);
  }
}

template <class Op>
HWY_INLINE PieceFunction float_comparison(DType dtype) {
  return dtype == f32 ? compare_piece<Op, float> : compare_piece<Op, double>;
}

struct EqVector {
  template <class V>
  HWY_INLINE auto operator()(V a, V b) const {
    return hn::Eq(a, b);
  }
};

PieceFunction eq_piece(DType dtype) {
  return float_comparison<EqVector>(dtype);
}

struct NeVector {
  // True for NaN, which Highway's Ne is not.
  template <class V>
  HWY_INLINE auto operator()(V a, V b) const {
    return hn::Not(hn::Eq(a, b));
  }
};

PieceFunction ne_piece(DType dtype) {
  return float_comparison<NeVector>(dtype);
}

struct LtVector {
  template <class V>
  HWY_INLINE auto operator()(V a, V b) const {
    return hn::Lt(a, b);
  }
};

PieceFunction lt_piece(DType dtype) {
  return float_comparison<LtVector>(dtype);
}

struct LeVector {
  template <class V>
  HWY_INLINE auto operator()(V a, V b) const {
    return hn::Le(a, b);
  }
};

PieceFunction le_piece(DType dtype) {
  return float_comparison<LeVector>(dtype);
}

struct GtVector {
  template <class V>
  HWY_INLINE auto operator()(V a, V b) const {
    return hn::Gt(a, b);
  }
};

PieceFunction gt_piece(DType dtype) {
  return float_comparison<GtVector>(dtype);
}

struct GeVector {
  template <class V>
  HWY_INLINE auto operator()(V a, V b) const {
    return hn::Ge(a, b);
  }
};

PieceFunction ge_piece(DType dtype) {
  return float_comparison<GeVector>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

template <Text kName, class Op>
constexpr std::array kKernels{
    detail::named<kName, ".f32">(f32, detail::run_pieces<Op>),
    detail::named<kName, ".f64">(f64, detail::run_pieces<Op>),
    detail::named<kName, ".i32">(i32, scalar_kernel<Op, std::int32_t, 2, bool>),
    detail::named<kName, ".i64">(i64, scalar_kernel<Op, std::int64_t, 2, bool>),
    detail::named<kName, ".u8">(u8, scalar_kernel<Op, std::uint8_t, 2, bool>),
    detail::named<kName, ".bool">(boolean, scalar_kernel<Op, bool, 2, bool>),
    detail::named<kName, ".reference.f32">(f32, reference<Op, float, 2, bool>),
    detail::named<kName, ".reference.f64">(f64, reference<Op, double, 2, bool>),
};

HWY_EXPORT(eq_piece);

struct Eq : std::equal_to<> {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(eq_piece)(dtype);
  }
};

HWY_EXPORT(ne_piece);

struct Ne : std::not_equal_to<> {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(ne_piece)(dtype);
  }
};

HWY_EXPORT(lt_piece);

struct Lt : std::less<> {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(lt_piece)(dtype);
  }
};

HWY_EXPORT(le_piece);

struct Le : std::less_equal<> {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(le_piece)(dtype);
  }
};

HWY_EXPORT(gt_piece);

struct Gt : std::greater<> {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(gt_piece)(dtype);
  }
};

HWY_EXPORT(ge_piece);

struct Ge : std::greater_equal<> {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(ge_piece)(dtype);
  }
};

}  // namespace

constinit const KernelList eq_kernels{"eq", kKernels<"eq", Eq>};
constinit const KernelList ne_kernels{"ne", kKernels<"ne", Ne>};
constinit const KernelList lt_kernels{"lt", kKernels<"lt", Lt>};
constinit const KernelList le_kernels{"le", kKernels<"le", Le>};
constinit const KernelList gt_kernels{"gt", kKernels<"gt", Gt>};
constinit const KernelList ge_kernels{"ge", kKernels<"ge", Ge>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
