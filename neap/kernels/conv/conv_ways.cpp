// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/conv/conv_ways.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "neap/kernels/conv/conv_depthwise-inl.hpp"
#include "neap/kernels/conv/conv_depthwise.hpp"
#include "neap/kernels/conv/conv_depthwise_weight-inl.hpp"
#include "neap/kernels/conv/conv_direct-inl.hpp"
#include "neap/kernels/conv/conv_direct.hpp"
#include "neap/kernels/conv/conv_few-inl.hpp"
#include "neap/kernels/conv/conv_few.hpp"
#include "neap/kernels/conv/conv_ways.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3

template <class T>
void run_part(const Conv& conv, ConvMakes makes, const ConvDirectPlan& plan,
              std::int64_t part, std::byte* scratch) {
  ConvDirectPart<T>(conv, makes, plan, part, scratch).run();
}

template <class T>
void run_part(const Conv& conv, ConvMakes /* kW */, const ConvFewPlan& plan,
              std::int64_t part, std::byte* scratch) {
  ConvFewPart<T>(conv, plan, part, scratch).run();
}

template <class T>
void run_part(const Conv& conv, ConvMakes makes, const ConvDepthwisePlan& plan,
              std::int64_t part, std::byte* scratch) {
  if (makes == ConvMakes::kW) {
    ConvDepthwiseWeightPart<T>(conv, plan, part, scratch).run();
  } else {
    ConvDepthwisePart<T>(conv, makes, plan, part, scratch).run();
  }
}

std::int64_t way_bytes() {
  return sizeof(float) * kLanes<float>;
}

#else

template <class T, class Plan>
void run_part(const Conv& /* conv */, ConvMakes /* makes */,
              const Plan& /* plan */, std::int64_t /* part */,
              std::byte* /* scratch */) {}

std::int64_t way_bytes() {
  return 0;
}

#endif

template <class T>
void run_part_of(ConvWay way, const Conv& conv, ConvMakes makes,
                 const void* plan, std::int64_t part, std::byte* scratch) {
  switch (way) {
    case ConvWay::kDirect:
      run_part<T>(conv, makes, *static_cast<const ConvDirectPlan*>(plan), part,
                  scratch);
      break;
    case ConvWay::kFew:
      run_part<T>(conv, makes, *static_cast<const ConvFewPlan*>(plan), part,
                  scratch);
      break;
    case ConvWay::kDepthwise:
      run_part<T>(conv, makes, *static_cast<const ConvDepthwisePlan*>(plan),
                  part, scratch);
      break;
  }
}
void way_part_f32(ConvWay way, const Conv& conv, ConvMakes makes,
                  const void* plan, std::int64_t part, std::byte* scratch) {
  run_part_of<float>(way, conv, makes, plan, part, scratch);
}
void way_part_f64(ConvWay way, const Conv& conv, ConvMakes makes,
                  const void* plan, std::int64_t part, std::byte* scratch) {
  run_part_of<double>(way, conv, makes, plan, part, scratch);
}

}  // namespace neap::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(way_part_f32);
HWY_EXPORT(way_part_f64);
HWY_EXPORT(way_bytes);

/// Lanes of a vector; 0 where these ways are not compiled.
template <class T>
std::int64_t lanes_of() noexcept {
  return HWY_DYNAMIC_DISPATCH(way_bytes)() /
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

/// The convolution as a way computes it.
template <ConvWay kWay>
Conv conv_for(const Conv& conv) noexcept {
  return kWay == ConvWay::kDepthwise ? even_strides(conv) : conv;
}

template <class T, ConvWay kWay>
auto plan_of(const Conv& conv, ConvMakes makes, int threads) noexcept {
  if constexpr (kWay == ConvWay::kDirect) {
    return plan_conv_direct(conv, makes, lanes_of<T>(), sizeof(T), threads);
  } else if constexpr (kWay == ConvWay::kFew) {
    return plan_conv_few(conv, lanes_of<T>(), sizeof(T), threads);
  } else {
    return plan_conv_depthwise(conv, makes, lanes_of<T>(), sizeof(T), threads);
  }
}

}  // namespace

template <class T, ConvWay kWay>
bool conv_takes_way(const Conv& conv, ConvMakes makes) noexcept {
  const std::int64_t lanes = lanes_of<T>();
  if (lanes == 0) {
    return false;
  }
  if constexpr (kWay == ConvWay::kDirect) {
    return conv_is_direct(conv, makes, lanes);
  } else if constexpr (kWay == ConvWay::kFew) {
    return conv_has_few(conv, makes);
  } else {
    return conv_is_depthwise(conv_for<kWay>(conv), makes, lanes);
  }
}

template <class T, ConvWay kWay>
void conv_by_way(const Conv& given, ConvMakes makes,
                 std::span<std::byte> scratch,
                 threads::Executor& executor) noexcept {
  const Conv conv = conv_for<kWay>(given);
  const auto plan = plan_of<T, kWay>(conv, makes, executor.threads());
  const auto run = std::is_same_v<T, float>
                       ? HWY_DYNAMIC_DISPATCH(way_part_f32)
                       : HWY_DYNAMIC_DISPATCH(way_part_f64);
  threads::parallel_parts(executor, static_cast<int>(plan.parts),
                          [&](int part) noexcept {
                            run(kWay, conv, makes, &plan, part,
                                scratch.data() + part * plan.part_bytes);
                          });
}

template <class T, ConvWay kWay>
Bytes conv_way_scratch(const Conv& conv, ConvMakes makes,
                       int threads) noexcept {
  const auto plan = plan_of<T, kWay>(conv_for<kWay>(conv), makes, threads);
  return plan.parts * plan.part_bytes;
}

#define NEAP_CONV_WAY(T, way)                                            \
  template bool conv_takes_way<T, way>(const Conv&, ConvMakes) noexcept; \
  template void conv_by_way<T, way>(const Conv&, ConvMakes,              \
                                    std::span<std::byte>,                \
                                    threads::Executor&) noexcept;        \
  template Bytes conv_way_scratch<T, way>(const Conv&, ConvMakes, int) noexcept;
NEAP_CONV_WAY(float, ConvWay::kDirect)
NEAP_CONV_WAY(double, ConvWay::kDirect)
NEAP_CONV_WAY(float, ConvWay::kFew)
NEAP_CONV_WAY(double, ConvWay::kFew)
NEAP_CONV_WAY(float, ConvWay::kDepthwise)
NEAP_CONV_WAY(double, ConvWay::kDepthwise)
#undef NEAP_CONV_WAY

}  // namespace neap::kernels
#endif  // HWY_ONCE
