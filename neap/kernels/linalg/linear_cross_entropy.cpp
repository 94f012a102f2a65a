// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/linalg/linear_cross_entropy.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "neap/kernels/engine/copy.hpp"
#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/engine/strides.hpp"
#include "neap/kernels/gemm/matmul.hpp"
#include "neap/kernels/linalg/linear.hpp"
#include "neap/kernels/loss/cross_entropy.hpp"
#include "neap/kernels/loss/cross_entropy_rows.hpp"
#include "neap/kernels/loss/row_losses.hpp"
#include "neap/kernels/reduction/sum_rows.hpp"

namespace neap::kernels {
namespace {

constexpr Bytes kLine = 64;

// The operands, in whatever order the op has them.
struct Head {
  const Strided& x;       // (N, D)
  const Strided& w;       // (V, D)
  const Strided& labels;  // (N)
  const Strided& bias;    // (V), where there is one

  std::int64_t rows() const noexcept { return x.shape[0]; }
  std::int64_t classes() const noexcept { return w.shape[0]; }
};

Strided rows_of(const Strided& whole, std::int64_t first,
                std::int64_t count) noexcept {
  Strided rows = whole;
  if (rows.data != nullptr) {
    rows.data += first * whole.strides[0] * size_of(whole.dtype);
  }
  rows.shape[0] = count;
  return rows;
}

Strided transposed(const Strided& matrix) noexcept {
  Strided x = matrix;
  std::swap(x.shape[0], x.shape[1]);
  std::swap(x.strides[0], x.strides[1]);
  return x;
}

// The list's first kernel that takes anything of a dtype, or its last: the
// reference.
const Kernel& kernel_of(const KernelList& list, DType dtype,
                        bool is_reference) noexcept {
  const Kernel* found = nullptr;
  for (const Kernel& kernel : list.kernels) {
    if (kernel.dtype == dtype && kernel.accepts == nullptr &&
        (found == nullptr || is_reference)) {
      found = &kernel;
    }
  }
  return *found;
}

// A call of one of the two kernels: calls of others, for a block of rows at a
// time. While it measures, it calls none, and notes how much scratch the
// largest needs.
class Blockwise {
 public:
  Blockwise(const Args& args, const Head& head, bool is_reference,
            bool measures) noexcept
      : args_(args),
        head_(head),
        attrs_(args.attrs_as<LinearCrossEntropyAttrs>()),
        dtype_(args.in[0].dtype),
        is_reference_(is_reference),
        measures_(measures),
        block_(
            rows_of_logits_block(head.rows(), head.classes(), size_of(dtype_))),
        logits_(take(block_ * head.classes() * size_of(dtype_))) {}

 protected:
  /// Room in the scratch for a buffer. RETURNS: where it begins.
  Bytes take(Bytes size) noexcept {
    const Bytes at = buffers_;
    buffers_ += base::round_up(size, kLine);
    return at;
  }

  Strided buffer(Bytes at, DType dtype, const Shape& shape) const noexcept {
    return {measures_ ? nullptr : args_.scratch.data() + at, dtype, shape,
            base::row_major_strides(shape)};
  }

  void call(const KernelList& list, DType key,
            std::initializer_list<Strided> in,
            std::initializer_list<Strided> out, const void* attrs) noexcept {
    const Kernel& kernel = kernel_of(list, key, is_reference_);
    Args args{.in = {in.begin(), in.size()},
              .out = {out.begin(), out.size()},
              .attrs = attrs,
              .scratch = {},
              .executor = args_.executor};
    const Bytes scratch = scratch_bytes(kernel, args);
    if (measures_) {
      largest_ = std::max(largest_, scratch);
      return;
    }
    args.scratch = args_.scratch.subspan(static_cast<std::size_t>(buffers_),
                                         static_cast<std::size_t>(scratch));
    kernel.run(args);
  }

  Strided logits(std::int64_t first, std::int64_t count) noexcept {
    Strided z = buffer(logits_, dtype_, {count, head_.classes()});
    const Strided x = rows_of(head_.x, first, count);
    const ProductAttrs product{.precision = attrs_.precision};
    if (attrs_.has_bias) {
      call(linear_kernels, dtype_, {x, head_.w, head_.bias}, {z}, &product);
    } else {
      call(linear_kernels, dtype_, {x, head_.w}, {z}, &product);
    }
    return z;
  }

  /// Calls visit(first, count) for all blocks; where it measures, for the first
  /// and the last, since all others are as large as the first.
  template <class Visit>
  void each_block(const Visit& visit) const noexcept {
    const std::int64_t rows = head_.rows();
    const std::int64_t last =
        rows == 0 ? 0 : (rows - 1) / block_ * block_;  // its first row
    for (std::int64_t first = 0; first < rows;
         first = measures_ && first < last ? last : first + block_) {
      visit(first, std::min(block_, rows - first));
    }
  }

  Bytes bytes() const noexcept { return buffers_ + largest_; }

  const Args& args_;
  const Head head_;
  const LinearCrossEntropyAttrs& attrs_;
  const DType dtype_;
  const bool is_reference_;
  const bool measures_;
  const std::int64_t block_;  // rows

 private:
  Bytes buffers_ = 0;  // declared before what takes room
  Bytes largest_ = 0;

 protected:
  const Bytes logits_;
};

// --- the loss
// -----------------------------------------------------------------

class Loss : Blockwise {
 public:
  Loss(const Args& args, bool is_reference, bool measures) noexcept
      : Blockwise(
            args,
            {args.in[0], args.in[1], args.in[2],
             args.in[args.attrs_as<LinearCrossEntropyAttrs>().has_bias ? 3
                                                                       : 2]},
            is_reference, measures),
        losses_(take(block_ * size_of(f64))) {}

  Bytes measure() noexcept {
    run();
    return bytes();
  }

  void run() noexcept {
    LossSum sum;
    each_block([&](std::int64_t first, std::int64_t count) noexcept {
      const Strided labels = rows_of(head_.labels, first, count);
      const Strided losses = buffer(losses_, f64, {count});
      call(cross_entropy_rows_kernels, dtype_, {logits(first, count), labels},
           {losses, rows_of(args_.out[1], first, count)}, &attrs_.loss);
      if (!measures_) {
        add(losses, labels, first, sum);
      }
    });
    if (!measures_ && attrs_.loss.reduction != LossReduction::kNone) {
      put(0, sum.reduced(attrs_.loss.reduction));
    }
  }

 private:
  void add(const Strided& losses, const Strided& labels, std::int64_t first,
           LossSum& sum) const noexcept {
    const Samples samples(labels, head_.classes(), attrs_.loss);
    for (std::int64_t i = 0; i < samples.size(); ++i) {
      const double loss = element<double>(losses, i);
      sum.add(loss, samples.is_ignored(i));
      if (attrs_.loss.reduction == LossReduction::kNone) {
        put((first + i) * args_.out[0].strides[0], loss);
      }
    }
  }

  void put(std::int64_t offset, double loss) const noexcept {
    if (dtype_ == f32) {
      args_.out[0].as<float>()[offset] = static_cast<float>(loss);
    } else {
      args_.out[0].as<double>()[offset] = loss;
    }
  }

  const Bytes losses_;
};

// --- its gradients
// ------------------------------------------------------------

class Gradient : Blockwise {
 public:
  Gradient(const Args& args, bool is_reference, bool measures) noexcept
      : Blockwise(args, {args.in[1], args.in[2], args.in[4], args.in[3]},
                  is_reference, measures),
        loss_(attrs_.loss),
        g_(args.in[0]) {
    if (loss_.reduction == LossReduction::kMean) {
      g_ = buffer(take(kLine), dtype_, {});
      loss_.reduction = LossReduction::kSum;
    }
    if (attrs_.db) {
      sums_ = buffer(take(2 * head_.classes() * size_of(f64)), f64,
                     {2, head_.classes()});
    }
  }

  Bytes measure() noexcept {
    run();
    return bytes();
  }

  void run() noexcept {
    if (!measures_) {
      begin();
    }
    each_block([&](std::int64_t first, std::int64_t count) noexcept {
      block(first, count);
    });
    if (attrs_.db) {
      call(sum_rows_end_kernels, f64, {sums_}, {args_.out[2]}, nullptr);
    }
  }

 private:
  // The cotangent of the losses' sum: a mean's is divided by how many count.
  void begin() noexcept {
    if (attrs_.loss.reduction == LossReduction::kMean) {
      call(cross_entropy_share_kernels, dtype_, {args_.in[0], head_.labels},
           {g_}, &attrs_.loss);
    }
    std::size_t given = 6;
    if (attrs_.adds_dx) {
      copy_elements(args_.in[given++], args_.out[0], *args_.executor);
    }
    if (attrs_.adds_dw) {
      copy_elements(args_.in[given], args_.out[1], *args_.executor);
    } else if (attrs_.dw && head_.rows() == 0) {
      set_zero(args_.out[1]);
    }
    if (attrs_.db) {
      set_zero(sums_);
    }
  }

  static void set_zero(const Strided& dense) noexcept {
    const Bytes size = dense.shape.element_count() * size_of(dense.dtype);
    if (size != 0) {
      std::memset(dense.data, 0, static_cast<std::size_t>(size));
    }
  }

  void block(std::int64_t first, std::int64_t count) noexcept {
    const Strided z = logits(first, count);
    const bool is_each = loss_.reduction == LossReduction::kNone;
    call(cross_entropy_grad_kernels, dtype_,
         {is_each ? rows_of(g_, first, count) : g_, z,
          rows_of(head_.labels, first, count),
          rows_of(args_.in[5], first, count)},
         {z}, &loss_);
    if (attrs_.dx) {
      multiply(attrs_.adds_dx, z, head_.w, rows_of(args_.out[0], first, count));
    }
    if (attrs_.dw) {
      multiply(attrs_.adds_dw || first != 0, transposed(z),
               rows_of(head_.x, first, count), args_.out[1]);
    }
    if (attrs_.db) {
      const SumRowsAttrs before{.first = first};
      call(sum_rows_kernels, dtype_, {z}, {sums_}, &before);
    }
  }

  // y = a b, or y + a b.
  void multiply(bool adds, const Strided& a, const Strided& b,
                const Strided& y) noexcept {
    const ProductAttrs product{.precision = attrs_.precision};
    if (adds) {
      call(matmul_add_kernels, dtype_, {y, a, b}, {y}, &product);
    } else {
      call(matmul_kernels, dtype_, {a, b}, {y}, &product);
    }
  }

  CrossEntropyAttrs loss_;  // of a block: a sum, or none
  Strided g_;
  Strided sums_;  // (2, V), as sum_rows.hpp says
};

template <class Call, bool kIsReference>
void run(const Args& args) noexcept {
  Call(args, kIsReference, false).run();
}

template <class Call, bool kIsReference>
Bytes scratch(const Args& args) noexcept {
  return Call(args, kIsReference, true).measure();
}

template <class Call, bool kIsReference>
constexpr KernelFunctions kFunctions{.run = run<Call, kIsReference>,
                                     .scratch = scratch<Call, kIsReference>};

constexpr std::array kLoss = float_rows<"linear_cross_entropy">(
    kFunctions<Loss, false>, kFunctions<Loss, true>, kFunctions<Loss, true>);

constexpr std::array kGradient = float_rows<"linear_cross_entropy_grad">(
    kFunctions<Gradient, false>, kFunctions<Gradient, true>,
    kFunctions<Gradient, true>);

}  // namespace

std::int64_t rows_of_logits_block(std::int64_t rows, std::int64_t classes,
                                  Bytes element_bytes) noexcept {
  const Bytes row = std::max<std::int64_t>(classes, 1) * element_bytes;
  const Bytes block = std::clamp(kLogitsRows * row, kLeastLogits, kMostLogits);
  const std::int64_t most = std::max<std::int64_t>(block / row / 2 * 2, 2);
  return std::clamp<std::int64_t>(rows, 1, most);
}

constinit const KernelList linear_cross_entropy_kernels{"linear_cross_entropy",
                                                        kLoss};
constinit const KernelList linear_cross_entropy_grad_kernels{
    "linear_cross_entropy_grad", kGradient};

}  // namespace neap::kernels
