// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Recurrent layers in time: lstm, gru or rnn over a sequence, their gradients,
// and the calls that read the cotangents of the gates, which treat steps one by
// one or sum over them. Such a layer can run for some steps at a time
// (pass_time.cpp).
//
//   y, h_n, gates, c = lstm(x, w_ih, w_hh, bias)     call
//   dgates           = lstm_grad(gates, w_hh, c, ..) grads
//   dw_hh            = matmul(dgates', y)            their uses
//   db               = sum(dgates)
//   dw_ih            = matmul(dgates', x)
//   dx               = matmul(dgates, w_ih)
#pragma once

#include <cstdint>

#include "neap/program/dataflow.hpp"

namespace neap::compiler {

/// How a use of dgates (T, b, C) treats its T b rows.
enum class StepUse : std::uint8_t {
  kSummed,  // a product that sums over some of them: dgates' times something
  kAdded,   // their sum
  kMapped,  // a product of each of them: rows of the output
};

struct TimeUse {
  std::uint32_t call = 0;
  StepUse kind = StepUse::kSummed;
  /// The copy of x that the product alone reads; it runs with the product.
  std::uint32_t copy = kNoCall;
  /// Another use goes on from its sum: it runs first, for all steps.
  bool is_first = false;
  /// Only gradients of other layers read its output, step by step.
  bool is_apart = false;
};

struct TimeGrad {
  std::uint32_t call = 0;
  memory::Vector<TimeUse> uses{};  // in order; the copies are none
  std::uint32_t place = 0;         // all uses run where this one did
  /// Calls in between that read what the uses make; they run behind them.
  memory::Vector<std::uint32_t> after{};
  /// It takes the steps in the order of the sums, and runs with the uses.
  bool is_late = false;
};

/// Calls by their place in the program.
struct TimeLayer {
  std::uint32_t call = 0;
  std::int64_t steps = 0;
  std::int64_t batch = 0;
  bool is_reverse = false;
  memory::Vector<TimeGrad> grads{};
  /// Calls outside read y: it has to be there as a whole, too.
  bool has_whole_y = false;
  /// Calls outside read the c of the last step.
  bool has_last_c = false;
};

/// How the ops of a layer use their operands.
struct TimeForm {
  const graph::Op* op = nullptr;
  const graph::Op* grad = nullptr;
  std::uint32_t outputs = 2;  // y, h_n, gates, c
  std::size_t values = 0;     // input of the gradient: c or y; 0: none
  bool has_c() const noexcept { return outputs == 4; }
  bool has_gates() const noexcept { return outputs > 2; }
};
/// Null for a call that is no recurrent layer.
const TimeForm* time_form_of(const Call& call) noexcept;

/// The layers that may run in pieces, in order: nothing but their own gradients
/// reads what they keep, and nothing but the uses above what those make.
/// THROWS: OutOfMemory.
memory::Vector<TimeLayer> time_layers(const Program& program);

}  // namespace neap::compiler
