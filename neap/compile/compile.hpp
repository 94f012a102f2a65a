// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// compile: turns a step (any function over tensors, with the modules and
// optimizers that it captures) into one that runs as a plan: traced once, laid
// out in one arena, its peak known before it runs.
//
//   auto step = neap::compile([&](const Tensor& x, const Tensor& y) {
//     Tensor loss = cross_entropy(model(x), y);
//     backward(loss);
//     optimizer.step();
//     optimizer.zero_grad();
//     return loss;
//   });
//   for (auto [x, y] : batches) { print(step(x, y).item()); }
//
// The meaning and the bits are those of the plain function. Arguments are
// tensors without gradients, or numbers (the function gets tensors of rank 0);
// results a Tensor, a tuple, pair or array of them, a memory::Vector, or
// nothing. A result may be read until the next call; one that is still held
// then throws UseAfterRelease, unless it was asked to be kept; inside a
// memory::Scope handles are released with the scope, as others are. Another
// shape, or other control flow by a host flag, is traced again, as is a step
// whose captured tensor was tied, or assigned another; where an optimizer still
// holds the old one, reset(). Inside a traced step, jvp or a rematerialised
// segment the call is the plain function (a nested call). A call that throws
// leaves everything unchanged; a TornStep says that a check failed after the
// step had begun to write.
#pragma once

#include <array>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "neap/compile/compiled_step.hpp"

namespace neap {
namespace compiler {

template <class T>
concept TensorList = std::is_same_v<T, memory::Vector<Tensor>>;

template <class T>
Argument argument_of(const T& value) {
  if constexpr (tensor::PlainNumber<T>) {
    return {nullptr, static_cast<double>(value), tensor::is_double(value)};
  } else {
    static_assert(std::is_same_v<T, Tensor>,
                  "a compiled step takes tensors and numbers");
    return {&value, 0.0};
  }
}

template <class R>
void put_results(R&& results, memory::Vector<Tensor>& out) {
  using Plain = std::remove_cvref_t<R>;
  if constexpr (std::is_same_v<Plain, Tensor>) {
    out.push_back(std::forward<R>(results));
  } else if constexpr (TensorList<Plain>) {
    for (const Tensor& result : results) {
      out.push_back(result);
    }
  } else {
    std::apply([&](auto&&... each) { (out.push_back(each), ...); },
               std::forward<R>(results));
  }
}

/// The results of a run, unless they are a list: that is created before the
/// run, since it may allocate.
template <class R>
R take_results(std::span<Tensor> in) {
  if constexpr (std::is_same_v<R, Tensor>) {
    return std::move(in[0]);
  } else {
    return [&]<std::size_t... k>(std::index_sequence<k...>) {
      return R{std::move(in[k])...};
    }
    (std::make_index_sequence<std::tuple_size_v<R>>());
  }
}

template <std::size_t>
using AnyTensor = const Tensor&;

template <class F, std::size_t... k>
std::invoke_result_t<F&, AnyTensor<k>...> call_with(
    F& step, [[maybe_unused]] std::span<const Tensor> in,
    std::index_sequence<k...> /*all*/) {
  return step(in[k]...);
}

template <class F, std::size_t... k>
constexpr bool takes(std::index_sequence<k...> /*all*/) {
  return std::is_invocable_v<F&, AnyTensor<k>...>;
}

/// The result of a step over n tensors.
template <class F, std::size_t n>
using ResultOf =
    decltype(call_with(std::declval<F&>(), std::span<const Tensor>(),
                       std::make_index_sequence<n>()));

/// The step over lists. LIFETIME: as `step`.
template <std::size_t n, class F>
auto as_step(F& step) {
  return [&step](std::span<const Tensor> in, memory::Vector<Tensor>& out) {
    constexpr auto kAll = std::make_index_sequence<n>();
    if constexpr (std::is_void_v<ResultOf<F, n>>) {
      call_with(step, in, kAll);
    } else {
      put_results(call_with(step, in, kAll), out);
    }
  };
}

/// A compiled step. It may be moved, not copied; a call and a move at
/// one time are the caller's mistake. All functions of one that was moved from
/// THROW: UseAfterRelease.
template <class F>
class Compiled {
 public:
  Compiled(F step, const CompileOptions& options, const CallSite& site)
      : step_(std::move(step)), core_(options, site) {}

  template <class... Args>
  auto operator()(const Args&... args) {
    static_assert(takes<F>(std::index_sequence_for<Args...>()),
                  "a compiled step is a function of as many tensors (const "
                  "Tensor&) as it is called with; a number comes as a tensor");
    using R = ResultOf<F, sizeof...(Args)>;
    const std::array<Argument, sizeof...(Args)> given{argument_of(args)...};
    const auto run = plain<sizeof...(Args)>();
    if constexpr (std::is_void_v<R>) {
      core_.call(
          run, given, [](std::size_t) {}, [](std::span<Tensor> /*none*/) {});
    } else if constexpr (TensorList<R>) {
      R out;
      core_.call(
          run, given, [&](std::size_t count) { out.reserve(count); },
          [&](std::span<Tensor> results) {
            for (Tensor& result : results) {
              out.push_back(std::move(result));
            }
          });
      return out;
    } else {
      std::optional<R> out;
      core_.call(
          run, given, [](std::size_t) {},
          [&](std::span<Tensor> results) {
            out.emplace(take_results<R>(results));
          });
      return std::move(*out);
    }
  }

  /// The time of each call of the program, the least of `options.runs` runs.
  /// Each is a step like any other: what it updates is updated.
  /// THROWS: ValueError for less than one run, where the step is traced again
  /// meanwhile, or while another thread profiles it; as a call.
  template <class... Args>
  Profile profile(const ProfileOptions& options, const Args&... args) {
    check_runs(options);
    (*this)(args...);  // traced, and warm
    Profile out;
    const ProfileGuard guard(core_, out);
    for (int run = 0; run < options.runs; ++run) {
      (*this)(args...);
    }
    check_whole(out, options);
    return out;
  }

  /// Sets where the times of this thread's calls to come go; nullptr: nowhere.
  /// Runs of another program than the first have no times. LIFETIME: beyond the
  /// calls. THROWS: ValueError while another thread profiles the step.
  void set_profile(Profile* profile) { core_.set_profile(profile); }

  /// Traces and plans for arguments of these specs, without a run.
  template <std::size_t n>
  void prepare(const std::array<tensor::Spec, n>& specs) {
    core_.prepare(plain<n>(), specs);
  }
  template <std::size_t n>
  void prepare(const tensor::Spec (&specs)[n]) {  // NOLINT(*-avoid-c-arrays)
    core_.prepare(plain<n>(), specs);
  }

  // The answers to these may be others after the next call: a step that is
  // traced is refused where it asks.

  /// The latest program. THROWS: ValueError where nothing was traced.
  const Program& program(const CallSite& site = CallSite::here()) const {
    return core_.program(site);
  }
  const Plan& plan(const CallSite& site = CallSite::here()) const {
    return core_.plan(site);
  }
  /// The memory that a run of that program needs, known before the first run
  /// (format() and to_json() show it), and the measurements of it until now:
  /// the peaks are those of the context's domain.
  Prediction prediction(const CallSite& site = CallSite::here()) const {
    return core_.prediction(site);
  }
  Measured measured(const CallSite& site = CallSite::here()) const {
    return core_.measured(site);
  }
  int programs(const CallSite& site = CallSite::here()) const {
    return core_.programs(site);
  }
  std::int64_t traces(const CallSite& site = CallSite::here()) const {
    return core_.traces(site);
  }
  Bytes arena_bytes(const CallSite& site = CallSite::here()) const {
    return core_.arena_bytes(site);
  }
  /// The reason of the latest trace, in one line: which argument, mode, handle
  /// or setting differed from the one that the program holds for. Empty:
  /// nothing was traced yet.
  std::string why(const CallSite& site = CallSite::here()) const {
    return core_.why(site);
  }
  void reset() { core_.reset(); }

 private:
  template <std::size_t n>
  auto plain() {
    static_assert(takes<F>(std::make_index_sequence<n>()),
                  "a compiled step is a function of as many tensors (const "
                  "Tensor&) as there are specs");
    return as_step<n>(step_);
  }

  F step_;
  CompiledStep core_;
};

}  // namespace compiler

/// THROWS: ValueError for options that make no sense; OutOfMemory.
template <class F>
compiler::Compiled<std::decay_t<F>> compile(F&& step,
                                            const CompileOptions& options = {},
                                            CallSite site = CallSite::here()) {
  return {std::forward<F>(step), options, site};
}

}  // namespace neap
