// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/linalg/gelu_linear.hpp"

#include <algorithm>
#include <array>

#include "neap/kernels/activation/rectifiers.hpp"
#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/linalg/linear.hpp"

namespace neap::kernels {
namespace {

constexpr std::int64_t kBlockBytes = 4 * kMiB;  // of gelu(x), about

enum class Choice { kFirst, kReference };

// The first or the last of a list that is for the dtype.
const Kernel& choose(const KernelList& list, DType dtype, Choice choice) {
  const auto is_for = [dtype](const Kernel& k) { return k.dtype == dtype; };
  return choice == Choice::kFirst
             ? *std::find_if(list.kernels.begin(), list.kernels.end(), is_for)
             : *std::find_if(list.kernels.rbegin(), list.kernels.rend(),
                             is_for);
}

// A block of rows: its operands and those of the two calls.
class GeluLinear {
 public:
  GeluLinear(const Args& args, Choice choice)
      : args_(args),
        of_product_{.precision = args.attrs_as<GeluLinearAttrs>().precision},
        gelu_(choose(args.attrs_as<GeluLinearAttrs>().by_tanh
                         ? gelu_tanh_kernels
                         : gelu_kernels,
                     args.in[0].dtype, choice)),
        linear_(choose(linear_kernels, args.in[0].dtype, choice)),
        in_{args.in[0], args.in[1],
            args.in.size() > 2 ? args.in[2] : Strided()},
        width_(args.in[0].shape[1]),
        rows_(args.in[0].shape[0]) {
    const std::int64_t row =
        std::max<std::int64_t>(width_ * size_of(in_[0].dtype), 1);
    step_ = std::clamp<std::int64_t>(kBlockBytes / row, 1,
                                     std::max<std::int64_t>(rows_, 1));
    in_[0].strides = {width_, 1};
  }

  Bytes scratch() {
    Bytes most = 0;
    for (const std::int64_t count : {step_, rows_ % step_}) {
      most = std::max(most, scratch_bytes(linear_, product(0, count, {})));
    }
    return gelu_bytes() + most;
  }

  void run() {
    in_[0].data = args_.scratch.data();
    for (std::int64_t first = 0; first < rows_; first += step_) {
      const std::int64_t count = std::min(step_, rows_ - first);
      const Args linear = product(
          first, count,
          args_.scratch.subspan(static_cast<std::size_t>(gelu_bytes())));
      const Strided x = rows_of(args_.in[0], first, count);
      if (width_ > 0) {
        gelu_.run({{&x, 1}, {in_.data(), 1}, nullptr, {}, args_.executor});
      }
      linear_.run(linear);
    }
  }

 private:
  Bytes gelu_bytes() const {
    return base::round_up(step_ * width_ * size_of(in_[0].dtype), 64);
  }

  static Strided rows_of(Strided x, std::int64_t first, std::int64_t count) {
    if (x.data != nullptr) {
      x.data += first * x.strides[0] * size_of(x.dtype);
    }
    x.shape[0] = count;
    return x;
  }

  Args product(std::int64_t first, std::int64_t count,
               std::span<std::byte> scratch) {
    in_[0].shape[0] = count;
    out_ = rows_of(args_.out[0], first, count);
    return {std::span(in_).first(args_.in.size()),
            {&out_, 1},
            &of_product_,
            scratch,
            args_.executor};
  }

  const Args& args_;
  const ProductAttrs of_product_;
  const Kernel& gelu_;
  const Kernel& linear_;
  std::array<Strided, 3> in_;  // of the product
  Strided out_;
  std::int64_t width_;
  std::int64_t rows_;
  std::int64_t step_ = 1;  // rows of a block
};

void gelu_linear(const Args& args) noexcept {
  GeluLinear(args, Choice::kFirst).run();
}

Bytes gelu_linear_scratch(const Args& args) noexcept {
  return GeluLinear(args, Choice::kFirst).scratch();
}

void gelu_linear_reference(const Args& args) noexcept {
  GeluLinear(args, Choice::kReference).run();
}

Bytes reference_scratch(const Args& args) noexcept {
  return GeluLinear(args, Choice::kReference).scratch();
}

constexpr std::array kKernels = float_rows<"gelu_linear">(
    {.run = gelu_linear, .scratch = gelu_linear_scratch},
    {.run = gelu_linear_reference, .scratch = reference_scratch},
    {.run = gelu_linear_reference, .scratch = reference_scratch});

}  // namespace

constinit const KernelList gelu_linear_kernels{"gelu_linear", kKernels};

}  // namespace neap::kernels
