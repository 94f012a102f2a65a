// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The contexts of a custom op's rule, and how a rule is held. See custom_op.hpp
// for how to write one.
#pragma once

#include <concepts>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "neap/base/philox.hpp"
#include "neap/graph/rules.hpp"
#include "neap/kernels/engine/kernel.hpp"
#include "neap/memory/counted.hpp"

namespace neap::ops {

/// A call of a rule's forward (or, without data, of its scratch): plain
/// views. No output overlaps an input, but for one that took its memory over.
class CustomForward {
 public:
  CustomForward(const kernels::Args& args, const base::DrawKey& draw) noexcept
      : args_(args), draw_(draw) {}

  int inputs() const noexcept { return static_cast<int>(args_.in.size()); }
  int outputs() const noexcept { return static_cast<int>(args_.out.size()); }
  const kernels::Strided& input(int i) const noexcept {
    return args_.in[static_cast<std::size_t>(i)];
  }
  const kernels::Strided& output(int k) const noexcept {
    return args_.out[static_cast<std::size_t>(k)];
  }
  /// All elements of an input in row-major order. REQUIRES: the rule is
  /// `dense`; T is the input's dtype.
  template <class T>
  std::span<const T> values(int i) const noexcept {
    return span_of<const T>(input(i));
  }
  /// All elements of an output, in row-major order, to be written. REQUIRES: T
  /// is its dtype.
  template <class T>
  std::span<T> results(int k = 0) const noexcept {
    return span_of<T>(output(k));
  }
  /// The bytes that the rule's scratch asked for, not initialised, as elements
  /// of T (aligned for any).
  template <class T = std::byte>
  std::span<T> scratch() const noexcept {
    return {reinterpret_cast<T*>(args_.scratch.data()),
            args_.scratch.size() / sizeof(T)};
  }
  /// The executor for threads::parallel_for. The bits of a result must not
  /// depend on it.
  threads::Executor& executor() const noexcept { return *args_.executor; }
  /// The key of the one draw of a call with Effect::kRandom.
  const base::DrawKey& draw() const noexcept { return draw_; }

 private:
  template <class T>
  static std::span<T> span_of(const kernels::Strided& view) noexcept {
    return {view.as<T>(), static_cast<std::size_t>(view.shape.element_count())};
  }

  const kernels::Args& args_;
  base::DrawKey draw_;
};

class CustomState;

/// For the reverse rule of one call: as graph::VjpContext, with every use
/// checked. All THROW errors that name the op.
class NEAP_API CustomVjp {
 public:
  CustomVjp(graph::VjpContext& context, const CustomState& state,
            std::uint64_t dtypes, const base::DrawKey& draw) noexcept
      : context_(context), state_(state), dtypes_(dtypes), draw_(draw) {}

  int inputs() const noexcept { return context_.inputs(); }
  /// Whether the cotangent of input i is wanted.
  bool needs(int i) const;
  /// Cotangent of output k; undefined where nothing flowed into it (which of
  /// an op of one output never happens).
  const Tensor& cotangent(int k = 0) const;
  /// The same for its last use: an op may take its memory over.
  Tensor take_cotangent(int k = 0);
  /// Kept operands. THROWS: GraphError where the rule's facts do not declare
  /// the read for a cotangent that is wanted.
  Tensor input(int i) const;
  Tensor output(int k = 0) const;
  Shape input_shape(int i) const;
  const base::DrawKey& draw() const noexcept { return draw_; }

  /// Sets the cotangent of input i, once; one that is never set is zero.
  /// THROWS: ValueError for an index out of range or set before; ShapeError,
  /// DTypeError unless it is like the input.
  void set(int i, Tensor cotangent);

 private:
  void check_index(const char* what, int i, int count) const;

  graph::VjpContext& context_;
  const CustomState& state_;
  std::uint64_t dtypes_;
  base::DrawKey draw_;
  std::uint64_t given_ = 0;
};

/// For the forward rule of one call: as graph::JvpContext, likewise checked.
class NEAP_API CustomJvp {
 public:
  CustomJvp(graph::JvpContext& context, const CustomState& state,
            const base::DrawKey& draw) noexcept
      : context_(context), state_(state), draw_(draw) {}

  int inputs() const noexcept { return context_.inputs(); }
  /// Tangent of input i; undefined where it is zero.
  const Tensor& tangent(int i = 0) const;
  /// THROWS: GraphError unless the rule's facts declare that the vjp reads it
  /// for an input that has a tangent here.
  const Tensor& input(int i = 0) const;
  const Tensor& output(int k = 0) const;
  const base::DrawKey& draw() const noexcept { return draw_; }

  /// Sets the tangent of output k; one that is never set is zero.
  /// THROWS: ValueError, ShapeError, DTypeError as CustomVjp::set.
  void set(int k, Tensor tangent);

 private:
  void check_index(const char* what, int i, int count) const;

  graph::JvpContext& context_;
  const CustomState& state_;
  base::DrawKey draw_;
};

/// The functions that a rule must have.
template <class R>
concept CustomRule = std::is_object_v<R> &&
    requires(const R& rule, std::span<const graph::Spec> in,
             std::span<graph::Spec> out, const CustomForward& forward) {
  { rule.name } -> std::convertible_to<std::string_view>;
  rule.shape(in, out);
  rule.forward(forward);
};

/// The constants of a rule, beside its functions.
struct CustomTraits {
  std::string_view name;
  std::string_view formula;
  int inputs = -1;  // -1: any number
  int outputs = 1;
  bool dense = false;
  bool has_vjp = false;
  bool has_jvp = false;
  bool has_cost = false;
  graph::Facts facts;
};

/// A reference to a counted descriptor. It outlives the state where a retired
/// node still has to say the op's name.
class DescriptorRef {
 public:
  /// Takes a reference that the caller holds.
  explicit DescriptorRef(const graph::Op* op) noexcept : op_(op) {}
  DescriptorRef(DescriptorRef&& other) noexcept
      : op_(std::exchange(other.op_, nullptr)) {}
  DescriptorRef& operator=(DescriptorRef&&) = delete;
  ~DescriptorRef() {
    if (op_ != nullptr) {
      op_->release();
    }
  }
  const graph::Op& operator*() const noexcept { return *op_; }

 private:
  const graph::Op* op_;
};

/// A rule in memory of the domain, counted.
class NEAP_API CustomState {
 public:
  virtual void acquire() noexcept = 0;
  virtual void release() noexcept = 0;

  virtual void shape(std::span<const graph::Spec> in,
                     std::span<graph::Spec> out) const = 0;
  virtual void forward(const CustomForward& call) const noexcept = 0;
  virtual Bytes scratch(const CustomForward& call) const noexcept = 0;
  virtual void vjp(CustomVjp& context) const = 0;
  virtual void jvp(CustomJvp& context) const = 0;
  virtual graph::Cost cost(std::span<const graph::Spec> in,
                           std::span<const graph::Spec> out) const = 0;

  const graph::Op& op() const noexcept { return *descriptor_; }
  std::string_view name() const noexcept { return op().name; }
  int inputs() const noexcept { return inputs_; }
  bool is_dense() const noexcept { return is_dense_; }
  bool has_vjp() const noexcept { return has_vjp_; }

  CustomState(const CustomState&) = delete;
  CustomState& operator=(const CustomState&) = delete;

 protected:
  CustomState(DescriptorRef descriptor, const CustomTraits& traits) noexcept
      : descriptor_(std::move(descriptor)),
        inputs_(traits.inputs),
        is_dense_(traits.dense),
        has_vjp_(traits.has_vjp) {}
  virtual ~CustomState() = default;

  static DescriptorRef describe(const CustomTraits& traits, base::SiteId site);

 private:
  DescriptorRef descriptor_;
  int inputs_;
  bool is_dense_;
  bool has_vjp_;
};

template <class R>
class CustomHolder final : public CustomState,
                           public memory::Counted<CustomHolder<R>> {
 public:
  static_assert(std::is_nothrow_move_constructible_v<R>,
                "a rule must move without throwing");
  static_assert(noexcept(std::declval<const R&>().forward(
                    std::declval<const CustomForward&>())),
                "a rule's forward is noexcept");

  static base::Ref<CustomState> make(R rule, const CallSite& site) {
    const base::SiteId where = base::intern(site);
    const CustomTraits traits = traits_of(rule);
    auto descriptor = describe(traits, where);
    auto held = Count::create(
        memory::domain(), memory::current_tag(memory::Category::kGraph, where),
        0, std::move(descriptor), traits, std::move(rule));
    return base::Ref<CustomState>::adopt(held.leak());
  }

  CustomHolder(DescriptorRef descriptor, const CustomTraits& traits,
               R rule) noexcept
      : CustomState(std::move(descriptor), traits), rule_(std::move(rule)) {}

  void acquire() noexcept override { Count::acquire(); }
  void release() noexcept override { Count::release(); }

  void shape(std::span<const graph::Spec> in,
             std::span<graph::Spec> out) const override {
    rule_.shape(in, out);
  }
  void forward(const CustomForward& call) const noexcept override {
    rule_.forward(call);
  }
  Bytes scratch(
      [[maybe_unused]] const CustomForward& call) const noexcept override {
    if constexpr (requires { rule_.scratch(call); }) {
      static_assert(noexcept(rule_.scratch(call)),
                    "a rule's scratch is noexcept");
      return rule_.scratch(call);
    } else {
      return 0;
    }
  }
  void vjp([[maybe_unused]] CustomVjp& context) const override {
    if constexpr (kHasVjp) {
      rule_.vjp(context);
    }
  }
  void jvp([[maybe_unused]] CustomJvp& context) const override {
    if constexpr (kHasJvp) {
      rule_.jvp(context);
    }
  }
  graph::Cost cost(
      [[maybe_unused]] std::span<const graph::Spec> in,
      [[maybe_unused]] std::span<const graph::Spec> out) const override {
    if constexpr (kHasCost) {
      return rule_.cost(in, out);
    } else {
      return {};
    }
  }

 private:
  using Count = memory::Counted<CustomHolder<R>>;

  static constexpr bool kHasVjp = requires(const R& r, CustomVjp& c) {
    r.vjp(c);
  };
  static constexpr bool kHasJvp = requires(const R& r, CustomJvp& c) {
    r.jvp(c);
  };
  static constexpr bool kHasCost =
      requires(const R& r, std::span<const graph::Spec> s) {
    r.cost(s, s);
  };

  static CustomTraits traits_of(const R& rule) {
    CustomTraits traits{.name = rule.name, .formula = {}, .facts = {}};
    if constexpr (requires { rule.formula; }) {
      traits.formula = rule.formula;
    }
    if constexpr (requires { rule.inputs; }) {
      traits.inputs = rule.inputs;
    }
    if constexpr (requires { rule.outputs; }) {
      traits.outputs = rule.outputs;
    }
    if constexpr (requires { rule.dense; }) {
      traits.dense = rule.dense;
    }
    if constexpr (requires { rule.facts; }) {
      traits.facts = rule.facts;
    }
    traits.has_vjp = kHasVjp;
    traits.has_jvp = kHasJvp;
    traits.has_cost = kHasCost;
    return traits;
  }

  R rule_;
};

}  // namespace neap::ops
