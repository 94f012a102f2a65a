// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Registry: the named contents of a module: its parameters, its buffers (state
// that is not trained) and the registries of its child modules, each in the
// order of registration. Modules hold it by reference, so its address stays the
// same when they move. A registry has at most one parent, so registries form
// trees, and every walk goes through the tree without recursion and without a
// stack of its own.
//
// Names are parts of paths: "weight" of "fc1" of "encoder" is
// "encoder.fc1.weight". Paths start at the top of the tree, and are what the
// ledger counts the bytes under.
//
// Thread rule: reading is safe from any thread while nobody registers or
// changes mode.
#pragma once

#include <string_view>

#include "neap/autograd/parameter.hpp"
#include "neap/graph/trace.hpp"
#include "neap/memory/counted.hpp"
#include "neap/memory/slot_index.hpp"
#include "neap/nn/origin.hpp"
#include "neap/nn/watch.hpp"

namespace neap::nn {

using neap::Parameter;
using neap::ParameterList;

/// A parameter or buffer of one registry.
struct Entry {
  memory::String name;
  Tensor tensor;
  bool is_parameter = true;
  bool is_tied = false;  // true: its tensor belongs to another name
};

class NEAP_API Registry : public memory::Counted<Registry> {
 public:
  /// An empty one in the context's domain. THROWS: OutOfMemory.
  static base::Ref<Registry> make();

  // Created by make().
  Registry(memory::Domain& domain, const memory::Tag& tag) noexcept
      : tag_(tag),
        entries_(memory::Allocator<Entry>(domain, tag)),
        children_(memory::Allocator<Child>(domain, tag)),
        index_(memory::Allocator<std::uint32_t>(domain, tag)) {}
  ~Registry();

  // --- registering; strong -------------------------------------------------

  /// Registers `tensor` and counts its bytes under its path. A parameter
  /// becomes a leaf that requires grad. THROWS: NameError for a name that is
  /// empty, has a '.' or is taken; UseAfterRelease when undefined; DTypeError
  /// and GraphError as requires_grad_; OutOfMemory. A tied one is counted under
  /// the path that it is tied to.
  void add_entry(std::string_view name, const Tensor& tensor, bool is_parameter,
                 const CallSite& site, bool is_tied = false);
  /// THROWS: NameError as add_entry; ValueError when `child` has a parent or
  /// holds this registry; OutOfMemory.
  void add_child(std::string_view name, const base::Ref<Registry>& child);
  /// Replaces this one by `other`, under the same name.
  /// REQUIRES: parent() != nullptr. THROWS: as add_child.
  void replace_by(const base::Ref<Registry>& other);
  /// Makes the parameter at `path` the same tensor as `home`. THROWS:
  /// NameError, ShapeError, DTypeError; GraphError unless `home` is a leaf.
  void tie(std::string_view path, const Tensor& home);

  // --- looking up ----------------------------------------------------------

  const memory::Vector<Entry>& entries() const noexcept { return entries_; }
  const Registry* parent() const noexcept { return parent_; }
  /// The entry at a path below here, or nullptr. Takes as long as the path has
  /// names, however many there are to choose from.
  const Entry* find(std::string_view path) const noexcept;
  /// THROWS: NameError that lists the nearest names.
  const Entry& at(std::string_view path, bool is_parameter) const;
  /// Path from `top` (this, or above) to here; "" for top itself.
  memory::String path_from(const Registry& top) const;
  /// The id in domain() of the path from the top of the tree.
  memory::OwnerId owner() const noexcept { return owner_; }

  // --- the watch ------------------------------------------------------------

  /// The log of the module's calls; null: there is none. What is added below
  /// here is watched with it.
  const base::Ref<CallBook>& book() const noexcept { return book_; }
  /// Sets another log, a change that steps which use the module notice.
  void set_book(base::Ref<CallBook> book) noexcept {
    book_ = std::move(book);
    renew();
  }

  // --- mode ----------------------------------------------------------------

  /// Whether training is on; a step that is traced depends on it.
  bool is_training() const;
  void set_training(bool value) noexcept;
  /// Notes that a step which is traced depends on this module.
  void note_use() const noexcept;
  /// Notes a use of this one and of all below, as a search for a name does.
  void note_use_of_all() const noexcept;
  /// Counts the generation up: programs that depend on it hold no longer.
  void renew() noexcept { ++generation_; }
  /// False while a step is traced that did not make this one: its module is
  /// to stay, and the trace will fail.
  bool may_move() const noexcept { return origin_.may_move(); }
  /// Like renew(), when the module is assigned over; its children then have no
  /// parent.
  void retire() noexcept;

  /// Calls visit(registry) for this one and all below: parents before
  /// children, children in order.
  template <class Visit>
  void walk(Visit&& visit) const {
    for (const Registry* at = this; at != nullptr; at = at->next_below(*this)) {
      visit(*at);
    }
  }
  template <class Visit>
  void walk(Visit&& visit) {
    for (Registry* at = this; at != nullptr;
         at = const_cast<Registry*>(at->next_below(*this))) {
      visit(*at);
    }
  }

 private:
  struct Child {
    memory::String name;
    base::Ref<Registry> registry;
  };
  struct Relabel;
  class Relabelling;

  void check_name(std::string_view name) const;
  void check_adoption(const Registry& child) const;
  void orphan_children() noexcept;
  void set_place(Registry* parent, std::size_t position) noexcept;
  void exchange_book(const base::Ref<CallBook>& from,
                     const base::Ref<CallBook>& to) noexcept;
  memory::String own(std::string_view text) const;
  base::AnyRef self() const;
  const Registry& top() const noexcept;
  const Registry* next_below(const Registry& top) const noexcept;
  const Registry* find_child(std::string_view name) const noexcept;
  const Entry* find_entry(std::string_view name) const noexcept;
  void make_room_for_name();
  void index_name(std::string_view name, std::size_t id) noexcept;

  memory::Tag tag_;  // tag of everything this registry allocates
  memory::Vector<Entry> entries_;
  memory::Vector<Child> children_;
  Registry* parent_ = nullptr;  // parent; the next of the dying while it dies
  std::size_t position_ = 0;    // among the parent's children
  memory::OwnerId owner_{};
  base::Ref<CallBook> book_;
  bool is_training_ = true;
  std::uint32_t generation_ = 0;
  Origin origin_;
  // An index of names, where they are many: entry i is 2 i, child i is 2 i + 1.
  memory::SlotIndex index_;
};

}  // namespace neap::nn
