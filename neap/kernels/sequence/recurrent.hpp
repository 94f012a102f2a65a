// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Shared by the recurrent kernels (lstm, gru, rnn): a layer in one direction
// over a whole sequence, time-major. With T steps of b samples, f features, h
// hidden units and G h gates a sample:
//
//   pre_t = x_t w_ih^T + bias        one product for many steps at once
//   gates_t = pre_t + h_(t-1) w_hh^T   a product a step, onto pre_t
//   h_t = cell(gates_t, state before)  while the gates are in the cache
//
// w_hh is packed once for all steps. A step is one job for the threads, who
// divide its units (and its samples, where there are few units); whoever makes
// the gates of some units runs their cells too. Backwards likewise: a step adds
// d gates_(t+1) w_hh to dh_t and runs the cell's rule. Every element is one sum
// in the order of k that begins with what was there (gemm.hpp), so its bits
// depend on no split.
//
// With Precision::kBf16 (of float alone) both products are as gemm.hpp says of
// it: the weights, x, h_(t-1) and d gates_(t+1) are rounded as they are
// multiplied, and nowhere else. Pairs run along the units, those of each gate
// apart: beside an odd last unit stand zeros.
#pragma once

#include <algorithm>

#include "neap/kernels/engine/kernel.hpp"
#include "neap/kernels/gemm/bf16_dot.hpp"
#include "neap/kernels/gemm/gemm.hpp"

namespace neap::kernels {

/// Attributes of the ops lstm, gru and rnn.
struct RecurrentAttrs {
  bool has_state = false;  // h0 (and c0) are given; else 0
  bool is_reverse = false;
  bool keeps = false;                     // the gates, for a derivative
  bool is_relu = false;                   // of rnn, which is tanh else
  Precision precision = Precision::kF32;  // of both products
  std::array<bool, 3> padding{};
};

/// Attributes of the gradients of lstm, gru and rnn.
struct RecurrentGradAttrs {
  bool has_state = false;
  bool is_reverse = false;
  bool is_relu = false;
  bool has_dy = false;
  bool has_dh = false;  // the cotangent of the last h
  bool has_dc = false;  // of lstm's c
  bool wants_state = false;
  bool has_last_dc = false;  // what lstm's later steps give to the last c
  Precision precision = Precision::kF32;  // of the product with d gates
};

struct RecurrentSizes {
  std::int64_t steps = 0;
  std::int64_t batch = 0;
  std::int64_t hidden = 0;
};

/// Rows and units of one task of a step. Units begin at a panel.
struct RecurrentBlock {
  std::int64_t row_begin = 0;
  std::int64_t row_end = 0;
  std::int64_t unit_begin = 0;
  std::int64_t unit_end = 0;
};

/// How a network lays its gates out.
struct RecurrentForm {
  std::int64_t gates = 1;  // G, rows of w_hh / h
  std::int64_t kept = 0;   // columns of what is kept / h; 0: y alone is
  bool has_c = false;
  std::int64_t bias_start = 0;   // of the products' part in it / h
  bool is_made_in_place = true;  // pre is where the gates will be

  /// Columns of the gates of a step / h.
  std::int64_t columns() const noexcept {
    return std::max<std::int64_t>(kept, 1);
  }
  /// The gate of w_hh that d gates' columns [gate h, ..) were made with: where
  /// there are more columns than gates, the last comes first.
  std::int64_t weights_of(std::int64_t gate) const noexcept {
    return kept > gates ? (gate + gates - 1) % gates : gate;
  }
};

/// Operands and results of the cells of a forward step. Matrices are dense,
/// (batch, ...), unless they have a step from row to row.
template <class T>
struct ForwardCells {
  RecurrentSizes sizes;
  const T* pre = nullptr;       // (batch, G hidden)
  T* gates = nullptr;           // (batch, G or G + 1 hidden); rnn: none
  const T* bias = nullptr;      // gru: (hidden), of the gate that r scales
  const T* h_before = nullptr;  // (batch, hidden); nullptr: 0
  const T* c_before = nullptr;  // (batch, hidden); nullptr: 0
  T* c = nullptr;               // (batch, hidden)
  T* y = nullptr;               // (batch, hidden)
  T* copy = nullptr;            // of y, for the step after; nullptr: none
  std::int64_t copy_step = 0;
  bool is_relu = false;
};

/// A step forward. A factor is what the products take of the units in one step
/// of k: an element, or a pair.
template <class T, class Factor = T>
struct ForwardStep : ForwardCells<T> {
  const Factor* weights = nullptr;  // packed
  const Factor* h = nullptr;        // (batch, depth), of the step before
  Factor* next_h = nullptr;         // room for this step's
  std::int64_t h_step = 0;
  std::int64_t depth = 0;  // hidden, in factors; 0 where h is 0
};

/// Operands and results of the cells of a backward step.
template <class T>
struct BackwardCells {
  RecurrentSizes sizes;
  T* dh = nullptr;        // (batch, hidden), carried from step to step
  const T* dy = nullptr;  // (batch, hidden) or nullptr: 0
  std::int64_t dy_step = 0;
  const T* gates = nullptr;     // (batch, G or G + 1 hidden); rnn: y
  T* dgates = nullptr;          // likewise, may be gates
  const T* before = nullptr;    // c or h of the step before; nullptr: 0
  const T* c = nullptr;         // lstm
  T* dc = nullptr;              // lstm: carried
  const T* given_dc = nullptr;  // lstm: (batch, hidden) or nullptr: 0
  T* copy = nullptr;            // of the first G of dgates; nullptr: none
  std::int64_t copy_step = 0;
  bool is_relu = false;
};

/// A step backward.
template <class T, class Factor = T>
struct BackwardStep : BackwardCells<T> {
  const RecurrentForm* form = nullptr;
  const Factor* weights = nullptr;  // packed
  const Factor* after = nullptr;    // (batch, depth), d gates of the step after
  Factor* next_after = nullptr;     // room for this step's
  std::int64_t after_step = 0;
  std::int64_t gate_depth = 0;  // hidden, in factors
  std::int64_t depth = 0;       // of the product; 0 for the last step
};

/// Functions compiled for each instruction set and network.
template <class T, class Factor = T>
struct RecurrentParts {
  std::int64_t panel = 0;  // units in one, a multiple of the lanes
  /// Packs panel `index` of the weights of a step forward or backward.
  void (*pack)(const Strided& w_hh, std::int64_t index,
               Factor* packed) = nullptr;
  void (*pack_back)(const Strided& w_hh, const RecurrentForm& form,
                    std::int64_t index, Factor* packed) = nullptr;
  /// Makes factors of dense rows.
  void (*pack_rows)(const T* from, std::int64_t rows, std::int64_t columns,
                    Factor* to, std::int64_t to_step) = nullptr;
  void (*forward)(const ForwardStep<T, Factor>& step,
                  const RecurrentBlock& block) = nullptr;
  void (*backward)(const BackwardStep<T, Factor>& step,
                   const RecurrentBlock& block) = nullptr;
  /// The product of a step backward alone.
  void (*product)(const BackwardStep<T, Factor>& step,
                  const RecurrentBlock& block) = nullptr;
};

/// The whole of a kernel. The operands are those that lstm.hpp lists, without
/// what the form has not.
template <class T, class Factor>
void run_recurrent(const Args& args, const RecurrentForm& form,
                   const RecurrentParts<T, Factor>& parts) noexcept;
template <class T, class Factor>
Bytes recurrent_scratch(const Args& args, const RecurrentForm& form,
                        const RecurrentParts<T, Factor>& parts) noexcept;
template <class T, class Factor>
void run_recurrent_grad(const Args& args, const RecurrentForm& form,
                        const RecurrentParts<T, Factor>& parts) noexcept;
template <class T, class Factor>
Bytes recurrent_grad_scratch(const Args& args, const RecurrentForm& form,
                             const RecurrentParts<T, Factor>& parts) noexcept;

}  // namespace neap::kernels
