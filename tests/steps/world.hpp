// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// World: what a step captures, and what the code around it holds. Eager and
// compiled runs have one each, made alike, and are compared by what is seen of
// them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "neap/graph/hooks.hpp"
#include "neap/memory/scope.hpp"
#include "neap/nn/batch_norm.hpp"
#include "neap/nn/layers.hpp"
#include "neap/nn/linear.hpp"
#include "neap/optim/optimizer.hpp"
#include "neap/tensor/generator.hpp"

namespace neap::steps {

struct Action;

inline constexpr std::int64_t kWidth = 4;
inline constexpr std::int64_t kRows = 3;

/// Values in [-1, 1), the same ones for a seed.
Tensor made_up(int seed, const Shape& shape);

class Net : public nn::Module {
 public:
  Net() {
    register_module("fc", fc_);
    register_module("norm", norm_);
    register_module("drop", drop_);
  }
  Tensor operator()(const Tensor& x) { return drop_(norm_(fc_(x))); }

 private:
  nn::Linear fc_{kWidth, kWidth};
  nn::BatchNorm1d norm_{kWidth};
  nn::Dropout drop_{0.25};
};

/// Two layers of one form, which may be exchanged, and one without tensors.
struct Pair : nn::Module {
  nn::Linear a{kWidth, kWidth};
  nn::Linear b{kWidth, kWidth};
  nn::Dropout drop{0.25};

  Pair() {
    register_module("a", a);
    register_module("b", b);
    register_module("drop", drop);
  }
  Tensor operator()(const Tensor& x) { return drop(b(tanh(a(x)))); }
};
/// Layers of draws of their own, whatever generator is current.
nn::Linear drawn_layer(int seed);
Pair drawn_pair(int seed);

/// A thing that can be seen: equal in two worlds where the text is.
struct Seen {
  std::string name;
  std::string bits;  // or the error that stood in the way
};

/// A tensor's spec and elements; "none" where it is undefined.
std::string bits_of(const Tensor& tensor);

struct World {
  explicit World(std::uint64_t seed);
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World() { close_scope(false); }

  std::vector<Seen> seen() const;
  /// Tells which tensors are copies of one handle, and which lie on one
  /// storage, among those of the world, a call's arguments and its results.
  std::vector<Seen> sharing(std::span<const Tensor> arguments) const;
  /// State that the host's own code changed in a call that was refused: no
  /// library can take it back.
  struct HostState {
    std::array<double, 2> numbers;
    int counter;
    std::size_t kept;
    std::size_t hooks;
  };
  HostState host_state() const;
  void restore(const HostState& state);

  /// Opens the scope in which calls, and what is between them, take place;
  /// nothing where it is open.
  void open_scope();
  /// Ends it, with results kept or not.
  void close_scope(bool has_results);
  /// For as long as it lives, the world's scope is the current one.
  class Inside : public memory::ContextGuard {
   public:
    explicit Inside(World& world)
        : ContextGuard([&](memory::Context& c) {
            c.scope = world.scope ? &*world.scope : nullptr;
          }) {}
  };

  /// Opens the scope around a call, if there is one. It is the same object in
  /// every call: a guard tells scopes apart by their addresses, and
  /// AddressSanitizer gives each local one an address of its own.
  class AroundCall {
   public:
    explicit AroundCall(World& world) : scope_(world.around) {
      if (world.around_calls != Around::kNone) {
        scope_.emplace("around a call");
      }
    }
    ~AroundCall() { scope_.reset(); }
    AroundCall(const AroundCall&) = delete;
    AroundCall& operator=(const AroundCall&) = delete;

   private:
    std::optional<Scope>& scope_;
  };

  /// The one that calls draw from.
  Generator& generator() { return generators[has_other_generator ? 1 : 0]; }

  std::array<Generator, 2> generators;
  bool has_other_generator = false;
  // (4, 4), (4), (3, 4), a gapped (3, 4), a (4) that is added to the optimizer
  // when a program says so.
  std::array<Tensor, 5> leaves;
  std::array<Tensor, 3> states;   // (3, 4), (3, 8), (4, 3)
  std::array<Tensor, 4> views;    // of states; (3, 4) but for the last, (1, 4)
  std::array<Tensor, 3> handles;  // (3, 4), (3, 4), (4)
  Net net;
  std::unique_ptr<optim::Optimizer> optimizer;
  bool is_adam = false;
  std::optional<optim::OptimizerState> saved;  // of the optimizer, copied
  std::vector<HookHandle> hooks;
  std::array<double, 2> numbers{0.75, 1.5};
  int counter = 0;
  std::vector<Tensor> kept;
  Tensor retained;                // an intermediate whose gradient is kept
  std::vector<Tensor> results;    // of the latest call
  bool has_free_results = false;  // none lies on an argument's elements
  Pair pair;
  nn::Linear* layer = &pair.a;  // or &pair.b
  std::vector<Tensor> pool;     // each (4)
  std::vector<Tensor> other_pool;
  // Around each call.
  bool is_bf16 = false;
  bool is_no_grad = false;
  bool is_serial = false;  // on a lent executor of one thread
  /// A scope, which results outlive or end with.
  enum class Around { kNone, kKept, kReleased } around_calls{};
  std::optional<Scope> scope;
  std::optional<Scope> around;  // see AroundCall
  int calls = 0;
  int executions = 0;               // of the step's code
  const Action* current = nullptr;  // the one that runs, or has thrown
};

/// Names of what differs; empty where all is equal.
std::vector<std::string> differences(const std::vector<Seen>& a,
                                     const std::vector<Seen>& b);

}  // namespace neap::steps
