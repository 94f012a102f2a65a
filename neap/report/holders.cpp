// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/holders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "neap/base/bytes.hpp"
#include "neap/graph/hooks.hpp"
#include "neap/memory/composite.hpp"
#include "neap/report/ledger_rows.hpp"
#include "neap/tensor/storage_tag.hpp"

namespace neap::report {

using graph::Node;
using graph::Vertex;

namespace {

// nullptr for a composite.
const tensor::Body* body_of(const memory::ScopeMember& member) noexcept {
  return dynamic_cast<const tensor::Body*>(&member);
}

std::string_view op_of(const Vertex& vertex) noexcept {
  return vertex.is_leaf() ? std::string_view{}
                          : static_cast<const Node&>(vertex).op().name;
}

}  // namespace

namespace {

// Bodies, and what they meant at one instant.
class Bodies final : public memory::MemberVisitor {
 public:
  struct Seen {
    const tensor::Body* body;
    const memory::Scope* scope;
    base::Ref<tensor::Array> array;
    base::Ref<tensor::GraphLink> link;
  };

  void prepare(std::size_t count) override {
    seen_.clear();
    seen_.reserve(count);
  }
  void see(memory::ScopeMember& member,
           const memory::Scope* scope) noexcept override {
    if (const tensor::Body* body = body_of(member)) {
      seen_.push_back({body, scope, body->array(), body->link()});
    }
  }
  std::span<Seen> seen() noexcept { return seen_; }

 private:
  memory::Vector<Seen> seen_;
};

}  // namespace

Holders::Holders()
    : members_(memory::Allocator<memory::MemberRef>(report_domain(), {})),
      arrays_(memory::Allocator<base::Ref<tensor::Array>>(report_domain(), {})),
      links_(
          memory::Allocator<base::Ref<tensor::GraphLink>>(report_domain(), {})),
      sources_(memory::Allocator<Node::Source>(report_domain(), {})),
      residuals_(memory::Allocator<graph::Residual>(report_domain(), {})),
      gradients_(memory::Allocator<Tensor>(report_domain(), {})),
      things_(memory::Allocator<Thing>(report_domain(), {})),
      holds_(memory::Allocator<Hold>(report_domain(), {})),
      queue_(memory::Allocator<std::uint32_t>(report_domain(), {})),
      index_(memory::Allocator<std::pair<const void* const, std::uint32_t>>(
          report_domain(), {})) {
  const memory::UseDomain use(report_domain());
  add_bodies();
  for (std::uint32_t i = 0; i < things_.size(); ++i) {
    things_[i].holds = static_cast<std::uint32_t>(holds_.size());
    if (things_[i].kind == Kind::kBody) {
      open_body(i);
    } else if (things_[i].kind == Kind::kVertex) {
      open_vertex(i);
    }
  }
  reach();
}

const tensor::Body& Holders::body(std::uint32_t i) const noexcept {
  return *static_cast<const tensor::Body*>(things_[i].address);
}

const Vertex& Holders::vertex(std::uint32_t i) const noexcept {
  return *static_cast<const Vertex*>(things_[i].address);
}

std::span<const Holders::Hold> Holders::holds_of(
    std::uint32_t i) const noexcept {
  const std::size_t end =
      i + 1 < things_.size() ? things_[i + 1].holds : holds_.size();
  return std::span(holds_).subspan(things_[i].holds, end - things_[i].holds);
}

// The reference of a part's composite counts as a handle of the program.
void Holders::add_bodies() {
  Bodies bodies;
  members_ = memory::live_members(&bodies);
  for (Bodies::Seen& seen : bodies.seen()) {
    Thing& thing = things_[add(Kind::kBody, seen.body)];
    ++thing.inside;  // members_ holds it too
    if (thing.array == nullptr) {
      thing.array = seen.array.get();
      thing.vertex = static_cast<const Vertex*>(seen.link.get());
      thing.scope = seen.scope;
    }
    arrays_.push_back(std::move(seen.array));
    links_.push_back(std::move(seen.link));
  }
}

// --- what is there, and what holds what -------------------------------------

std::uint32_t Holders::add(Kind kind, const void* address) {
  const auto next = static_cast<std::uint32_t>(things_.size());
  const auto [at, is_new] = index_.try_emplace(address, next);
  if (is_new) {
    things_.push_back({.kind = kind, .address = address});
  }
  return at->second;
}

void Holders::note(const Hold& hold) {
  Thing& thing = things_[hold.what];
  if (thing.kind == Kind::kBody) {
    ++thing.inside;
  }
  if (thing.by == kNobody) {
    thing.by = static_cast<std::uint32_t>(holds_.size());
  }
  holds_.push_back(hold);
}

void Holders::hold_array(Hold hold, const tensor::Array& array,
                         const graph::Op* maker) {
  hold.what = add(Kind::kStorage, array.storage().get());
  Thing& thing = things_[hold.what];
  thing.array = thing.array == nullptr ? &array : thing.array;
  thing.maker = thing.maker == nullptr ? maker : thing.maker;
  note(hold);
}

void Holders::hold_body(Hold hold, const void* body) {
  hold.what = add(Kind::kBody, body);
  note(hold);
}

void Holders::scan(Hold hold, std::span<const std::byte> bytes) {
  for (std::size_t at = 0; at + sizeof(void*) <= bytes.size();
       at += sizeof(void*)) {
    const void* word = nullptr;
    std::memcpy(&word, bytes.data() + at, sizeof(word));
    const auto found = index_.find(word);
    if (found != index_.end() && things_[found->second].kind == Kind::kBody) {
      hold.what = found->second;
      note(hold);
    }
  }
}

void Holders::open_body(std::uint32_t i) {
  const Thing body = things_[i];
  if (body.array == nullptr) {  // revoked by its scope
    return;
  }
  const bool is_result = body.vertex != nullptr && !body.vertex->is_leaf();
  hold_array(
      {.by = i, .how = Holder::Kind::kHandles}, *body.array,
      is_result ? &static_cast<const Node*>(body.vertex)->op() : nullptr);
  if (body.vertex != nullptr) {
    note({.by = i,
          .what = add(Kind::kVertex, body.vertex),
          .how = Holder::Kind::kHandles});
  }
}

void Holders::open_vertex(std::uint32_t i) {
  const Vertex& vertex = this->vertex(i);
  if (!vertex.is_leaf()) {
    open_node(i);
  }
  const int outputs =
      vertex.is_leaf() ? 1 : static_cast<const Node&>(vertex).outputs();
  for (int k = 0; k < outputs; ++k) {
    Tensor grad = vertex.grad(static_cast<std::uint32_t>(k));
    if (!grad.defined()) {
      continue;
    }
    hold_body({.by = i, .how = Holder::Kind::kGradient}, grad.shared().get());
    Thing& body = things_[index_.find(grad.shared().get())->second];
    ++body.inside;  // gradients_ holds it too
    if (body.array == nullptr) {
      body.array = grad.array().get();
      body.vertex = static_cast<const Vertex*>(grad.link().get());
      arrays_.push_back(grad.array());
      links_.push_back(grad.link());
    }
    gradients_.push_back(std::move(grad));
  }
  open_hooks(i);
}

void Holders::open_hooks(std::uint32_t i) {
  const graph::Extras* extras = vertex(i).extras();
  if (extras == nullptr) {
    return;
  }
  for (const base::Ref<graph::Hook>& hook : extras->hooks()) {
    hook->visit_body([&](const graph::HookBody& closure) {
      scan({.by = i, .how = Holder::Kind::kHook, .registered = hook->site()},
           closure.bytes());
    });
  }
}

void Holders::open_node(std::uint32_t i) {
  const auto& node = static_cast<const Node&>(vertex(i));
  const std::size_t first_source = sources_.size();
  const std::size_t first_residual = residuals_.size();
  node.look(sources_, residuals_);
  const auto sources = std::span(sources_).subspan(first_source);
  for (const graph::Residual& residual :
       std::span(residuals_).subspan(first_residual)) {
    const bool is_output =
        (residual.position & graph::Residual::kOutputBit) != 0;
    const graph::Op* maker = is_output ? &node.op() : nullptr;
    if (!is_output) {
      const Vertex* source = sources[residual.position].vertex();
      maker = source != nullptr && !source->is_leaf()
                  ? &static_cast<const Node*>(source)->op()
                  : nullptr;
    }
    hold_array({.by = i,
                .how = Holder::Kind::kResidual,
                .position = residual.position},
               *residual.array, maker);
  }
  std::uint16_t position = 0;
  for (const Node::Source& source : sources) {
    if (source.vertex() != nullptr) {
      note({.by = i,
            .what = add(Kind::kVertex, source.vertex()),
            .how = Holder::Kind::kMadeFrom,
            .position = position});
    }
    ++position;
  }
  scan({.by = i, .how = Holder::Kind::kAttributes}, node.look_at_attrs());
}

// --- the way back -----------------------------------------------------------

// First from the bodies that the program holds, all of them at once, so that
// every chain is as short as can be. What is left is held by cycles, or by what
// is no handle: the first hold that was found stands for those.
void Holders::reach() {
  for (std::uint32_t i = 0; i < things_.size(); ++i) {
    Thing& thing = things_[i];
    if (thing.kind == Kind::kBody) {
      const std::uint32_t all = body(i).references();
      thing.outside = all > thing.inside ? all - thing.inside : 0;
    }
    if (thing.outside > 0) {
      thing.is_reached = true;
      thing.by = kNobody;
      queue_.push_back(i);
    }
  }
  for (std::size_t at = 0; at < queue_.size(); ++at) {
    for (const Hold& hold : holds_of(queue_[at])) {
      Thing& thing = things_[hold.what];
      if (!thing.is_reached) {
        thing.is_reached = true;
        thing.by = static_cast<std::uint32_t>(&hold - holds_.data());
        queue_.push_back(hold.what);
      }
    }
  }
}

// Only what is not reached can come back to itself.
memory::Vector<Holder> Holders::chain_of(const Held& held) const {
  const memory::UseDomain use(report_domain());
  memory::Vector<Holder> chain;
  std::unordered_set<std::uint32_t, std::hash<std::uint32_t>, std::equal_to<>,
                     memory::Allocator<std::uint32_t>>
      passed;
  for (std::uint32_t i = held.thing;;) {
    const Thing& thing = things_[i];
    if (thing.by == kNobody) {
      chain.push_back(outside(i));
      return chain;
    }
    if (!thing.is_reached && !passed.insert(i).second) {
      chain.emplace_back().kind = Holder::Kind::kCycle;
      return chain;
    }
    const Hold& hold = holds_[thing.by];
    if (hold.how != Holder::Kind::kHandles) {
      chain.push_back(describe(hold));
    }
    i = hold.by;
  }
}

memory::Vector<std::uint32_t> Holders::bodies_of(
    const memory::Scope& scope) const {
  const memory::UseDomain use(report_domain());
  memory::Vector<std::uint32_t> out;
  for (std::uint32_t i = 0; i < things_.size(); ++i) {
    if (things_[i].scope == &scope && things_[i].array != nullptr) {
      out.push_back(i);
    }
  }
  return out;
}

Holders::Held Holders::held(std::uint32_t i) const {
  const Thing& thing = things_[i];
  Held held;
  held.thing = i;
  if (thing.kind == Kind::kBody) {
    held.storage = thing.array->storage().get();
    held.shape = thing.array->shape();
    held.dtype = thing.array->dtype();
    held.op = outside(i).op;
  } else if (thing.kind == Kind::kStorage) {
    held.storage = static_cast<const tensor::Storage*>(thing.address);
    held.shape = thing.array->shape();
    held.dtype = thing.array->dtype();
    held.op = thing.maker != nullptr ? thing.maker->name : "";
  } else {
    held.vertex = &vertex(i);
    held.op = op_of(vertex(i));
  }
  return held;
}

Holder Holders::describe(const Hold& hold) const {
  const Vertex& by = vertex(hold.by);
  Holder holder;
  holder.kind = hold.how;
  holder.op = op_of(by);
  holder.owner = by.domain().path_of(by.owner());
  holder.site = by.site();
  holder.is_output = (hold.position & graph::Residual::kOutputBit) != 0;
  holder.index = hold.position & ~graph::Residual::kOutputBit;
  if (hold.how == Holder::Kind::kHook) {
    holder.registered = hold.registered;
  }
  return holder;
}

Holder Holders::outside(std::uint32_t i) const {
  Holder holder;
  const Thing& thing = things_[i];
  if (thing.kind != Kind::kBody || thing.array == nullptr) {
    return holder;
  }
  const memory::Tag tag = tensor::tag_of(*thing.array->storage());
  const Vertex* vertex = thing.vertex;
  holder.kind = Holder::Kind::kHandles;
  holder.count = thing.outside;
  holder.body = &body(i);
  holder.category = tag.category;
  holder.owner = body(i).domain().path_of(tag.owner);
  holder.site = tag.site;
  if (vertex != nullptr && !vertex->is_leaf()) {
    holder.op = op_of(*vertex);
    holder.site = vertex->site();
  }
  return holder;
}

// --- as text ----------------------------------------------------------------

namespace {

std::string who(const Holder& holder) {
  if (!holder.op.empty()) {
    return fmt::format("'{}' ({})", holder.op, base::format_site(holder.site));
  }
  return holder.owner.empty() ? fmt::format("the leaf made at {}",
                                            base::format_site(holder.site))
                              : fmt::format("the leaf '{}'", holder.owner);
}

std::string handles(const Holder& holder) {
  using memory::Category;
  std::string out = fmt::format("{} handle{} of ", holder.count,
                                holder.count == 1 ? "" : "s");
  const bool is_named = holder.category == Category::kParameters ||
                        holder.category == Category::kBuffers ||
                        holder.category == Category::kOptimizerState;
  if (is_named && !holder.owner.empty()) {
    return out + fmt::format("{} '{}'", name_of(holder.category), holder.owner);
  }
  return out + fmt::format("the {} made at {}",
                           holder.op.empty() ? "tensor"
                                             : fmt::format("'{}'", holder.op),
                           base::format_site(holder.site));
}

}  // namespace

std::string format(const Holder& holder) {
  switch (holder.kind) {
    case Holder::Kind::kHandles:
      return handles(holder);
    case Holder::Kind::kResidual:
      return fmt::format("residual '{} {}' of {}",
                         holder.is_output ? "output" : "input", holder.index,
                         who(holder));
    case Holder::Kind::kMadeFrom:
      return fmt::format("needed by {}", who(holder));
    case Holder::Kind::kGradient:
      return fmt::format("the gradient of {}", who(holder));
    case Holder::Kind::kHook:
      return fmt::format("the closure of the hook registered at {} on {}",
                         base::format_site(holder.registered), who(holder));
    case Holder::Kind::kAttributes:
      return fmt::format("the attributes of {}", who(holder));
    case Holder::Kind::kCycle:
      return "which it holds itself: a cycle, that nothing outside holds";
    case Holder::Kind::kUnknown:
      break;
  }
  return "something that is no handle";
}

}  // namespace neap::report
