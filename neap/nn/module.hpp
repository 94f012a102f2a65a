// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Module: base of everything that has named parameters. It owns one registry,
// by reference, so a module can be moved, returned and stored with every name
// right; copying would leave two models with one set of weights, and is refused
// at compile time (cloning.hpp makes deep copies). Children are plain members:
//
//   struct Net : nn::Module {
//     nn::Linear fc1{784, 256}, fc2{256, 10};
//     Net() { register_module("fc1", fc1); register_module("fc2", fc2); }
//     Tensor forward(const Tensor& x) const { return fc2(relu(fc1(x))); }
//   };
//
// Assigning over a child replaces it under the same name. Thread rule: as its
// registry's.
#pragma once

#include <array>
#include <concepts>

#include "neap/nn/registry.hpp"

namespace neap::nn {

class Cloning;

class NEAP_API Module {
 public:
  // A step that is traced moves, assigns over and destroys modules that it
  // made; others stay as they are, and the trace is refused.

  Module(Module&& other) noexcept;
  /// THROWS: as add, when this is part of another module.
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): it renames
  Module& operator=(Module&& other);
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  virtual ~Module();

  // --- names; THROW: OutOfMemory -------------------------------------------

  /// Every parameter once: a module's own before its children's, each in the
  /// order of registration. A tied one is listed under the name that it is tied
  /// to.
  ParameterList parameters() const;
  /// The parameters, one for every name: a tied one several times.
  ParameterList named_parameters() const;
  ParameterList buffers() const;
  /// THROWS: NameError that lists the nearest names.
  Tensor parameter(std::string_view path) const;
  Tensor buffer(std::string_view path) const;
  bool has_parameter(std::string_view path) const noexcept;

  /// Makes the parameter at `path` the same tensor as `home`, whose bytes (and
  /// gradient) then serve both; its own are freed. Tie before constructing an
  /// optimizer.
  /// THROWS: NameError, ShapeError, DTypeError; GraphError unless a parameter.
  void tie(std::string_view path, const Tensor& home);

  // --- mode; of this module and all below ----------------------------------

  void train(bool is_training = true) noexcept;
  void eval() noexcept { train(false); }
  bool is_training() const { return registry().is_training(); }
  /// Parameters no longer get gradients, and existing ones are freed.
  void freeze() noexcept;
  void unfreeze() noexcept;
  /// Frees every gradient.
  void zero_grad() noexcept;

  /// Elements and bytes of parameters(); a tied one counts once.
  std::int64_t parameter_count() const;
  Bytes parameter_bytes() const;

  /// THROWS: UseAfterRelease when moved from.
  Registry& registry() const;

 protected:
  /// THROWS: OutOfMemory.
  Module() : registry_(Registry::make()) {}
  /// Copies of all that `other` has of its own, and its mode; no children.
  /// THROWS: OutOfMemory.
  Module(const Module& other, Cloning& cloning);

  /// Whether the module was moved: a class that keeps children in containers
  /// moves them only then.
  bool is_moved_from() const noexcept;

  // For constructors. Names are not empty and have no '.'; all are strong.

  /// Makes `init` a parameter and returns a handle to it.
  /// THROWS: NameError, DTypeError, GraphError, OutOfMemory.
  Tensor register_parameter(std::string_view name, const Tensor& init,
                            CallSite site = CallSite::here());
  /// State that is saved but not trained. THROWS: as register_parameter.
  Tensor register_buffer(std::string_view name, const Tensor& init,
                         CallSite site = CallSite::here());
  /// Makes `child` a part of this module. Its bytes are counted under its full
  /// path from now on. THROWS: NameError; ValueError when it already is part of
  /// one; OutOfMemory.
  void register_module(std::string_view name, const Module& child);

 private:
  bool may_move() const noexcept;

  base::Ref<Registry> registry_;
};

/// Inside the block, results of ops are counted as activations of `module`, at
/// the call site of the outermost module's caller. Layers do this by
/// themselves; a module with a forward of another form may begin it with one,
/// and report its inputs and outputs to a watch:
///
///   Tensor forward(const Tensor& a, const Tensor& b,
///                  CallSite site = CallSite::here()) {
///     const nn::ModuleScope scope(*this, site);
///     Tensor y = ...;
///     scope.note(y, a, b);
///     return y;
class NEAP_API ModuleScope : public memory::ContextGuard {
 public:
  explicit ModuleScope(const Module& module, CallSite site = CallSite::here())
      : ModuleScope(module.registry(), site) {}
  /// The scope of a module that may be destroyed.
  explicit ModuleScope(const Registry& registry,
                       CallSite site = CallSite::here());
  ~ModuleScope();
  ModuleScope(const ModuleScope&) = delete;
  ModuleScope& operator=(const ModuleScope&) = delete;

  /// Tells the watch of the module, if it has one. THROWS: OutOfMemory.
  template <std::same_as<Tensor>... Inputs>
  void note(const Tensor& output, const Inputs&... inputs) const {
    if (call_.is_watched()) {
      const std::array<const Tensor*, sizeof...(Inputs)> all{&inputs...};
      call_.note(all, output);
    }
  }

 private:
  // `is_outermost`: no other module's scope is around this one.
  ModuleScope(const Registry& registry, CallSite site, bool is_outermost);

  WatchedCall call_;
  const Registry* told_;  // to the update watcher, at the end; nullptr: not
  int exceptions_ = 0;    // number of exceptions in flight when it began
};

}  // namespace neap::nn
