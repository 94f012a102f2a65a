// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Holders: who keeps what alive, computed on demand. Starting from the handles
// that are known (memory::for_each_member: those of scopes, and all that were
// created while a memory::TrackHandles lived), it walks everything they own,
// and reverses the arrows:
//
//   handle -> body -> node -> residuals' storages        owns
//                      |  `-> hooks' closures -> bodies
//                      v
//                    nodes and leaves of its inputs -> gradients -> bodies
//
// References to a body that do not come from inside are handles of the program:
// there chains end. Objects that are there although nothing outside leads to
// them are a cycle.
//
// Closures of hooks, and attributes of ops, are searched word by word for
// addresses of known bodies. That is conservative: a number that happens to
// look like an address counts as a handle, and a handle behind a pointer (in a
// vector that a closure owns) is not seen, so that its owner counts as outside.
//
// The bookkeeping is in the report's domain; nothing else changes.
//
// Thread rule: other threads may continue. The handles are those of one
// instant, with what they meant then; each node is seen at one instant, too, a
// little later. Everything seen is held until the holders end, so it stays
// readable, but counts of handles may be old. A closure of a hook that writes
// to its own captures in another thread meanwhile is a race.
#pragma once

#include <unordered_map>

#include "neap/graph/node.hpp"
#include "neap/memory/containers.hpp"
#include "neap/memory/scope.hpp"

namespace neap::report {

/// A link of a chain: it holds the one before.
struct Holder {
  enum class Kind : std::uint8_t {
    kHandles,     // `count` handles of the program, to a tensor created at
                  // `site`
    kResidual,    // `op` keeps it: output or input `index`
    kMadeFrom,    // `op` was computed from it: input `index`
    kGradient,    // gradient of a leaf, or kept of a result
    kHook,        // closure registered at `site`
    kAttributes,  // `op` holds it in its attributes
    kUnknown,     // something that is no handle
    kCycle,       // the chain has come back to where it was
  };
  Kind kind = Kind::kUnknown;
  bool is_output = false;
  int index = 0;
  std::int64_t count = 0;
  std::string_view op;     // empty for a leaf
  std::string_view owner;  // path; LIFETIME: of the domain
  memory::Category category{};
  base::SiteId site{};
  base::SiteId registered{};  // line of a hook
  /// The body that the handles share, for kHandles. LIFETIME: of the Holders.
  const tensor::Body* body = nullptr;
};

/// "residual 'input 1' of 'mul' (train.cpp:42 (step))".
NEAP_API std::string format(const Holder& holder);

class NEAP_API Holders {
 public:
  /// Finds the holders of all handles that are known. THROWS: OutOfMemory.
  Holders();

  /// A value or a part of the graph that something holds.
  struct Held {
    const tensor::Storage* storage = nullptr;  // storage of a value
    const graph::Vertex* vertex = nullptr;     // vertex of a part of the graph
    std::uint32_t thing = 0;
    Shape shape;
    DType dtype{};
    std::string_view op;  // name of the op that computed it; empty: not known
  };
  /// visit(held) for each storage and each vertex, once.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::uint32_t i = 0; i < things_.size(); ++i) {
      if (things_[i].kind != Kind::kBody) {
        visit(held(i));
      }
    }
  }
  /// visit(held) for the value of each tensor that `scope` has.
  template <class Visit>
  void for_each_of(const memory::Scope& scope, Visit&& visit) const {
    for (const std::uint32_t i : bodies_of(scope)) {
      visit(held(i));
    }
  }
  /// The shortest chain from what holds it directly to the program's handles.
  memory::Vector<Holder> chain_of(const Held& held) const;

 private:
  enum class Kind : std::uint8_t { kBody, kVertex, kStorage };
  static constexpr std::uint32_t kNobody = ~0U;

  // An object's hold on another.
  struct Hold {
    std::uint32_t by = kNobody;
    std::uint32_t what = kNobody;
    Holder::Kind how = Holder::Kind::kUnknown;
    std::uint16_t position = 0;  // position of a residual or an edge
    base::SiteId registered{};   // line of a hook
  };
  struct Thing {
    Kind kind;
    bool is_reached = false;     // true: something outside reaches it
    const void* address;         // address of a Body, Vertex or Storage
    std::uint32_t inside = 0;    // references to a body that were found
    std::uint32_t outside = 0;   // the others, when the last was found
    std::uint32_t holds = 0;     // index in holds_ of the first that is its own
    std::uint32_t by = kNobody;  // index in holds_ of the one that holds it
    /// Array of a body, or one that found a storage.
    const tensor::Array* array = nullptr;
    const graph::Vertex* vertex = nullptr;  // vertex of a body
    const memory::Scope* scope = nullptr;   // scope that has a body
    const graph::Op* maker = nullptr;  // op that made a storage, where known
  };

  const tensor::Body& body(std::uint32_t i) const noexcept;
  const graph::Vertex& vertex(std::uint32_t i) const noexcept;
  Held held(std::uint32_t i) const;
  std::span<const Hold> holds_of(std::uint32_t i) const noexcept;

  void add_bodies();
  std::uint32_t add(Kind kind, const void* address);
  void note(const Hold& hold);
  void hold_array(Hold hold, const tensor::Array& array,
                  const graph::Op* maker);
  void hold_body(Hold hold, const void* body);
  void scan(Hold hold, std::span<const std::byte> bytes);
  void open_body(std::uint32_t i);
  void open_vertex(std::uint32_t i);
  void open_node(std::uint32_t i);
  void open_hooks(std::uint32_t i);
  void reach();
  memory::Vector<std::uint32_t> bodies_of(const memory::Scope& scope) const;
  Holder describe(const Hold& hold) const;
  Holder outside(std::uint32_t i) const;

  // References to everything that was seen.
  memory::Vector<memory::MemberRef> members_;
  memory::Vector<base::Ref<tensor::Array>> arrays_;
  memory::Vector<base::Ref<tensor::GraphLink>> links_;
  memory::Vector<graph::Node::Source> sources_;
  memory::Vector<graph::Residual> residuals_;
  memory::Vector<Tensor> gradients_;
  memory::Vector<Thing> things_;
  memory::Vector<Hold> holds_;  // holds of one thing after the other
  memory::Vector<std::uint32_t> queue_;
  std::unordered_map<
      const void*, std::uint32_t, std::hash<const void*>, std::equal_to<>,
      memory::Allocator<std::pair<const void* const, std::uint32_t>>>
      index_;
};

}  // namespace neap::report
