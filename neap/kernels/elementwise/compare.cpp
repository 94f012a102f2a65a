// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/elementwise/compare.hpp"

#include <functional>

#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/elementwise/compare.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/engine/elementwise-inl.hpp"

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

template <Relation kRelation>
struct CompareVector {
  template <class V>
  HWY_INLINE auto operator()(V a, V b) const {
    if constexpr (kRelation == Relation::kEq) {
      return hn::Eq(a, b);
    } else if constexpr (kRelation == Relation::kNe) {
      return hn::Not(hn::Eq(a, b));  // true for NaN, which Highway's Ne is not
    } else if constexpr (kRelation == Relation::kLt) {
      return hn::Lt(a, b);
    } else if constexpr (kRelation == Relation::kLe) {
      return hn::Le(a, b);
    } else if constexpr (kRelation == Relation::kGt) {
      return hn::Gt(a, b);
    } else {
      return hn::Ge(a, b);
    }
  }
};

template <Relation kRelation>
HWY_INLINE PieceFunction piece_of(DType dtype) {
  using Op = CompareVector<kRelation>;
  return dtype == f32 ? compare_piece<Op, float> : compare_piece<Op, double>;
}

PieceFunction comparison_piece(Relation relation, DType dtype) {
  switch (relation) {
    case Relation::kEq:
      return piece_of<Relation::kEq>(dtype);
    case Relation::kNe:
      return piece_of<Relation::kNe>(dtype);
    case Relation::kLt:
      return piece_of<Relation::kLt>(dtype);
    case Relation::kLe:
      return piece_of<Relation::kLe>(dtype);
    case Relation::kGt:
      return piece_of<Relation::kGt>(dtype);
    case Relation::kGe:
      break;
  }
  return piece_of<Relation::kGe>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

template <Text kName, class Op>
constexpr std::array kKernels{
    detail::by_pieces<kName, ".f32", Op>(f32),
    detail::by_pieces<kName, ".f64", Op>(f64),
    detail::by_scalars<kName, ".i32", Op, std::int32_t, 2, bool>(),
    detail::by_scalars<kName, ".i64", Op, std::int64_t, 2, bool>(),
    detail::by_scalars<kName, ".u8", Op, std::uint8_t, 2, bool>(),
    detail::by_scalars<kName, ".bool", Op, bool, 2, bool>(),
    detail::named<kName, ".reference.f32">(f32, reference<Op, float, 2, bool>),
    detail::named<kName, ".reference.f64">(f64, reference<Op, double, 2, bool>),
};

HWY_EXPORT(comparison_piece);

template <Relation kRelation, class Scalar>
struct Compare : Scalar {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(comparison_piece)(kRelation, dtype);
  }
};

using Eq = Compare<Relation::kEq, std::equal_to<>>;
using Ne = Compare<Relation::kNe, std::not_equal_to<>>;
using Lt = Compare<Relation::kLt, std::less<>>;
using Le = Compare<Relation::kLe, std::less_equal<>>;
using Gt = Compare<Relation::kGt, std::greater<>>;
using Ge = Compare<Relation::kGe, std::greater_equal<>>;

}  // namespace

constinit const KernelList eq_kernels{"eq", kKernels<"eq", Eq>};
constinit const KernelList ne_kernels{"ne", kKernels<"ne", Ne>};
constinit const KernelList lt_kernels{"lt", kKernels<"lt", Lt>};
constinit const KernelList le_kernels{"le", kKernels<"le", Le>};
constinit const KernelList gt_kernels{"gt", kKernels<"gt", Gt>};
constinit const KernelList ge_kernels{"ge", kKernels<"ge", Ge>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
