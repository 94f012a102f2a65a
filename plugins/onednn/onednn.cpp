// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Products and convolutions in f32 by oneDNN, as a plug-in
// (kernels/plugin.hpp); here matmul, linear and the list of all. Made
// to compare with, and outside the library's laws: oneDNN allocates as it runs,
// has threads of its own (OpenMP), and its bits may vary with their number.
#include <omp.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <vector>

#include "neap/kernels/engine/precision.hpp"
#include "onednn.hpp"

namespace neap::kernels {
namespace {

using dnnl::memory;

// One operand as oneDNN sees it.
struct View {
  memory::dims extents;
  memory::dims strides;
  std::byte* data = nullptr;

  memory::desc desc() const {
    return {extents, memory::data_type::f32, strides};
  }
};

struct Product {
  View a, b, c;
  View bias;  // no extents: none
  bool has_bias() const { return !bias.extents.empty(); }
};

// `x` with leading axes of extent 1 up to `rank`.
View view_of(const Strided& x, int rank) {
  View view;
  for (int axis = x.shape.rank() - rank; axis < x.shape.rank(); ++axis) {
    view.extents.push_back(axis < 0 ? 1 : x.shape[axis]);
    // The stride of an extent of 1 is anybody's; oneDNN wants one that fits.
    const bool is_one = axis < 0 || x.shape[axis] == 1;
    view.strides.push_back(is_one ? 0 : x.strides[axis]);
  }
  std::int64_t inner = 1;
  for (std::size_t axis = view.extents.size(); axis-- > 0;) {
    if (view.extents[axis] == 1) {
      view.strides[axis] = inner;
    }
    inner = std::max(inner, view.strides[axis] * view.extents[axis]);
  }
  view.data = x.data;
  return view;
}

Product matmul_of(const Args& args) {
  const int rank = args.out[0].shape.rank();
  return {.a = view_of(args.in[0], rank),
          .b = view_of(args.in[1], rank),
          .c = view_of(args.out[0], rank),
          .bias = {}};
}

Product linear_of(const Args& args) {
  Product x{.a = view_of(args.in[0], 2),
            .b = view_of(args.in[1], 2),
            .c = view_of(args.out[0], 2),
            .bias = {}};
  std::swap(x.b.extents[0], x.b.extents[1]);  // w lies as its transpose
  std::swap(x.b.strides[0], x.b.strides[1]);
  if (args.in.size() > 2) {
    x.bias = view_of(args.in[2], 2);
  }
  return x;
}

// True where oneDNN has fast code: no broadcast inside an operand, no empty
// one, and in each operand neighbours along one of the last two axes.
bool is_plain(const View& x) {
  const std::size_t rank = x.extents.size();
  const bool has_stride =
      std::ranges::all_of(x.strides, [](auto s) { return s > 0; });
  const bool has_elements =
      std::ranges::all_of(x.extents, [](auto n) { return n > 0; });
  return has_stride && has_elements &&
         (x.strides[rank - 1] == 1 || x.strides[rank - 2] == 1);
}

bool is_plain(const Product& x) {
  return is_plain(x.a) && is_plain(x.b) && is_plain(x.c) &&
         (!x.has_bias() || is_plain(x.bias));
}

dnnl::matmul make(const Product& x) {
  const dnnl::matmul::desc desc =
      x.has_bias() ? dnnl::matmul::desc(x.a.desc(), x.b.desc(), x.bias.desc(),
                                        x.c.desc())
                   : dnnl::matmul::desc(x.a.desc(), x.b.desc(), x.c.desc());
  return dnnl::matmul(dnnl::matmul::primitive_desc(desc, onednn_engine()));
}

dnnl::matmul made(const Product& x, int threads) {
  static OnednnCache<dnnl::matmul> cache;
  std::vector<std::int64_t> key{threads};
  for (const View* view : {&x.a, &x.b, &x.c, &x.bias}) {
    key.push_back(static_cast<std::int64_t>(view->extents.size()));
    key.insert(key.end(), view->extents.begin(), view->extents.end());
    key.insert(key.end(), view->strides.begin(), view->strides.end());
  }
  return cache.get(key, [&x] { return make(x); });
}

// The sum for one element, should oneDNN give up in the middle of a run.
void run_plainly(const Product& x) {
  const std::size_t rank = x.c.extents.size();
  std::int64_t count = 1;
  for (const auto extent : x.c.extents) {
    count *= extent;
  }
  const auto at = [](const View& v) {
    return reinterpret_cast<float*>(v.data);
  };
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i;
    std::int64_t a = 0;
    std::int64_t b = 0;
    std::int64_t c = 0;
    std::int64_t bias = 0;
    for (std::size_t axis = rank; axis-- > 0;) {
      const std::int64_t position = rest % x.c.extents[axis];
      rest /= x.c.extents[axis];
      c += position * x.c.strides[axis];
      if (axis != rank - 1 && x.a.extents[axis] > 1) {
        a += position * x.a.strides[axis];
      }
      if (axis != rank - 2 && x.b.extents[axis] > 1) {
        b += position * x.b.strides[axis];
      }
      bias += x.has_bias() && axis == rank - 1 ? position * x.bias.strides[axis]
                                               : 0;
    }
    float sum = x.has_bias() ? at(x.bias)[bias] : 0.0F;
    for (std::int64_t k = 0; k < x.a.extents[rank - 1]; ++k) {
      sum += at(x.a)[a + k * x.a.strides[rank - 1]] *
             at(x.b)[b + k * x.b.strides[rank - 2]];
    }
    at(x.c)[c] = sum;
  }
}

template <Product (*kProductOf)(const Args&)>
void run(const Args& args) noexcept {
  const Product x = kProductOf(args);
  try {
    const int threads = args.executor->threads();
    omp_set_num_threads(threads);
    const auto on = [](const View& view) {
      return memory(view.desc(), onednn_engine(), view.data);
    };
    std::unordered_map<int, memory> operands{{DNNL_ARG_SRC, on(x.a)},
                                             {DNNL_ARG_WEIGHTS, on(x.b)},
                                             {DNNL_ARG_DST, on(x.c)}};
    if (x.has_bias()) {
      operands.emplace(DNNL_ARG_BIAS, on(x.bias));
    }
    dnnl::stream stream(onednn_engine());
    made(x, threads).execute(stream, operands);
    stream.wait();
  } catch (...) {
    run_plainly(x);
  }
}

template <Product (*kProductOf)(const Args&)>
bool accepts(const Args& args) noexcept {
  try {
    const Product x = kProductOf(args);
    if (!is_plain(x) || precision_of(args.attrs) != Precision::kF32 ||
        args.in[0].dtype != f32 || args.in[1].dtype != f32) {
      return false;
    }
    const int threads = args.executor != nullptr ? args.executor->threads() : 1;
    omp_set_num_threads(threads);
    made(x, threads);  // throws where oneDNN has no such product
    return true;
  } catch (...) {
    return false;
  }
}

constexpr std::array kMatmul{Kernel{.name = "onednn.matmul.f32",
                                    .dtype = f32,
                                    .run = run<matmul_of>,
                                    .accepts = accepts<matmul_of>}};
constexpr std::array kLinear{Kernel{.name = "onednn.linear.f32",
                                    .dtype = f32,
                                    .run = run<linear_of>,
                                    .accepts = accepts<linear_of>}};
const std::array kLists{onednn_conv_lists[0], onednn_conv_lists[1],
                        onednn_conv_lists[2],
                        PluginKernels{.list = "linear", .kernels = kLinear},
                        PluginKernels{.list = "matmul", .kernels = kMatmul}};

}  // namespace
}  // namespace neap::kernels

extern "C" NEAP_API const neap::kernels::Plugin* neap_kernel_plugin() noexcept {
  static const neap::kernels::Plugin plugin{.abi = neap::kernels::kPluginAbi,
                                            .version = NEAP_VERSION,
                                            .name = "onednn",
                                            .lists = neap::kernels::kLists};
  return &plugin;
}
