// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Writing into tensors that exist. In-place forms are for tensors that no graph
// records: untracked tensors, and leaves under NoGrad. Where a recorded op
// still needs the old values, the write succeeds and its backward refuses,
// naming both call sites. In a step that is traced, a write is recorded, and
// done in each run.
#pragma once

#include <initializer_list>

#include "neap/graph/op.hpp"
#include "neap/graph/operand.hpp"

namespace neap {

/// Writes src, broadcast to dst's shape, over dst. Both may lie on one storage.
/// THROWS: GraphError when dst is the result of a recorded op (a view too), a
/// leaf that requires grad outside NoGrad, or inside jvp or a rematerialised
/// segment; ShapeError when src does not broadcast to dst or dst repeats
/// elements; DTypeError, DeviceError when they differ; OutOfMemory. dst is then
/// as before.
NEAP_API void copy_(const Tensor& dst, const Tensor& src,
                    CallSite site = CallSite::here());

/// Writes one number over every element. THROWS: GraphError, ShapeError as
/// copy_; DTypeError for a number that dst's dtype lacks; ValueError for an
/// integer that no double is.
NEAP_API void fill_(const Tensor& dst, Number value,
                    CallSite site = CallSite::here());

/// The `out=` form of any op with one result: writes what op(inputs) gives over
/// dst, in no new memory but the kernel's scratch, and leaves nothing on the
/// tape.
///
///   compute_into(y, ops::kMatmul, {a, b});
///
/// dst may itself be an input where the op works element by element.
/// THROWS: as the op; GraphError as copy_; ShapeError unless dst has the
/// result's shape and dtype and is contiguous; ValueError for an input that
/// overlaps dst otherwise, for a view op, for an op of several results, and for
/// a plain number; OutOfMemory. dst is then as before.
NEAP_API void compute_into(const Tensor& dst, const graph::Op& op,
                           std::initializer_list<Operand> inputs,
                           const graph::Attrs& attrs = {});

/// dst = dst op other, in dst's own memory. THROWS: as compute_into.
NEAP_API void add_(const Tensor& dst, const Operand& other);
NEAP_API void sub_(const Tensor& dst, const Operand& other);
NEAP_API void mul_(const Tensor& dst, const Operand& other);
NEAP_API void div_(const Tensor& dst, const Operand& other);

}  // namespace neap
