// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Trial: performs programs on the real library and on the reference model side
// by side, and compares the two after every action: values, gradients, who
// requires a gradient, the state of every node that a handle is on, which nodes
// gave their residuals back and why, and the bytes allocated, exactly.
#pragma once

#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include "companion.hpp"
#include "neap/graph/node.hpp"
#include "neap/memory/scope.hpp"
#include "program.hpp"
#include "reference.hpp"

namespace neap::lifetimes {

/// Thrown when the two differ.
class Mismatch : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Counts of what was done in all programs.
struct Mix {
  std::int64_t programs = 0;
  std::array<std::int64_t, kKinds> actions{};
  std::int64_t hops = 0;
  std::int64_t idle = 0;  // nothing to act on
  std::int64_t nodes = 0;
  std::int64_t donated = 0;
  std::int64_t refused = 0;
  std::int64_t revoked = 0;
  std::array<std::int64_t, 4> freed{};  // by Why

  void add(const Mix& other) noexcept;
  std::int64_t performed() const noexcept;
  std::string text() const;
};

/// Measures headers in `domain`.
HeaderBytes measure_headers(Domain& domain);

/// Notes which nodes gave their residuals back.
class Witness final : public graph::Observer {
 public:
  struct Seen {
    int action;  // that recorded the node
    graph::Why why;
  };
  void freed(const graph::FreedNode& node) noexcept override;
  std::span<const Seen> seen() const noexcept { return {seen_.data(), count_}; }
  void forget() noexcept { count_ = 0; }

 private:
  std::array<Seen, 256> seen_{};
  std::size_t count_ = 0;
};

class Trial {
 public:
  Trial(Domain& domain, Companion& companion, const HeaderBytes& headers)
      : domain_(domain), companion_(companion), model_(headers) {}

  /// Empty, or what differed. With `log`, each action is described there.
  std::string run(const Program& program, Mix& mix, std::string* log = nullptr);

 private:
  struct Handle {
    Tensor real;
    int body = kNone;
    int name = 0;  // for the log: t0, t1, ...
  };

  void perform(const Action& action);
  void perform_here(const Action& action);
  bool act(const Action& action);
  bool act_on_handle(const Action& action, Handle& handle);
  void finish();
  void end_all();

  // Making.
  void make_tensor(const Action& action, bool is_leaf);
  bool build(const Action& action, bool is_moved, bool is_grad_enabled);
  Call choose_call(const Action& action, Handle& a, Handle** b);
  Handle* find_second(OpKind op, const Handle& a, std::size_t from);
  void take_over(int vertex, const Tensor& real);
  std::array<Tensor, 2> call_real(const Call& call, const Operand& a,
                                  const Operand& b);
  void check_values(const Call& call, const Built& built,
                    std::array<Tensor, 2>& results);

  // Walking.
  bool run_backward(const Action& action, Handle& root, bool retains);
  bool run_grad(const Action& action, bool retains);
  Cotangent make_cotangent(const Action& action, const Handle& root,
                           Tensor& real);
  void check_cotangent(const Tensor& real, const Cotangent& expected);
  void keep_copy(const Tensor& cotangent);
  void release(Handle& handle);

  // Small ones.
  bool copy_handle(const Handle& handle);
  bool make_alias(const Handle& handle, bool is_detached);
  bool require_grad(Handle& handle, bool value);
  bool retain_grad(Handle& handle);
  bool write(const Action& action, Handle& handle);
  bool zero_grad(const Handle& handle);
  bool take_grad(const Handle& handle);

  // Scopes.
  bool open_scope();
  bool close_scope(const Action& action);
  void close_model_scope(int which);
  void pop_closed_scopes();
  void retire_revoked();
  void check_revoked(const Handle& handle) const;
  bool is_gradient(int body) const;
  bool act_on_scope(const Action& action, Handle& handle);
  bool attach(const Handle& handle, int which);
  void release_from_scope(const Action& action, const Handle& handle,
                          int which);

  // Comparing.
  void check_all();
  void check_handle(const Handle& handle) const;
  void check_values(const Handle& handle) const;
  void check_grads();
  void check_grad(Vertex& vertex, std::size_t output);
  void check_freed();
  void check_scopes() const;
  template <class F>
  bool attempt(const std::vector<std::string>& refusals, F&& call);

  Handle& pick(std::uint16_t number) {
    return handles_[number % handles_.size()];
  }
  CallSite site() const { return {kFile, kFunction, action_}; }
  Handle& keep(Tensor real, int body);
  void drop(std::size_t place);
  bool drop_revoked(const Action& action);
  template <class... Args>
  void note(const char* format, const Args&... args);

  Domain& domain_;
  Companion& companion_;
  Model model_;
  Witness witness_;
  std::vector<Handle> handles_;
  std::vector<Handle> revoked_;                 // that mean nothing any more
  std::array<std::optional<Scope>, 3> scopes_;  // those of the model
  int action_ = 0;                              // counted from 1
  int names_ = 0;
  Bytes bytes_before_ = 0;
  Mix* mix_ = nullptr;
  std::string* log_ = nullptr;
};

/// The numbers of a tensor, in row-major order.
Values numbers_of(const Tensor& tensor);

/// `count` multiples of 1/8 in [-2, 2), and zeros behind them.
Values made_up(std::uint64_t seed, std::size_t count) noexcept;

}  // namespace neap::lifetimes
