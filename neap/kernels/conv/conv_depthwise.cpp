// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/conv/conv_depthwise.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "neap/kernels/conv/conv_depthwise-inl.hpp"
#include "neap/kernels/conv/conv_depthwise.hpp"
#include "neap/kernels/conv/conv_depthwise_weight-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3

template <class T>
void run_depthwise(const Conv& conv, ConvMakes makes,
                   const ConvDepthwisePlan& plan, std::int64_t part,
                   std::byte* scratch) {
  if (makes == ConvMakes::kW) {
    ConvDepthwiseWeightPart<T>(conv, plan, part, scratch).run();
  } else {
    ConvDepthwisePart<T>(conv, makes, plan, part, scratch).run();
  }
}
std::int64_t depthwise_bytes() {
  return sizeof(float) * kLanes<float>;
}

#else

template <class T>
void run_depthwise(const Conv& /* conv */, ConvMakes /* makes */,
                   const ConvDepthwisePlan& /* plan */, std::int64_t /* part */,
                   std::byte* /* scratch */) {}
std::int64_t depthwise_bytes() {
  return 0;
}

#endif

void depthwise_f32(const Conv& conv, ConvMakes makes,
                   const ConvDepthwisePlan& plan, std::int64_t part,
                   std::byte* scratch) {
  run_depthwise<float>(conv, makes, plan, part, scratch);
}
void depthwise_f64(const Conv& conv, ConvMakes makes,
                   const ConvDepthwisePlan& plan, std::int64_t part,
                   std::byte* scratch) {
  run_depthwise<double>(conv, makes, plan, part, scratch);
}

}  // namespace neap::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(depthwise_f32);
HWY_EXPORT(depthwise_f64);
HWY_EXPORT(depthwise_bytes);

void dispatch(float /* type */, const Conv& conv, ConvMakes makes,
              const ConvDepthwisePlan& plan, std::int64_t part,
              std::byte* scratch) {
  HWY_DYNAMIC_DISPATCH(depthwise_f32)(conv, makes, plan, part, scratch);
}
void dispatch(double /* type */, const Conv& conv, ConvMakes makes,
              const ConvDepthwisePlan& plan, std::int64_t part,
              std::byte* scratch) {
  HWY_DYNAMIC_DISPATCH(depthwise_f64)(conv, makes, plan, part, scratch);
}

/// Of a vector; 0 where this way is closed.
template <class T>
std::int64_t lanes_of() noexcept {
  return HWY_DYNAMIC_DISPATCH(depthwise_bytes)() /
         static_cast<std::int64_t>(sizeof(T));
}

/// A single row has no stride down, so that it may be what it is along.
Conv even_strides(const Conv& conv) noexcept {
  Conv even = conv;
  ConvAttrs& a = even.attrs;
  if (a.x_extent[0] == 1 && a.y_extent[0] == 1 && a.kernel[0] == 1 &&
      a.padding[0] == 0) {
    a.stride[0] = a.stride[1];
  }
  return even;
}

template <class T>
ConvDepthwisePlan plan_of(const Conv& conv, ConvMakes makes,
                          int threads) noexcept {
  return plan_conv_depthwise(conv, makes, lanes_of<T>(), sizeof(T), threads);
}

}  // namespace

template <class T>
bool conv_is_depthwise(const Conv& conv, ConvMakes makes) noexcept {
  return lanes_of<T>() > 0 &&
         conv_is_depthwise(even_strides(conv), makes, lanes_of<T>());
}

template <class T>
void conv_depthwise(const Conv& conv, ConvMakes makes,
                    std::span<std::byte> scratch,
                    threads::Executor& executor) noexcept {
  const Conv even = even_strides(conv);
  const ConvDepthwisePlan plan = plan_of<T>(even, makes, executor.threads());
  threads::parallel_parts(executor, static_cast<int>(plan.parts),
                          [&](int part) noexcept {
                            dispatch(T{}, even, makes, plan, part,
                                     scratch.data() + part * plan.part_bytes);
                          });
}

template <class T>
Bytes conv_depthwise_scratch(const Conv& conv, ConvMakes makes,
                             int threads) noexcept {
  const ConvDepthwisePlan plan = plan_of<T>(even_strides(conv), makes, threads);
  return plan.parts * plan.part_bytes;
}

template bool conv_is_depthwise<float>(const Conv&, ConvMakes) noexcept;
template bool conv_is_depthwise<double>(const Conv&, ConvMakes) noexcept;
template void conv_depthwise<float>(const Conv&, ConvMakes,
                                    std::span<std::byte>,
                                    threads::Executor&) noexcept;
template void conv_depthwise<double>(const Conv&, ConvMakes,
                                     std::span<std::byte>,
                                     threads::Executor&) noexcept;
template Bytes conv_depthwise_scratch<float>(const Conv&, ConvMakes,
                                             int) noexcept;
template Bytes conv_depthwise_scratch<double>(const Conv&, ConvMakes,
                                              int) noexcept;

}  // namespace neap::kernels
#endif  // HWY_ONCE
