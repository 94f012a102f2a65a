// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The kernels of a family whose ops are one expression each, from the family's
// table. The family's source includes it last, once per instruction set:
//
//   #define NEAP_ROWS "neap/kernels/elementwise/trigonometry.inc"
//   #include "neap/kernels/engine/row_kernels-inl.hpp"
//
// A row of the table:
//
//   NEAP_ROW(sin, 1, Float, false, sin_of(d, x), std::sin(x))
//
// name; inputs (x, or x and y); dtypes (Float: f32 and f64, Signed: i32 and i64
// too); whether it is a few instructions, so that the loop takes several
// vectors at a time because memory bounds it; the vector form, with the tag d;
// the form for one element, which is the reference, and what integers run. A
// kernel with attributes says their type, and reads them as `attrs`:
//
//   NEAP_ATTRS_ROW(leaky_relu, 1, Float, SlopeAttrs, true, ..., ...)

#define NEAP_ROW_OPERANDS_1(Type) [[maybe_unused]] Type x
#define NEAP_ROW_OPERANDS_2(Type) \
  [[maybe_unused]] Type x, [[maybe_unused]] Type y

#ifndef NEAP_KERNELS_NO_ATTRS_
#define NEAP_KERNELS_NO_ATTRS_
namespace neap::kernels {
struct NoAttrs {};
}  // namespace neap::kernels
#endif

#define NEAP_ROW(name, inputs, dtypes, is_light, by_vector, by_element) \
  NEAP_ATTRS_ROW(name, inputs, dtypes, NoAttrs, is_light, by_vector, by_element)

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

#define NEAP_ATTRS_ROW(name, inputs, dtypes, AttrsType, is_light, by_vector, \
                       by_element)                                           \
  namespace name##_row {                                                     \
    struct Vector {                                                          \
      using Attrs = AttrsType;                                               \
      static constexpr bool kIsLight = is_light;                             \
      template <class D, class V>                                            \
      HWY_INLINE V operator()([[maybe_unused]] D d,                          \
                              NEAP_ROW_OPERANDS_##inputs(V)) const {         \
        return by_vector;                                                    \
      }                                                                      \
      [[no_unique_address]] Attrs attrs;                                     \
    };                                                                       \
  }                                                                          \
  PieceFunction name##_piece(DType dtype) {                                  \
    return float_piece<name##_row::Vector, inputs>(dtype);                   \
  }
#include NEAP_ROWS
#undef NEAP_ATTRS_ROW

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

#define NEAP_ATTRS_ROW(name, inputs, dtypes, AttrsType, is_light, by_vector, \
                       by_element)                                           \
  HWY_EXPORT(name##_piece);                                                  \
  namespace name##_row {                                                     \
    struct Element {                                                         \
      using Attrs = AttrsType;                                               \
      static PieceFunction piece(DType dtype) {                              \
        return HWY_DYNAMIC_DISPATCH(name##_piece)(dtype);                    \
      }                                                                      \
      template <class T>                                                     \
      T operator()(NEAP_ROW_OPERANDS_##inputs(T)) const {                    \
        return static_cast<T>(by_element);                                   \
      }                                                                      \
      [[no_unique_address]] Attrs attrs;                                     \
    };                                                                       \
  }
#include NEAP_ROWS
#undef NEAP_ATTRS_ROW

}  // namespace

#define NEAP_ATTRS_ROW(name, inputs, dtypes, AttrsType, is_light, by_vector, \
                       by_element)                                           \
  constinit const KernelList name##_kernels{                                 \
      #name, k##dtypes##Kernels<#name, name##_row::Element, inputs>};
#include NEAP_ROWS
#undef NEAP_ATTRS_ROW

}  // namespace neap::kernels
#endif  // HWY_ONCE

#undef NEAP_ROW
#undef NEAP_ROW_OPERANDS_1
#undef NEAP_ROW_OPERANDS_2
#undef NEAP_ROWS
