// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/conv/conv.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "neap/kernels/conv/conv.hpp"
#include "neap/kernels/conv/conv_part-inl.hpp"
#include "neap/kernels/conv/conv_plan.hpp"
#include "neap/kernels/conv/conv_ways.hpp"
#include "neap/kernels/conv/conv_weight-inl.hpp"
#include "neap/kernels/engine/copy.hpp"
#include "neap/kernels/engine/float_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels::HWY_NAMESPACE {

template <class MicroKernels>
void run_part(const Conv& conv, ConvMakes makes, const ConvPlan& plan,
              std::int64_t part, std::byte* scratch) {
  if (makes == ConvMakes::kW) {
    ConvWeightPart<MicroKernels>(conv, plan, part, scratch).run();
  } else {
    ConvPart<MicroKernels>(conv, makes, plan, part, scratch).run();
  }
}

void conv_part_f32(const Conv& conv, ConvMakes makes, const ConvPlan& plan,
                   std::int64_t part, std::byte* scratch) {
  run_part<ConvPlain<float>>(conv, makes, plan, part, scratch);
}

void conv_part_f64(const Conv& conv, ConvMakes makes, const ConvPlan& plan,
                   std::int64_t part, std::byte* scratch) {
  run_part<ConvPlain<double>>(conv, makes, plan, part, scratch);
}

void conv_part_bf16(const Conv& conv, ConvMakes makes, const ConvPlan& plan,
                    std::int64_t part, std::byte* scratch) {
#if HWY_TARGET == HWY_AVX3 && HWY_ARCH_X86_64
  run_part<ConvBf16>(conv, makes, plan, part, scratch);
#else
  static_cast<void>(plan);  // has_bf16_dot() is false
  static_cast<void>(part);
  static_cast<void>(scratch);
  conv_reference<float>(conv, makes);
#endif
}

GemmTile conv_tile_f32() {
  return {.rows = kConvTileRows, .lanes = kLanes<float>};
}

GemmTile conv_tile_f64() {
  return {.rows = kConvTileRows, .lanes = kLanes<double>};
}

}  // namespace neap::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(conv_part_f32);
HWY_EXPORT(conv_part_f64);
HWY_EXPORT(conv_part_bf16);
HWY_EXPORT(conv_tile_f32);
HWY_EXPORT(conv_tile_f64);

void dispatch(float /* type */, const Conv& conv, ConvMakes makes,
              const ConvPlan& plan, std::int64_t part, std::byte* scratch) {
  if (conv.is_bf16()) {
    HWY_DYNAMIC_DISPATCH(conv_part_bf16)(conv, makes, plan, part, scratch);
  } else {
    HWY_DYNAMIC_DISPATCH(conv_part_f32)(conv, makes, plan, part, scratch);
  }
}
void dispatch(double /* type */, const Conv& conv, ConvMakes makes,
              const ConvPlan& plan, std::int64_t part, std::byte* scratch) {
  HWY_DYNAMIC_DISPATCH(conv_part_f64)(conv, makes, plan, part, scratch);
}

GemmTile tile_of(float /* type */) {
  return HWY_DYNAMIC_DISPATCH(conv_tile_f32)();
}
GemmTile tile_of(double /* type */) {
  return HWY_DYNAMIC_DISPATCH(conv_tile_f64)();
}

template <class T>
ConvPlan plan_of(const Conv& conv, ConvMakes makes, const Args& args) noexcept {
  return plan_conv(conv, makes, tile_of(T{}), sizeof(T),
                   args.executor->threads());
}

/// The call, with what it adds to in the memory of its result.
template <ConvMakes kMakes>
Conv begun(const Args& args) noexcept {
  Conv conv = conv_of(args, kMakes);
  if (conv.adds && args.in[0].data != args.out[0].data) {
    copy_elements(args.in[0], args.out[0], *args.executor);
  }
  return conv;
}

template <class T, ConvMakes kMakes>
void run(const Args& args) noexcept {
  const Conv conv = begun<kMakes>(args);
  const ConvPlan plan = plan_of<T>(conv, kMakes, args);
  const Bytes part_bytes = plan.part_bytes();
  threads::parallel_parts(*args.executor, static_cast<int>(plan.parts()),
                          [&](int part) noexcept {
                            dispatch(T{}, conv, kMakes, plan, part,
                                     args.scratch.data() + part * part_bytes);
                          });
}

template <class T, ConvMakes kMakes>
Bytes scratch(const Args& args) noexcept {
  const ConvPlan plan = plan_of<T>(conv_of(args, kMakes), kMakes, args);
  return plan.parts() * plan.part_bytes();
}

/// A kernel that computes another way, where that accepts a call.
template <class T, ConvMakes kMakes, auto kAccepts, auto kRun, auto kScratch>
constexpr Kernel way_entry(const char* name) {
  return {.name = name,
          .dtype = dtype_of<T>,
          .run =
              [](const Args& args) noexcept {
                kRun(begun<kMakes>(args), kMakes, args.scratch, *args.executor);
              },
          .accepts =
              [](const Args& args) noexcept {
                return kAccepts(conv_of(args, kMakes), kMakes);
              },
          .scratch =
              [](const Args& args) noexcept {
                return kScratch(conv_of(args, kMakes), kMakes,
                                args.executor->threads());
              }};
}

template <auto kAccepts>
bool unless_bf16(const Conv& conv, ConvMakes makes) noexcept {
  return !conv.is_bf16() && kAccepts(conv, makes);
}

template <class T, ConvMakes kMakes>
constexpr Kernel product_entry(const char* name) {
  return way_entry<T, kMakes, conv_is_product, conv_product<T>,
                   conv_product_scratch<T>>(name);
}

template <class T, ConvMakes kMakes, ConvWay kWay>
constexpr Kernel masked_entry(const char* name) {
  return way_entry<T, kMakes, unless_bf16<conv_takes_way<T, kWay>>,
                   conv_by_way<T, kWay>, conv_way_scratch<T, kWay>>(name);
}

template <class T, ConvMakes kMakes>
constexpr Kernel direct_entry(const char* name) {
  return masked_entry<T, kMakes, ConvWay::kDirect>(name);
}

template <class T, ConvMakes kMakes>
constexpr Kernel depthwise_entry(const char* name) {
  return masked_entry<T, kMakes, ConvWay::kDepthwise>(name);
}

template <class T>
constexpr Kernel few_entry(const char* name) {
  return masked_entry<T, ConvMakes::kW, ConvWay::kFew>(name);
}

template <class T, ConvMakes kMakes>
void reference(const Args& args) noexcept {
  conv_reference<T>(begun<kMakes>(args), kMakes);
}

template <ConvMakes kMakes>
bool is_plain(const Args& args) noexcept {
  return !conv_of(args, kMakes).is_bf16();
}

template <ConvMakes kMakes>
bool is_bf16(const Args& args) noexcept {
  return conv_of(args, kMakes).is_bf16() && has_bf16_dot();
}

template <class T, ConvMakes kMakes>
constexpr Kernel entry(const char* name,
                       bool (*accepts)(const Args&) noexcept) {
  return {.name = name,
          .dtype = dtype_of<T>,
          .run = run<T, kMakes>,
          .accepts = accepts,
          .scratch = scratch<T, kMakes>};
}

template <class T, ConvMakes kMakes>
constexpr Kernel reference_entry(const char* name) {
  return {.name = name, .dtype = dtype_of<T>, .run = reference<T, kMakes>};
}

constexpr std::array kConv{
    depthwise_entry<float, ConvMakes::kY>("conv2d.depthwise.f32"),
    depthwise_entry<double, ConvMakes::kY>("conv2d.depthwise.f64"),
    direct_entry<float, ConvMakes::kY>("conv2d.direct.f32"),
    direct_entry<double, ConvMakes::kY>("conv2d.direct.f64"),
    product_entry<float, ConvMakes::kY>("conv2d.product.f32"),
    product_entry<double, ConvMakes::kY>("conv2d.product.f64"),
    entry<float, ConvMakes::kY>("conv2d.bf16", is_bf16<ConvMakes::kY>),
    entry<float, ConvMakes::kY>("conv2d.f32", is_plain<ConvMakes::kY>),
    entry<double, ConvMakes::kY>("conv2d.f64", nullptr),
    reference_entry<float, ConvMakes::kY>("conv2d.reference.f32"),
    reference_entry<double, ConvMakes::kY>("conv2d.reference.f64"),
};

constexpr std::array kConvTranspose{
    depthwise_entry<float, ConvMakes::kX>("conv_transpose2d.depthwise.f32"),
    depthwise_entry<double, ConvMakes::kX>("conv_transpose2d.depthwise.f64"),
    direct_entry<float, ConvMakes::kX>("conv_transpose2d.direct.f32"),
    direct_entry<double, ConvMakes::kX>("conv_transpose2d.direct.f64"),
    product_entry<float, ConvMakes::kX>("conv_transpose2d.product.f32"),
    product_entry<double, ConvMakes::kX>("conv_transpose2d.product.f64"),
    entry<float, ConvMakes::kX>("conv_transpose2d.bf16",
                                is_bf16<ConvMakes::kX>),
    entry<float, ConvMakes::kX>("conv_transpose2d.f32",
                                is_plain<ConvMakes::kX>),
    entry<double, ConvMakes::kX>("conv_transpose2d.f64", nullptr),
    reference_entry<float, ConvMakes::kX>("conv_transpose2d.reference.f32"),
    reference_entry<double, ConvMakes::kX>("conv_transpose2d.reference.f64"),
};

template <Text kName, Text kSuffix>
constexpr const char* kNamed = detail::kJoined<kName, kSuffix>.data();

/// The kernels of conv2d_weight, and of the op that begins with a sum.
template <Text kName>
constexpr std::array kConvWeights{
    depthwise_entry<float, ConvMakes::kW>(kNamed<kName, ".depthwise.f32">),
    depthwise_entry<double, ConvMakes::kW>(kNamed<kName, ".depthwise.f64">),
    few_entry<float>(kNamed<kName, ".few.f32">),
    few_entry<double>(kNamed<kName, ".few.f64">),
    product_entry<float, ConvMakes::kW>(kNamed<kName, ".product.f32">),
    product_entry<double, ConvMakes::kW>(kNamed<kName, ".product.f64">),
    entry<float, ConvMakes::kW>(kNamed<kName, ".bf16">, is_bf16<ConvMakes::kW>),
    entry<float, ConvMakes::kW>(kNamed<kName, ".f32">, is_plain<ConvMakes::kW>),
    entry<double, ConvMakes::kW>(kNamed<kName, ".f64">, nullptr),
    reference_entry<float, ConvMakes::kW>(kNamed<kName, ".reference.f32">),
    reference_entry<double, ConvMakes::kW>(kNamed<kName, ".reference.f64">),
};

}  // namespace

constinit const KernelList conv2d_kernels{"conv2d", kConv};
constinit const KernelList conv_transpose2d_kernels{"conv_transpose2d",
                                                    kConvTranspose};
constinit const KernelList conv2d_weight_kernels{"conv2d_weight",
                                                 kConvWeights<"conv2d_weight">};
constinit const KernelList conv2d_weight_add_kernels{
    "conv2d_weight_add", kConvWeights<"conv2d_weight_add">};

}  // namespace neap::kernels
#endif  // HWY_ONCE
