// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Treap: an ordered set whose links live in its members. Priorities come from
// hashes of keys, so that its shape, and so every answer, depends on who is in
// it and never on the order in which they came. Logarithmic on average;
// nothing recurses. Not thread-safe.
//
// Nodes says what a member is:
//   Id                      a number or pointer; Id{} stands for none
//   Key key(Id)             unique and ordered
//   uint32 priority(Id)     a hash of the key
//   Id& lower(Id), Id& higher(Id)
#pragma once

namespace neap::memory {

template <class Nodes>
class Treap {
 public:
  using Id = typename Nodes::Id;
  using Key = typename Nodes::Key;

  explicit Treap(Nodes nodes = Nodes()) noexcept : nodes_(nodes) {}

  bool is_empty() const noexcept { return root_ == Id{}; }

  // Goes down past stronger members, takes the place found there, and splits
  // what hung there between its own two sides.
  void insert(Id id) noexcept {
    const Key key = nodes_.key(id);
    Id* link = &root_;
    while (*link != Id{} && nodes_.priority(*link) >= nodes_.priority(id)) {
      link = key < nodes_.key(*link) ? &nodes_.lower(*link)
                                     : &nodes_.higher(*link);
    }
    Id rest = *link;
    *link = id;
    Id* lower = &nodes_.lower(id);
    Id* higher = &nodes_.higher(id);
    while (rest != Id{}) {
      if (nodes_.key(rest) < key) {
        *lower = rest;
        lower = &nodes_.higher(rest);
        rest = *lower;
      } else {
        *higher = rest;
        higher = &nodes_.lower(rest);
        rest = *higher;
      }
    }
    *lower = Id{};
    *higher = Id{};
  }

  /// REQUIRES: it is a member.
  void remove(Id id) noexcept {
    const Key key = nodes_.key(id);
    Id* link = &root_;
    while (*link != id) {
      link = key < nodes_.key(*link) ? &nodes_.lower(*link)
                                     : &nodes_.higher(*link);
    }
    Id lower = nodes_.lower(id);
    Id higher = nodes_.higher(id);
    while (lower != Id{} && higher != Id{}) {
      if (nodes_.priority(lower) >= nodes_.priority(higher)) {
        *link = lower;
        link = &nodes_.higher(lower);
        lower = *link;
      } else {
        *link = higher;
        link = &nodes_.lower(higher);
        higher = *link;
      }
    }
    *link = lower != Id{} ? lower : higher;
  }

  /// The first member not before `key`, or Id{}.
  Id first_from(const Key& key) const noexcept {
    Id best{};
    for (Id at = root_; at != Id{};) {
      if (nodes_.key(at) < key) {
        at = nodes_.higher(at);
      } else {
        best = at;
        at = nodes_.lower(at);
      }
    }
    return best;
  }

  /// The least member, and the greatest; Id{} when empty.
  Id first() const noexcept {
    Id at = root_;
    while (at != Id{} && nodes_.lower(at) != Id{}) {
      at = nodes_.lower(at);
    }
    return at;
  }
  Id last() const noexcept {
    Id at = root_;
    while (at != Id{} && nodes_.higher(at) != Id{}) {
      at = nodes_.higher(at);
    }
    return at;
  }

 private:
  Nodes nodes_;
  Id root_{};
};

}  // namespace neap::memory
