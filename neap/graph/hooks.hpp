// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Hooks: functions of the user's that a backward calls on a gradient; and
// gradients that are kept of results. They belong to the tensor's vertex of the
// graph and end with it; closures are in the domain's memory.
//
// Thread rule: hooks may be registered and removed in any thread, while others
// differentiate through the same tensor. A pass calls the hooks that were
// registered when it came to the tensor. A closure that several threads come
// to at once is called by all of them: it must stand that.
#pragma once

#include <atomic>
#include <concepts>
#include <span>

#include "neap/base/function_ref.hpp"
#include "neap/base/spin_lock.hpp"
#include "neap/memory/containers.hpp"
#include "neap/memory/counted.hpp"
#include "neap/tensor/execution.hpp"
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
  /// The bytes of the closure, for reports that look for handles in it.
  virtual std::span<const std::byte> bytes() const noexcept = 0;
};

class NEAP_API Hook : public memory::Counted<Hook> {
 public:
  enum class When : std::uint8_t { kOnGrad, kAfterAccumulate };

  // Created by register_hook.
  Hook(memory::Owned<HookBody> body, When when, std::uint32_t output,
       base::SiteId site) noexcept
      : body_(std::move(body)), when_(when), output_(output), site_(site) {}

  /// The closure's result; undefined when the hook was removed.
  Tensor call(const Tensor& grad);
  /// Calls visit(const HookBody&), unless the hook was removed.
  template <class Visit>
  void visit_body(Visit&& visit) {
    if (const Use use(*this); use.body() != nullptr) {
      visit(static_cast<const HookBody&>(*use.body()));
    }
  }
  /// No call begins from now on; the closure ends with the last one that runs.
  /// RETURNS: false when it was removed before.
  bool remove() noexcept;

  bool is_removed() const noexcept {
    return is_removed_.load(std::memory_order_relaxed);
  }
  /// Registered by a step while it was traced.
  bool is_of_trace() const noexcept { return is_of_trace_; }
  bool is_for(When when, std::uint32_t output) const noexcept {
    return !is_removed() && when_ == when && output_ == output;
  }
  base::SiteId site() const noexcept { return site_; }
  /// Larger than that of every hook registered on the tensor before.
  std::uint64_t number() const noexcept { return number_; }

 private:
  friend class Extras;

  // Keeps the closure: it may be removed meanwhile, by itself too.
  class NEAP_API Use {
   public:
    explicit Use(Hook& hook) noexcept;
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    HookBody* body() const noexcept { return body_; }  // null: removed

   private:
    Hook& hook_;
    HookBody* body_;
  };

  memory::Owned<HookBody> body_;  // null: removed, and in nobody's use
  base::SpinLock lock_;           // guards body_ and uses_
  std::atomic<bool> is_removed_{false};
  const bool is_of_trace_ = tensor::thread_execution().trace != nullptr;
  When when_;
  std::uint32_t uses_ = 0;
  std::uint32_t output_;
  base::SiteId site_;         // line that registered it
  std::uint64_t number_ = 0;  // set once, when it is listed
};

/// Rare parts of a vertex: hooks, and gradients kept of a node's results.
class NEAP_API Extras : public memory::Counted<Extras> {
 public:
  Extras(memory::Domain& domain, const memory::Tag& tag) noexcept
      : hooks_(memory::Allocator<base::Ref<Hook>>(domain, tag)),
        kept_(memory::Allocator<Kept>(domain, tag)),
        tag_(tag) {}

  /// The hooks that are registered now. THROWS: OutOfMemory.
  memory::Vector<base::Ref<Hook>> hooks() const;
  /// THROWS: OutOfMemory, with nothing changed.
  void add(base::Ref<Hook> hook);
  /// Removes a hook from the list too.
  void remove(Hook& hook) noexcept;
  bool has(Hook::When when, std::uint32_t output) const noexcept;
  bool holds(std::span<const base::Ref<Hook>> hooks) const noexcept;
  base::Ref<Hook> other_than(
      std::span<const base::Ref<Hook>> hooks) const noexcept;
  /// Calls visit for each hook that nothing but this list refers to.
  void visit_sole(base::FunctionRef<void(HookBody&)> visit) const;
  /// The gradient after all hooks. THROWS: ShapeError when one gives another
  /// shape or dtype; what a hook throws.
  Tensor run_hooks(Hook::When when, std::uint32_t output, Tensor grad) const;
  /// The vertex ends: hooks and kept gradients are freed, whoever still refers
  /// to this.
  void close() noexcept;

  /// Asks that backward keep the gradient of an output. THROWS: OutOfMemory.
  void keep_grad(std::uint32_t output);
  bool keeps_grad(std::uint32_t output) const noexcept;
  Tensor kept_grad(std::uint32_t output) const;
  void set_kept_grad(std::uint32_t output, Tensor grad) noexcept;

 private:
  struct Kept {
    std::uint32_t output;
    base::Ref<tensor::Body> grad;  // not a handle, of which a trace would hear
  };
  memory::Vector<base::Ref<Hook>> no_hooks() const {
    return memory::Vector<base::Ref<Hook>>(
        memory::Allocator<base::Ref<Hook>>(domain(), tag_));
  }
  memory::Vector<Kept> none_kept() const {
    return memory::Vector<Kept>(memory::Allocator<Kept>(domain(), tag_));
  }
  base::Ref<Hook> next(std::uint64_t after, std::uint64_t last, Hook::When when,
                       std::uint32_t output) const noexcept;

  mutable base::SpinLock lock_;            // guards all below
  memory::Vector<base::Ref<Hook>> hooks_;  // hooks ordered by number
  std::size_t removed_ = 0;                // number of removed hooks
  std::uint64_t last_number_ = 0;
  memory::Vector<Kept> kept_;
  const memory::Tag tag_;  // tag of both lists; read without the lock
};

/// A hook, and the list that it is in.
struct RegisteredHook {
  base::Ref<Extras> list;
  base::Ref<Hook> hook;
};

/// No call of the hook begins from now on. In a trace, whose program would not
/// remove it again, one that was there before the step stays, and the trace is
/// refused.
NEAP_API void remove_hook(const RegisteredHook& registered) noexcept;

class Vertex;

/// The hooks that are there, in the order in which they are called.
/// THROWS: OutOfMemory.
NEAP_API memory::Vector<base::Ref<Hook>> hooks_of(const Vertex& vertex);
/// Whether the hooks are these. Allocates nothing.
NEAP_API bool has_hooks(const Vertex& vertex,
                        std::span<const base::Ref<Hook>> hooks) noexcept;
/// Whether there is a hook other than these. Allocates nothing.
NEAP_API bool has_other_hooks(const Vertex& vertex,
                              std::span<const base::Ref<Hook>> hooks) noexcept;
/// Removes all hooks but these.
NEAP_API void keep_hooks(const Vertex& vertex,
                         std::span<const base::Ref<Hook>> hooks) noexcept;

/// Calls visit for the closures of hooks that are reached through `t` alone: no
/// other handle, node, hook's handle or running call leads to them. A collector
/// of cycles needs it: a closure may itself hold `t`. Allocates nothing, and
/// tells a trace nothing. LOCKS: the list of hooks, while visit runs.
NEAP_API void visit_sole_hooks(const Tensor& t,
                               base::FunctionRef<void(HookBody&)> visit);

/// THROWS: GraphError when `t` requires no grad; OutOfMemory.
NEAP_API RegisteredHook add_hook(const Tensor& t, Hook::When when,
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
  const F& function() const noexcept { return function_; }

 private:
  F function_;
};

}  // namespace neap::graph

namespace neap {

/// The result of register_hook: it may be dropped; the hook stays.
class NEAP_API HookHandle {
 public:
  HookHandle() = default;
  explicit HookHandle(graph::RegisteredHook registered) noexcept
      : registered_(std::move(registered)) {}
  /// No call of the hook begins from now on, in any thread, and its closure is
  /// destroyed (where it runs: at the end of the last call). A step that is
  /// compiled may remove the hooks that it registers; the call that finds it
  /// removing another is refused, and the hook stays.
  void remove() noexcept {
    if (registered_.hook) {
      graph::remove_hook(registered_);
    }
  }

 private:
  graph::RegisteredHook registered_;
};

/// Calls fn(gradient) in every backward or grad that passes `t`: for a leaf on
/// what this pass gives it, before that is added to its gradient; for a result
/// when its cotangent is complete, before the rule of its op. What fn returns
/// replaces the gradient, unless it is undefined or fn returns nothing. Several
/// are called in the order of registration. What fn throws comes out of the
/// backward, which then leaves every gradient unchanged. fn runs in the thread
/// of the backward, with the grad mode that the pass has: ops in it are
/// recorded when create_graph was asked for, and never otherwise (an EnableGrad
/// in fn records them all the same). The gradient that it is given is no other
/// tensor's memory: writing to it changes what is passed on, and nothing else.
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

/// Calls fn(gradient) after a backward has completed a leaf's gradient, so that
/// an update may use it and free it. It runs with the grad mode of the pass, as
/// register_hook says: an update in it is not recorded. What it throws comes
/// out of the backward, when all gradients are complete.
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
/// THROWS: GraphError when `t` needs no grad, or is in a segment; OutOfMemory.
NEAP_API void retain_grad(const Tensor& t);

}  // namespace neap
