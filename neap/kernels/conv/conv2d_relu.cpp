// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/conv/conv2d_relu.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "neap/kernels/activation/activation_attrs.hpp"
#include "neap/kernels/activation/rectifiers.hpp"
#include "neap/kernels/activation/relu_bits.hpp"
#include "neap/kernels/conv/conv.hpp"

namespace neap::kernels {
namespace {

constexpr Bytes kChunkBytes = 512 * kKiB;  // of y, for each thread

/// The first that takes the call, or the reference.
const Kernel& kernel_of(const KernelList& list, const Args& args, bool is_plain,
                        DType dtype) noexcept {
  const auto takes = [&](const Kernel& kernel) {
    return kernel.dtype == dtype &&
           (kernel.accepts == nullptr || kernel.accepts(args));
  };
  if (is_plain) {
    const auto at = std::find_if(list.kernels.rbegin(), list.kernels.rend(),
                                 [&](auto& k) { return k.dtype == dtype; });
    return *at;
  }
  return *std::ranges::find_if(list.kernels, takes);
}

/// Samples [begin, begin + count) of an image.
Strided samples_of(Strided image, std::int64_t begin, std::int64_t count) {
  image.shape[0] = count;
  if (image.data != nullptr) {
    image.data += begin * image.strides[0] * size_of(image.dtype);
  }
  return image;
}

/// The convolution of some samples.
struct Chunk {
  std::array<Strided, 3> in;
  std::array<Strided, 1> out;
  Args args;

  Chunk(const Args& all, std::int64_t begin, std::int64_t count) noexcept
      : out{samples_of(all.out[0], begin, count)}, args(all) {
    std::ranges::copy(all.in, in.begin());
    in[0] = samples_of(in[0], begin, count);
    args.in = std::span(in).first(all.in.size());
    args.out = out;
  }
};

/// Samples at a time: the bits of each chunk begin with a byte.
std::int64_t chunk_of(const Args& args) noexcept {
  const Strided& y = args.out[0];
  const std::int64_t samples = std::max<std::int64_t>(y.shape[0], 1);
  const std::int64_t each = y.shape.element_count() / samples;
  const std::int64_t unit = 8 / std::gcd<std::int64_t, std::int64_t>(
                                    8, std::max<std::int64_t>(each, 1));
  const Bytes bytes = kChunkBytes * args.executor->threads();
  const std::int64_t fitting =
      bytes / std::max<Bytes>(each * size_of(y.dtype), 1);
  return std::max<std::int64_t>(fitting / unit, 1) * unit;
}

template <class Body>
void for_chunks(const Args& args, const Body& body) noexcept {
  const std::int64_t samples = args.out[0].shape[0];
  const std::int64_t chunk = chunk_of(args);
  for (std::int64_t begin = 0; begin < samples; begin += chunk) {
    body(begin, std::min(chunk, samples - begin));
  }
}

/// Relu of a chunk's y where it lies, and its bits where they are wanted.
void end_in_relu(const Args& args, const Strided& y, std::int64_t begin,
                 bool is_plain) noexcept {
  constexpr SlopeAttrs kNone{0.0};
  const bool has_bits = args.out.size() > 1;
  const std::array in{y};
  std::array out{y, y};
  if (has_bits) {
    Strided& bits = out[1];
    bits = args.out[1];
    bits.shape[0] = (y.shape.element_count() + 7) / 8;
    bits.data += begin / 8;
  }
  const Args relu{.in = in,
                  .out = std::span(out).first(args.out.size()),
                  .attrs = has_bits ? &kNone : nullptr,
                  .scratch = {},
                  .executor = args.executor};
  const KernelList& list = has_bits ? relu_bits_kernels : relu_kernels;
  kernel_of(list, relu, is_plain, y.dtype).run(relu);
}

void run(const Args& args) noexcept {
  const DType dtype = args.in[0].dtype;
  const Strided& y = args.out[0];
  for_chunks(args, [&](std::int64_t begin, std::int64_t count) {
    const Chunk chunk(args, begin, count);
    kernel_of(conv2d_kernels, chunk.args, false, dtype).run(chunk.args);
    end_in_relu(args, chunk.out[0], begin * y.strides[0], false);
  });
}

void reference(const Args& args) noexcept {
  kernel_of(conv2d_kernels, args, true, args.in[0].dtype).run(args);
  end_in_relu(args, args.out[0], 0, true);
}

Bytes scratch(const Args& args) noexcept {
  Bytes most = 0;
  for_chunks(args, [&](std::int64_t begin, std::int64_t count) {
    const Chunk chunk(args, begin, count);
    const Kernel& kernel =
        kernel_of(conv2d_kernels, chunk.args, false, args.in[0].dtype);
    most = std::max(most, scratch_bytes(kernel, chunk.args));
  });
  return most;
}

constexpr Kernel entry(const char* name, DType dtype) {
  return {.name = name, .dtype = dtype, .run = run, .scratch = scratch};
}
constexpr Kernel plain(const char* name, DType dtype) {
  return {.name = name, .dtype = dtype, .run = reference};
}

constexpr std::array kKernels{entry("conv2d_relu.f32", f32),
                              entry("conv2d_relu.f64", f64),
                              plain("conv2d_relu.reference.f32", f32),
                              plain("conv2d_relu.reference.f64", f64)};
constexpr std::array kBitsKernels{entry("conv2d_relu_bits.f32", f32),
                                  entry("conv2d_relu_bits.f64", f64),
                                  plain("conv2d_relu_bits.reference.f32", f32),
                                  plain("conv2d_relu_bits.reference.f64", f64)};

}  // namespace

constinit const KernelList conv2d_relu_kernels{"conv2d_relu", kKernels};
constinit const KernelList conv2d_relu_bits_kernels{"conv2d_relu_bits",
                                                    kBitsKernels};

}  // namespace neap::kernels
