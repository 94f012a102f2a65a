// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "model.hpp"

#include <algorithm>

namespace neap::lifetimes {
namespace {

template <class T>
int last_of(const std::vector<T>& list) {
  return static_cast<int>(list.size()) - 1;
}

}  // namespace

void Model::clear() {
  storages.clear();
  arrays.clear();
  bodies.clear();
  vertices.clear();
  scopes.clear();
  current_scope = kNone;
}

const Array& Model::array_of(int i) const {
  return arrays[static_cast<std::size_t>(body(i).array)];
}

Values Model::values_of(int i) const {
  const Array& array = array_of(i);
  const Values& all = storages[static_cast<std::size_t>(array.storage)].values;
  Values values{};
  for (std::size_t k = 0; k < count_of(array.shape); ++k) {
    values[k] = all[array.at[k]];
  }
  return values;
}

bool Model::requires_grad(int i) const {
  const int v = body(i).vertex;
  return v != kNone && (!vertex(v).is_leaf || vertex(v).requires_grad);
}

bool Model::is_node(int i) const {
  const int v = body(i).vertex;
  return v != kNone && !vertex(v).is_leaf;
}

bool Model::is_contiguous(int i) const {
  const Array& array = array_of(i);
  for (std::size_t k = 0; k < count_of(array.shape); ++k) {
    if (array.at[k] != array.at[0] + k) {
      return false;
    }
  }
  return true;
}

int Model::make_fresh(const Shape& shape, const Values& values) {
  const auto bytes = static_cast<Bytes>(count_of(shape) * sizeof(double));
  storages.push_back({.bytes = bytes, .values = values});
  Array array{.storage = last_of(storages), .shape = shape};
  for (std::size_t k = 0; k < kMaxElements; ++k) {
    array.at[k] = k;
  }
  arrays.push_back(array);
  bodies.push_back({.array = last_of(arrays), .scope = current_scope});
  return last_of(bodies);
}

int Model::make_view(const Array& array) {
  arrays.push_back(array);
  arrays.back().is_view = true;
  arrays.back().is_alive = false;
  bodies.push_back({.array = last_of(arrays), .scope = current_scope});
  return last_of(bodies);
}

int Model::make_leaf(int i) {
  body(i).vertex = add_vertex({.is_leaf = true, .bytes = headers_.leaf});
  body(i).output = 0;
  return body(i).vertex;
}

int Model::add_vertex(Vertex vertex) {
  vertices.push_back(std::move(vertex));
  return last_of(vertices);
}

void Model::write(int i, const Values& values, int action) {
  const Array& array = array_of(i);
  Storage& storage = storages[static_cast<std::size_t>(array.storage)];
  for (std::size_t k = 0; k < count_of(array.shape); ++k) {
    storage.values[array.at[k]] = values[k];
  }
  ++storage.version;
  storage.written_by = action;
}

// --- working out -------------------------------------------------------------

void Model::work_out() {
  work_out_states();
  work_out_survivors();
}

// Sources have smaller ids, so that one pass settles all.
void Model::work_out_states() {
  for (Vertex& v : vertices) {
    v.was_kept = v.is_alive && v.state == State::kAvailable;
    v.state = v.mark;
    for (const Edge& edge : v.edges) {
      if (v.mark == State::kAvailable && edge.vertex != kNone &&
          vertex(edge.vertex).state != State::kAvailable) {
        v.state = State::kUnavailable;
      }
    }
  }
}

void Model::reach_array(int i) {
  Array& array = arrays[static_cast<std::size_t>(i)];
  array.is_alive = true;
  storages[static_cast<std::size_t>(array.storage)].is_alive = true;
}

void Model::reach_vertex(int i) {
  if (i != kNone && !vertex(i).is_alive) {
    vertex(i).is_alive = true;
    to_visit_.push_back(i);
  }
}

void Model::reach_body(int i) {
  if (i != kNone) {
    reach_array(body(i).array);
    reach_vertex(body(i).vertex);
  }
}

// The block that a revoked body lies in stays until its last handle goes.
void Model::reach_lodging(int i) {
  Array& array = arrays[static_cast<std::size_t>(body(i).array)];
  if (array.is_view) {
    array.is_lodged = true;
  } else {
    storages[static_cast<std::size_t>(array.storage)].is_lodged = true;
  }
}

void Model::work_out_survivors() {
  for (Storage& storage : storages) {
    storage.is_alive = false;
    storage.is_lodged = false;
  }
  for (Array& array : arrays) {
    array.is_alive = false;
    array.is_lodged = false;
  }
  for (Vertex& v : vertices) {
    v.is_alive = false;
  }
  for (int i = 0; i <= last_of(bodies); ++i) {
    if (body(i).handles > 0 && is_revoked(i)) {
      reach_lodging(i);
    } else if (body(i).handles > 0) {
      reach_body(i);
    }
  }
  while (!to_visit_.empty()) {
    const int i = to_visit_.back();
    to_visit_.pop_back();
    reach_body(vertex(i).grad[0]);
    reach_body(vertex(i).grad[1]);
    if (vertex(i).state != State::kAvailable) {
      continue;
    }
    for (const Edge& edge : vertex(i).edges) {
      reach_vertex(edge.vertex);
    }
    for (const Kept& kept : vertex(i).kept) {
      reach_array(kept.array);
    }
  }
}

Bytes Model::work_out_bytes() const {
  Bytes bytes = 0;
  for (const Storage& storage : storages) {
    bytes += storage.is_alive || storage.is_lodged ? headers_.fresh : 0;
    bytes += storage.is_alive ? storage.bytes : 0;
  }
  for (const Array& array : arrays) {
    const bool stays = array.is_alive || array.is_lodged;
    bytes += stays && array.is_view ? headers_.view : 0;
  }
  for (const Vertex& v : vertices) {
    if (!v.is_alive) {
      continue;
    }
    const int kept = (v.keeps_grad[0] ? 1 : 0) + (v.keeps_grad[1] ? 1 : 0);
    bytes += v.bytes + headers_.kept_grads[static_cast<std::size_t>(kept)];
  }
  return bytes;
}

// --- scopes ------------------------------------------------------------------

int Model::innermost_open(int below) const {
  int i = below - 1;
  while (i >= 0 && !scopes[static_cast<std::size_t>(i)].is_open) {
    --i;
  }
  return i;  // kNone is -1
}

void Model::move_member(int i, int scope, bool is_kept) {
  body(i).scope = scope;
  body(i).is_kept = is_kept;
}

void Model::revoke(int i, int scope) {
  move_member(i, kNone);
  body(i).revoked_by = scopes[static_cast<std::size_t>(scope)].opened_by;
  body(i).vertex = kNone;
}

int Model::members_of(int scope) const {
  int count = 0;
  for (const Body& b : bodies) {
    count += b.handles > 0 && b.scope == scope ? 1 : 0;
  }
  return count;
}

// --- who refers to whom ------------------------------------------------------

int Model::references_to_vertex(int i) const {
  int count = 0;
  for (const Body& b : bodies) {
    count += b.handles > 0 && b.vertex == i ? 1 : 0;  // none when revoked
  }
  for (const Vertex& v : vertices) {
    for (const Edge& edge : v.edges) {
      const bool refers = v.is_alive && v.state == State::kAvailable;
      count += refers && edge.vertex == i ? 1 : 0;
    }
  }
  return count;
}

// One handle, one array on the storage, and no node that keeps it.
bool Model::is_sole_owner(int i) const {
  int handles = body(i).handles;
  for (const Vertex& v : vertices) {
    handles += v.is_alive && (v.grad[0] == i || v.grad[1] == i) ? 1 : 0;
  }
  if (handles != 1) {
    return false;
  }
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    const bool is_other = static_cast<int>(k) != body(i).array;
    if (is_other && arrays[k].is_alive &&
        arrays[k].storage == array_of(i).storage) {
      return false;
    }
  }
  for (const Vertex& v : vertices) {
    const bool keeps = v.is_alive && v.state == State::kAvailable;
    for (const Kept& kept : v.kept) {
      if (keeps && kept.array == body(i).array) {
        return false;
      }
    }
  }
  return true;
}

std::vector<int> Model::causes_of(int i) const {
  std::vector<int> found;
  if (vertex(i).mark != State::kAvailable) {
    found.push_back(i);
    return found;
  }
  for (const Edge& edge : vertex(i).edges) {
    if (edge.vertex != kNone &&
        vertex(edge.vertex).state != State::kAvailable) {
      const std::vector<int> more = causes_of(edge.vertex);
      found.insert(found.end(), more.begin(), more.end());
    }
  }
  return found;
}

}  // namespace neap::lifetimes
