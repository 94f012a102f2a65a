// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Looking at a node while other threads build on it, walk it or drop it. Who
// retires a node changes its state under the node's lock before anything of it
// goes: what is available under the lock is there, and may be held. Nothing is
// asked for and nothing ends under a lock.
#include <algorithm>
#include <mutex>

#include "neap/graph/node.hpp"

namespace neap::graph {
namespace {

// Room for `count` more, by doubling.
template <class T>
void make_room(memory::Vector<T>& list, std::size_t count) {
  if (list.capacity() - list.size() < count) {
    list.reserve(std::max(2 * list.capacity(), list.size() + count));
  }
}

}  // namespace

void Node::look(memory::Vector<Source>& sources,
                memory::Vector<Residual>& residuals) const {
  make_room(sources, input_count_);
  make_room(residuals, residual_count_);
  const std::lock_guard guard(lock_);
  if (state() != State::kAvailable) {
    return;
  }
  for (const Edge& edge : edges()) {
    sources.push_back({edge.source, edge.output});
  }
  for (const Residual& residual : this->residuals()) {
    residuals.push_back(residual);
  }
}

memory::Vector<std::byte> Node::look_at_attrs() const {
  memory::Vector<std::byte> bytes;
  bytes.reserve(attr_bytes_);
  const std::lock_guard guard(lock_);
  if (state() == State::kAvailable) {
    const auto* first = static_cast<const std::byte*>(attrs().data());
    bytes.assign(first, first + attr_bytes_);
  }
  return bytes;
}

// A user that is in the list has not left it: it may be dying, but it is there.
memory::Vector<base::Ref<Node>> Node::users() const {
  memory::Vector<base::Ref<Node>> users;
  for (;;) {
    std::size_t count = 0;
    {
      const std::lock_guard guard(lock_);
      for (const Edge* edge = uses_; edge != nullptr; edge = edge->next_use) {
        Node& user = of(*edge);
        if (++count <= users.capacity() && user.try_acquire()) {
          users.push_back(base::Ref<Node>::adopt(&user));
        }
      }
      if (count <= users.capacity()) {
        return users;
      }
    }
    users.clear();
    users.reserve(count);
  }
}

}  // namespace neap::graph
