// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/costs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "neap/graph/op.hpp"

namespace neap::compiler {
namespace {

// One core with 512-bit registers: products at the rate of its arithmetic, all
// else at the rate of its memory.
constexpr std::int64_t kFlopsPerNanosecond = 100;
constexpr std::int64_t kBytesPerNanosecond = 15;
constexpr std::int64_t kCallNanoseconds = 200;

Bytes bytes_of(std::span<const Operand> operands) {
  Bytes sum = 0;
  for (const Operand& operand : operands) {
    sum +=
        operand.layout->shape.element_count() * size_of(operand.layout->dtype);
  }
  return sum;
}

class Pricing {
 public:
  explicit Pricing(const Program& program) : program_(program) {}

  CallCost cost_of(const Call& call) {
    std::int64_t flops = flops_of(call);
    for (const Call& member : program_.members_of(call)) {
      flops += flops_of(member);
    }
    return {flops, bytes_of(program_.in(call)) + bytes_of(program_.out(call))};
  }
  std::int64_t price_of(const Call& call) {
    const CallCost cost = cost_of(call);
    return kCallNanoseconds + cost.flops / kFlopsPerNanosecond +
           cost.moved / kBytesPerNanosecond;
  }

 private:
  std::int64_t flops_of(const Call& call) {
    if (call.op == nullptr) {
      return 0;
    }
    specs_of(program_.in(call), in_);
    specs_of(program_.out(call), out_);
    const graph::Attrs attrs(program_.attrs_of(call), call.attrs_size);
    return graph::cost_of(*call.op, {call.op->name, in_, attrs}, out_).flops;
  }

  static void specs_of(std::span<const Operand> operands,
                       memory::Vector<tensor::Spec>& specs) {
    specs.clear();
    for (const Operand& operand : operands) {
      specs.push_back({operand.layout->dtype, operand.layout->shape});
    }
  }

  const Program& program_;
  memory::Vector<tensor::Spec> in_;
  memory::Vector<tensor::Spec> out_;
};

// The table's prices of calls without a cost are brought to the costs' scale.
void replace_by_costs(const Program& program, CostBook& book,
                      std::span<std::int64_t> prices) {
  memory::Vector<std::size_t> others;
  double measured = 0.0;
  double tabled = 0.0;
  for (std::size_t i = 0; i < prices.size(); ++i) {
    const std::int64_t ns = book.ns_of(program, program.calls[i]);
    if (ns == 0) {
      others.push_back(i);
      continue;
    }
    measured += static_cast<double>(ns);
    tabled += static_cast<double>(prices[i]);
    prices[i] = ns;
  }
  const double scale = tabled > 0.0 ? measured / tabled : 1.0;
  for (const std::size_t i : others) {
    prices[i] = std::max<std::int64_t>(
        std::llround(static_cast<double>(prices[i]) * scale), 1);
  }
}

}  // namespace

memory::Vector<std::int64_t> prices_of(const Program& program, CostBook* book) {
  Pricing pricing(program);
  memory::Vector<std::int64_t> prices;
  prices.reserve(program.calls.size());
  for (const Call& call : program.calls) {
    prices.push_back(pricing.price_of(call));
  }
  if (book != nullptr) {
    replace_by_costs(program, *book, prices);
  }
  return prices;
}

memory::Vector<CallCost> costs_of(const Program& program) {
  Pricing pricing(program);
  memory::Vector<CallCost> costs;
  costs.reserve(program.calls.size());
  for (const Call& call : program.calls) {
    costs.push_back(pricing.cost_of(call));
  }
  return costs;
}

std::int64_t price_of(const Program& program, CostBook* book) {
  const auto prices = prices_of(program, book);
  return std::accumulate(prices.begin(), prices.end(), std::int64_t{0});
}

}  // namespace neap::compiler
