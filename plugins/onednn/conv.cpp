// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Convolutions in f32 by oneDNN: in the blocked layouts that it asks for, to
// and from which images are brought in every call.
#include <omp.h>

#include <unordered_map>

#include "neap/kernels/conv/conv.hpp"
#include "onednn.hpp"

namespace neap::kernels {
namespace {

using dnnl::memory;

// A primitive and the layouts of its operands.
struct Made {
  dnnl::primitive primitive;
  memory::desc x, w, y;
};

struct Call {
  Strided x, w, y;
  Strided bias;
  ConvAttrs attrs;

  bool has_bias() const { return bias.shape.rank() != 0; }
};

template <ConvMakes kMakes>
Call call_of(const Args& args) {
  Call call;
  call.x = kMakes == ConvMakes::kX ? args.out[0] : args.in[0];
  call.w = kMakes == ConvMakes::kW ? args.out[0] : args.in[1];
  call.y = kMakes == ConvMakes::kY   ? args.out[0]
           : kMakes == ConvMakes::kX ? args.in[0]
                                     : args.in[1];
  call.attrs = args.attrs_as<ConvAttrs>();
  if (args.in.size() > 2) {
    call.bias = args.in[2];
  }
  return call;
}

memory::dims extents_of(const Shape& shape) {
  return {shape.begin(), shape.end()};
}

// (groups, o, c, kh, kw) where there are several.
memory::dims weight_extents(const Call& call) {
  memory::dims extents = extents_of(call.w.shape);
  if (call.attrs.groups > 1) {
    extents[0] /= call.attrs.groups;
    extents.insert(extents.begin(), call.attrs.groups);
  }
  return extents;
}

memory::desc any(const memory::dims& extents) {
  return {extents, memory::data_type::f32, memory::format_tag::any};
}

memory::desc plain(const memory::dims& extents) {
  return {extents, memory::data_type::f32,
          extents.size() == 5   ? memory::format_tag::goihw
          : extents.size() == 4 ? memory::format_tag::nchw
                                : memory::format_tag::x};
}

template <ConvMakes kMakes>
Made make(const Call& call) {
  const ConvAttrs& a = call.attrs;
  const memory::dims strides{a.stride[0], a.stride[1]};
  const memory::dims dilation{a.dilation[0] - 1, a.dilation[1] - 1};
  const memory::dims padding{a.padding[0], a.padding[1]};
  const memory::desc x = any(extents_of(call.x.shape));
  const memory::desc w = any(weight_extents(call));
  const memory::desc y = any(extents_of(call.y.shape));
  constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;
  constexpr auto kForward = dnnl::prop_kind::forward_training;
  const dnnl::engine& engine = onednn_engine();
  const dnnl::convolution_forward::desc desc =
      call.has_bias()
          ? dnnl::convolution_forward::desc(kForward, kAlgorithm, x, w,
                                            any(extents_of(call.bias.shape)), y,
                                            strides, dilation, padding, padding)
          : dnnl::convolution_forward::desc(kForward, kAlgorithm, x, w, y,
                                            strides, dilation, padding,
                                            padding);
  const dnnl::convolution_forward::primitive_desc forward(desc, engine);
  if constexpr (kMakes == ConvMakes::kY) {
    return {dnnl::convolution_forward(forward), forward.src_desc(),
            forward.weights_desc(), forward.dst_desc()};
  } else if constexpr (kMakes == ConvMakes::kX) {
    const dnnl::convolution_backward_data::primitive_desc data(
        dnnl::convolution_backward_data::desc(kAlgorithm, x, w, y, strides,
                                              dilation, padding, padding),
        engine, forward);
    return {dnnl::convolution_backward_data(data), data.diff_src_desc(),
            data.weights_desc(), data.diff_dst_desc()};
  } else {
    const dnnl::convolution_backward_weights::primitive_desc weights(
        dnnl::convolution_backward_weights::desc(kAlgorithm, x, w, y, strides,
                                                 dilation, padding, padding),
        engine, forward);
    return {dnnl::convolution_backward_weights(weights), weights.src_desc(),
            weights.diff_weights_desc(), weights.diff_dst_desc()};
  }
}

template <ConvMakes kMakes>
Made made(const Call& call, int threads) {
  static OnednnCache<Made> cache;
  std::vector<std::int64_t> key{threads, call.has_bias() ? 1 : 0,
                                call.attrs.groups};
  for (const Strided* operand : {&call.x, &call.w, &call.y}) {
    key.insert(key.end(), operand->shape.begin(), operand->shape.end());
  }
  for (const auto& pair :
       {call.attrs.stride, call.attrs.padding, call.attrs.dilation}) {
    key.insert(key.end(), pair.begin(), pair.end());
  }
  return cache.get(key, [&call] { return make<kMakes>(call); });
}

// In the primitive's layout; the caller's own memory where that is the same.
memory bring(const Strided& from, const memory::dims& extents,
             const memory::desc& to, bool copies, dnnl::stream& stream) {
  memory own(plain(extents), onednn_engine(), from.data);
  if (to == own.get_desc()) {
    return own;
  }
  memory other(to, onednn_engine());
  if (copies) {
    dnnl::reorder(own, other).execute(stream, own, other);
  }
  return other;
}

template <ConvMakes kMakes>
void execute(const Call& call, int threads) {
  omp_set_num_threads(threads);
  const Made m = made<kMakes>(call, threads);
  dnnl::stream stream(onednn_engine());
  const memory::dims w_extents = weight_extents(call);
  const memory x = bring(call.x, extents_of(call.x.shape), m.x,
                         kMakes != ConvMakes::kX, stream);
  const memory w =
      bring(call.w, w_extents, m.w, kMakes != ConvMakes::kW, stream);
  const memory y = bring(call.y, extents_of(call.y.shape), m.y,
                         kMakes != ConvMakes::kY, stream);
  std::unordered_map<int, memory> operands{
      {kMakes == ConvMakes::kX ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, x},
      {kMakes == ConvMakes::kW ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS, w},
      {kMakes == ConvMakes::kY ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST, y}};
  if (call.has_bias()) {
    operands.emplace(DNNL_ARG_BIAS, memory(plain(extents_of(call.bias.shape)),
                                           onednn_engine(), call.bias.data));
  }
  m.primitive.execute(stream, operands);
  const Strided& result = kMakes == ConvMakes::kX   ? call.x
                          : kMakes == ConvMakes::kW ? call.w
                                                    : call.y;
  memory from = kMakes == ConvMakes::kX ? x : kMakes == ConvMakes::kW ? w : y;
  memory to(
      plain(kMakes == ConvMakes::kW ? w_extents : extents_of(result.shape)),
      onednn_engine(), result.data);
  if (from.get_desc() != to.get_desc()) {
    dnnl::reorder(from, to).execute(stream, from, to);
  }
  stream.wait();
}

// The sums one product at a time, should oneDNN give up in the middle of a run.
// All operands are dense.
template <ConvMakes kMakes>
void run_plainly(const Call& call) {
  const auto at = [](const Strided& v, std::int64_t a, std::int64_t b,
                     std::int64_t i, std::int64_t j) -> float& {
    return v
        .as<float>()[((a * v.shape[1] + b) * v.shape[2] + i) * v.shape[3] + j];
  };
  const Strided& result = kMakes == ConvMakes::kX   ? call.x
                          : kMakes == ConvMakes::kW ? call.w
                                                    : call.y;
  const std::int64_t plane = result.shape[2] * result.shape[3];
  for (std::int64_t i = 0; i < result.shape.element_count(); ++i) {
    result.as<float>()[i] =
        call.has_bias() ? call.bias.as<float>()[i / plane % result.shape[1]]
                        : 0.0F;
  }
  const Shape& w = call.w.shape;
  const ConvAttrs& a = call.attrs;
  for (std::int64_t index = 0; index < call.y.shape.element_count(); ++index) {
    const std::int64_t j = index % call.y.shape[3];
    const std::int64_t i = index / call.y.shape[3] % call.y.shape[2];
    const std::int64_t o =
        index / (call.y.shape[3] * call.y.shape[2]) % call.y.shape[1];
    const std::int64_t n =
        index / (call.y.shape[3] * call.y.shape[2] * call.y.shape[1]);
    for (std::int64_t k = 0; k < w.element_count() / w[0]; ++k) {
      const std::int64_t q = k % w[3];
      const std::int64_t p = k / w[3] % w[2];
      const std::int64_t c = k / (w[3] * w[2]);
      const std::int64_t h = i * a.stride[0] + p * a.dilation[0] - a.padding[0];
      const std::int64_t v = j * a.stride[1] + q * a.dilation[1] - a.padding[1];
      if (h < 0 || h >= call.x.shape[2] || v < 0 || v >= call.x.shape[3]) {
        continue;
      }
      const std::int64_t first = o / (w[0] / a.groups) * w[1];
      float& x = at(call.x, n, first + c, h, v);
      float& weight = at(call.w, o, c, p, q);
      float& y = at(call.y, n, o, i, j);
      if constexpr (kMakes == ConvMakes::kY) {
        y += x * weight;
      } else if constexpr (kMakes == ConvMakes::kX) {
        x += y * weight;
      } else {
        weight += x * y;
      }
    }
  }
}

template <ConvMakes kMakes>
void run(const Args& args) noexcept {
  const Call call = call_of<kMakes>(args);
  try {
    execute<kMakes>(call, args.executor->threads());
  } catch (...) {
    run_plainly<kMakes>(call);
  }
}

// Dense, and not empty.
bool is_plain(const Strided& x) {
  std::int64_t step = 1;
  for (int axis = x.shape.rank() - 1; axis >= 0; --axis) {
    if (x.shape[axis] == 0 || (x.shape[axis] != 1 && x.strides[axis] != step)) {
      return false;
    }
    step *= x.shape[axis];
  }
  return true;
}

template <ConvMakes kMakes>
bool accepts(const Args& args) noexcept {
  try {
    const Call call = call_of<kMakes>(args);
    if (call.attrs.precision != Precision::kF32 || !is_plain(call.x) ||
        !is_plain(call.w) || !is_plain(call.y) ||
        (call.has_bias() &&
         (kMakes != ConvMakes::kY || !is_plain(call.bias)))) {
      return false;
    }
    const int threads = args.executor != nullptr ? args.executor->threads() : 1;
    omp_set_num_threads(threads);
    made<kMakes>(call, threads);  // throws where oneDNN has no such one
    return true;
  } catch (...) {
    return false;
  }
}

template <ConvMakes kMakes>
constexpr std::array<Kernel, 1> entry(const char* name) {
  return {Kernel{.name = name,
                 .dtype = f32,
                 .run = run<kMakes>,
                 .accepts = accepts<kMakes>}};
}

constexpr std::array kConv = entry<ConvMakes::kY>("onednn.conv2d.f32");
constexpr std::array kConvTranspose =
    entry<ConvMakes::kX>("onednn.conv_transpose2d.f32");
constexpr std::array kConvWeight =
    entry<ConvMakes::kW>("onednn.conv2d_weight.f32");

}  // namespace

constinit const std::array<PluginKernels, 3> onednn_conv_lists{
    PluginKernels{.list = "conv2d", .kernels = kConv},
    PluginKernels{.list = "conv_transpose2d", .kernels = kConvTranspose},
    PluginKernels{.list = "conv2d_weight", .kernels = kConvWeight}};

}  // namespace neap::kernels
