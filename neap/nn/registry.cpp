// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/registry.hpp"

#include <algorithm>
#include <functional>

#include "neap/base/raise.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/memory/scope.hpp"
#include "neap/nn/nearest.hpp"

namespace neap::nn {

using base::raise;
using memory::Category;

namespace {

void append(memory::String& path, std::string_view name) {
  if (!path.empty()) {
    path += '.';
  }
  path += name;
}

}  // namespace

// A change of labels in the ledger: what it was, and what it becomes.
struct Registry::Relabel {
  base::Ref<tensor::Storage> storage;  // null: only the leaf changes
  Category category = Category::kOther;
  memory::OwnerId owner{};
  Category old_category = Category::kOther;
  memory::OwnerId old_owner{};
  graph::Leaf* leaf = nullptr;
};

// Counts entries under their paths: all of them, or (on a throw) none.
class Registry::Relabelling {
 public:
  explicit Relabelling(const memory::Tag& tag, memory::Domain& domain)
      : labels_(memory::Allocator<Relabel>(domain, tag)),
        registries_(memory::Allocator<Place>(domain, tag)) {}

  void add_tree(Registry& tree) {
    tree.walk([this](Registry& at) {
      memory::String path = at.path_from(at.top());
      const std::size_t length = path.size();
      registries_.push_back({&at, at.domain().owner(path)});
      for (const Entry& entry : at.entries_) {
        append(path, entry.name);
        add_entry(entry, path);
        path.resize(length);
      }
    });
  }

  // A storage that holds more than the entry (a view into a flat block) keeps
  // its label; so does a tied tensor, which its first name labels.
  void add_entry(const Entry& entry, std::string_view path) {
    if (entry.is_tied) {
      return;
    }
    const tensor::Array& array = *entry.tensor.array();
    const base::Ref<tensor::Storage>& storage = array.storage();
    const bool is_whole =
        array.layout().offset == 0 &&
        tensor::extent_bytes(array.layout()) == storage->size();
    labels_.push_back(
        {.storage = is_whole ? storage : nullptr,
         .category =
             entry.is_parameter ? Category::kParameters : Category::kBuffers,
         .owner = storage->domain().owner(path),
         .old_category = storage->tag().category,
         .old_owner = storage->tag().owner,
         .leaf = entry.is_parameter ? graph::leaf_of(entry.tensor) : nullptr});
  }

  void commit() {
    std::size_t done = 0;
    try {
      for (; done < labels_.size(); ++done) {
        const Relabel& label = labels_[done];
        if (label.storage) {
          label.storage->retag(label.category, label.owner);
        }
      }
    } catch (...) {
      undo(done);
      throw;
    }
    for (const Relabel& label : labels_) {
      if (label.leaf != nullptr) {
        label.leaf->set_owner(label.owner);
      }
    }
    for (const Place& place : registries_) {
      place.registry->owner_ = place.owner;
    }
  }

  // The rows that were left are still open, so going back asks for nothing; if
  // a ledger refuses all the same, a label is wrong and no byte is.
  void undo(std::size_t count) noexcept {
    for (std::size_t i = count; i-- > 0;) {
      const Relabel& label = labels_[i];
      try {
        if (label.storage) {
          label.storage->retag(label.old_category, label.old_owner);
        }
      } catch (const OutOfMemory&) {
        continue;
      }
    }
  }

  std::size_t size() const noexcept { return labels_.size(); }
  memory::OwnerId owner() const noexcept { return labels_.front().owner; }

 private:
  struct Place {
    Registry* registry;
    memory::OwnerId owner;
  };
  memory::Vector<Relabel> labels_;
  memory::Vector<Place> registries_;
};

bool Registry::is_training() const {
  if (graph::Trace* trace = graph::trace()) {
    trace->depends_on(is_training_, self());
    trace->depends_on_generation(generation_, self());
  }
  return is_training_;
}

void Registry::set_training(bool value) noexcept {
  graph::Trace* trace = graph::trace();
  if (trace == nullptr || trace->on_flag_change(is_training_, self())) {
    is_training_ = value;
  }
}

void Registry::note_use() const noexcept {
  if (graph::Trace* trace = graph::trace()) {
    trace->depends_on_generation(generation_, self());
  }
}

void Registry::note_use_of_all() const noexcept {
  if (graph::trace() != nullptr) {
    walk([](const Registry& at) { at.note_use(); });
  }
}

// To keep it is all that a program does.
base::AnyRef Registry::self() const {
  auto* self = const_cast<Registry*>(this);  // NOLINT
  return base::AnyRef(base::Ref<Registry>::share(self));
}

void Registry::retire() noexcept {
  renew();
  orphan_children();
}

base::Ref<Registry> Registry::make() {
  memory::Tag tag = memory::current_tag(Category::kGraph);
  tag.category = Category::kGraph;
  return create(memory::domain(), tag, 0, memory::domain(), tag);
}

// A tree of any depth ends on a constant stack: registries that lose their last
// reference queue up through their parent pointers.
Registry::~Registry() {
  if (book_ && book_->top() == this) {
    book_->lose_top();
  }
  orphan_children();
}

void Registry::orphan_children() noexcept {
  Registry* dying = nullptr;
  const auto orphan = [&dying](memory::Vector<Child>& children) {
    for (Child& child : children) {
      Registry* registry = child.registry.leak();
      registry->set_place(nullptr, 0);
      if (registry->drop_reference()) {
        registry->parent_ = dying;
        dying = registry;
      }
    }
    children.clear();
  };
  orphan(children_);
  while (dying != nullptr) {
    Registry* registry = std::exchange(dying, dying->parent_);
    orphan(registry->children_);
    destroy(registry);
  }
}

memory::String Registry::own(std::string_view text) const {
  return memory::String(text, memory::Allocator<char>(domain(), tag_));
}

void Registry::set_place(Registry* parent, std::size_t position) noexcept {
  parent_ = parent;
  position_ = position;
}

// Replaces the book `from` in this registry and in all below that have it.
void Registry::exchange_book(const base::Ref<CallBook>& from,
                             const base::Ref<CallBook>& to) noexcept {
  walk([&](Registry& at) {
    if (at.book_ == from) {
      at.book_ = to;
    }
  });
}

const Registry& Registry::top() const noexcept {
  const Registry* at = this;
  while (at->parent_ != nullptr) {
    at = at->parent_;
  }
  return *at;
}

const Registry* Registry::next_below(const Registry& top) const noexcept {
  if (!children_.empty()) {
    return children_.front().registry.get();
  }
  const Registry* at = this;
  while (at != &top) {
    const memory::Vector<Child>& siblings = at->parent_->children_;
    if (at->position_ + 1 < siblings.size()) {
      return siblings[at->position_ + 1].registry.get();
    }
    at = at->parent_;
  }
  return nullptr;
}

memory::String Registry::path_from(const Registry& top) const {
  std::size_t length = 0;
  for (const Registry* at = this; at != &top; at = at->parent_) {
    length += at->parent_->children_[at->position_].name.size() + 1;
  }
  memory::String path = own({});
  path.resize(length == 0 ? 0 : length - 1, '.');
  std::size_t end = path.size();
  for (const Registry* at = this; at != &top; at = at->parent_) {
    const memory::String& name = at->parent_->children_[at->position_].name;
    path.replace(end - name.size(), name.size(), name);
    end -= std::min(end, name.size() + 1);
  }
  return path;
}

// --- names -----------------------------------------------------------------

namespace {

constexpr std::size_t kFew = 16;  // names that are searched one by one

std::size_t hash_of(std::string_view name) noexcept {
  return std::hash<std::string_view>()(name);
}

}  // namespace

const Registry* Registry::find_child(std::string_view name) const noexcept {
  if (index_.is_in_use()) {
    const std::size_t id = index_.find(hash_of(name), [&](std::size_t at) {
      return at % 2 == 1 && children_[at / 2].name == name;
    });
    return id != memory::SlotIndex::kNone ? children_[id / 2].registry.get()
                                          : nullptr;
  }
  const auto it = std::ranges::find(children_, name, &Child::name);
  return it != children_.end() ? it->registry.get() : nullptr;
}

const Entry* Registry::find_entry(std::string_view name) const noexcept {
  if (index_.is_in_use()) {
    const std::size_t id = index_.find(hash_of(name), [&](std::size_t at) {
      return at % 2 == 0 && entries_[at / 2].name == name;
    });
    return id != memory::SlotIndex::kNone ? &entries_[id / 2] : nullptr;
  }
  const auto it = std::ranges::find(entries_, name, &Entry::name);
  return it != entries_.end() ? &*it : nullptr;
}

void Registry::index_name(std::string_view name, std::size_t id) noexcept {
  if (index_.is_in_use()) {
    index_.add(hash_of(name), id);
  }
}

// Before a name comes: nothing of the index can fail afterwards.
void Registry::make_room_for_name() {
  const std::size_t names = entries_.size() + children_.size();
  if (names < kFew || !index_.reserve(names + 1)) {
    return;
  }
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    index_name(entries_[i].name, 2 * i);
  }
  for (std::size_t i = 0; i < children_.size(); ++i) {
    index_name(children_[i].name, 2 * i + 1);
  }
}

const Entry* Registry::find(std::string_view path) const noexcept {
  const Registry* at = this;
  while (at != nullptr) {
    const std::size_t dot = path.find('.');
    if (dot == std::string_view::npos) {
      return at->find_entry(path);
    }
    at = at->find_child(path.substr(0, dot));
    path.remove_prefix(dot + 1);
  }
  return nullptr;
}

const Entry& Registry::at(std::string_view path, bool is_parameter) const {
  const char* kind = is_parameter ? "parameter" : "buffer";
  const Entry* entry = find(path);
  if (entry != nullptr && entry->is_parameter == is_parameter) {
    return *entry;
  }
  memory::Vector<memory::String> names;
  walk([&](const Registry& at) {
    for (const Entry& other : at.entries_) {
      if (other.is_parameter == is_parameter) {
        names.push_back(at.path_from(*this));
        append(names.back(), other.name);
      }
    }
  });
  if (names.empty()) {
    raise<NameError>("{0}: no {0} \"{1}\", the module has none", kind, path);
  }
  raise<NameError>("{0}: no {0} \"{1}\"; the nearest: {2}", kind, path,
                   std::string_view(nearest_names(path, names)));
}

void Registry::check_name(std::string_view name) const {
  if (name.empty()) {
    raise<NameError>("register: a name must not be empty");
  }
  if (name.find('.') != std::string_view::npos) {
    raise<NameError>(
        "register: \"{}\" has a '.', which stands between the names of a path",
        name);
  }
  if (find_entry(name) != nullptr || find_child(name) != nullptr) {
    raise<NameError>("register: the name \"{}\" is taken", name);
  }
}

void Registry::check_adoption(const Registry& child) const {
  if (child.parent_ != nullptr) {
    raise<ValueError>(
        "add: the module is already part of another; to share parameters, tie "
        "them");
  }
  for (const Registry* at = this; at != nullptr; at = at->parent_) {
    if (at == &child) {
      raise<ValueError>("add: the module would hold itself");
    }
  }
}

void Registry::add_entry(std::string_view name, const Tensor& tensor,
                         bool is_parameter, const CallSite& site,
                         bool is_tied) {
  check_name(name);
  if (!is_parameter && tensor.requires_grad()) {
    raise<GraphError>(
        "register_buffer: \"{}\" requires grad, detach() it first", name);
  }
  memory::String path = path_from(top());
  append(path, name);
  make_room_for_name();
  entries_.push_back({.name = own(name),
                      .tensor = tensor,
                      .is_parameter = is_parameter,
                      .is_tied = is_tied});
  Relabelling labels(tag_, domain());
  bool is_labelled = false;
  try {
    labels.add_entry(entries_.back(), path);
    labels.commit();
    is_labelled = true;
    if (is_parameter) {
      requires_grad_(tensor, true, site);
    }
  } catch (...) {
    labels.undo(is_labelled ? labels.size() : 0);
    entries_.pop_back();
    throw;
  }
  index_name(name, 2 * (entries_.size() - 1));
  if (is_parameter && !is_tied) {
    graph::leaf_of(tensor)->set_owner(labels.owner());
  }
  memory::detach_from_scope(tensor);
  renew();
}

void Registry::add_child(std::string_view name,
                         const base::Ref<Registry>& child) {
  check_name(name);
  check_adoption(*child);
  make_room_for_name();
  children_.push_back({own(name), child});
  child->set_place(this, children_.size() - 1);
  try {
    Relabelling labels(tag_, domain());
    labels.add_tree(*child);
    labels.commit();
  } catch (...) {
    child->set_place(nullptr, 0);
    children_.pop_back();
    throw;
  }
  index_name(name, 2 * (children_.size() - 1) + 1);
  if (book_) {
    child->exchange_book(nullptr, book_);
  }
  renew();
}

void Registry::replace_by(const base::Ref<Registry>& other) {
  Registry& parent = *parent_;
  const std::size_t position = position_;
  parent.check_adoption(*other);
  Child& place = parent.children_[position];
  const base::Ref<Registry> self = std::exchange(place.registry, other);
  set_place(nullptr, 0);
  other->set_place(&parent, position);
  try {
    Relabelling labels(tag_, domain());
    labels.add_tree(*other);
    labels.commit();
  } catch (...) {
    other->set_place(nullptr, 0);
    set_place(&parent, position);
    place.registry = self;
    throw;
  }
  if (parent.book_) {
    self->exchange_book(parent.book_, nullptr);
    other->exchange_book(nullptr, parent.book_);
  }
}

void Registry::tie(std::string_view path, const Tensor& home) {
  if (graph::trace() != nullptr) {
    raise<TraceError>(
        "tie: \"{}\" in a step that is traced, which each run would repeat; "
        "tie it outside",
        path);
  }
  const Entry& entry = at(path, true);
  if (!home.defined() || graph::leaf_of(home) == nullptr) {
    raise<GraphError>("tie: \"{}\" can only be tied to a parameter", path);
  }
  if (home.shape() != entry.tensor.shape()) {
    raise<ShapeError>("tie: \"{}\" has shape {}, the other {}", path,
                      format_shape(entry.tensor.shape()),
                      format_shape(home.shape()));
  }
  if (home.dtype() != entry.tensor.dtype()) {
    raise<DTypeError>("tie: \"{}\" is {}, the other {}", path,
                      name_of(entry.tensor.dtype()), name_of(home.dtype()));
  }
  if (home.link() == entry.tensor.link()) {
    return;
  }
  // Every copy of the handle, the layer's own too, now means the other tensor.
  const_cast<Entry&>(entry).is_tied = true;
  const_cast<Entry&>(entry).tensor.rebind(home);
}

}  // namespace neap::nn
