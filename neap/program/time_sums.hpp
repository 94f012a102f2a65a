// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Sums over steps, and what is computed of each step, of the cotangents of a
// recurrent layer's gates, piece by piece, for pass_time.cpp.
#pragma once

#include <algorithm>
#include <array>

#include "neap/kernels/reduction/sum_rows.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/program/time_parts.hpp"

namespace neap::compiler {

/// A use of dgates, and how far it has come.
struct TimeSum {
  TimeUse use;
  ValueId latest = kNoValue;
  std::int64_t done = 0;  // rows
};

class TimeSums : public TimeParts {
 public:
  using TimeParts::TimeParts;

 protected:
  void begin(const TimeLayer& layer, const TimeGrad& some, TimeSum& sum) {
    const Operand made = out(sum.use.call);
    if (sum.use.kind == StepUse::kAdded) {
      sum.latest =
          zeros(sum.use.call, fresh(made.value, DType::kF64,
                                    Shape{2, out(some.call).layout->shape[2]}));
    } else if (sum.use.is_apart) {
      split(layer, made);
    } else if (sum.use.kind == StepUse::kMapped) {
      sum.latest = zeros_like(sum.use.call, made).value;
    }
  }

  void go_on(const TimeLayer& layer, const TimeGrad& some, TimeSum& sum,
             std::int64_t piece) {
    const Parts& dgates = *parts_of(out(some.call).value);
    const std::int64_t first = dgates.first(piece) * layer.batch;
    const std::int64_t count = dgates.count(piece) * layer.batch;
    switch (sum.use.kind) {
      case StepUse::kAdded:
        return add_rows(sum, first, count);
      case StepUse::kMapped:
        return map_rows(sum, piece, first, count);
      case StepUse::kSummed:
        return multiply(layer, some, sum, first + count);
    }
  }

  void add_rows(TimeSum& sum, std::int64_t first, std::int64_t count) {
    const Operand rows = part(in(sum.use.call)[0], 0, first, count);
    sum.latest = next_of(sum.latest);
    Call some = kernel_like(call(sum.use.call), kernels::sum_rows_kernels);
    set_attrs(some, kernels::SumRowsAttrs{.first = first});
    some.reads_outputs = true;
    add(some, std::array{rows}, std::array{whole(sum.latest)});
  }

  void map_rows(TimeSum& sum, std::int64_t piece, std::int64_t first,
                std::int64_t count) {
    const Operand old = out(sum.use.call);
    Operands read = in(sum.use.call);
    read[0] = part(read[0], 0, first, count);
    Call product = call(sum.use.call);
    if (sum.use.is_apart) {
      const Operand made = fresh(old.value, old.layout->dtype,
                                 Shape{count, old.layout->shape[1]});
      parts_of(old.value)->pieces[static_cast<std::size_t>(piece)] = made.value;
      add(product, read, std::array{made});
      return;
    }
    const bool is_all = first + count == old.layout->shape[0];
    sum.latest = next_whole(sum.latest, old.value, is_all);
    product.reads_outputs = true;  // other rows
    add(product, read,
        std::array{sliced({sum.latest, old.layout}, 0, first, count)});
  }

  // The product up to a row of dgates, from piece to piece of both factors.
  void multiply(const TimeLayer& layer, const TimeGrad& some, TimeSum& sum,
                std::int64_t end) {
    const Operands read = in(sum.use.call);
    const Operand& a = read[read.size() - 2];
    const Operand& b = read[read.size() - 1];
    const std::int64_t columns = out(some.call).layout->shape[2];
    const std::int64_t begin = a.layout->offset / columns;
    const std::int64_t last = std::min(a.layout->shape[1], end - begin);
    while (sum.done < last) {
      const std::int64_t count =
          std::min(last - sum.done, rows_until_next(layer, b, sum.done));
      multiply(sum, read, count);
      sum.done += count;
    }
  }

  // Rows from a row on that are of the same piece.
  std::int64_t rows_until_next(const TimeLayer& layer, const Operand& rows,
                               std::int64_t row) {
    const Parts* parts = parts_of(rows.value);
    if (parts == nullptr || parts->steps != layer.steps ||
        rows.layout->strides[0] * layer.batch != parts->step ||
        rows.layout->offset % parts->step != 0) {
      return rows.layout->shape[0];
    }
    const std::int64_t width = rows.layout->strides[0];
    const std::int64_t each = parts->each * layer.batch;
    return each - (rows.layout->offset / width + row) % each;
  }

  void multiply(TimeSum& sum, Operands read, std::int64_t count) {
    const bool is_first = sum.done == 0;
    Operand& a = read[read.size() - 2];
    Operand& b = read[read.size() - 1];
    const bool is_all = sum.done + count == a.layout->shape[1];
    a = part(a, 1, sum.done, count);
    b = sum.use.copy == kNoCall ? part(b, 0, sum.done, count)
                                : copied(sum, b, count);
    Operand made = out(sum.use.call);
    Call product = call(sum.use.call);
    if (!is_first) {
      product.op = &ops::kMatmulAdd;
      product.name = product.op->name;
      product.kernels = product.op->kernel;
      const Operand latest = view(sum.latest, made.layout);
      if (read.size() > 2) {
        read[0] = latest;
      } else {
        read.insert(read.begin(), latest);
      }
    }
    if (!is_all) {
      made.value =
          is_first
              ? fresh(made.value, made.layout->dtype, made.layout->shape).value
              : next_of(sum.latest);
    } else if (!is_first) {
      program_[made.value].over = sum.latest;
    }
    sum.latest = made.value;
    add(product, read, std::array{made});
  }

  // Rows of a copy, which is made of the steps that they are of.
  Operand copied(const TimeSum& sum, const Operand& rows, std::int64_t count) {
    const Operand from = in(sum.use.copy)[0];
    const std::int64_t batch = from.layout->shape[1];
    Shape shape = from.layout->shape;
    shape[0] = count / batch;
    const Operand some = fresh(rows.value, rows.layout->dtype, shape);
    add(call(sum.use.copy),
        std::array{part(from, 0, sum.done / batch, shape[0])},
        std::array{some});
    return view(some.value,
                tensor::dense_layout(rows.layout->dtype,
                                     Shape{count, rows.layout->shape[1]}));
  }

  // After all pieces.
  void end(const TimeSum& sum) {
    if (sum.use.kind == StepUse::kAdded) {
      add(kernel_like(call(sum.use.call), kernels::sum_rows_end_kernels),
          std::array{whole(sum.latest)}, std::array{out(sum.use.call)});
    }
  }
};

}  // namespace neap::compiler
