// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Tracer: what the context asks while a step is traced. Op calls, writes,
// looks at values, creations and turns by a flag become lines of a Program;
// nothing is computed. For sources of this room; trace.hpp is the way in.
//
// Thread rule: the step is traced in one thread, whose context names the
// tracer. Another thread that meets a stand-in is refused by the eager
// recorder.
#pragma once

#include <exception>
#include <unordered_map>

#include "neap/base/function_ref.hpp"
#include "neap/base/outside.hpp"
#include "neap/compile/given_handles.hpp"
#include "neap/compile/handle_book.hpp"
#include "neap/compile/leaf_book.hpp"
#include "neap/compile/numbers.hpp"
#include "neap/compile/trace.hpp"
#include "neap/compile/traced_values.hpp"
#include "neap/graph/versions.hpp"
#include "neap/memory/scope_listener.hpp"
#include "neap/tensor/creator.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/tensor/generator.hpp"

namespace neap::compiler {

class Tracer final : public graph::Recorder,
                     public graph::Trace,
                     public graph::TracedWrites,
                     public tensor::Creator,
                     public memory::ScopeListener,
                     public base::OutsideListener {
 public:
  explicit Tracer(base::SiteId site, bool is_state_late = false);
  ~Tracer() override;

  /// Stand-ins for the arguments: dense ones, or views like those with gaps
  /// among the given tensors. THROWS: OutOfMemory.
  memory::Vector<Tensor> add_arguments(const GivenArguments& given);
  /// Hears of handles in this thread, for as long as it is there.
  class Hearing {
   public:
    explicit Hearing(Tracer& tracer)
        : guard_([&](tensor::Execution& c) { c.creator = &tracer; }) {}

   private:
    tensor::HearHandles hear_;
    tensor::ExecutionGuard guard_;
  };
  /// Runs `body` with the context set to this. REQUIRES: a Hearing.
  void run(base::FunctionRef<void()> body);
  /// Takes the results. THROWS: TraceError where a draw cannot be repeated,
  /// or for an undefined result; what failed before in a noexcept place.
  void finish(std::span<const Tensor> results);
  /// THROWS: TraceError: what failed before in a noexcept place, if any.
  void rethrow_failure() const {
    if (failure_) {
      std::rethrow_exception(failure_);
    }
  }
  /// The scope of each argument.
  std::span<const ArgumentPlace> places() const noexcept { return places_; }
  /// Notes what the step leaves to handles, leaves and flags, which then mean
  /// what they meant before. REQUIRES: finish(), and results are no longer
  /// held. THROWS: TraceError for what no run could leave; OutOfMemory.
  void settle();
  /// REQUIRES: settle(). THROWS: TraceError where a value of the trace is still
  /// held.
  Program take();

  // --- graph::Recorder
  void record(const graph::OpCall& call, std::span<Tensor> outputs) override;
  // --- graph::Trace
  void write(const graph::Write& write) override;
  void check(const graph::Check& check) override;
  void depends_on(const bool& flag, base::AnyRef owner) override;
  void listen(graph::RunListener& listener) override;
  bool is_state_late() const noexcept override { return is_state_late_; }
  void on_grad_read(graph::Leaf& leaf) override;
  bool on_grad_change(graph::Leaf& leaf) noexcept override;
  bool on_mode_change(graph::Leaf& leaf) noexcept override;
  void on_hooks(graph::Leaf& leaf) override;
  void on_hook_removal(const graph::Hook& hook) noexcept override;
  void on_module_move() noexcept override;
  void depends_on_generation(const std::uint32_t& generation,
                             base::AnyRef owner) noexcept override;
  bool on_flag_change(bool& flag, base::AnyRef owner) noexcept override;
  std::uint32_t enter_segment(std::uint32_t segment) noexcept override;
  std::optional<DType> dtype_of_numbers(
      const graph::OpCall& call) const override {
    return numbers_.dtype_for(call);
  }
  Tensor number_as(DType dtype, const Tensor& tensor,
                   base::SiteId site) override;
  void on_number(const Tensor& scalar) override;
  // --- graph::TracedWrites
  Seen writes_to(const tensor::Storage& storage) const noexcept override {
    return values_.writes_to(storage);
  }
  // --- tensor::Creator
  Tensor create(const tensor::Creation& what) override;
  void made(const Tensor& tensor) override;
  void on_host_access(const Tensor& tensor, const char* what, bool is_write,
                      const CallSite& site) override;
  void on_handle_begin(const Tensor& handle) noexcept override;
  void on_handle_filled(const Tensor& handle) noexcept override;
  void on_handle_change(const Tensor& handle) noexcept override;
  void on_handle_taken(const Tensor& handle) noexcept override;
  void on_handle_asked(const Tensor& handle,
                       tensor::Question question) noexcept override;
  void on_handle_end(const Tensor& handle) noexcept override;
  void on_revoke(tensor::Body& body) noexcept override;
  void on_alias_asked(const Tensor& a, const Tensor& b) noexcept override;
  void on_holders_asked(const Tensor& handle, const char* function,
                        const CallSite& site) noexcept override;
  bool on_generator_used(const Generator& generator, const char* function,
                         const CallSite& site) noexcept override;
  // --- memory::ScopeListener
  void on_release() noexcept override;
  void on_move() noexcept override;
  void on_close(const memory::Scope& scope) noexcept override;
  void on_composite_change() noexcept override;
  void count_composites(int change) noexcept override { composites_ += change; }
  void on_asked(const memory::ScopeMember* member,
                bool is_by_scope) noexcept override;
  void on_question(const memory::ScopeQuestion& question) override;
  void on_composite_asked() noexcept override;
  void on_figures_asked(const char* function) noexcept override;
  // --- base::OutsideListener
  void on_outside_asked(
      const base::OutsideQuestion& question) noexcept override;
  void on_refusal(std::string_view message) noexcept override;

 private:
  void restore() noexcept;

  // A seed that nobody chooses, so that a draw of another generator shows.
  static constexpr std::uint64_t kTraceSeed = 0xA3C59AC2F1D0B4E7U;

  // While one is there the tracer itself works: its own handles are none of the
  // step's.
  class Inside {
   public:
    explicit Inside(Tracer& tracer) noexcept : tracer_(tracer) {
      ++tracer_.inside_;
    }
    ~Inside() { --tracer_.inside_; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    Tracer& tracer_;
  };

  template <class Note>
  bool note_quietly(const Note& note) noexcept;
  void check_context(std::string_view what, base::SiteId site) const;
  void record_in(DType dtype, const graph::OpCall& call,
                 std::span<Tensor> outputs);
  void emit(const graph::OpCall& call, memory::Category category,
            std::span<Tensor> outputs);
  void emit_call(const graph::OpCall& call, std::span<const tensor::Spec> specs,
                 memory::Category category, std::span<Tensor> outputs);
  void check_draw(const graph::OpCall& call) const;
  Call new_call(std::string_view name, base::SiteId site) const noexcept;
  void copy_constant(const Tensor& tensor, base::SiteId site);
  Operand read_by(const graph::Write& write, const Tensor& input);
  void set_outputs(const graph::Write& write, Call& call);
  void note_question(const Tensor& handle, tensor::Question question) noexcept;
  void note_left(const memory::ScopeMember& member) {
    left_.push_back(&member);
  }
  void note_recording(const graph::OpCall& call) noexcept;
  void note_place_of(const memory::ScopeMember& member) noexcept;
  void refuse_asked_key() noexcept;
  void note_refusal(std::string_view function, std::string_view about,
                    const CallSite& site) noexcept;
  bool is_answer_guarded(const memory::ScopeQuestion& question) const noexcept;
  using Places = std::unordered_map<
      const void*, std::size_t, std::hash<const void*>, std::equal_to<>,
      memory::Allocator<std::pair<const void* const, std::size_t>>>;
  template <class Entry>
  static Entry& find_or_add(Places& places, memory::Vector<Entry>& all,
                            const void* key, Entry entry);
  Flag& flag_of(const bool& flag, base::AnyRef owner);
  Operand own_copy(const Tensor& tensor, std::string_view what);
  Operand result_of(const Tensor& tensor);
  ResultScope scope_of(const Tensor& result);
  std::uint32_t add_result(const Tensor& tensor, bool is_kept);
  std::uint32_t exit_of(const Tensor& now);
  void link_result(const Tensor& tensor, std::uint32_t result);
  void check_kept() const;

  Program program_;
  TracedValues values_;
  LeafBook leaves_;
  HandleBook handles_;
  GivenHandles given_;
  Places flag_places_;  // among the program's
  Places generation_places_;
  Numbers numbers_;
  memory::Vector<const tensor::Array*> arguments_;  // of their stand-ins
  memory::Vector<const memory::ScopeMember*> argument_members_;  // likewise
  memory::Vector<ArgumentPlace> places_;
  memory::Vector<const memory::ScopeMember*> left_;  // taken out of scopes
  Generator generator_;
  base::SiteId site_;
  memory::Domain& domain_;
  const memory::Scope* around_;  // the scope of the call
  std::uint32_t segment_ = 0;
  std::uint32_t last_segment_ = 0;
  std::uint32_t inside_ = 0;
  int composites_ = 0;  // of the step's own that are there
  bool is_restored_ = false;
  bool is_key_asked_ = false;  // and the draw was not taken yet,
  CallSite key_asked_at_;      // at this line
  bool is_grad_enabled_;       // at the step's entry
  bool is_state_late_;
  std::exception_ptr failure_;  // of a place that may not throw
};

// In one sentence for all questions that no guard could cover. THROWS:
// TraceError.
void refuse_question(std::string_view function, std::string_view about,
                     base::SiteId site);

// Runs what may throw where nothing may: the first failure refuses the trace
// later, and others may come of it.
template <class Note>
bool Tracer::note_quietly(const Note& note) noexcept {
  const Inside inside(*this);
  try {
    note();
    return true;
  } catch (...) {
    if (!failure_) {
      failure_ = std::current_exception();
    }
    return false;
  }
}

}  // namespace neap::compiler
