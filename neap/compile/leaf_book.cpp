// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/leaf_book.hpp"

#include "neap/graph/vertex.hpp"

namespace neap::compiler {
namespace {

// As the leaf says, and no trace hears of it.
Tensor gradient_of(const graph::Leaf& leaf) {
  const graph::UseTrace nobody(nullptr);
  return leaf.grad();
}

// What backward does of a gradient that it puts in place: it is the leaf's, and
// all that it was made of in place.
void count_as_gradient(Program& program, ValueId last,
                       const graph::Leaf& leaf) noexcept {
  for (ValueId id = last; id != kNoValue; id = program[id].over) {
    Value& value = program[id];
    if (value.origin != Origin::kCall) {
      return;
    }
    value.category = memory::Category::kGradients;
    if (&leaf.domain() == &memory::domain()) {
      value.owner = leaf.owner();
    }
  }
}

}  // namespace

LeafBook::LeafBook() = default;

graph::Leaf& LeafBook::Entry::get() const noexcept {
  return static_cast<graph::Leaf&>(*leaf);
}

LeafBook::Entry& LeafBook::note(graph::Leaf& leaf, bool is_read) {
  const auto found = index_.find(&leaf);
  if (found != index_.end()) {
    return entries_[found->second];
  }
  entries_.push_back({base::Ref<tensor::GraphLink>::share(&leaf),
                      gradient_of(leaf), is_read, false});
  try {
    index_.emplace(&leaf, entries_.size() - 1);
  } catch (...) {
    entries_.pop_back();
    throw;
  }
  return entries_.back();
}

void LeafBook::on_change(graph::Leaf& leaf) {
  note(leaf, false).is_changed = true;
}

void LeafBook::write_to(Program& program, TracedValues& values,
                        base::SiteId site) {
  for (const Entry& entry : entries_) {
    LeafGrad grad{.leaf = entry.leaf,
                  .is_read = entry.is_read,
                  .was_defined = entry.before.defined(),
                  .entry = kNoValue,
                  .is_set = entry.is_changed,
                  .last = {}};
    if (entry.is_read && entry.before.defined()) {
      grad.entry = values.entry_of(entry.before);
    }
    const Tensor last = gradient_of(entry.get());
    if (entry.is_changed && last.defined()) {
      grad.last = values.operand(last, "grad", site);
      count_as_gradient(program, grad.last.value, entry.get());
    }
    program.grads.push_back(std::move(grad));
  }
}

void LeafBook::restore() noexcept {
  const graph::UseTrace nobody(nullptr);
  for (Entry& entry : entries_) {
    if (entry.is_changed) {
      entry.get().set_grad(std::move(entry.before));
    }
  }
  index_.clear();
  entries_.clear();
}

void drop_lonely_leaves(Program& program) noexcept {
  std::erase_if(program.grads, [](const LeafGrad& grad) {
    return graph::is_last_reference(grad.leaf);
  });
}

}  // namespace neap::compiler
