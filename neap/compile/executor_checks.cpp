// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Looked at before a run: what the trace took for granted of tensors, and what
// lies on one storage though the trace took it for two.
#include <algorithm>
#include <string>

#include "neap/base/raise.hpp"
#include "neap/compile/executor.hpp"

namespace neap::compiler {
namespace {

std::span<const std::byte> memory_of(const tensor::Storage& storage) noexcept {
  return {storage.data(), static_cast<std::size_t>(storage.size())};
}

}  // namespace

// `external`: the tensor's own, or none.
void Executor::check_written(const Tensor& tensor, std::string_view what,
                             std::uint32_t external) const {
  const tensor::Storage* storage = tensor.array()->storage().get();
  for (const std::uint32_t e : written_externals_) {
    const Tensor& written = program_.externals[e].tensor;
    if (e != external && written.defined() &&
        written.array()->storage().get() == storage) {
      base::raise<ValueError>(
          "compile: {} shares its storage with '{}', which the step writes",
          what, domain_.path_of(storage->tag().owner));
    }
  }
}

void Executor::check_captured(const Arenas& arenas) const {
  for (const External& external : program_.externals) {
    const Tensor& tensor = external.tensor;
    if (tensor.defined() &&
        arenas.overlaps(memory_of(*tensor.array()->storage()))) {
      base::raise<ValueError>(
          "compile: a tensor that the step uses lies in the step's own memory: "
          "if it is a result of an earlier call, name it in .keep; if it "
          "borrows memory, lend the step other memory");
    }
  }
}

// A state that the step writes into lies where nothing else that it uses does.
void Executor::check_states() const {
  for (const ReboundHandle& handle : program_.rebound_handles) {
    if (handle.external == ReboundHandle::kNone) {
      continue;
    }
    const Tensor& state = program_.externals[handle.external].tensor;
    check_written(state, "a handle that the step assigns to", handle.external);
    if (!std::ranges::binary_search(written_externals_, handle.external)) {
      continue;
    }
    for (std::size_t i = 0; i < program_.externals.size(); ++i) {
      const Tensor& other = program_.externals[i].tensor;
      if (i != handle.external && other.defined() && other.is_alias_of(state)) {
        base::raise<ValueError>(
            "compile: a handle that the step assigns to and writes into shares "
            "its storage with '{}', which the step reads",
            domain_.path_of(other.array()->storage()->tag().owner));
      }
    }
  }
}

void Executor::check_states_now() {
  try {
    find_states();
    check_states();
  } catch (...) {
    abandon();
    throw;
  }
  let_go_of_entries();
}

void Executor::check_arguments(const Arenas& arenas,
                               std::span<const Tensor> arguments) const {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const tensor::Storage* storage = arguments[i].array()->storage().get();
    if (arenas.overlaps(memory_of(*storage))) {
      base::raise<ValueError>(
          "compile: argument {} lies in the step's own memory: if it is a "
          "result of an earlier call, name it in .keep; if it borrows memory, "
          "lend the step other memory",
          i);
    }
    if (!written_externals_.empty()) {
      check_written(arguments[i], "argument " + std::to_string(i),
                    ReboundHandle::kNone);
    }
    const bool is_written = std::binary_search(written_arguments_.begin(),
                                               written_arguments_.end(), i);
    if (is_written || program_.asks_aliases) {
      check_pair(i, arguments);
    }
    check_place(i, arguments[i]);
  }
}

// The trace took an argument for a tensor that no graph knows.
void Executor::check_place(std::size_t i, const Tensor& argument) const {
  const base::Ref<tensor::GraphLink>& link = argument.link();
  if (!link) {
    return;
  }
  const GraphQuestions& asked = program_.asked_of_arguments;
  const char* const what =
      asked.requires_grad && link->requires_grad() ? "requires grad"
      : asked.is_leaf && !link->is_leaf()          ? "is the result of an op"
      : asked.grad && argument.grad().defined()    ? "has a gradient"
                                                   : nullptr;
  if (what != nullptr) {
    base::raise<ValueError>(
        "compile: argument {} {}, which the step asks about; let the step "
        "capture it, or detach() it",
        i, what);
  }
}

// Nothing else that the program works on may lie where argument i does: the
// trace took them for different tensors.
void Executor::check_pair(std::size_t i,
                          std::span<const Tensor> arguments) const {
  const char* const why =
      program_.asks_aliases
          ? "and the step asks whether tensors share theirs; pass a copy()"
          : "which the step writes";
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    if (a != i && arguments[a].is_alias_of(arguments[i])) {
      base::raise<ValueError>(
          "compile: arguments {} and {} share a storage, {}", std::min(a, i),
          std::max(a, i), why);
    }
  }
  const tensor::Storage* storage = arguments[i].array()->storage().get();
  const auto check = [&](const tensor::Array* other) {
    if (other != nullptr && other->storage().get() == storage) {
      base::raise<ValueError>(
          "compile: argument {} shares its storage with '{}', {}", i,
          domain_.path_of(storage->tag().owner), why);
    }
  };
  for (const External& external : program_.externals) {
    check(external.tensor.defined() ? external.tensor.array().get() : nullptr);
  }
  for (const HeldHandle& handle : program_.held_handles) {
    check(handle.array.get());
  }
}

}  // namespace neap::compiler
