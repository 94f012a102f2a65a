// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <numeric>
#include <utility>

#include "neap/program/bind.hpp"
#include "neap/program/order.hpp"
#include "neap/program/passes.hpp"
#include "neap/program/rewrite.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::compiler {
namespace {

constexpr int kRounds = 4;  // of moving calls earlier and later

class Reorder {
 public:
  explicit Reorder(const Program& program)
      : flow_(program),
        before_(dependences(program, flow_)),
        after_(transposed(before_, program.calls.size())),
        memories_(program, flow_),
        meter_(program, flow_, memories_),
        best_(program.calls.size()),
        growth_(program.calls.size()) {
    std::iota(best_.begin(), best_.end(), 0U);
    least_ = meter_.measure(best_).bytes;
  }

  /// An order that needs less than the program's own, or that one.
  const Order& run() {
    const Order own = best_;
    improve(own);
    improve(greedy_order(memories_, before_, after_, false));
    improve(greedy_order(memories_, before_, after_, true));
    return best_;
  }

 private:
  // Calls that free more than they take come as early as they can, those that
  // take more than they free as late, as long as that helps.
  void improve(Order order) {
    Bytes least = meter_.measure(order, growth_).bytes;
    consider(order, least);
    for (int round = 0; round < kRounds; ++round) {
      Order next = hoisted(order, before_, [&](std::uint32_t call) {
        return growth_[call] < 0;
      });
      meter_.measure(next, growth_);
      next = sunk(next, after_,
                  [&](std::uint32_t call) { return growth_[call] > 0; });
      const Bytes bytes = meter_.measure(next, growth_).bytes;
      if (bytes >= least) {
        return;
      }
      least = bytes;
      order = std::move(next);
      consider(order, least);
    }
  }

  void consider(const Order& order, Bytes bytes) {
    if (bytes < least_) {
      least_ = bytes;
      best_ = order;
    }
  }

  Dataflow flow_;
  Lists before_;
  Lists after_;
  Memories memories_;
  Meter meter_;
  Order best_;
  memory::Vector<Bytes> growth_;
  Bytes least_ = 0;
};

}  // namespace

void reorder_for_peak(Program& program) {
  bind(program, tensor::executor());  // scratch takes part in the peak
  Reorder reorder(program);
  keep_calls(program, reorder.run());
}

}  // namespace neap::compiler
