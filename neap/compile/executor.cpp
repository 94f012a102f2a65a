// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "neap/base/raise.hpp"
#include "neap/compile/spill_queue.hpp"
#include "neap/compile/state_file.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/program/rank_cut.hpp"
#include "neap/tensor/creator.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::compiler {
namespace {

void check_elements(const Tensor& tensor, base::SiteId site) {
  tensor::Storage& storage = *tensor.array()->storage();
  if (storage.is_away()) {  // in a rehearsal, too
    storage.bring_home();
  }
  if (!storage.has_elements() &&
      storage.absence() != tensor::Absence::kRehearsed) {
    tensor::refuse_elements(storage, "a compiled step", site);
  }
  if (storage.data() == nullptr && tensor.element_count() != 0) {
    base::raise<UseAfterRelease>(
        "compile: the elements of a tensor that the step uses have been freed");
  }
}

}  // namespace

Executor::Executor(Program program, const Debug& debug,
                   const planner::SolveOptions& options, bool is_paged,
                   Bytes lent)
    : Executor(bound(std::move(program)), debug, options, is_paged, lent) {}

std::uint64_t Executor::next_number() noexcept {
  static std::atomic<std::uint64_t> latest{0};
  return ++latest;
}

Executor::Bound Executor::bound(Program program) {
  memory::Vector<Binding> bindings = bind(program, tensor::executor());
  return {std::move(program), std::move(bindings)};
}

Executor::Executor(Bound bound, const Debug& debug,
                   const planner::SolveOptions& options, bool is_paged,
                   Bytes lent)
    : program_(std::move(bound.program)),
      domain_(memory::domain()),
      plan_(compiler::plan(program_, tensor::executor().threads(), debug,
                           options, is_paged)),
      guards_(program_, plan_.threads),
      instructions_(program_, plan_, std::move(bound.bindings)),
      grads_(program_, plan_),
      results_(program_, plan_) {
  if (debug.poison || debug.guards) {
    debug_run_.emplace(program_, plan_, instructions_);
  }
  note_entries();
  note_calls();
  if (program_.ranks != nullptr) {
    exchanges_ = exchange_digest(program_);
  }
  plan_.lent = lent;
  // Instructions know by now where scratch is.
  plan_.lifetimes.scratch_of = memory::Vector<BufferId>();
}

void Executor::note_entries() {
  for (const LeafGrad& grad : program_.grads) {
    if (grad.entry != kNoValue) {
      const std::uint32_t external = program_[grad.entry].index;
      External& held = program_.externals[external];
      entries_.push_back({&grad, external, held.tensor.array()->layout(),
                          shared_with_handle(held.tensor)});
      if (entries_.back().shared != nullptr && grad.is_set) {
        base::raise<TraceError>(
            "compile: a handle that the step reads refers to the gradient of "
            "'{}', which the step sets or adds to; assign a copy() to the "
            "handle",
            domain_.path_of(
                static_cast<const graph::Leaf&>(*grad.leaf).owner()));
      }
      held.tensor = Tensor();  // the leaf's alone between runs
      held.met = Tensor();
      held.is_watched = false;
    }
  }
}

const tensor::Storage* Executor::shared_with_handle(const Tensor& grad) const {
  const tensor::Storage* storage = grad.array()->storage().get();
  const auto means_it = [&](const auto& handle) {
    return handle.array && handle.array->storage().get() == storage;
  };
  return std::ranges::any_of(program_.held_handles, means_it) ||
                 std::ranges::any_of(program_.rebound_handles, means_it)
             ? storage
             : nullptr;
}

void Executor::note_calls() {
  for (const Call& call : program_.calls) {
    note_call(call);
    for (const Operand& operand : program_.out(call)) {
      note_write(operand);
    }
  }
  for (const Call& member : program_.members) {
    note_call(member);
  }
  note_elsewhere();
  for (const AwayState& state : program_.away) {
    if (program_.externals[state.external].is_written) {
      written_externals_.push_back(state.external);
    }
  }
  places_.assign(program_.away.size(), StateFile::kNone);
  for (auto* written : {&written_externals_, &written_arguments_}) {
    std::sort(written->begin(), written->end());
    written->erase(std::unique(written->begin(), written->end()),
                   written->end());
  }
}

void Executor::note_call(const Call& call) {
  void* attrs = program_.attrs_of(call);
  if (call.draw_at >= 0) {
    auto* key = reinterpret_cast<base::DrawKey*>(
        static_cast<std::byte*>(attrs) + call.draw_at);
    draws_.push_back({key, key->draw - program_.first_draw.draw});
  }
  if (call.listener != nullptr) {
    listeners_.push_back(
        {call.listener, call.listener_index, attrs, call.attrs_size});
  }
}

// Updates that other ranks make, in the order in which all ranks list theirs.
void Executor::note_elsewhere() {
  if (program_.shared == nullptr) {
    return;
  }
  for (const UpdateElsewhere& one : program_.shared->elsewhere) {
    listeners_.push_back({one.listener, one.index, program_.attrs_at(one.attrs),
                          one.attrs_size});
  }
  const auto place = [&](const Listener& one) {
    const auto found = std::ranges::find(program_.listeners, one.listener,
                                         &Listening::listener);
    return std::pair(found - program_.listeners.begin(), one.index);
  };
  std::ranges::stable_sort(listeners_, {}, place);
}

void Executor::note_write(const Operand& operand) {
  const Buffer& buffer = plan_.lifetimes.at(operand.value);
  if (buffer.where == Where::kExternal) {
    written_externals_.push_back(buffer.index);
  } else if (buffer.where == Where::kArgument) {
    written_arguments_.push_back(buffer.index);
  }
}

BrokenGuard Executor::broken(const GivenArguments& given) const {
  if (const BrokenGuard found = guards_.broken(given)) {
    return found;
  }
  for (const Entry& entry : entries_) {
    const Tensor now = static_cast<graph::Leaf&>(*entry.grad->leaf).grad();
    const bool is_other =
        entry.shared != nullptr && now.array()->storage().get() != entry.shared;
    const bool has_graph = static_cast<bool>(now.link());
    if (is_other || now.array()->layout() != entry.layout ||
        has_graph != entry.grad->had_graph) {
      const auto at = entry.grad - program_.grads.data();
      return {BrokenGuard::What::kGradient, static_cast<std::size_t>(at)};
    }
  }
  return {};
}

void Executor::reserve(const Arenas& arenas) {
  for (const External& external : program_.externals) {
    if (!external.is_away && external.tensor.defined()) {
      external.tensor.array()->storage()->bring_home();
    }
  }
  try {
    grads_.reserve();
    results_.reserve(arenas, grads_);
  } catch (...) {
    abandon();
    throw;
  }
}

void Executor::prepare(const Arenas& arenas, std::span<const Tensor> arguments,
                       base::SiteId site) {
  site_ = site;
  try {
    find_states();
    find_bases(arenas, arguments);
    check_arguments(arenas, arguments);
    check_captured(arenas);
    check_states();
    grads_.acquire();
    results_.acquire(arenas, grads_, arguments);
    renew_places();
    find_own_bases();
    if (!domain_.is_rehearsal()) {
      instructions_.check_front();
    }
    for (const Listening& heard : program_.listeners) {
      heard.listener->before_run();
    }
    find_places();
  } catch (...) {
    abandon();
    throw;
  }
}

void Executor::find_bases(const Arenas& arenas,
                          std::span<const Tensor> arguments) {
  for (std::uint8_t s = 0; s < memory::kMaxSpaces; ++s) {
    const memory::SpaceId space{s};
    instructions_.set_base(instructions_.arena(space), arenas.base(space));
  }
  instructions_.set_base(instructions_.views(), arenas.views(plan_));
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    check_elements(arguments[i], site_);
    instructions_.set_base(instructions_.argument(i),
                           arguments[i].array()->strided().data);
  }
  for (const Entry& entry : entries_) {
    program_.externals[entry.external].tensor = LeafGrads::entry(*entry.grad);
  }
  for (std::size_t i = 0; i < program_.externals.size(); ++i) {
    const Tensor& external = program_.externals[i].tensor;
    if (program_.externals[i].is_away) {
      continue;
    }
    check_elements(external, site_);
    instructions_.set_base(instructions_.external(i),
                           external.array()->storage()->data());
  }
}

void Executor::find_own_bases() {
  for (std::size_t i = 0; i < plan_.lifetimes.own_blocks; ++i) {
    const tensor::Storage* of_grad = grads_.own_block(i);
    instructions_.set_base(instructions_.own(i), of_grad != nullptr
                                                     ? of_grad->data()
                                                     : results_.own_block(i));
  }
}

// A state is read where it lies, as the handle that means it says.
void Executor::find_states() {
  for (std::size_t i = 0; i < program_.rebound_handles.size(); ++i) {
    const std::uint32_t external = program_.rebound_handles[i].external;
    if (external != ReboundHandle::kNone) {
      program_.externals[external].tensor = guards_.state(i);
    }
  }
}

void Executor::write_attrs() const noexcept {
  const base::DrawKey& next = tensor::generator().next();
  for (const Draw& draw : draws_) {
    *draw.key = {next.seed, next.draw + draw.after};
  }
  for (const Listener& one : listeners_) {
    one.listener->write_attrs(one.index, one.attrs);
  }
}

void Executor::run(std::span<const Tensor> arguments,
                   std::span<Tensor> results) {
  results_.begin(site_);
  if (!domain_.is_rehearsal()) {
    write_attrs();
    instructions_.set_executor(tensor::executor());
    std::size_t at = 0;
    try {
      run_body(at);
    } catch (const Error& error) {
      const Value* written = first_written(at);
      if (written != nullptr) {
        count_writes(arguments);
      }
      abandon();
      const bool is_lost =  // told as it is: other ranks end with the same
          program_.ranks != nullptr && program_.ranks->is_broken();
      if (written != nullptr && !is_lost) {
        base::raise<TornStep>(
            "compile: {}; after the step had begun to write ({} and what "
            "follows it in the program)",
            error.what(), name_of(*written));
      }
      throw;
    }
  }
  count_writes(arguments);
  take_shared(arguments, results);
  finish();
  if (program_.ranks != nullptr) {
    states_seen_ = state_writes(program_);
  }
  link_results();
  results_.give(results);
  share_results(results);
  set_states(results);
  set_host_state();
}

void Executor::run_body(std::size_t& at) {
  std::optional<StateFile::Running> states;
  if (states_ != nullptr) {
    states.emplace(*states_);
  }
  try {
    for (int tries = 0; states && !are_places_current(); ++tries) {
      states.reset();
      find_places_again(tries);
      states.emplace(*states_);
    }
    expect_readable_states();
    if (debug_run_) {
      debug_run_->run(at);
    } else if (profile_ != nullptr) {
      profile_->run(instructions_, at);
    } else {
      instructions_.run(at);
    }
  } catch (...) {
    begin_spills(at);
    stop_moves();
    look_after_states(at);
    throw;
  }
}

// Nothing moves any more. What is of the run alone is dropped; states that were
// updated have to get to the file.
void Executor::stop_moves() noexcept {
  if (instructions_.spill() != nullptr) {
    instructions_.spill()->drain();
  }
  if (states_ != nullptr) {
    states_->settle();
  }
}

// Its layer's path, or what it is where it has none.
std::string Executor::name_of(const Value& value) const {
  const auto path = domain_.path_of(value.spec->owner);
  return path.empty() ? fmt::format("a tensor without a name, {} {}",
                                    neap::name_of(value.spec->dtype),
                                    format_shape(value.spec->shape))
                      : fmt::format("'{}'", path);
}

// Modes that the step sets, as it left them.
void Executor::set_host_state() const noexcept {
  for (const Flag& flag : program_.flags) {
    if (flag.is_set != nullptr) {
      *flag.is_set = flag.set_to;
    }
  }
  for (const LeafMode& mode : program_.leaves) {
    if (mode.is_set) {
      static_cast<graph::Leaf&>(*mode.leaf).set_requires_grad(mode.set_to);
    }
  }
}

void Executor::finish() noexcept {
  for (const Listening& heard : program_.listeners) {
    heard.listener->after_run(heard.calls);
  }
  if (program_.draws != 0) {
    tensor::Generator& generator = tensor::generator();
    const base::DrawKey& now = generator.key();
    generator.set_key({now.seed, now.draw + program_.draws});
  }
  grads_.give();
  let_go_of_entries();
}

void Executor::let_go_of_entries() noexcept {
  for (const Entry& entry : entries_) {
    program_.externals[entry.external].tensor = Tensor();
  }
  for (const ReboundHandle& handle : program_.rebound_handles) {
    if (handle.external != ReboundHandle::kNone) {
      program_.externals[handle.external].tensor = Tensor();
    }
  }
}

void Executor::abandon() noexcept {
  results_.abandon();
  grads_.abandon();
  let_go_of_entries();
}

void Executor::count_writes(std::span<const Tensor> arguments) const noexcept {
  for (const std::uint32_t e : written_externals_) {
    program_.externals[e].tensor.array()->storage()->bump_version(site_);
  }
  for (const std::uint32_t a : written_arguments_) {
    arguments[a].array()->storage()->bump_version(site_);
  }
}

// True for a gradient at entry that is added to in place, or in a copy.
bool Executor::is_entry(const Buffer& buffer) const noexcept {
  return buffer.where == Where::kExternal &&
         std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
           return entry.grad->is_accumulated && entry.external == buffer.index;
         });
}

// The first value that a call before the body's instruction `at` wrote and that
// others see.
const Value* Executor::first_written(std::size_t at) const noexcept {
  for (std::size_t done = 0; done < at; ++done) {
    const Call call = program_.calls[instructions_.call(done)];
    for (const Operand& operand : program_.out(call)) {
      const Buffer& buffer = plan_.lifetimes.at(operand.value);
      const bool is_gradient = buffer.where == Where::kOwn || is_entry(buffer);
      if (is_gradient ? grads_.is_in_place(buffer)
                      : buffer.where != Where::kArena) {
        return &program_[operand.value];
      }
    }
  }
  for (std::size_t i = 0; i < instructions_.size(); ++i) {
    if (is_updated(i, at)) {
      const Call call = program_.calls[instructions_.call(i)];
      return &program_[program_.moved(call).value];
    }
  }
  return nullptr;
}

Bytes Executor::persistent_bytes() const {
  memory::Vector<const tensor::Storage*> storages;
  for (const External& external : program_.externals) {
    if (external.tensor.defined() && !external.is_away) {
      storages.push_back(external.tensor.array()->storage().get());
    }
  }
  const graph::UseTrace nobody(nullptr);
  for (const LeafGrad& grad : program_.grads) {
    const Tensor now = static_cast<graph::Leaf&>(*grad.leaf).grad();
    if (now.defined()) {
      storages.push_back(now.array()->storage().get());
    }
  }
  std::sort(storages.begin(), storages.end());
  storages.erase(std::unique(storages.begin(), storages.end()), storages.end());
  Bytes sum = results_.kept_bytes();
  for (const tensor::Storage* storage : storages) {
    sum += storage->size();
  }
  return sum;
}

Bytes Executor::bytes() const noexcept {
  return program_.bytes() + plan_.bytes() + instructions_.bytes() +
         static_cast<Bytes>(sizeof(*this));
}

}  // namespace neap::compiler
