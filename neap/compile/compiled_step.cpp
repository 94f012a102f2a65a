// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/compiled_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "neap/base/raise.hpp"
#include "neap/compile/lower.hpp"
#include "neap/memory/scope.hpp"
#include "neap/program/digest.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

using base::raise;

// Those with another batch.
memory::Vector<tensor::Spec> with_batch(std::span<const tensor::Spec> specs,
                                        std::int64_t batch) {
  memory::Vector<tensor::Spec> out(specs.begin(), specs.end());
  for (tensor::Spec& spec : out) {
    if (spec.shape.rank() >= 1) {
      spec.shape[0] = batch;
    }
  }
  return out;
}

// THROWS: ShapeError where arguments differ in it.
std::int64_t batch_of(std::span<const tensor::Spec> specs) {
  std::int64_t batch = -1;
  for (const tensor::Spec& spec : specs) {
    if (spec.shape.rank() == 0) {
      continue;
    }
    if (batch >= 0 && spec.shape[0] != batch) {
      raise<ShapeError>(
          "compile: batches of {} and {} in one call; with max_batch, axis 0 "
          "of every argument is the batch",
          batch, spec.shape[0]);
    }
    batch = spec.shape[0];
  }
  return batch;
}

void check_given(std::size_t i, const Tensor& tensor) {
  if (!tensor.defined()) {
    raise<ValueError>("compile: argument {} is undefined", i);
  }
}

// The call is a part of what goes on: of a step that is traced, of jvp, of a
// rematerialised segment. The step then is the plain function.
bool is_part() {
  const memory::Context& context = memory::context();
  return context.trace != nullptr || context.recorder != nullptr;
}

}  // namespace

// One call at a time; what it held of the caller's goes at its end.
class CompiledStep::Turn {
 public:
  explicit Turn(CompiledStep& step) : step_(step) {
    if (step.is_busy_.exchange(true, std::memory_order_acquire)) {
      raise<ValueError>(
          "compile: the step is running, in another thread or in itself; one "
          "call at a time");
    }
  }
  ~Turn() {
    step_.arguments_.clear();
    step_.is_busy_.store(false, std::memory_order_release);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  CompiledStep& step_;
};

// What is made from here on goes again unless it succeeds.
class CompiledStep::Attempt {
 public:
  explicit Attempt(CompiledStep& step) noexcept
      : step_(step), arena_(step.arenas_.bytes()) {}
  ~Attempt() {
    if (!has_succeeded_) {
      step_.take_back(arena_);
    }
  }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  void succeed() noexcept {
    for (Entry& entry : step_.entries_) {
      entry.is_new = false;
    }
    has_succeeded_ = true;
  }

 private:
  CompiledStep& step_;
  Bytes arena_;
  bool has_succeeded_ = false;
};

CompiledStep::CompiledStep(const CompileOptions& options, const CallSite& site)
    : options_(options),
      site_(base::intern(site)),
      arenas_(memory::domain(), options.memory, options.paged) {
  if (options.programs < 1 || options.max_batch < 0 || options.verify < 0) {
    raise<ValueError>(
        "compile: programs {}, max_batch {} and verify {}, at least 1, 0 and 0 "
        "are needed",
        options.programs, options.max_batch, options.verify);
  }
  if (options.paged && !options.memory.empty()) {
    raise<ValueError>(
        "compile: .paged and .memory together; pages are memory of the step's "
        "own");
  }
  if (!options.warm.empty() && options.max_batch == 0) {
    raise<ValueError>("compile: .warm lists batches, and needs max_batch");
  }
  entries_.reserve(static_cast<std::size_t>(options.programs) + 1);
}

CompiledStep::~CompiledStep() = default;

void refuse_moved_from() {
  raise<UseAfterRelease>(
      "compile: the compiled step was moved from; call the one that it was "
      "moved to");
}

const Executor& CompiledStep::latest() const {
  if (entries_.empty()) {
    raise<ValueError>(
        "compile: nothing was traced yet, call the step or prepare() it");
  }
  return *entries_.front().executor;
}

Prediction CompiledStep::prediction() const {
  return predict(program(), plan());
}

Measured CompiledStep::measured() const {
  const memory::Stats stats = memory::domain().stats();
  return {.persistent = latest().persistent_bytes(),
          .arena = arenas_.bytes(),
          .peak = stats.live_peak,
          .held_peak = stats.peak,
          .external = stats.external,
          .seconds = plan().seconds()};
}

void CompiledStep::reset() {
  const Turn turn(*this);
  let_go();
}

void CompiledStep::let_go() noexcept {
  last_ = nullptr;
  ready_ = nullptr;
  entries_.clear();
  arenas_.let_go();
  number_dtype_ = f64;
  arguments_.clear();
  arguments_.shrink_to_fit();
  specs_.clear();
  specs_.shrink_to_fit();
  numbers_.clear();
  numbers_.shrink_to_fit();
  results_.clear();
  results_.shrink_to_fit();
}

// `arena`: bytes before. A larger one goes as a whole, for the next call to
// make: it cannot shrink.
void CompiledStep::take_back(Bytes arena) noexcept {
  std::erase_if(entries_, [&](Entry& entry) {
    if (entry.is_new) {
      forget(*entry.executor);
    }
    return entry.is_new;
  });
  if (entries_.empty()) {
    let_go();
  } else if (arenas_.bytes() > arena) {
    arenas_.let_go();
  }
}

void CompiledStep::call(Step step, std::span<const Argument> arguments,
                        base::FunctionRef<void(std::span<Tensor>)> take) {
  const Turn turn(*this);
  if (is_part()) {
    call_as_part(step, arguments, take);
    return;
  }
  Attempt attempt(*this);
  take_arguments(arguments);
  results_.clear();
  Entry& entry = find(step, arguments);
  Executor& executor = *entry.executor;
  if (options_.verify > 0 && entry.calls++ % options_.verify == 0 &&
      !entry.is_new) {
    verify(step, entry);
  }
  fit(entry);
  use(executor);
  results_.resize(executor.results().count());
  executor.prepare(arenas_, arguments_, site_);
  attempt.succeed();
  if (last_ != nullptr && last_ != &executor) {
    last_->results().revoke(site_);
  }
  last_ = &executor;
  executor.run(arguments_, results_);
  take(std::span(results_).first(executor.handed()));
}

// Nothing of the call outlasts it: what it is a part of may be a trace.
void CompiledStep::call_as_part(
    Step step, std::span<const Argument> arguments,
    base::FunctionRef<void(std::span<Tensor>)> take) {
  memory::Vector<Tensor> tensors;
  memory::Vector<Tensor> results;
  tensors.reserve(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Tensor* tensor = arguments[i].tensor;
    if (tensor == nullptr) {
      tensors.push_back(scalar(arguments[i].number, part_dtype(arguments)));
      continue;
    }
    check_given(i, *tensor);
    tensors.push_back(*tensor);
  }
  step(tensors, results);
  take(results);
}

void CompiledStep::prepare(Step step, std::span<const tensor::Spec> arguments) {
  const Turn turn(*this);
  Attempt attempt(*this);
  arguments_.reserve(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].shape.rank() == 0 && arguments[i].dtype == number_dtype_) {
      number(i, 0.0);
    }
  }
  specs_.assign(arguments.begin(), arguments.end());
  const Entry& entry = find(step);
  fit(entry);
  use(*entry.executor);
  results_.reserve(entry.executor->results().count());
  for (const Entry& made : entries_) {  // of other sizes of the batch
    if (made.is_new) {
      made.executor->results().reserve_places(arenas_);
    }
  }
  entry.executor->reserve(arenas_);
  attempt.succeed();
  ready_ = entry.executor.get();
}

// What another has asked for ahead goes, so that no two have.
void CompiledStep::use(const Executor& executor) noexcept {
  if (ready_ != nullptr && ready_ != &executor) {
    ready_->abandon();
  }
  ready_ = nullptr;
}

void CompiledStep::take_arguments(std::span<const Argument> arguments) {
  arguments_.clear();
  arguments_.reserve(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    if (argument.tensor == nullptr) {
      arguments_.push_back(number(i, argument.number));
      continue;
    }
    const Tensor& tensor = *argument.tensor;
    check_given(i, tensor);
    if (memory::context().grad_enabled && tensor.requires_grad()) {
      raise<ValueError>(
          "compile: argument {} requires grad; let the step capture it, or "
          "detach() it",
          i);
    }
    arguments_.push_back(tensor);
  }
}

// The tensors are those of the running call, which has the specs; other sizes
// of the batch are traced dense.
GivenArguments CompiledStep::given(std::span<const tensor::Spec> specs) const {
  const bool is_call = specs.data() == specs_.data() && !arguments_.empty();
  return {specs, is_call ? std::span<const Tensor>(arguments_)
                         : std::span<const Tensor>()};
}

// Of a number where the step is the plain function, which takes tensors.
DType CompiledStep::part_dtype(std::span<const Argument> arguments) const {
  for (const Argument& argument : arguments) {
    const Tensor* tensor = argument.tensor;
    if (tensor != nullptr && tensor->defined() && tensor->dtype() == f64) {
      return f64;
    }
  }
  return f32;
}

Tensor CompiledStep::number(std::size_t i, double value) {
  numbers_.resize(std::max(numbers_.size(), i + 1));
  Tensor& mine = numbers_[i];
  const bool is_mine_alone = mine.defined() && mine.has_sole_handle() &&
                             mine.array()->is_unique() &&
                             mine.array()->storage()->references() == 1;
  if (!is_mine_alone || mine.dtype() != number_dtype_) {
    const memory::OutsideScopes apart;
    mine = scalar(value, number_dtype_);
  } else if (mine.array()->storage()->has_elements()) {
    const tensor::Strided view = mine.array()->strided();
    if (number_dtype_ == f64) {
      *view.as<double>() = value;
    } else {
      *view.as<float>() = static_cast<float>(value);
    }
  }
  return mine;
}

void CompiledStep::take_specs() {
  specs_.clear();
  specs_.reserve(arguments_.size());
  for (const Tensor& argument : arguments_) {
    specs_.push_back(argument.spec());
  }
}

CompiledStep::Entry* CompiledStep::find_traced(
    std::span<const tensor::Spec> specs) noexcept {
  const auto found = std::find_if(
      entries_.begin(), entries_.end(),
      [&](const Entry& entry) {
        return entry.executor->holds_for(given(specs));
      });
  if (found == entries_.end()) {
    return nullptr;
  }
  std::rotate(entries_.begin(), found, found + 1);
  return &entries_.front();
}

// A step may look at the dtype of a number itself, as a write into a tensor
// does; f32 is then what it gets.
CompiledStep::Entry& CompiledStep::find(Step step,
                                        std::span<const Argument> arguments) {
  take_specs();
  try {
    return find(step);
  } catch (const DTypeError&) {
    const bool has_number =
        std::any_of(arguments.begin(), arguments.end(),
                    [](const Argument& a) { return a.tensor == nullptr; });
    if (!has_number || number_dtype_ == f32) {
      throw;
    }
    number_dtype_ = f32;
    try {
      take_arguments(arguments);
      take_specs();
      return find(step);
    } catch (const DTypeError&) {
      number_dtype_ = f64;
    } catch (...) {
      number_dtype_ = f64;
      throw;
    }
    throw;  // what was wrong at first
  }
}

CompiledStep::Entry& CompiledStep::find(Step step) {
  if (Entry* entry = find_traced(specs_)) {
    return *entry;
  }
  if (options_.max_batch > 0) {
    add_sizes(step, specs_);
    if (Entry* entry = find_traced(specs_)) {
      return *entry;
    }
  }
  const bool has_gaps =
      std::any_of(arguments_.begin(), arguments_.end(),
                  [](const Tensor& tensor) { return !tensor.is_contiguous(); });
  return add(step, specs_, options_.max_batch == 0 || has_gaps);
}

// The largest batch first, then those that are asked for ahead: the arena is
// made for them all.
void CompiledStep::add_sizes(Step step, std::span<const tensor::Spec> specs) {
  const std::int64_t batch = batch_of(specs);
  if (batch > options_.max_batch) {
    raise<PlanError>("compile: a batch of {}, max_batch is {}", batch,
                     options_.max_batch);
  }
  const bool is_first = entries_.empty();
  const auto largest = with_batch(specs, options_.max_batch);
  if (find_traced(largest) == nullptr) {
    fit(add(step, largest, true));
  }
  if (is_first) {
    for (const std::int64_t size : options_.warm) {
      const auto warm = with_batch(specs, size);
      if (size > options_.max_batch) {
        raise<PlanError>(
            "compile: .warm asks for a batch of {}, max_batch is {}", size,
            options_.max_batch);
      }
      if (find_traced(warm) == nullptr) {
        fit(add(step, warm, true));  // it may need more scratch
      }
    }
  }
}

memory::Owned<Executor> CompiledStep::make(Step step,
                                           std::span<const tensor::Spec> specs,
                                           const Passes& passes) const {
  CompileOptions options = options_;
  options.passes = passes;
  return memory::make_owned<Executor>(
      memory::Category::kGraph,
      trace_for(step, specs, given(specs).tensors, options,
                base::site_of(site_)),
      options_.debug, options_.planner, options_.paged);
}

// Traces the step once more, for its program to be compared.
void CompiledStep::verify(Step step, Entry& entry) {
  const Program& known = entry.executor->program();
  const Program now =
      trace(step, specs_, given(specs_).tensors, base::site_of(site_));
  const Digests digests = digests_of(now);
  const auto [differs, other] =
      std::mismatch(digests.begin(), digests.end(), known.digests.begin(),
                    known.digests.end());
  if (differs == digests.end() && other == known.digests.end()) {
    return;
  }
  const auto at = static_cast<std::size_t>(differs - digests.begin());
  const bool is_call = at < now.calls.size();
  const std::string where =
      is_call ? fmt::format("call {}, {} at {}", at, now.calls[at].name,
                            base::format_site(now.calls[at].site))
              : std::string("what it returns or leaves");
  entry.is_new = true;  // goes with this attempt
  raise<TraceError>(
      "compile: the step does not do any more what it did when it was traced: "
      "{} is another; a number or a branch of the host's has changed, give it "
      "to the step as an argument",
      where);
}

void CompiledStep::explain(std::span<const tensor::Spec> specs) {
  if (entries_.empty()) {
    why_ = traces_ == 0 ? "the first call" : "no program is left";
    return;
  }
  const Executor& last = *entries_.front().executor;
  const GivenArguments now = given(specs);
  why_ = last.describe(last.broken(now), now);
}

// Passes look for a lower peak by rules of thumb, so that a smaller batch may
// end a little higher than the one that the arena was made for. It is then
// tried with some of them off.
memory::Owned<Executor> CompiledStep::make_fitting(
    Step step, std::span<const tensor::Spec> specs, bool may_grow) const {
  constexpr std::array<bool Passes::*, 4> kMayGo{
      &Passes::fuse, &Passes::common_subexpressions, &Passes::reorder,
      &Passes::copy_again};
  auto executor = make(step, specs, options_.passes);
  for (unsigned off = 1; off < 1U << kMayGo.size() && !may_grow; ++off) {
    if (arenas_.has_room(executor->plan())) {
      break;
    }
    Passes fewer = options_.passes;
    bool is_new = true;  // what is off already would be the same once more
    for (std::size_t k = 0; k < kMayGo.size(); ++k) {
      if ((off >> k & 1U) != 0) {
        is_new = is_new && fewer.*kMayGo[k];
        fewer.*kMayGo[k] = false;
      }
    }
    if (is_new) {
      executor = make(step, specs, fewer);
    }
  }
  return executor;
}

CompiledStep::Entry& CompiledStep::add(Step step,
                                       std::span<const tensor::Spec> specs,
                                       bool may_grow) {
  explain(specs);
  auto executor = make_fitting(step, specs, may_grow);
  ++traces_;
  drop_stale();
  if (entries_.size() == static_cast<std::size_t>(options_.programs)) {
    forget(*entries_.back().executor);
    entries_.pop_back();
  }
  entries_.insert(entries_.begin(), Entry{std::move(executor), may_grow});
  return entries_.front();
}

void CompiledStep::forget(Executor& executor) noexcept {
  for (Executor** user : {&last_, &ready_}) {
    if (*user == &executor) {
      *user = nullptr;
    }
  }
  executor.results().revoke(site_);
  arenas_.forget(executor.plan());
}

// What such a program holds of the caller's goes with it.
void CompiledStep::drop_stale() {
  std::erase_if(entries_, [&](Entry& entry) {
    const bool is_stale = !entry.executor->is_current();
    if (is_stale) {
      forget(*entry.executor);
    }
    return is_stale;
  });
}

void CompiledStep::fit(const Entry& entry) {
  if (options_.max_batch > 0 && arenas_.bytes() == 0) {
    for (const Entry& each : entries_) {  // others may not make it grow later
      if (each.may_grow) {
        arenas_.fit(each.executor->plan(), false, true);
      }
    }
  }
  const bool is_held = last_ != nullptr && last_->results().are_held();
  if (arenas_.fit(entry.executor->plan(), is_held, entry.may_grow) && is_held) {
    last_->results().revoke(site_);
  }
}

}  // namespace neap::compiler
