// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Trail: what a traced step did, in a form that a later trace is compared with
// (CompileOptions::verify), whatever the passes made of the program meanwhile.
//
// Calls and what they compute are numbered in their order, and have digests;
// constants count with their elements. What every run writes anew (an
// optimizer's rates) is left out. Tensors of before have no number, since which
// of them are one differs from call to call: each stands for the way that leads
// to it (the handle of a state, a leaf, a storage), and two trails agree where
// these ways lead to one storage now.
#pragma once

#include <cstdint>
#include <optional>

#include "neap/memory/containers.hpp"
#include "neap/tensor/tensor.hpp"

namespace neap::compiler {

class Program;

/// The way to a tensor of before: what the handle means, the gradient of the
/// leaf, or always the same storage; none of them: it is no tensor of before.
/// The program, or its guards, see to it that each is there.
struct Way {
  const Tensor* handle = nullptr;
  const tensor::GraphLink* leaf = nullptr;  // a graph::Leaf
  const tensor::Storage* storage = nullptr;

  bool is_none() const noexcept {
    return handle == nullptr && leaf == nullptr && storage == nullptr;
  }
  /// The storage there now; null: none. THROWS: OutOfMemory.
  const tensor::Storage* now() const;
};

/// The tensor that a handle means after a run.
struct Exit {
  const Tensor* handle = nullptr;
  std::uint64_t digest = 0;
  Way way{};
};

struct Trail {
  memory::Vector<std::uint64_t> calls;  // a digest each
  memory::Vector<std::uint32_t> ends;   // of each call's part of `ways`
  memory::Vector<Way> ways;             // of the calls' operands, in order
  std::uint64_t end = 0;                // digest of results and gradients
  memory::Vector<Way> end_ways;         // of these
  memory::Vector<Exit> exits;           // by handle
  memory::Vector<const Tensor*> read;   // handles, as they are at the entry
};

/// REQUIRES: no pass has changed the program. THROWS: OutOfMemory.
NEAP_API Trail trail_of(const Program& program);

/// The first thing that differs between two trails of one step.
struct Difference {
  enum class What : std::uint8_t {
    kNone,
    kCall,     // number `call`
    kOperand,  // that call does the same to another tensor of before
    kEnd,      // results, gradients, draws; what handles get
    kHandles,  // a handle is read that was not
  };
  What what = What::kNone;
  std::size_t call = 0;
};

/// Compares a trail of now with that of a program whose guards hold now.
/// THROWS: OutOfMemory.
NEAP_API Difference difference(const Trail& now, const Trail& known);

/// Bytes of a trail itself.
Bytes bytes_of(const Trail& trail) noexcept;

}  // namespace neap::compiler
