// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Node: one recorded op call on the tape, in one block of memory:
//
//   | Node | edges, one an input | residuals | shapes | attributes |
//
// Residuals are exactly the arrays that the op's vjp reads for the inputs that
// need a cotangent; "shapes" are extents of inputs whose data is not kept.
//
// A node is available until it is retired: by a backward that consumed it, by a
// release, or because something that it was computed from was retired, which is
// known at once (lifetime.cpp). Its residuals, edges and attributes are freed
// then; it stays, empty, only while a handle refers to it, and says why.
//
// Thread rule: as Vertex's, and whoever holds a node may look at it from any
// thread (look, users). A walk claims the nodes that it enters; what it
// claimed keeps its residuals and edges until the walk lets go of it.
#pragma once

#include <atomic>
#include <optional>

#include "neap/graph/lifetime.hpp"
#include "neap/graph/recorder.hpp"
#include "neap/graph/vertex.hpp"

namespace neap::graph {

/// An array kept for the vjp, with the storage's version when it was kept.
struct Residual {
  base::Ref<tensor::Array> array;
  std::uint32_t version = 0;
  std::uint16_t position = 0;  // input i, or kOutputBit | output k

  static constexpr std::uint16_t kOutputBit = 0x8000;
};

enum class State : std::uint8_t {
  kAvailable,
  kConsumed,     // a backward passed it
  kReleased,     // graph::release released it
  kUnavailable,  // something it was computed from was consumed or released
};

/// The node that retired a node: itself, or one that it was computed from.
struct Cause {
  const Op* op = nullptr;   // op of the consumed or released node
  base::SiteId recorded{};  // line where that one was recorded
  base::SiteId at{};        // line of the backward or release
  bool is_release = false;
};

class NEAP_API Node final : public Vertex {
 public:
  /// A node for `call` that nothing knows of yet: finish() makes it part of the
  /// graph. It keeps nothing when an input's own node is retired.
  /// THROWS: OutOfMemory.
  static base::Ref<Node> create(const OpCall& call,
                                std::span<const Spec> outputs,
                                memory::Domain& domain);
  /// A node that is retired from the start. THROWS: OutOfMemory.
  static base::Ref<Node> create_retired(const Op& op, base::SiteId site,
                                        State state, const Cause& cause,
                                        memory::Domain& domain);

  /// Keeps those of the outputs that the vjp reads. Called once, before any
  /// other thread can see the node.
  void keep(std::span<const base::Ref<tensor::Array>> outputs) noexcept;
  /// Adds the node to the uses of its inputs. Called once, when the outputs are
  /// there.
  void finish() noexcept;

  const Op& op() const noexcept { return *op_; }
  bool requires_grad() const noexcept override { return true; }
  Tensor grad(std::uint32_t output) const override;

  std::span<const Edge> edges() const noexcept;
  std::span<const Residual> residuals() const noexcept;
  int outputs() const noexcept { return op_->outputs; }
  Attrs attrs() const noexcept;

  /// Shape of input i: as kept, or `fallback` (output 0's) when they are equal.
  /// `cursor`, 0 at first, remembers the position, so that asking for one after
  /// the other takes one pass over them all.
  Shape input_shape(int i, const Shape& fallback,
                    std::uint16_t& cursor) const noexcept;
  /// The residual at a position, or nullptr.
  const Residual* find(std::uint16_t position) const noexcept;

  // --- lifetime ------------------------------------------------------------

  State state() const noexcept {
    return state_.load(std::memory_order_relaxed);
  }
  /// REQUIRES: retired.
  Cause cause() const noexcept;
  /// sequence(), or nothing when retired.
  std::optional<std::uint64_t> sequence_if_available() const noexcept;

  /// Enters the node into a walk under the number `mark`, so that nobody else
  /// walks it or takes its residuals. False, with nothing changed, when it was
  /// recorded before `floor`. THROWS: GraphError when it is retired, or claimed
  /// by another walk (of this thread too).
  bool claim(std::uint32_t mark, std::uint64_t floor);
  /// The mark given last. A walk knows by its own list whether it is its own.
  std::uint32_t mark() const noexcept {
    return mark_.load(std::memory_order_relaxed);
  }
  /// REQUIRES: claimed by the caller.
  void set_mark(std::uint32_t mark) noexcept {
    mark_.store(mark, std::memory_order_relaxed);
  }
  void unclaim() noexcept;

  /// Retires a claimed node, and all that was computed from it.
  void consume(base::SiteId site) noexcept;
  /// True when nothing but one handle (and its copies) refers to the node.
  bool has_sole_reference() const noexcept { return is_unique(); }
  /// Retires a node that has a sole reference.
  void release_early(base::SiteId site) noexcept;
  /// A retired node that stands for this one where this one stays alive.
  base::Ref<Node> create_released(base::SiteId at) const noexcept;

  /// THROWS: GraphError naming op and call sites when a kept array was written
  /// since.
  void check_versions() const;

  // --- looking, from any thread ---------------------------------------------

  /// The origin of an input; null where no derivative flows.
  struct Source {
    base::Ref<tensor::GraphLink> link;
    std::uint32_t output = 0;

    const Vertex* vertex() const noexcept {
      return static_cast<const Vertex*>(link.get());
    }
  };
  /// Appends sources, one an input, and residuals as they are at one instant,
  /// and holds them. Nothing once retired. THROWS: OutOfMemory.
  void look(memory::Vector<Source>& sources,
            memory::Vector<Residual>& residuals) const;
  /// The bytes of attrs() at one instant; none once retired.
  /// THROWS: OutOfMemory.
  memory::Vector<std::byte> look_at_attrs() const;
  /// The nodes computed from results of this one. THROWS: OutOfMemory.
  memory::Vector<base::Ref<Node>> users() const;

  /// Bytes of the node's own block.
  Bytes footprint() const noexcept;

 private:
  friend class Vertex;
  Node(const Op& op, std::uint64_t sequence, memory::OwnerId owner,
       base::SiteId site) noexcept
      : Vertex(&op, sequence, owner, site) {}
  ~Node() override = default;

  static Node* allocate(const Op& op, base::SiteId site, Bytes trailing,
                        memory::Domain& domain);
  static Node& of(const Edge& edge) noexcept;
  Edge* edge_data() const noexcept;
  Residual* residual_data() const noexcept;
  std::int64_t* shape_data() const noexcept;
  void fill(const OpCall& call, std::uint64_t needs, const Reads& reads,
            const Shape& output_shape) noexcept;

  void join_uses() noexcept;
  bool add_use(Edge& edge) noexcept;
  void remove_use(Edge& edge) noexcept;
  void retire(State state, const Cause& cause) noexcept;
  void doom_users(Vertex** retired, Vertex** dying) noexcept;
  void doom(Vertex** retired, Vertex** dying) noexcept;
  void tell(Why why) const noexcept;
  static Node* forgotten() noexcept;
  [[noreturn]] void refuse_retired() const;
  void clear(const Cause& cause, Vertex** dying) noexcept;
  void set_cause(const Cause& cause) noexcept;
  void end(Vertex** dying) noexcept;

  std::uint16_t input_count_ = 0;
  std::uint16_t residual_count_ = 0;
  Edge* uses_ = nullptr;           // edges to this node
  std::uint16_t shape_words_ = 0;  // words of kept shapes, headers included
  std::uint16_t attr_bytes_ = 0;
  // lock_ guards uses_, state_, the flags below and, of a claimed node, mark_.
  // Locks nest from a node to its users only.
  mutable base::SpinLock lock_;
  std::atomic<State> state_{State::kAvailable};
  bool is_claimed_ : 1 = false;
  bool is_doomed_ : 1 = false;  // retired as soon as it is no longer claimed
  std::atomic<bool> is_cleared_{false};  // edges and residuals are freed
};

// The parts that follow the node in its block.

inline constexpr std::size_t kNodeHeader = sizeof(Node);
static_assert(kNodeHeader % alignof(Edge) == 0);
static_assert(sizeof(Cause) <= sizeof(Edge), "a retired node keeps it there");

/// Refuses a question about a node of before the trace while a step is traced:
/// it would be asked once, not in every run. THROWS: TraceError, naming `what`.
NEAP_API void check_of_trace(const char* what, const Node& node);

inline Node* Edge::node_source() const noexcept {
  Vertex* found = vertex();
  return found != nullptr && !found->is_leaf() ? static_cast<Node*>(found)
                                               : nullptr;
}

inline Edge* Node::edge_data() const noexcept {
  auto* start = reinterpret_cast<std::byte*>(const_cast<Node*>(this));
  return reinterpret_cast<Edge*>(start + kNodeHeader);
}

inline Node& Node::of(const Edge& edge) noexcept {
  auto* first = reinterpret_cast<std::byte*>(
      const_cast<Edge*>(&edge - static_cast<std::ptrdiff_t>(edge.index)));
  return *reinterpret_cast<Node*>(first - kNodeHeader);
}

inline Residual* Node::residual_data() const noexcept {
  return reinterpret_cast<Residual*>(edge_data() + input_count_);
}

inline std::int64_t* Node::shape_data() const noexcept {
  return reinterpret_cast<std::int64_t*>(residual_data() + residual_count_);
}

inline Attrs Node::attrs() const noexcept {
  return {shape_data() + shape_words_, attr_bytes_};
}

inline std::span<const Edge> Node::edges() const noexcept {
  return {edge_data(),
          is_cleared_.load(std::memory_order_relaxed) ? 0U : input_count_};
}

inline std::span<const Residual> Node::residuals() const noexcept {
  return {residual_data(),
          is_cleared_.load(std::memory_order_relaxed) ? 0U : residual_count_};
}

}  // namespace neap::graph
