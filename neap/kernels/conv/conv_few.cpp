// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/conv/conv_few.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "neap/kernels/conv/conv_few-inl.hpp"
#include "neap/kernels/conv/conv_few.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3

template <class T>
void run_few(const Conv& conv, const ConvFewPlan& plan, std::int64_t part,
             std::byte* scratch) {
  ConvFewPart<T>(conv, plan, part, scratch).run();
}
std::int64_t few_bytes() {
  return sizeof(float) * kLanes<float>;
}

#else

template <class T>
void run_few(const Conv& /* conv */, const ConvFewPlan& /* plan */,
             std::int64_t /* part */, std::byte* /* scratch */) {}
std::int64_t few_bytes() {
  return 0;
}

#endif

void few_f32(const Conv& conv, const ConvFewPlan& plan, std::int64_t part,
             std::byte* scratch) {
  run_few<float>(conv, plan, part, scratch);
}
void few_f64(const Conv& conv, const ConvFewPlan& plan, std::int64_t part,
             std::byte* scratch) {
  run_few<double>(conv, plan, part, scratch);
}

}  // namespace neap::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(few_f32);
HWY_EXPORT(few_f64);
HWY_EXPORT(few_bytes);

void dispatch(float /* type */, const Conv& conv, const ConvFewPlan& plan,
              std::int64_t part, std::byte* scratch) {
  HWY_DYNAMIC_DISPATCH(few_f32)(conv, plan, part, scratch);
}
void dispatch(double /* type */, const Conv& conv, const ConvFewPlan& plan,
              std::int64_t part, std::byte* scratch) {
  HWY_DYNAMIC_DISPATCH(few_f64)(conv, plan, part, scratch);
}

/// Of a vector; 0 where this way is closed.
template <class T>
std::int64_t lanes_of() noexcept {
  return HWY_DYNAMIC_DISPATCH(few_bytes)() /
         static_cast<std::int64_t>(sizeof(T));
}

}  // namespace

template <class T>
bool conv_is_few(const Conv& conv, ConvMakes makes) noexcept {
  return lanes_of<T>() > 0 && conv_has_few(conv, makes);
}

template <class T>
void conv_few(const Conv& conv, std::span<std::byte> scratch,
              threads::Executor& executor) noexcept {
  const ConvFewPlan plan =
      plan_conv_few(conv, lanes_of<T>(), sizeof(T), executor.threads());
  threads::parallel_parts(executor, static_cast<int>(plan.parts),
                          [&](int part) noexcept {
                            dispatch(T{}, conv, plan, part,
                                     scratch.data() + part * plan.part_bytes());
                          });
}

template <class T>
Bytes conv_few_scratch(const Conv& conv, int threads) noexcept {
  const ConvFewPlan plan =
      plan_conv_few(conv, lanes_of<T>(), sizeof(T), threads);
  return plan.parts * plan.part_bytes();
}

template bool conv_is_few<float>(const Conv&, ConvMakes) noexcept;
template bool conv_is_few<double>(const Conv&, ConvMakes) noexcept;
template void conv_few<float>(const Conv&, std::span<std::byte>,
                              threads::Executor&) noexcept;
template void conv_few<double>(const Conv&, std::span<std::byte>,
                               threads::Executor&) noexcept;
template Bytes conv_few_scratch<float>(const Conv&, int) noexcept;
template Bytes conv_few_scratch<double>(const Conv&, int) noexcept;

}  // namespace neap::kernels
#endif  // HWY_ONCE
