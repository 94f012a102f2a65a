// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Node: one recorded op call on the tape, in one block at the door:
//
//   | Node | edges, one an input | residuals | shapes | attributes |
//
// Residuals are exactly the arrays that the op's vjp reads for the inputs that
// need a cotangent; "shapes" are extents of inputs whose data is not kept. A
// backward consumes the node: residuals, edges and attributes go, the node
// itself stays (empty) only while a handle refers to it.
#pragma once

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

class NEAP_API Node final : public Vertex {
 public:
  /// A node for `call`, without its output residuals: those are put in by
  /// keep_output when the arrays exist. THROWS: OutOfMemory.
  static base::Ref<Node> create(const OpCall& call,
                                std::span<const Spec> outputs,
                                memory::Domain& domain);

  const Op& op() const noexcept { return *op_; }
  bool requires_grad() const noexcept override { return true; }
  Tensor grad(std::uint32_t /*output*/) const override { return {}; }

  /// Keeps `array` as output k when the vjp reads it.
  void keep_output(int k, const base::Ref<tensor::Array>& array) noexcept;

  std::span<const Edge> edges() const noexcept;
  std::span<const Residual> residuals() const noexcept;
  int outputs() const noexcept { return op_->outputs; }
  Attrs attrs() const noexcept;

  /// Shape of input i: as kept, or `fallback` (output 0's) when they are equal.
  /// `cursor`, 0 at first, remembers the place, so that asking for one after
  /// the other takes one pass over them all.
  Shape input_shape(int i, const Shape& fallback,
                    std::uint16_t& cursor) const noexcept;
  /// The residual at a position, or nullptr.
  const Residual* find(std::uint16_t position) const noexcept;

  bool is_consumed() const noexcept { return consumed_; }
  base::SiteId consumed_at() const noexcept { return consumed_at_; }
  /// Gives back residuals and edges. `edges` that die go iteratively.
  void consume(base::SiteId site) noexcept;

  /// THROWS: GraphError naming op and call sites when the node is consumed, or
  /// when a kept array was written since.
  void check_usable() const;

  /// Bytes of the node's own block.
  Bytes footprint() const noexcept { return bytes_; }

 private:
  friend class Vertex;
  Node(const OpCall& call, std::uint64_t sequence,
       memory::OwnerId owner) noexcept
      : Vertex(&call.op, sequence, owner, call.site) {}
  ~Node() override = default;

  Edge* edge_data() const noexcept;
  Residual* residual_data() const noexcept;
  std::int64_t* shape_data() const noexcept;
  void fill(const OpCall& call, std::uint64_t needs, const Reads& reads,
            const Shape& output_shape) noexcept;
  void clear(Vertex** dying) noexcept;
  void end(Vertex** dying) noexcept;

  std::uint32_t bytes_ = 0;
  base::SiteId consumed_at_{};
  std::uint16_t input_count_ = 0;
  std::uint16_t residual_count_ = 0;
  std::uint16_t shape_words_ = 0;  // of kept shapes, with their headers
  std::uint16_t attr_bytes_ = 0;
  bool consumed_ = false;
};

// What follows the node in its block.

inline constexpr std::size_t kNodeHeader = (sizeof(Node) + 15) / 16 * 16;

inline Edge* Node::edge_data() const noexcept {
  auto* start = reinterpret_cast<std::byte*>(const_cast<Node*>(this));
  return reinterpret_cast<Edge*>(start + kNodeHeader);
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
  return {edge_data(), consumed_ ? 0U : input_count_};
}

inline std::span<const Residual> Node::residuals() const noexcept {
  return {residual_data(), consumed_ ? 0U : residual_count_};
}

}  // namespace neap::graph
