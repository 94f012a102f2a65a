// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A head (head_region.hpp) for some rows at a time. Its bits stay: every kernel
// treats a row independently of the others, and every sum over rows goes on
// where the piece before left it.
//
//   losses = fill; dx = fill
//   for each piece:
//     logits     = linear(x rows, w)
//     losses, l  = cross_entropy_rows(logits, labels rows)    over losses
//     dlogits    = cross_entropy_grad(share, logits, labels rows, l)
//     dx         = matmul(dlogits, w)                         over rows of dx
//     dw         = matmul_add(dw, dlogits', x rows)           over dw
//   loss   = cross_entropy_total(losses, labels)
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "neap/kernels/loss/cross_entropy_rows.hpp"
#include "neap/kernels/reduction/sum_rows.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/program/call_maker.hpp"
#include "neap/program/head_region.hpp"
#include "neap/program/passes.hpp"
#include "neap/program/rewrite.hpp"

namespace neap::compiler {
namespace {

constexpr int kMostHeads = 8;

struct Rows {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

// Even numbers of rows, since products in bf16 take pairs of them.
std::int64_t rows_of_piece(std::int64_t rows, std::int64_t pieces) {
  const std::int64_t each = (rows + pieces - 1) / pieces;
  return each + each % 2;
}

class Cutter : CallMaker {
 public:
  Cutter(Program& program, const Head& head, std::int64_t each)
      : CallMaker(program),
        head_(head),
        each_(each),
        beside_(beside(program, head)),
        first_new_(static_cast<std::uint32_t>(program.calls.size())) {}

  void run() {
    begin();
    for (std::int64_t first = 0; first < head_.rows; first += each_) {
      piece({first, std::min(each_, head_.rows - first)});
    }
    end();
    Order order = std::move(beside_.before);
    for (auto i = first_new_; i < program_.calls.size(); ++i) {
      order.push_back(i);
    }
    order.insert(order.end(), beside_.after.begin(), beside_.after.end());
    keep_calls(program_, order);
    tidy(program_);
  }

 private:
  using Order = memory::Vector<std::uint32_t>;

  using CallMaker::sliced;
  Operand sliced(const Operand& operand, int axis, const Rows& rows) {
    return sliced(operand, axis, rows.first, rows.count);
  }

  // --- around the pieces ----------------------------------------------------

  const kernels::CrossEntropyAttrs& loss_attrs() const {
    return *static_cast<const kernels::CrossEntropyAttrs*>(
        program_.attrs_of(program_.calls[head_.loss]));
  }

  void begin() {
    const ValueId loss = out(head_.loss).value;
    losses_ = zeros(head_.loss, fresh(loss, DType::kF64, Shape{head_.rows}));
    if (head_.grad != kNoCall) {
      share_ = share();
    }
    for (const HeadUse& use : head_.uses) {
      const Operand made = out(use.call);
      if (use.kind == RowUse::kMapped) {
        sums_.push_back(zeros(use.call, fresh(made.value, made.layout->dtype,
                                              made.layout->shape)));
      } else if (use.kind == RowUse::kAdded) {
        sums_.push_back(zeros(
            use.call, fresh(made.value, DType::kF64, Shape{2, head_.classes})));
      } else {
        sums_.push_back(kNoValue);
      }
    }
  }

  // The cotangent of the losses' sum: a mean's is divided by how many rows of
  // the whole count.
  Operand share() {
    const Operands read = in(head_.grad);
    if (loss_attrs().reduction != kernels::LossReduction::kMean) {
      return read[0];
    }
    Operand made = fresh(out(head_.grad).value, read[0].layout->dtype, Shape{});
    add(kernel_like(call(head_.grad), kernels::cross_entropy_share_kernels),
        std::array{read[0], read[2]}, std::array{made});
    return made;
  }

  void end() {
    const Operand losses = whole(losses_);
    add(kernel_like(call(head_.loss), kernels::cross_entropy_total_kernels),
        std::array{losses, in(head_.loss)[1]}, std::array{out(head_.loss)});
    for (std::size_t u = 0; u < sums_.size(); ++u) {
      const HeadUse& use = head_.uses[u];
      if (use.kind == RowUse::kAdded) {
        add(kernel_like(call(use.call), kernels::sum_rows_end_kernels),
            std::array{whole(sums_[u])}, std::array{out(use.call)});
      }
    }
  }

  // --- a piece --------------------------------------------------------------

  void piece(const Rows& rows) {
    const Operand logits = product(rows);
    const Operand lse = losses(rows, logits);
    if (head_.grad == kNoCall) {
      return;
    }
    const Operand gradient = grad(rows, logits, lse);
    for (std::size_t u = 0; u < sums_.size(); ++u) {
      use(u, rows, gradient);
    }
  }

  bool is_last(const Rows& rows) const {
    return rows.first + rows.count == head_.rows;
  }

  Operand product(const Rows& rows) {
    Operands read = in(head_.product);
    read[0] = sliced(read[0], 0, rows);
    const Operand old = out(head_.product);
    Operand made =
        fresh(old.value, old.layout->dtype, Shape{rows.count, head_.classes});
    add(call(head_.product), read, std::array{made});
    return made;
  }

  Operand losses(const Rows& rows, const Operand& logits) {
    losses_ = next_of(losses_);
    const Operand old = out(head_.loss, 1);
    Operand lse = fresh(old.value, old.layout->dtype, Shape{rows.count});
    add(kernel_like(call(head_.loss), kernels::cross_entropy_rows_kernels),
        std::array{logits, sliced(in(head_.loss)[1], 0, rows)},
        std::array{sliced(whole(losses_), 0, rows), lse});
    return lse;
  }

  Operand grad(const Rows& rows, const Operand& logits, const Operand& lse) {
    Call grad = call(head_.grad);
    kernels::CrossEntropyAttrs attrs = loss_attrs();
    attrs.reduction = kernels::LossReduction::kSum;
    set_attrs(grad, attrs);
    Operand made = fresh(out(head_.grad).value, logits.layout->dtype,
                         logits.layout->shape);
    add(grad,
        std::array{share_, logits, sliced(in(head_.grad)[2], 0, rows), lse},
        std::array{made});
    return made;
  }

  void use(std::size_t u, const Rows& rows, const Operand& gradient) {
    switch (head_.uses[u].kind) {
      case RowUse::kMapped:
        return use_mapped(u, rows, gradient);
      case RowUse::kAdded:
        return use_added(u, rows, gradient);
      case RowUse::kSummedFirst:
      case RowUse::kSummedSecond:
        return use_summed(u, rows, gradient);
    }
  }

  // The last piece makes the value that others know.
  ValueId next_sum(std::size_t u, const Rows& rows) {
    const ValueId made = out(head_.uses[u].call).value;
    if (!is_last(rows)) {
      return sums_[u] == kNoValue ? fresh(made, program_[made].spec->dtype,
                                          program_[made].spec->shape)
                                        .value
                                  : next_of(sums_[u]);
    }
    program_[made].over = sums_[u];
    return made;
  }

  void use_mapped(std::size_t u, const Rows& rows, const Operand& gradient) {
    const std::uint32_t i = head_.uses[u].call;
    Operands read = in(i);
    read[read.size() - 2] = gradient;
    if (read.size() > 2) {  // that it is added to
      read[0] = sliced(read[0], 0, rows);
    }
    Operand made = out(i);
    made.value = sums_[u] = next_sum(u, rows);
    Call product = call(i);
    product.reads_outputs = true;  // other rows
    add(product, read, std::array{sliced(made, 0, rows)});
  }

  void use_summed(std::size_t u, const Rows& rows, const Operand& gradient) {
    const HeadUse& use = head_.uses[u];
    Operands read = in(use.call);
    Operand& a = read[read.size() - 2];
    Operand& b = read[read.size() - 1];
    if (use.kind == RowUse::kSummedFirst) {
      a = view(gradient.value, tensor::permuted(gradient.layout, Shape{1, 0}));
      b = sliced(b, 0, rows);
    } else {
      a = sliced(a, 1, rows);
      b = gradient;
    }
    Operand made = out(use.call);
    Call product = call(use.call);
    if (sums_[u] != kNoValue) {
      product.op = &ops::kMatmulAdd;
      product.name = product.op->name;
      product.kernels = product.op->kernel;
      const Operand sum = view(sums_[u], made.layout);
      if (read.size() > 2) {
        read[0] = sum;
      } else {
        read.insert(read.begin(), sum);
      }
    }
    made.value = sums_[u] = next_sum(u, rows);
    add(product, read, std::array{made});
  }

  void use_added(std::size_t u, const Rows& rows, const Operand& gradient) {
    sums_[u] = next_of(sums_[u]);
    Call sum = kernel_like(call(head_.uses[u].call), kernels::sum_rows_kernels);
    set_attrs(sum, kernels::SumRowsAttrs{.first = rows.first});
    sum.reads_outputs = true;
    add(sum, std::array{gradient}, std::array{whole(sums_[u])});
  }

  const Head& head_;
  std::int64_t each_;  // rows
  BesideHead beside_;
  std::uint32_t first_new_;
  ValueId losses_ = kNoValue;
  Operand share_;
  memory::Vector<ValueId> sums_;  // of each use, so far
};

}  // namespace

std::size_t cut_into_pieces(Program& program, std::uint32_t pieces) {
  // Another library's products have bits of their own.
  if (pieces < 2 || std::string_view(kernels::kernel_set()) != "neap") {
    return 0;
  }
  const Bytes least = widest_head(program).logits / 2;
  std::size_t cut = 0;
  for (int round = 0; round < kMostHeads; ++round) {
    const memory::Vector<Head> heads = heads_of(program, least);
    const auto head = std::ranges::find_if(heads, [&](const Head& some) {
      return rows_of_piece(some.rows, pieces) < some.rows;
    });
    if (head == heads.end()) {
      break;
    }
    const std::int64_t each = rows_of_piece(head->rows, pieces);
    Cutter(program, *head, each).run();
    const auto count =
        static_cast<std::uint32_t>((head->rows + each - 1) / each);
    program.fitting.pieces = std::max(program.fitting.pieces, count);
    ++cut;
  }
  return cut;
}

}  // namespace neap::compiler
