// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Hooks: functions of the user's that a backward calls on a gradient; and
// gradients that are kept of results. They belong to the tensor's place on the
// graph and go with it; closures lie at the door.
#pragma once

#include <concepts>
#include <span>

#include "neap/memory/containers.hpp"
#include "neap/memory/counted.hpp"
#include "neap/tensor/tensor.hpp"

namespace neap::graph {

/// A hook's closure.
class HookBody {
 public:
  HookBody() = default;
  virtual ~HookBody() = default;
  HookBody(const HookBody&) = delete;
  HookBody& operator=(const HookBody&) = delete;
  /// Undefined: the gradient stays as it is.
  virtual Tensor call(const Tensor& grad) = 0;
  /// What the closure holds, for reports that look for handles in it.
  virtual std::span<const std::byte> bytes() const noexcept = 0;
};

class NEAP_API Hook : public memory::Counted<Hook> {
 public:
  enum class When : std::uint8_t { kOnGrad, kAfterAccumulate };

  // Made by register_hook.
  Hook(memory::Owned<HookBody> body, When when, std::uint32_t output,
       base::SiteId site) noexcept
      : body_(std::move(body)), output_(output), site_(site), when_(when) {}

  Tensor call(const Tensor& grad);
  void remove() noexcept;

  bool is_for(When when, std::uint32_t output) const noexcept {
    return body_ && when_ == when && output_ == output;
  }
  const HookBody* body() const noexcept { return body_.get(); }
  base::SiteId site() const noexcept { return site_; }

 private:
  memory::Owned<HookBody> body_;  // null: removed
  std::uint32_t output_;
  base::SiteId site_;  // where it was registered
  When when_;
  bool is_running_ = false;
  bool is_removed_ = false;  // while it runs
};

/// What few vertices have: hooks, and gradients kept of a node's results.
class NEAP_API Extras : public memory::Counted<Extras> {
 public:
  Extras(memory::Domain& domain, const memory::Tag& tag) noexcept
      : hooks_(memory::Allocator<base::Ref<Hook>>(domain, tag)),
        kept_(memory::Allocator<Kept>(domain, tag)) {}

  const memory::Vector<base::Ref<Hook>>& hooks() const noexcept {
    return hooks_;
  }
  void add(base::Ref<Hook> hook) { hooks_.push_back(std::move(hook)); }
  bool has(Hook::When when, std::uint32_t output) const noexcept;
  /// The gradient after all hooks. THROWS: ShapeError when one gives another
  /// shape or dtype; what a hook throws.
  Tensor run_hooks(Hook::When when, std::uint32_t output, Tensor grad) const;

  /// Asks that backward keep the gradient of an output. THROWS: OutOfMemory.
  void keep_grad(std::uint32_t output);
  bool keeps_grad(std::uint32_t output) const noexcept;
  Tensor kept_grad(std::uint32_t output) const;
  void set_kept_grad(std::uint32_t output, Tensor grad) noexcept;

 private:
  struct Kept {
    std::uint32_t output;
    Tensor grad;
  };
  memory::Vector<base::Ref<Hook>> hooks_;
  memory::Vector<Kept> kept_;
};

class Vertex;

/// The hooks that are there, in the order in which they are called.
/// THROWS: OutOfMemory.
NEAP_API memory::Vector<base::Ref<Hook>> hooks_of(const Vertex& vertex);
/// Whether they are these. Asks for no memory.
NEAP_API bool has_hooks(const Vertex& vertex,
                        std::span<const base::Ref<Hook>> hooks) noexcept;

/// Removes those that are none of these.
NEAP_API void keep_hooks(const Vertex& vertex,
                         std::span<const base::Ref<Hook>> hooks) noexcept;

/// THROWS: GraphError when `t` requires no grad; OutOfMemory.
NEAP_API base::Ref<Hook> add_hook(const Tensor& t, Hook::When when,
                                  memory::Owned<HookBody> body,
                                  const CallSite& site);

template <class F>
class HookOf final : public HookBody {
 public:
  explicit HookOf(F function) : function_(std::move(function)) {}
  Tensor call(const Tensor& grad) override {
    if constexpr (std::is_void_v<std::invoke_result_t<F&, const Tensor&>>) {
      function_(grad);
      return {};
    } else {
      return function_(grad);
    }
  }
  std::span<const std::byte> bytes() const noexcept override {
    return std::as_bytes(std::span(&function_, 1));
  }

 private:
  F function_;
};

}  // namespace neap::graph

namespace neap {

/// What register_hook gives: it may be dropped; the hook stays.
class NEAP_API HookHandle {
 public:
  HookHandle() = default;
  explicit HookHandle(base::Ref<graph::Hook> hook) noexcept
      : hook_(std::move(hook)) {}
  /// The hook is called no more, and its closure goes (when it runs: at its
  /// end).
  void remove() noexcept {
    if (hook_) {
      hook_->remove();
    }
  }

 private:
  base::Ref<graph::Hook> hook_;
};

/// Calls fn(gradient) in every backward or grad that passes `t`: for a leaf on
/// what this pass gives it, before that is added to its gradient; for a result
/// when its cotangent is complete, before the rule of its op. What fn returns
/// takes the gradient's place, unless it is undefined or fn returns nothing.
/// Several are called in the order of registration. What fn throws comes out of
/// the backward, which then leaves every gradient as it was.
/// A closure that holds `t` itself keeps it alive for ever: capture what it
/// needs instead.
/// THROWS: GraphError when `t` requires no grad; OutOfMemory.
template <std::invocable<const Tensor&> F>
HookHandle register_hook(const Tensor& t, F fn,
                         CallSite site = CallSite::here()) {
  return HookHandle(
      graph::add_hook(t, graph::Hook::When::kOnGrad,
                      memory::make_owned<graph::HookOf<F>>(
                          memory::Category::kGraph, std::move(fn)),
                      site));
}

/// Calls fn(gradient) after a backward has put a leaf's gradient in place, so
/// that an update may use it and give it back. What it throws comes out of the
/// backward, when all gradients are in place.
/// THROWS: GraphError unless `leaf` is a leaf that requires grad; OutOfMemory.
template <std::invocable<const Tensor&> F>
HookHandle register_post_accumulate_hook(const Tensor& leaf, F fn,
                                         CallSite site = CallSite::here()) {
  return HookHandle(
      graph::add_hook(leaf, graph::Hook::When::kAfterAccumulate,
                      memory::make_owned<graph::HookOf<F>>(
                          memory::Category::kGraph, std::move(fn)),
                      site));
}

/// Asks that backward keep the gradient of a result: t.grad() gives it, as long
/// as a handle to the result lives; several add up. A leaf has it anyway.
/// THROWS: GraphError when `t` requires no grad; OutOfMemory.
NEAP_API void retain_grad(const Tensor& t);

}  // namespace neap
