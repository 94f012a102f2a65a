// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Running a call over a tensor that exists, in place of a new one.
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap::graph {

/// Runs `call` at once and writes its only result over `dst`, which counts as a
/// write of dst's storage. Nothing is recorded. An input may be `dst` itself
/// where the op could take its memory over.
/// THROWS: what the op's shape rule throws; ShapeError unless `dst` has the
/// result's shape and dtype and no gaps; ValueError for an input that lies in
/// dst's memory otherwise, and for ops that are views or have several results;
/// OutOfMemory (scratch). `dst` is then as before.
NEAP_API void run_into(const OpCall& call, const Tensor& dst);

}  // namespace neap::graph
