// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/linear_cross_entropy_grad.hpp"

#include "neap/ops/elementwise/exponential.hpp"
#include "neap/ops/linalg/linear.hpp"
#include "neap/ops/linalg/linear_cross_entropy_test.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/shape/concat.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap::testing {
namespace {

// The gradients that a row is of, and how.
struct Wanted {
  bool dx = false;
  bool dw = false;
  bool db = false;
  bool adds = false;  // the last two operands are what dx and dw are added to
  CrossEntropyOptions options{};
};

// Operands: x, w, labels, g, perhaps a bias, perhaps sums.
constexpr std::size_t kBias = 4;

bool has_bias(const Wanted& wanted, std::size_t inputs) {
  return inputs - (wanted.adds ? 2 : 0) > kBias;
}

Tensor flat(const Tensor& x) {
  return reshape(x, {x.shape().element_count()});
}

// The log sums are a function of the logits; the op's rules know that.
Tensor gradients(Inputs x, const Wanted& wanted) {
  const bool with_bias = has_bias(wanted, x.size());
  const Tensor bias = with_bias ? x[kBias] : Tensor();
  const Tensor rows = x[0].detach();
  const Tensor weight = x[1].detach();
  const Tensor logits =
      with_bias ? linear(rows, weight, bias.detach()) : linear(rows, weight);
  const auto d = ops::linear_cross_entropy_grad(
      x[3],
      {.x = x[0],
       .weight = x[1],
       .bias = bias,
       .labels = x[2],
       .log_sum = log(sum(exp(logits), {1}))},
      {.loss = {.label_smoothing = wanted.options.label_smoothing,
                .reduction = wanted.options.reduction},
       .dx = wanted.dx,
       .dw = wanted.dw,
       .db = wanted.db},
      {.dx = wanted.adds ? x[x.size() - 2] : Tensor(),
       .dw = wanted.adds ? x[x.size() - 1] : Tensor()});
  std::vector<Tensor> found;
  for (const auto& [is_wanted, k] :
       {std::pair(wanted.dx, 0U), std::pair(wanted.dw, 1U),
        std::pair(wanted.db, 2U)}) {
    if (is_wanted) {
      found.push_back(flat(d[k]));
    }
  }
  return concat(found, 0);
}

std::vector<double> plain_gradients(std::span<const HostArray> x,
                                    const Wanted& wanted) {
  const auto d =
      PlainLinearCrossEntropy(x[0], x[1], x[2],
                              has_bias(wanted, x.size()) ? &x[kBias] : nullptr,
                              wanted.options)
          .gradients(x[3].values);
  std::vector<double> out;
  const auto append = [&](bool is_wanted, std::vector<double> of,
                          const HostArray* sum) {
    for (std::size_t i = 0; i < of.size() && is_wanted; ++i) {
      out.push_back(of[i] + (sum != nullptr ? sum->values[i] : 0.0));
    }
  };
  append(wanted.dx, d.dx, wanted.adds ? &x[x.size() - 2] : nullptr);
  append(wanted.dw, d.dw, wanted.adds ? &x[x.size() - 1] : nullptr);
  append(wanted.db, d.db, nullptr);
  return out;
}

OpRow row(const char* name, const Wanted& wanted, bool with_bias) {
  const bool is_each = wanted.options.reduction == Reduction::kNone;
  OpRow row{.name = name,
            .fn = [=](Inputs x) { return gradients(x, wanted); },
            .inputs = {uniform({4, 3}, -1, 1), uniform({5, 3}, -1, 1),
                       literal({4}, {2, -100, 0, 4}).as(i64),
                       uniform(is_each ? Shape{4} : Shape{}, 1, 2)},
            .reference =
                [=](std::span<const HostArray> x) {
                  return plain_gradients(x, wanted);
                }};
  if (with_bias) {
    row.inputs.push_back(uniform({5}, -1, 1));
  }
  if (wanted.adds) {
    row.inputs.push_back(uniform({4, 3}, -1, 1).constant());
    row.inputs.push_back(uniform({5, 3}, -1, 1).constant());
  }
  return row;
}

OpTable table() {
  const CrossEntropyOptions sum{.reduction = Reduction::kSum};
  const CrossEntropyOptions each{.reduction = Reduction::kNone,
                                 .label_smoothing = 0.2};
  OpTable table{.name = "linear_cross_entropy_grad",
                .op = &ops::kLinearCrossEntropyGrad};
  table.rows = {
      row("dx", {.dx = true}, false),
      row("dw, sum", {.dw = true, .options = sum}, false),
      row("db, each", {.db = true, .options = each}, true),
      row("dx and dw", {.dx = true, .dw = true}, false),
      row("all, each", {.dx = true, .dw = true, .db = true, .options = each},
          true),
      row("all, of a mean", {.dx = true, .dw = true, .db = true}, true),
      row("added", {.dx = true, .dw = true, .adds = true}, false)};
  table.rows[3].inputs[2] = integers({4}, 0, 5).as(i64);
  table.rows[3].zero_size = {{{0, 3}, {5, 3}, {0}, {}}};
  OpRow large = row("large", {.dx = true, .dw = true, .db = true}, true);
  large.inputs = {uniform({130, 17}, -1, 1), uniform({203, 17}, -1, 1),
                  integers({130}, 0, 203).as(i64), uniform({}, 1, 2),
                  uniform({203}, -1, 1)};
  large.second_derivative = false;
  table.rows.push_back(large);
  const auto unfit = [](Inputs x) {
    return ops::linear_cross_entropy_grad(
        x[3], {.x = x[0], .weight = x[1], .labels = x[2], .log_sum = x[4]},
        {.dx = true})[0];
  };
  const InputSpec x = uniform({2, 3}, 0, 1);
  const InputSpec w = uniform({5, 3}, 0, 1);
  const InputSpec labels = integers({2}, 0, 3).as(i64);
  table.errors = {
      {.name = "g",
       .fn = unfit,
       .inputs = {x, w, labels, uniform({2}, 0, 1), uniform({2}, 0, 1)},
       .error = typeid(ShapeError)},
      {.name = "log_sum",
       .fn = unfit,
       .inputs = {x, w, labels, uniform({}, 0, 1), uniform({3}, 0, 1)},
       .error = typeid(ShapeError)}};
  return table;
}

const Listed kListed(table);

}  // namespace
}  // namespace neap::testing
