// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/passes.hpp"

#include "neap/program/rewrite.hpp"
#ifdef NEAP_CHECKED
#include "neap/base/error.hpp"
#include "neap/program/verify.hpp"
#endif

namespace neap::compiler {
namespace {

#ifdef NEAP_CHECKED
void check(const Program& program, const char* when) {
  verify(program, when);
}
void checked(Program& program, void (*pass)(Program&), const char* when) {
  const EffectOrder order(program);
  pass(program);
  check(program, when);
  const std::string fault = order.fault_of(program);
  if (!fault.empty()) {
    throw InternalError("program " + (when + (": " + fault)));
  }
}
#else
void check(const Program& /*program*/, const char* /*when*/) {}
void checked(Program& program, void (*pass)(Program&), const char* /*when*/) {
  pass(program);
}
#endif

}  // namespace

void run_passes(Program& program, const Passes& passes) {
  run_order_passes(program, passes);
  run_memory_passes(program, passes);
}

void run_order_passes(Program& program, const Passes& passes) {
  checked(program, tidy, "as traced");
  // First what makes the program shorter, so that the rest has less to look
  // at; then orders.
  if (passes.dead_code) {
    checked(program, remove_dead_code, "after dead_code");
  }
  if (passes.fold_constants) {
    checked(program, fold_constants, "after fold_constants");
  }
  if (passes.micro_batches > 1) {
    cut_into_micro_batches(program, passes.micro_batches);
    check(program, "after micro_batches");
  }
  if (passes.in_place) {
    accumulate_in_place(program);
    check(program, "after accumulate");
  }
  if (passes.pieces > 1) {
    cut_into_pieces(program, passes.pieces);
    check(program, "after pieces");
  }
  if (passes.time_pieces > 1) {
    cut_time(program, passes.time_pieces);
    check(program, "after time_pieces");
  }
  if (passes.common_subexpressions) {
    if (passes.gradient_release) {  // as low as the peak will be, about
      checked(program, release_gradients, "after gradient_release");
    }
    checked(program, merge_common, "after common_subexpressions");
  }
  if (passes.fuse) {
    checked(program, fuse_relu, "after fuse_relu");
    checked(program, fuse_elementwise, "after fuse");
  }
  if (passes.gradient_release) {
    checked(program, release_gradients, "after gradient_release");
  }
  if (passes.reorder) {
    checked(program, reorder_for_peak, "after reorder");
    if (passes.gradient_release) {  // an order may be as good without
      checked(program, release_gradients, "after gradient_release");
    }
  }
  if (passes.copy_again) {
    checked(program, rematerialise_copies, "after rematerialise_copies");
  }
}

void run_memory_passes(Program& program, const Passes& passes) {
  if (passes.in_place) {
    checked(program, take_over_inputs, "after in_place");
  }
  checked(program, tidy, "in the end");
}

}  // namespace neap::compiler
