// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/leaf_book.hpp"

#include "neap/base/raise.hpp"
#include "neap/graph/trace.hpp"

namespace neap::compiler {
namespace {

// The leaf's gradient, of which no trace is told.
Tensor gradient_of(const graph::Leaf& leaf) {
  const graph::UseTrace nobody(nullptr);
  return leaf.grad();
}

// The value whose memory all values up to `last` took over.
ValueId root_of(const Program& program, ValueId last) noexcept {
  while (program[last].over != kNoValue) {
    last = program[last].over;
  }
  return last;
}

// Counts a gradient that backward sets as the leaf's, together with all values
// that it was computed from in place.
void count_as_gradient(Program& program, ValueId last,
                       const graph::Leaf& leaf) {
  for (ValueId id = last; id != kNoValue; id = program[id].over) {
    if (program[id].origin != Origin::kCall) {
      return;
    }
    program.respec(id, [&](ValueSpec& spec) {
      spec.category = memory::Category::kGradients;
      if (&leaf.domain() == &memory::domain()) {
        spec.owner = leaf.owner();
      }
    });
  }
}

}  // namespace

LeafBook::LeafBook() = default;

graph::Leaf& LeafBook::Entry::get() const noexcept {
  return static_cast<graph::Leaf&>(*leaf);
}

LeafBook::Entry& LeafBook::note(graph::Leaf& leaf) {
  const auto found = index_.find(&leaf);
  if (found != index_.end()) {
    return entries_[found->second];
  }
  entries_.push_back({.leaf = base::Ref<tensor::GraphLink>::share(&leaf),
                      .before = gradient_of(leaf),
                      .requires_grad = leaf.requires_grad(),
                      .hooks = graph::hooks_of(leaf),
                      .grad = {}});
  try {
    index_.emplace(&leaf, entries_.size() - 1);
  } catch (...) {
    entries_.pop_back();
    throw;
  }
  return entries_.back();
}

void LeafBook::on_use(graph::Leaf& leaf) {
  note(leaf);
}

void LeafBook::on_mode_change(graph::Leaf& leaf) {
  note(leaf).is_mode_set = true;
}

// The first access decides whether the gradient at entry matters.
LeafBook::Entry& LeafBook::touch(graph::Leaf& leaf, bool is_read) {
  Entry& entry = note(leaf);
  if (!entry.is_touched) {
    entry.is_touched = true;
    entry.grad.is_read = is_read;
    entry.grad.was_defined = entry.before.defined();
    entry.grad.had_graph =
        entry.before.defined() && static_cast<bool>(entry.before.link());
  }
  return entry;
}

void LeafBook::on_read(graph::Leaf& leaf) {
  touch(leaf, true);
}

void LeafBook::on_change(graph::Leaf& leaf) {
  touch(leaf, false).grad.is_set = true;
}

void LeafBook::finish(Program& program, TracedValues& values, base::SiteId site,
                      base::FunctionRef<Operand(const Tensor&)> own) {
  for (Entry& entry : entries_) {
    LeafGrad& grad = entry.grad;
    entry.set_to = entry.get().requires_grad();
    if (graph::has_other_hooks(entry.get(), entry.hooks)) {
      base::raise<TraceError>(
          "register_hook: the step traced at {} adds a hook to '{}' and leaves "
          "it there, which a run would not repeat; add it outside, or remove() "
          "it in the step",
          base::format_site(site),
          entry.get().domain().path_of(entry.get().owner()));
    }
    if (grad.is_read && grad.was_defined) {
      grad.entry = values.entry_of(entry.before);
    }
    const Tensor last = gradient_of(entry.get());
    entry.entry_body = entry.before.shared().get();
    entry.last_body = last.shared().get();
    if (entry.grad.is_set && last.defined() && last.link()) {
      base::raise<TraceError>(
          "backward: the step traced at {} leaves '{}' a gradient with the "
          "graph that it was recorded on, which no run could continue; set the "
          "result of detach()",
          base::format_site(site),
          entry.get().domain().path_of(entry.get().owner()));
    }
    if (grad.is_set && last.defined()) {
      grad.last = values.operand(last, "grad", site);
      const ValueId root = root_of(program, grad.last.value);
      if (program[root].origin != Origin::kCall && root != grad.entry) {
        grad.last = own(last);
      }
      count_as_gradient(program, grad.last.value, entry.get());
    }
  }
}

void LeafBook::restore() noexcept {
  if (is_restored_) {
    return;
  }
  const graph::UseTrace nobody(nullptr);
  for (Entry& entry : entries_) {
    if (entry.grad.is_set) {
      entry.get().set_grad(std::exchange(entry.before, {}));
    }
    graph::keep_hooks(entry.get(), entry.hooks);
    if (entry.is_mode_set) {
      entry.get().set_requires_grad(entry.requires_grad);
    }
  }
  is_restored_ = true;
}

void LeafBook::write_to(Program& program, const GivenHandles& given) {
  const auto share = [&](const tensor::Body* body, SharedWith with) {
    Result* result = body != nullptr ? given.find(program, body) : nullptr;
    if (result != nullptr && result->shared == SharedWith::kNothing) {
      result->shared = with;
      result->index = static_cast<std::uint32_t>(program.grads.size() - 1);
    }
  };
  program.grads.reserve(entries_.size());
  program.leaves.reserve(entries_.size());
  for (Entry& entry : entries_) {
    if (graph::is_last_reference(entry.leaf)) {
      continue;
    }
    program.leaves.push_back(
        {.leaf = entry.leaf,
         .requires_grad = entry.requires_grad,
         .is_set = entry.is_mode_set,
         .set_to = entry.set_to,
         .hooks = static_cast<std::uint32_t>(entry.hooks.size())});
    program.hooks.insert(program.hooks.end(), entry.hooks.begin(),
                         entry.hooks.end());
    if (entry.is_touched) {
      program.grads.push_back(entry.grad);
      program.grads.back().leaf = entry.leaf;
      if (entry.grad.is_read) {
        share(entry.entry_body, SharedWith::kEntryGradient);
      }
      if (entry.grad.is_set) {
        share(entry.last_body, SharedWith::kLastGradient);
      }
    }
  }
}

}  // namespace neap::compiler
