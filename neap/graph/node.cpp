// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/graph/node.hpp"

#include <atomic>
#include <bit>
#include <new>

#include "neap/base/raise.hpp"
#include "neap/graph/hooks.hpp"
#include "neap/graph/record_result.hpp"
#include "neap/graph/versions.hpp"

namespace neap::graph {
namespace {

// Nodes of all threads are in one order.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
constinit std::atomic<std::uint64_t> last_sequence{0};

std::uint64_t next_sequence() noexcept {
  return last_sequence.fetch_add(1, std::memory_order_relaxed) + 1;
}

bool needs_cotangent(const Operand& input) {
  const auto& link = input.tensor().link();
  return link && link->requires_grad();
}

// Inputs that need a cotangent, as a mask (inputs beyond 31 share the last
// bit).
std::uint32_t bit(std::size_t i) noexcept {
  return 1U << static_cast<std::uint32_t>(std::min<std::size_t>(i, 31));
}

// A bit for each of the first 64 inputs, since asking costs a virtual call.
std::uint64_t needs_of(const OpCall& call) {
  std::uint64_t needs = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(call.inputs.size(), 64);
       ++i) {
    needs |= std::uint64_t{needs_cotangent(call.inputs[i])} << i;
  }
  return needs;
}

bool is_needed(const OpCall& call, std::uint64_t needs, std::size_t i) {
  return i < 64 ? (needs >> i & 1U) != 0 : needs_cotangent(call.inputs[i]);
}

Reads reads_of(const OpCall& call, std::uint64_t needs) {
  Reads all;
  const auto& rules = call.op.facts.vjp_reads;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    if (is_needed(call, needs, i)) {
      const Reads& one = rules[std::min(i, rules.size() - 1)];
      all.inputs |= one.inputs;
      all.outputs |= one.outputs;
      all.shapes |= one.shapes;
    }
  }
  return all;
}

// A shape is kept only when it is read, the array is not kept anyway, and it
// differs from the only output's, which the cotangent tells.
bool keeps_shape(const Reads& reads, const OpCall& call, std::size_t i,
                 const Shape& output_shape) {
  return (reads.shapes & bit(i)) != 0 && (reads.inputs & bit(i)) == 0 &&
         (call.op.outputs > 1 ||
          call.inputs[i].tensor().shape() != output_shape);
}

// Where the call's inputs come from retired nodes, why the first of them is.
std::optional<Cause> find_cause(const OpCall& call, std::uint64_t needs) {
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const auto& link = call.inputs[i].tensor().link();
    if (is_needed(call, needs, i) && !link->is_leaf()) {
      const auto& node = static_cast<const Node&>(*link);
      if (node.state() != State::kAvailable) {
        return node.cause();
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::uint64_t latest_sequence() noexcept {
  return last_sequence.load(std::memory_order_relaxed);
}

Node* Node::allocate(const Op& op, base::SiteId site, Bytes trailing,
                     memory::Domain& domain) {
  const memory::Tag tag = memory::current_tag(memory::Category::kGraph, site);
  const memory::Block block =
      domain.allocate(static_cast<Bytes>(kNodeHeader) + trailing, tag);
  Node* node = ::new (block.data) Node(op, next_sequence(), tag.owner, site);
  node->domain_ = &domain;
  node->bucket_ = block.bucket;
  op.acquire();
  return node;
}

base::Ref<Node> Node::create(const OpCall& call, std::span<const Spec> outputs,
                             memory::Domain& domain) {
  const std::uint64_t needs = needs_of(call);
  if (const auto cause = find_cause(call, needs)) {
    return create_retired(call.op, call.site, State::kUnavailable, *cause,
                          domain);
  }
  const Reads reads = reads_of(call, needs);
  auto residuals = static_cast<std::size_t>(std::popcount(reads.outputs));
  std::size_t words = 0;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    residuals += (reads.inputs & bit(i)) != 0 ? 1 : 0;
    if (keeps_shape(reads, call, i, outputs[0].shape)) {
      words +=
          1 + static_cast<std::size_t>(call.inputs[i].tensor().shape().rank());
    }
  }
  const std::size_t trailing = call.inputs.size() * sizeof(Edge) +
                               residuals * sizeof(Residual) +
                               words * sizeof(std::int64_t) + call.attrs.size();
  Node* node =
      allocate(call.op, call.site, static_cast<Bytes>(trailing), domain);
  node->input_count_ = static_cast<std::uint16_t>(call.inputs.size());
  node->residual_count_ = static_cast<std::uint16_t>(residuals);
  node->shape_words_ = static_cast<std::uint16_t>(words);
  node->attr_bytes_ = static_cast<std::uint16_t>(call.attrs.size());
  node->fill(call, needs, reads, outputs[0].shape);
  return base::Ref<Node>::adopt(node);
}

// It keeps nothing: in the place of its only edge stands the cause.
base::Ref<Node> Node::create_retired(const Op& op, base::SiteId site,
                                     State state, const Cause& cause,
                                     memory::Domain& domain) {
  Node* node = allocate(op, site, static_cast<Bytes>(sizeof(Edge)), domain);
  node->input_count_ = 1;
  node->is_cleared_ = true;
  node->set_cause(cause);
  node->state_.store(state, std::memory_order_relaxed);
  return base::Ref<Node>::adopt(node);
}

void Node::fill(const OpCall& call, std::uint64_t needs, const Reads& reads,
                const Shape& output_shape) noexcept {
  Residual* residual = residual_data();
  std::int64_t* word = shape_data();
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const Tensor& input = call.inputs[i].tensor();
    Edge* edge = ::new (edge_data() + i) Edge;
    edge->index = static_cast<std::uint32_t>(i);
    if (is_needed(call, needs, i)) {
      edge->source = input.link();
      edge->output = input.output_index();
    }
    if ((reads.inputs & bit(i)) != 0) {
      ::new (residual++)
          Residual{input.array(), version_of(*input.array()->storage()),
                   static_cast<std::uint16_t>(i)};
    }
    if (keeps_shape(reads, call, i, output_shape)) {
      *word++ = static_cast<std::int64_t>(i) * 16 + input.shape().rank();
      word = std::copy(input.shape().begin(), input.shape().end(), word);
    }
  }
  for (std::uint16_t k = 0; k < call.op.outputs; ++k) {
    if ((reads.outputs & bit(k)) != 0) {
      ::new (residual++) Residual{
          nullptr, 0, static_cast<std::uint16_t>(Residual::kOutputBit | k)};
    }
  }
  call.op.keep_attrs(shape_data() + shape_words_, call.attrs);
}

void Node::keep(std::span<const base::Ref<tensor::Array>> outputs) noexcept {
  if (is_cleared_) {
    return;
  }
  for (Residual& residual : std::span(residual_data(), residual_count_)) {
    if ((residual.position & Residual::kOutputBit) != 0) {
      residual.array = outputs[residual.position ^ Residual::kOutputBit];
      residual.version = version_of(*residual.array->storage());
    }
  }
}

void Node::finish() noexcept {
  if (!is_cleared_) {
    join_uses();
  }
}

void check_of_trace(const char* what, const Node& node) {
  const Trace* current = trace();
  if (current == nullptr) {
    return;
  }
  const std::optional<std::uint64_t> sequence = node.sequence_if_available();
  if (sequence && *sequence <= current->since()) {
    base::raise<TraceError>(
        "{}: '{}' was recorded at {}, before the step that is traced, and no "
        "run would ask it again; do it outside",
        what, node.op().name, base::format_site(node.site()));
  }
}

Tensor Node::grad(std::uint32_t output) const {
  check_of_trace("grad", *this);
  return extras() != nullptr ? extras()->kept_grad(output) : Tensor();
}

Bytes Node::footprint() const noexcept {
  return static_cast<Bytes>(kNodeHeader + input_count_ * sizeof(Edge) +
                            residual_count_ * sizeof(Residual) +
                            shape_words_ * sizeof(std::int64_t) + attr_bytes_);
}

const Residual* Node::find(std::uint16_t position) const noexcept {
  for (const Residual& residual : residuals()) {
    if (residual.position == position) {
      return &residual;
    }
  }
  return nullptr;
}

Shape Node::input_shape(int i, const Shape& fallback,
                        std::uint16_t& cursor) const noexcept {
  if (const Residual* residual = find(static_cast<std::uint16_t>(i))) {
    return residual->array->shape();
  }
  const std::int64_t* words = shape_data();
  if (cursor != 0 && words[cursor] / 16 > i) {
    cursor = 0;
  }
  for (std::uint16_t at = cursor; at < shape_words_;) {
    const std::int64_t input = words[at] / 16;
    const auto rank = static_cast<std::size_t>(words[at] % 16);
    if (input > i) {
      break;
    }
    cursor = at;
    if (input == i) {
      return Shape(std::span(words + at + 1, rank));
    }
    at = static_cast<std::uint16_t>(at + 1 + rank);
  }
  return fallback;
}

void Node::check_versions() const {
  for (const Residual& residual : residuals()) {
    const tensor::Storage& storage = *residual.array->storage();
    if (version_of(storage) != residual.version) {
      base::raise<GraphError>(
          "backward: '{}' recorded at {} needs a value that was overwritten at "
          "{}; write to a copy, or call backward first",
          op_->name, base::format_site(site()),
          base::format_site(written_at(storage)));
    }
  }
}

}  // namespace neap::graph
