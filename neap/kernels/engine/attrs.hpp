// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The attributes that kernels read: trivially copyable, stored by value in tape
// nodes and programs. Fields are ordered and padded by hand, so that equal
// attributes have equal bytes.
#pragma once

#include <array>
#include <cstdint>

#include "neap/base/dtype.hpp"
#include "neap/base/philox.hpp"
#include "neap/base/shape.hpp"

namespace neap::kernels {

/// sum, amax, argmax and the like: bit i of `axes` says that axis i is reduced.
/// The output keeps every reduced axis with extent 1 (ops reshape it away where
/// asked).
struct ReduceAttrs {
  std::uint64_t axes = 0;
};

/// var, std: the divisor is the count less `correction`.
struct VarAttrs {
  std::uint64_t axes = 0;
  double correction = 1.0;
  bool is_std = false;  // the square root is wanted
  std::array<bool, 7> padding{};
};

/// norm: the p-norm over some axes.
struct NormAttrs {
  std::uint64_t axes = 0;
  double p = 2.0;
};

/// cumsum, cumprod, linear_scan: along one axis, from its end where `reverse`.
struct CumulateAttrs {
  std::int64_t axis = 0;
  bool reverse = false;
  std::array<bool, 7> padding{};
};

/// sort: along one axis. topk: the first `count` of it.
struct SortAttrs {
  std::int64_t axis = 0;
  std::int64_t count = 0;  // sort: the whole axis
  bool descending = false;
  std::array<bool, 7> padding{};
};

/// searchsorted: along the last axis.
struct SearchAttrs {
  bool right = false;  // behind equal elements, not before them
  std::array<bool, 7> padding{};
};

/// softmax and the like: one axis, counted from the start.
struct AxisAttrs {
  std::int64_t axis = 0;
};

/// cast: the target dtype is the output's; nothing else is needed.

/// dropout: y = keep(key, first + i) ? x / (1 - p) : 0, with i the logical
/// index.
struct DropoutAttrs {
  double p = 0.0;  // probability of dropping, in [0, 1)
  base::DrawKey key;
  std::int64_t first = 0;
};

/// A range of one axis: elements start, start + step, ... `count` of them.
struct SliceAttrs {
  std::int64_t axis = 0;
  std::int64_t start = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
  std::int64_t extent = 0;  // extent of the whole axis
};

/// fill: every element gets `value`.
struct FillAttrs {
  double value = 0.0;
};

/// clip: the range that elements are kept in; neither is NaN.
struct ClipAttrs {
  double low = 0.0;   // -infinity: no bound
  double high = 0.0;  // infinity: no bound
};

/// scale: every element is multiplied by `factor`.
struct ScaleAttrs {
  double factor = 1.0;
};

/// sgd: one step of stochastic gradient descent.
struct SgdAttrs {
  double lr = 0.0;
  double momentum = 0.0;
  double dampening = 0.0;
  double weight_decay = 0.0;
  double grad_scale = 1.0;  // multiplies the gradient first (clipping)
  bool nesterov = false;
  bool maximize = false;
  bool is_first_step = false;  // the momentum buffer holds nothing yet
  std::array<bool, 5> padding{};
};

/// adam: one step of Adam or, with `decoupled`, AdamW.
struct AdamAttrs {
  double lr = 0.0;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.0;
  double bias_correction1 = 1.0;  // 1 - beta1^t, t counted from 1
  double bias_correction2 = 1.0;  // 1 - beta2^t
  double grad_scale = 1.0;        // multiplies the gradient first (clipping)
  bool decoupled = false;         // weight decay apart from the gradient
  bool maximize = false;
  std::array<bool, 6> padding{};
};

/// lion: one step of Lion.
struct LionAttrs {
  double lr = 0.0;
  double beta1 = 0.9;
  double beta2 = 0.99;
  double weight_decay = 0.0;
  double grad_scale = 1.0;  // multiplies the gradient first (clipping)
  bool maximize = false;
  std::array<bool, 7> padding{};
};

/// rmsprop: one step of RMSprop.
struct RmspropAttrs {
  double lr = 0.0;
  double alpha = 0.99;
  double eps = 1e-8;
  double momentum = 0.0;
  double weight_decay = 0.0;
  double grad_scale = 1.0;  // multiplies the gradient first (clipping)
  bool maximize = false;
  std::array<bool, 7> padding{};
};

}  // namespace neap::kernels
