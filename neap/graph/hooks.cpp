// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/graph/hooks.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>

#include "neap/base/raise.hpp"
#include "neap/graph/node.hpp"
#include "neap/graph/own_handle.hpp"
#include "neap/graph/replay.hpp"
#include "neap/graph/trace.hpp"
#include "neap/graph/vertex.hpp"

namespace neap::graph {
namespace {

using base::raise;

Vertex& vertex_of(const char* what, const Tensor& t) {
  if (!t.requires_grad()) {
    raise<GraphError>("{}: the tensor requires no grad", what);
  }
  return static_cast<Vertex&>(*t.link());
}

}  // namespace

// --- one hook --------------------------------------------------------------

Hook::Use::Use(Hook& hook) noexcept : hook_(hook) {
  const std::lock_guard guard(hook.lock_);
  body_ = hook.is_removed() ? nullptr : hook.body_.get();
  hook.uses_ += body_ != nullptr ? 1 : 0;
}

Hook::Use::~Use() {
  memory::Owned<HookBody> ended;  // outside the lock: it is the user's
  if (body_ != nullptr) {
    const std::lock_guard guard(hook_.lock_);
    --hook_.uses_;
    if (hook_.uses_ == 0 && hook_.is_removed()) {
      ended = std::move(hook_.body_);
    }
  }
}

Tensor Hook::call(const Tensor& grad) {
  const Use use(*this);
  return use.body() != nullptr ? use.body()->call(grad) : Tensor();
}

bool Hook::remove() noexcept {
  memory::Owned<HookBody> ended;
  const std::lock_guard guard(lock_);
  if (is_removed_.exchange(true, std::memory_order_relaxed)) {
    return false;
  }
  if (uses_ == 0) {
    ended = std::move(body_);
  }
  return true;
}

// --- the list of a vertex --------------------------------------------------

// Nothing is allocated under the lock: capacity is reserved before it, and
// again where the list has grown meanwhile.
void Extras::add(base::Ref<Hook> hook) {
  memory::Vector<base::Ref<Hook>> room = no_hooks();
  for (;;) {
    std::size_t wanted = 0;
    {
      const std::lock_guard guard(lock_);
      if (room.capacity() > hooks_.size()) {
        room.assign(std::make_move_iterator(hooks_.begin()),
                    std::make_move_iterator(hooks_.end()));
        hooks_.swap(room);
      }
      if (hooks_.size() < hooks_.capacity()) {
        hook->number_ = ++last_number_;
        hooks_.push_back(std::move(hook));
        return;
      }
      wanted = 2 * hooks_.size() + 1;
    }
    room.clear();
    room.reserve(wanted);
  }
}

// Removed hooks leave the list when they are most of it, so that one costs O(1)
// however many there are.
void Extras::remove(Hook& hook) noexcept {
  if (!hook.remove()) {
    return;
  }
  memory::Vector<base::Ref<Hook>> empty = no_hooks();
  const std::lock_guard guard(lock_);
  ++removed_;
  if (2 * removed_ >= hooks_.size()) {
    std::erase_if(hooks_, [](const auto& one) { return one->is_removed(); });
    removed_ = 0;
  }
  if (hooks_.empty()) {
    hooks_.swap(empty);
  }
}

void Extras::close() noexcept {
  memory::Vector<base::Ref<Hook>> hooks = no_hooks();
  memory::Vector<Kept> kept = none_kept();
  const std::lock_guard guard(lock_);
  hooks_.swap(hooks);
  kept_.swap(kept);
}

memory::Vector<base::Ref<Hook>> Extras::hooks() const {
  memory::Vector<base::Ref<Hook>> all = no_hooks();
  for (;;) {
    std::size_t wanted = 0;
    {
      const std::lock_guard guard(lock_);
      wanted = hooks_.size();
      if (wanted <= all.capacity()) {
        all.assign(hooks_.begin(), hooks_.end());
        return all;
      }
    }
    all.reserve(wanted);
  }
}

bool Extras::has(Hook::When when, std::uint32_t output) const noexcept {
  const std::lock_guard guard(lock_);
  return std::any_of(hooks_.begin(), hooks_.end(), [&](const auto& hook) {
    return hook->is_for(when, output);
  });
}

// The first hook after one with the number `after`, up to `last`.
base::Ref<Hook> Extras::next(std::uint64_t after, std::uint64_t last,
                             Hook::When when,
                             std::uint32_t output) const noexcept {
  const std::lock_guard guard(lock_);
  auto at = std::partition_point(
      hooks_.begin(), hooks_.end(),
      [&](const auto& hook) { return hook->number() <= after; });
  for (; at != hooks_.end() && (*at)->number() <= last; ++at) {
    if ((*at)->is_for(when, output)) {
      return *at;
    }
  }
  return nullptr;
}

Tensor Extras::run_hooks(Hook::When when, std::uint32_t output,
                         Tensor grad) const {
  std::uint64_t last = 0;  // a hook may register others
  {
    const std::lock_guard guard(lock_);
    last = last_number_;
  }
  std::uint64_t done = 0;
  while (const base::Ref<Hook> hook = next(done, last, when, output)) {
    done = hook->number();
    Tensor changed = hook->call(grad);
    if (when == Hook::When::kAfterAccumulate || !changed.is_given()) {
      continue;
    }
    if (changed.spec() != grad.spec()) {
      raise<ShapeError>(
          "backward: the hook registered at {} gives {} {} for a gradient {} "
          "{}",
          base::format_site(hook->site()), name_of(changed.dtype()),
          format_shape(changed.shape()), name_of(grad.dtype()),
          format_shape(grad.shape()));
    }
    grad = std::move(changed);
  }
  return grad;
}

void Extras::keep_grad(std::uint32_t output) {
  memory::Vector<Kept> room = none_kept();
  for (;;) {
    std::size_t wanted = 0;
    {
      const std::lock_guard guard(lock_);
      const bool is_kept =
          std::any_of(kept_.begin(), kept_.end(),
                      [&](const Kept& kept) { return kept.output == output; });
      if (is_kept) {
        return;
      }
      if (room.capacity() > kept_.size()) {
        room.assign(std::make_move_iterator(kept_.begin()),
                    std::make_move_iterator(kept_.end()));
        room.push_back({output, nullptr});
        kept_.swap(room);
        return;
      }
      wanted = kept_.size() + 1;
    }
    room.clear();
    room.reserve(wanted);
  }
}

bool Extras::keeps_grad(std::uint32_t output) const noexcept {
  const std::lock_guard guard(lock_);
  return std::any_of(kept_.begin(), kept_.end(),
                     [&](const Kept& kept) { return kept.output == output; });
}

Tensor Extras::kept_grad(std::uint32_t output) const {
  const std::lock_guard guard(lock_);
  for (const Kept& kept : kept_) {
    if (kept.output == output) {
      base::Ref<tensor::Body> body = kept.grad;
      Tensor grad;
      grad.exchange_shared(body);
      return grad;
    }
  }
  return {};
}

// The old one goes with the argument, outside the lock.
void Extras::set_kept_grad(std::uint32_t output, Tensor grad) noexcept {
  const std::lock_guard guard(lock_);
  for (Kept& kept : kept_) {
    if (kept.output == output) {
      grad.exchange_shared(kept.grad);
    }
  }
}

// Whether these are all that are registered.
bool Extras::holds(std::span<const base::Ref<Hook>> hooks) const noexcept {
  const std::lock_guard guard(lock_);
  std::size_t at = 0;
  for (const base::Ref<Hook>& hook : hooks_) {
    if (hook->is_removed()) {
      continue;
    }
    if (at == hooks.size() || !(hooks[at] == hook)) {
      return false;
    }
    ++at;
  }
  return at == hooks.size();
}

// A hook that is none of these; null: there is none.
base::Ref<Hook> Extras::other_than(
    std::span<const base::Ref<Hook>> hooks) const noexcept {
  const std::lock_guard guard(lock_);
  for (const base::Ref<Hook>& hook : hooks_) {
    if (!hook->is_removed() &&
        std::find(hooks.begin(), hooks.end(), hook) == hooks.end()) {
      return hook;
    }
  }
  return nullptr;
}

void Extras::visit_sole(base::FunctionRef<void(HookBody&)> visit) const {
  const std::lock_guard guard(lock_);
  for (const base::Ref<Hook>& hook : hooks_) {
    if (hook->is_unique() && !hook->is_removed()) {
      visit(*hook->body_);
    }
  }
}

void visit_sole_hooks(const Tensor& t,
                      base::FunctionRef<void(HookBody&)> visit) {
  const base::Ref<tensor::Body>& body = t.shared();
  if (!body || !body->is_unique() || !body->link() ||
      !is_last_reference(body->link())) {
    return;
  }
  const Extras* extras = static_cast<Vertex&>(*body->link()).extras();
  if (extras != nullptr && extras->is_unique()) {
    extras->visit_sole(visit);
  }
}

memory::Vector<base::Ref<Hook>> hooks_of(const Vertex& vertex) {
  memory::Vector<base::Ref<Hook>> out;
  if (const Extras* extras = vertex.extras()) {
    out = extras->hooks();
    std::erase_if(out, [](const auto& hook) { return hook->is_removed(); });
  }
  return out;
}

bool has_hooks(const Vertex& vertex,
               std::span<const base::Ref<Hook>> hooks) noexcept {
  const Extras* extras = vertex.extras();
  return extras != nullptr ? extras->holds(hooks) : hooks.empty();
}

bool has_other_hooks(const Vertex& vertex,
                     std::span<const base::Ref<Hook>> hooks) noexcept {
  const Extras* extras = vertex.extras();
  return extras != nullptr && extras->other_than(hooks);
}

void keep_hooks(const Vertex& vertex,
                std::span<const base::Ref<Hook>> hooks) noexcept {
  Extras* extras = vertex.extras();
  if (extras == nullptr) {
    return;
  }
  while (const base::Ref<Hook> other = extras->other_than(hooks)) {
    extras->remove(*other);
  }
}

void remove_hook(const RegisteredHook& registered) noexcept {
  Trace* current = trace();
  const Hook& hook = *registered.hook;
  if (current != nullptr && !hook.is_of_trace() && !hook.is_removed()) {
    current->on_hook_removal(hook);
    return;
  }
  registered.list->remove(*registered.hook);
}

// --- for users -------------------------------------------------------------

RegisteredHook add_hook(const Tensor& t, Hook::When when,
                        memory::Owned<HookBody> body, const CallSite& site) {
  Vertex& vertex = vertex_of("register_hook", t);
  if (is_inside_segment(t) && !runs_segment()) {
    refuse_inside_segment("register_hook: the tensor", t);
  }
  if (when == Hook::When::kAfterAccumulate && !vertex.is_leaf()) {
    raise<GraphError>(
        "register_post_accumulate_hook: only a leaf's gradient is accumulated, "
        "use register_hook for the result of an op");
  }
  const base::SiteId where = base::intern(site);
  if (!vertex.is_leaf()) {
    check_of_trace("register_hook", static_cast<const Node&>(vertex));
  } else if (Trace* current = trace()) {
    current->on_hooks(static_cast<Leaf&>(vertex));
  }
  Extras& extras = vertex.need_extras();
  auto hook = Hook::create(vertex.domain(),
                           memory::current_tag(memory::Category::kGraph, where),
                           0, std::move(body), when, t.output_index(), where);
  extras.add(hook);
  return {base::Ref<Extras>::share(&extras), std::move(hook)};
}

}  // namespace neap::graph

namespace neap {

void retain_grad(const Tensor& t) {
  graph::Vertex& vertex = graph::vertex_of("retain_grad", t);
  if (graph::is_inside_segment(t)) {
    graph::refuse_inside_segment("retain_grad: the tensor", t);
  }
  if (!vertex.is_leaf()) {
    graph::check_of_trace("retain_grad",
                          static_cast<const graph::Node&>(vertex));
    vertex.need_extras().keep_grad(t.output_index());
  }
}

}  // namespace neap
