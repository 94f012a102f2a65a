// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The parts of a rematerialised segment; see rematerialise.hpp.
//
//   SegmentFunction   the user's function in the domain's memory, counted
//   SegmentRun        one forward call of it, a guard
//   Recall            what a node keeps of that call: the function, where its
//                     draws begin, which tensors it captured
#pragma once

#include <concepts>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "neap/graph/recorder.hpp"
#include "neap/memory/containers.hpp"
#include "neap/memory/counted.hpp"

namespace neap::autograd {

/// The part of a segment that is kept from its forward.
enum class Keep : std::uint8_t {
  kNothing,  // nothing but inputs and results
  /// The results of compute-bound ops, those that do more than 4 flops for
  /// each byte that they move (a core's own balance): products of matrices.
  /// Results that are cheap to recompute are recomputed.
  kComputeBound,
};

struct RematerialiseOptions {
  Keep keep = Keep::kNothing;
};

/// Appends the tensors that a value consists of.
inline void append_tensors(const Tensor& value, memory::Vector<Tensor>& out) {
  out.push_back(value);
}
template <class Values>
void append_tensors(const Values& values, memory::Vector<Tensor>& out) {
  if constexpr (requires { std::tuple_size<Values>::value; }) {
    std::apply(
        [&out](const auto&... each) { (append_tensors(each, out), ...); },
        values);
  } else {
    for (const Tensor& value : values) {
      out.push_back(value);
    }
  }
}

class NEAP_API SegmentFunction {
 public:
  virtual void acquire() noexcept = 0;
  virtual void release() noexcept = 0;
  virtual void call(std::span<const Tensor> inputs,
                    memory::Vector<Tensor>& results) const = 0;

  SegmentFunction(const SegmentFunction&) = delete;
  SegmentFunction& operator=(const SegmentFunction&) = delete;

 protected:
  SegmentFunction() = default;
  virtual ~SegmentFunction() = default;
};

template <class F>
class HeldFunction final : public SegmentFunction,
                           public memory::Counted<HeldFunction<F>> {
 public:
  static_assert(std::is_nothrow_move_constructible_v<F>,
                "a function must move without throwing");

  static base::Ref<HeldFunction> make(F function, const CallSite& site) {
    return Count::create(
        memory::domain(),
        memory::current_tag(memory::Category::kGraph, base::intern(site)), 0,
        std::move(function));
  }

  explicit HeldFunction(F function) noexcept : function_(std::move(function)) {}

  const F& get() const noexcept { return function_; }
  void acquire() noexcept override { Count::acquire(); }
  void release() noexcept override { Count::release(); }

  void call(std::span<const Tensor> inputs,
            memory::Vector<Tensor>& results) const override {
    if constexpr (std::invocable<const F&, std::span<const Tensor>>) {
      append_tensors(function_(inputs), results);
    } else {
      call_with(inputs, results, std::make_index_sequence<kMostInputs + 1>());
    }
  }

 private:
  using Count = memory::Counted<HeldFunction<F>>;
  static constexpr std::size_t kMostInputs = 8;

  // The number of inputs that F takes.
  template <std::size_t... kCounts>
  void call_with(std::span<const Tensor> inputs,
                 memory::Vector<Tensor>& results,
                 std::index_sequence<kCounts...>) const {
    (call_if(inputs, results, std::make_index_sequence<kCounts>()), ...);
  }
  template <std::size_t... kIndices>
  void call_if([[maybe_unused]] std::span<const Tensor> inputs,
               [[maybe_unused]] memory::Vector<Tensor>& results,
               std::index_sequence<kIndices...>) const {
    if constexpr (requires { function_(inputs[kIndices]...); }) {
      if (inputs.size() == sizeof...(kIndices)) {
        append_tensors(function_(inputs[kIndices]...), results);
      }
    }
  }

  F function_;
};

/// THROWS: UseAfterRelease.
[[noreturn]] NEAP_API void refuse_moved_segment();

/// The forward call of a segment, from the moment before the function runs to
/// finish(), which puts its results on the tape. A run that ends without
/// finish() (the function threw) leaves the generator unchanged.
class NEAP_API SegmentRun {
 public:
  /// `site`: where the segment was created.
  SegmentRun(SegmentFunction& function, std::span<const Tensor> inputs,
             Keep keep, base::SiteId site);
  ~SegmentRun();
  SegmentRun(const SegmentRun&) = delete;
  SegmentRun& operator=(const SegmentRun&) = delete;

  /// False where a segment is a plain function.
  bool is_active() const noexcept { return static_cast<bool>(impl_); }
  void finish(std::span<Tensor> results);

 private:
  struct Impl;
  memory::Owned<Impl> impl_;
};

}  // namespace neap::autograd
