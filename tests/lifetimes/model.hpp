// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The reference model of lifetimes: slow, and obviously right. It keeps every
// storage, array, handle's body and vertex that a program ever made, and after
// each action works out from scratch, from what happened and from which handles
// there are, who is alive, in which state, and how many bytes that makes.
//
//   handle -> body -> array -> storage      alive: what the handles reach
//              |        ^
//              v        | kept values
//            vertex -> vertex ...           through available nodes alone
//
// Ids are places in the model's lists; later things have larger ids.
#pragma once

#include <span>
#include <vector>

#include "formulas.hpp"
#include "neap/base/bytes.hpp"
#include "neap/tensor/graph_link.hpp"

namespace neap::lifetimes {

inline constexpr int kNone = -1;

/// Bytes of headers, as measured at the real one before the first program.
struct HeaderBytes {
  Bytes fresh = 0;  // of a tensor with elements of its own
  Bytes view = 0;   // of an alias or a view
  Bytes leaf = 0;   // of a place on the graph that has a gradient
  /// Bytes of a node that keeps the gradients of 0, 1 or 2 of its results.
  std::array<Bytes, 3> kept_grads{};
};

struct Storage {
  Bytes bytes = 0;  // of the elements
  Values values{};
  int version = 0;
  int written_by = kNone;  // action of the latest write
  bool is_alive = false;
  bool is_lodged = false;  // a revoked handle's body lies in its header
};

struct Array {
  int storage = kNone;
  Shape shape{};
  std::array<std::size_t, kMaxElements> at{};  // element i's place
  bool is_view = false;  // its header has a block of its own
  bool is_alive = false;
  bool is_lodged = false;
};

struct Body {
  int array = kNone;
  int vertex = kNone;
  int output = 0;
  int handles = 0;         // of the program
  int scope = kNone;       // that it is a member of, as a place in the stack
  bool is_kept = false;    // by that scope
  int revoked_by = kNone;  // action that opened the scope: means nothing now
};

struct ScopeState {
  int opened_by = kNone;  // action
  bool is_open = true;
};

struct Edge {
  int vertex = kNone;
  int output = 0;
};

struct Kept {
  int array = kNone;
  int version = 0;
};

enum class State : std::uint8_t {
  kAvailable,
  kConsumed,
  kReleased,
  kUnavailable,
};

struct Vertex {
  bool is_leaf = false;
  // A leaf's.
  bool requires_grad = true;
  // A node's. Values are copies: nothing is ever forgotten.
  int action = kNone;  // that made it
  Call call{};
  std::array<Edge, 2> edges{};
  std::vector<Kept> kept{};
  ValuePair in{};
  ValuePair out{};
  // Either's: body of the gradient of each output, and what it should be.
  std::array<int, 2> grad = {kNone, kNone};
  CotangentPair grad_value{};
  std::array<bool, 2> keeps_grad{};
  // The state that the latest action on it left.
  State mark = State::kAvailable;  // or consumed, or released
  int marked_by = kNone;           // action
  /// The address of the real node, as long as that is alive.
  const tensor::GraphLink* real = nullptr;
  // Worked out.
  State state = State::kAvailable;
  bool is_alive = false;
  bool was_kept = false;  // alive and available after the action before
  Bytes bytes = 0;        // of its block
};

class Model {
 public:
  explicit Model(const HeaderBytes& headers) : headers_(headers) {}
  void clear();

  // --- what there is ---------------------------------------------------------

  std::vector<Storage> storages;
  std::vector<Array> arrays;
  std::vector<Body> bodies;
  std::vector<Vertex> vertices;
  std::vector<ScopeState> scopes;  // the innermost last

  const Array& array_of(int body) const;
  const Shape& shape_of(int body) const { return array_of(body).shape; }
  Values values_of(int body) const;
  bool requires_grad(int body) const;
  bool is_node(int body) const;
  bool is_contiguous(int body) const;
  bool is_revoked(int i) const { return body(i).revoked_by != kNone; }

  // --- making ----------------------------------------------------------------

  /// New bodies are members of this; kNone: of no scope.
  int current_scope = kNone;

  /// A body with elements of its own and no handle yet.
  int make_fresh(const Shape& shape, const Values& values);
  /// A body with a header of its own on elements of another array.
  int make_view(const Array& array);
  int make_leaf(int body);
  int add_vertex(Vertex vertex);

  void hold(int body) { ++bodies[static_cast<std::size_t>(body)].handles; }
  void drop(int body) { --bodies[static_cast<std::size_t>(body)].handles; }
  void write(int body, const Values& values, int action);

  // --- scopes ----------------------------------------------------------------

  int innermost_open(int below) const;
  void move_member(int body, int scope, bool is_kept = false);
  void revoke(int body, int scope);
  int members_of(int scope) const;

  // --- working out -----------------------------------------------------------

  /// States and survivors, from scratch.
  void work_out();
  /// Bytes that the survivors take. Valid after work_out().
  Bytes work_out_bytes() const;

  /// How many live things refer to these. Valid after work_out().
  int references_to_vertex(int vertex) const;
  bool is_sole_owner(int body) const;
  /// All marked nodes that this one was made from, or itself.
  std::vector<int> causes_of(int vertex) const;

  const Body& body(int i) const { return bodies[static_cast<std::size_t>(i)]; }
  Body& body(int i) { return bodies[static_cast<std::size_t>(i)]; }
  const Vertex& vertex(int i) const {
    return vertices[static_cast<std::size_t>(i)];
  }
  Vertex& vertex(int i) { return vertices[static_cast<std::size_t>(i)]; }

 private:
  void work_out_states();
  void work_out_survivors();
  void reach_body(int body);
  void reach_lodging(int body);
  void reach_array(int array);
  void reach_vertex(int vertex);

  HeaderBytes headers_;
  std::vector<int> to_visit_;
};

}  // namespace neap::lifetimes
