// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/conv/conv_direct.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "neap/kernels/conv/conv_direct-inl.hpp"
#include "neap/kernels/conv/conv_direct.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3

void direct_part_f32(const Conv& conv, ConvMakes makes,
                     const ConvDirectPlan& plan, std::int64_t part,
                     std::byte* scratch) {
  ConvDirectPart<float>(conv, makes, plan, part, scratch).run();
}
void direct_part_f64(const Conv& conv, ConvMakes makes,
                     const ConvDirectPlan& plan, std::int64_t part,
                     std::byte* scratch) {
  ConvDirectPart<double>(conv, makes, plan, part, scratch).run();
}
std::int64_t direct_bytes() {
  return sizeof(float) * kLanes<float>;
}

#else

void direct_part_f32(const Conv& /* conv */, ConvMakes /* makes */,
                     const ConvDirectPlan& /* plan */, std::int64_t /* part */,
                     std::byte* /* scratch */) {}
void direct_part_f64(const Conv& /* conv */, ConvMakes /* makes */,
                     const ConvDirectPlan& /* plan */, std::int64_t /* part */,
                     std::byte* /* scratch */) {}
std::int64_t direct_bytes() {
  return 0;
}

#endif

}  // namespace neap::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(direct_part_f32);
HWY_EXPORT(direct_part_f64);
HWY_EXPORT(direct_bytes);

void dispatch(float /* type */, const Conv& conv, ConvMakes makes,
              const ConvDirectPlan& plan, std::int64_t part,
              std::byte* scratch) {
  HWY_DYNAMIC_DISPATCH(direct_part_f32)(conv, makes, plan, part, scratch);
}
void dispatch(double /* type */, const Conv& conv, ConvMakes makes,
              const ConvDirectPlan& plan, std::int64_t part,
              std::byte* scratch) {
  HWY_DYNAMIC_DISPATCH(direct_part_f64)(conv, makes, plan, part, scratch);
}

/// Of a vector; 0 where this way is closed.
template <class T>
std::int64_t lanes_of() noexcept {
  return HWY_DYNAMIC_DISPATCH(direct_bytes)() /
         static_cast<std::int64_t>(sizeof(T));
}

}  // namespace

template <class T>
bool conv_is_direct(const Conv& conv, ConvMakes makes) noexcept {
  return lanes_of<T>() > 0 && conv_is_direct(conv, makes, lanes_of<T>());
}

template <class T>
void conv_direct(const Conv& conv, ConvMakes makes,
                 std::span<std::byte> scratch,
                 threads::Executor& executor) noexcept {
  const ConvDirectPlan plan = plan_conv_direct(conv, makes, lanes_of<T>(),
                                               sizeof(T), executor.threads());
  threads::parallel_parts(executor, static_cast<int>(plan.parts),
                          [&](int part) noexcept {
                            dispatch(T{}, conv, makes, plan, part,
                                     scratch.data() + part * plan.part_bytes);
                          });
}

template <class T>
Bytes conv_direct_scratch(const Conv& conv, ConvMakes makes,
                          int threads) noexcept {
  const ConvDirectPlan plan =
      plan_conv_direct(conv, makes, lanes_of<T>(), sizeof(T), threads);
  return plan.parts * plan.part_bytes;
}

template bool conv_is_direct<float>(const Conv&, ConvMakes) noexcept;
template bool conv_is_direct<double>(const Conv&, ConvMakes) noexcept;
template void conv_direct<float>(const Conv&, ConvMakes, std::span<std::byte>,
                                 threads::Executor&) noexcept;
template void conv_direct<double>(const Conv&, ConvMakes, std::span<std::byte>,
                                  threads::Executor&) noexcept;
template Bytes conv_direct_scratch<float>(const Conv&, ConvMakes, int) noexcept;
template Bytes conv_direct_scratch<double>(const Conv&, ConvMakes,
                                           int) noexcept;

}  // namespace neap::kernels
#endif  // HWY_ONCE
