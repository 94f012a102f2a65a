// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/graph/hooks.hpp"

#include <algorithm>

#include "neap/base/raise.hpp"
#include "neap/graph/own_handle.hpp"
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

Tensor Hook::call(const Tensor& grad) {
  // It may remove itself: the closure stays until it has returned.
  class Running {
   public:
    explicit Running(Hook& hook) noexcept : hook_(hook) {
      hook_.is_running_ = true;
    }
    ~Running() {
      hook_.is_running_ = false;
      if (hook_.is_removed_) {
        hook_.body_ = nullptr;
      }
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    Hook& hook_;
  };
  const Running running(*this);
  return body_->call(grad);
}

void Hook::remove() noexcept {
  is_removed_ = true;
  if (!is_running_) {
    body_ = nullptr;
  }
}

bool Extras::has(Hook::When when, std::uint32_t output) const noexcept {
  return std::any_of(hooks_.begin(), hooks_.end(), [&](const auto& hook) {
    return hook->is_for(when, output);
  });
}

Tensor Extras::run_hooks(Hook::When when, std::uint32_t output,
                         Tensor grad) const {
  const std::size_t count = hooks_.size();  // a hook may register others
  for (std::size_t i = 0; i < count; ++i) {
    const base::Ref<Hook> hook = hooks_[i];
    if (!hook->is_for(when, output)) {
      continue;
    }
    Tensor changed = hook->call(grad);
    if (!changed.defined() || when == Hook::When::kAfterAccumulate) {
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
  if (!keeps_grad(output)) {
    kept_.push_back({output, Tensor()});
  }
}

bool Extras::keeps_grad(std::uint32_t output) const noexcept {
  return std::any_of(kept_.begin(), kept_.end(),
                     [&](const Kept& kept) { return kept.output == output; });
}

Tensor Extras::kept_grad(std::uint32_t output) const {
  for (const Kept& kept : kept_) {
    if (kept.output == output) {
      return copy_of(kept.grad);
    }
  }
  return {};
}

void Extras::set_kept_grad(std::uint32_t output, Tensor grad) noexcept {
  for (Kept& kept : kept_) {
    if (kept.output == output) {
      exchange(kept.grad, grad);
    }
  }
}

memory::Vector<base::Ref<Hook>> hooks_of(const Vertex& vertex) {
  memory::Vector<base::Ref<Hook>> out;
  if (const Extras* extras = vertex.extras()) {
    for (const base::Ref<Hook>& hook : extras->hooks()) {
      if (hook->body() != nullptr) {
        out.push_back(hook);
      }
    }
  }
  return out;
}

bool has_hooks(const Vertex& vertex,
               std::span<const base::Ref<Hook>> hooks) noexcept {
  std::size_t at = 0;
  if (const Extras* extras = vertex.extras()) {
    for (const base::Ref<Hook>& hook : extras->hooks()) {
      if (hook->body() == nullptr) {
        continue;
      }
      if (at == hooks.size() || !(hooks[at] == hook)) {
        return false;
      }
      ++at;
    }
  }
  return at == hooks.size();
}

void keep_hooks(const Vertex& vertex,
                std::span<const base::Ref<Hook>> hooks) noexcept {
  if (const Extras* extras = vertex.extras()) {
    for (std::size_t i = 0; i < extras->hooks().size(); ++i) {
      const base::Ref<Hook> hook = extras->hooks()[i];
      if (std::find(hooks.begin(), hooks.end(), hook) == hooks.end()) {
        hook->remove();
      }
    }
  }
}

base::Ref<Hook> add_hook(const Tensor& t, Hook::When when,
                         memory::Owned<HookBody> body, const CallSite& site) {
  Vertex& vertex = vertex_of("register_hook", t);
  if (when == Hook::When::kAfterAccumulate && !vertex.is_leaf()) {
    raise<GraphError>(
        "register_post_accumulate_hook: only a leaf's gradient is accumulated, "
        "use register_hook for the result of an op");
  }
  const base::SiteId where = base::intern(site);
  if (Trace* current = trace(); current != nullptr && vertex.is_leaf()) {
    current->on_hooks(static_cast<Leaf&>(vertex));
  }
  Extras& extras = vertex.need_extras();
  auto hook = Hook::create(vertex.domain(),
                           memory::current_tag(memory::Category::kGraph, where),
                           0, std::move(body), when, t.output_index(), where);
  extras.add(hook);
  return hook;
}

}  // namespace neap::graph

namespace neap {

void retain_grad(const Tensor& t) {
  graph::Vertex& vertex = graph::vertex_of("retain_grad", t);
  if (!vertex.is_leaf()) {
    vertex.need_extras().keep_grad(t.output_index());
  }
}

}  // namespace neap
