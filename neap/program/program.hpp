// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Program: one straight line of calls that a traced step became: forward,
// backward and update. A value is set once, by one call; it is no buffer: its
// address is decided later, and a value may get several. A write into memory
// that exists creates a new value `over` the old one.
//
//   %3 = matmul(%0[64,784], %1[784,512]')     %0: argument, %1: a parameter
//   %4 = relu_bits(%3)
//   ...
//   %90 over %1 = adam(%88, ...)              the parameter's new elements
//
// Passes (passes.hpp) change a program; lifetimes, plans and executors read it.
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "neap/graph/hooks.hpp"
#include "neap/memory/containers.hpp"
#include "neap/program/attr_pool.hpp"
#include "neap/program/call_table.hpp"
#include "neap/program/interned.hpp"
#include "neap/program/trail.hpp"
#include "neap/tensor/generator.hpp"

namespace neap::compiler {

/// Position of a value in Program::values.
using ValueId = base::StrongId<struct ValueTag>;
inline constexpr ValueId kNoValue{~0U};

enum class Origin : std::uint8_t {
  kArgument,  // passed at each call; `index`: which one
  kExternal,  // in a storage that exists; `index`: of Program::externals
  kCall,      // computed by the call `index`
};

/// The elements of one storage, from one write to the next.
struct Value {
  Interned<ValueSpec> spec;  // of the program's pool
  base::SiteId site{};
  Origin origin = Origin::kCall;
  std::uint32_t index = 0;
  /// The value whose memory this one takes over, which ends as this one begins:
  /// always for a write into external storage, elsewhere by the in-place pass.
  ValueId over = kNoValue;
};

/// An operand of a call, read or written: a view of a value's storage.
struct Operand {
  ValueId value = kNoValue;
  Interned<tensor::Layout> layout;  // of the program's pool
};

/// A storage outside the program: a parameter, a buffer, optimizer state, a
/// tensor that the step captured, a constant.
struct External {
  Tensor tensor;             // holds it
  bool is_written = false;   // by some call
  bool is_constant = false;  // created while the step was traced, or folded
  bool is_leaf = false;      // the tensor that it was met as
  bool is_away = false;      // of Program::away: no value lies in its storage
  bool is_compared = false;  // between ranks, before the first run
  /// The handle that the step found it by, where others hold that handle too:
  /// it may come to refer to another tensor (tied parameters), or end (a
  /// guard).
  bool is_watched = false;
  Tensor met{};

  /// Whether the step would find the same tensor now.
  bool is_current() const {
    return !is_watched || (met.defined() && !met.is_one_handle() &&
                           met.array() == tensor.array());
  }
};

/// The part of the spill file that a value is written to.
struct SpillSlot {
  Bytes offset = 0;
  Bytes size = 0;
};

/// A state or a weight that is on a file between runs, and in the arena for its
/// uses alone (keep_away()), or a part of one.
struct AwayState {
  std::uint32_t external = 0;
  Bytes offset = 0;  // of the part in its storage
  Bytes size = 0;
  bool is_weight = false;
  bool is_counted = true;  // false: an earlier one has its bytes, too
};

/// The scope that a handle created by a run belongs to.
enum class ResultScope : std::uint8_t {
  kCallers,
  kCallersKept,  // and the step told it to keep the handle
  kNone,
};

/// The tensor that a result is a copy of the handle to.
enum class SharedWith : std::uint8_t {
  kNothing,        // a new one
  kResult,         // an earlier result
  kArgument,       // an argument
  kHeldHandle,     // the meaning of one of Program::held_handles at the entry
  kReboundHandle,  // of one of Program::rebound_handles
  kEntryGradient,  // the gradient of one of Program::grads at the entry
  kLastGradient,   // and the one that the run leaves there
};

/// A result of the step, in order.
struct Result {
  Operand operand;
  bool is_kept = false;  // in a block of its own
  ResultScope scope = ResultScope::kCallers;
  SharedWith shared = SharedWith::kNothing;
  std::uint32_t index = 0;  // of what it is shared with
};

/// The gradient that the step leaves at a leaf.
struct LeafGrad {
  base::Ref<tensor::GraphLink> leaf;  // a graph::Leaf
  bool is_read = false;               // as it was before the step,
  bool was_defined = false;           // when it had, or had not, one (a guard)
  bool had_graph = false;             // of its own (likewise)
  /// The value that stands for that gradient, if the step used its elements.
  /// Its external holds the one that was there when the step was traced; the
  /// next run may find another there.
  ValueId entry = kNoValue;
  bool is_set = false;  // by the step: to `last`,
  Operand last;         // or, where it has no value, to none
  /// `last` lies in the memory of `entry`, which a run adds to (in a copy of
  /// it, where somebody else holds it).
  bool is_accumulated = false;
};

/// A leaf that the step used: whether it required a gradient when the step
/// began, and its hooks then (a guard).
struct LeafMode {
  base::Ref<tensor::GraphLink> leaf;  // a graph::Leaf
  bool requires_grad = false;
  bool is_set = false;      // by the step:
  bool set_to = false;      // to this value, after every run
  std::uint32_t hooks = 0;  // so many of Program::hooks, in order
};

/// A host flag that the step read or set, with its value at the step's entry (a
/// guard).
struct Flag {
  const bool* flag = nullptr;
  bool value = false;
  base::AnyRef owner{};    // keeps the flag
  bool* is_set = nullptr;  // not nullptr: the flag; the step set it:
  bool set_to = false;     // to this value, after every run
};

/// An object that the step used, whose count increases when it changes.
struct Generation {
  const std::uint32_t* count = nullptr;
  std::uint32_t value = 0;
  base::AnyRef owner{};  // keeps the count
};

/// A listener to every run, and how often the step told it so.
struct Listening {
  graph::RunListener* listener = nullptr;
  std::uint32_t calls = 0;
};

/// A handle object (a variable, a member) that the step read and that outlives
/// it. The program is valid while it refers to `array` and `link` (a guard).
struct HeldHandle {
  Tensor* handle = nullptr;
  base::Ref<tensor::Array> array;     // null: undefined
  base::Ref<tensor::GraphLink> link;  // null: no derivative flows through
  /// The step did something to it that depends on the scope it is of: the list
  /// of that scope, at the trace (a guard).
  bool is_scope_asked = false;
  const memory::MemberList* home = nullptr;
};

/// A handle object that outlives the step and that the step assigns to: a state
/// which one run leaves to the next. Every run sets it again.
struct ReboundHandle {
  static constexpr std::uint32_t kNone = ~0U;

  Tensor* handle = nullptr;
  /// The tensor that it refers to when a run begins matters; with is_fixed that
  /// is always the same array.
  bool is_read = false;
  bool was_defined = false;
  bool is_fixed = false;
  bool is_placed = false;             // its position in the graph matters
  base::Ref<tensor::Array> array;     // of an entry that is fixed
  base::Ref<tensor::GraphLink> link;  // of one that is fixed or placed
  tensor::Spec spec;                  // of an entry that is not
  tensor::Layout layout;
  std::uint32_t external = kNone;  // that the entry is; none: never read
  /// Another handle with the entry's storage, too; of rebound_handles.
  std::uint32_t partner = kNone;
  /// Position in Program::results of the tensor that it refers to after a run;
  /// none: it is undefined then.
  std::uint32_t result = kNone;
};

/// A handle of held_handles or of rebound_handles.
struct HandlePlace {
  bool is_rebound = false;
  std::uint32_t index = 0;
};

/// Two handles that are one tensor when the step begins, which it gives as a
/// result (a guard).
struct Twins {
  HandlePlace one;
  HandlePlace other;
};

/// A result that keeps a position on a graph: at a leaf, or at a node that the
/// step itself consumed, with the gradient that was asked to be retained.
struct ResultLink {
  static constexpr std::uint32_t kNone = ~0U;

  std::uint32_t result = 0;           // of Program::results
  base::Ref<tensor::GraphLink> link;  // null: that of `same_as`
  std::uint32_t output = 0;
  std::uint32_t grad = kNone;     // of Program::results
  std::uint32_t same_as = kNone;  // of Program::result_links
};

/// An argument that is read as the caller's view of it, because the step writes
/// or returns it.
struct GappedArgument {
  std::uint32_t argument = 0;
  tensor::Layout layout;  // with offset 0
};

/// The step's questions about an argument's position in the graph. It was
/// traced with arguments that have none, so that other arguments are refused.
struct GraphQuestions {
  bool requires_grad = false;
  bool is_leaf = false;
  bool grad = false;
};

/// The way in which a program was made to fit a limit of memory: some of its
/// calls run again, some values wait in a file (compile/fitting.hpp). Times are
/// those of a table of prices.
struct Fitting {
  Bytes limit = kUnlimited;  // of the host's arena
  /// The price of a run without a limit, in nanoseconds; 0 where only a
  /// prediction asks.
  std::int64_t price = 0;
  std::int64_t extra = 0;    // of the calls that run again, and of others
  std::int64_t bound = 0;    // no schedule of this order costs less than that
  std::uint32_t again = 0;   // calls that run again
  std::uint32_t pieces = 0;  // of a head (cut_into_pieces()); 0: whole
  std::uint32_t micro_batches = 0;  // (cut_into_micro_batches()); 0: whole
  std::uint32_t time_pieces = 0;    // of layers (cut_time()); 0: whole
  std::uint32_t spilled = 0;        // writes to the spill file in a run
  std::int64_t stalls = 0;          // part of `extra`: a run waits for the file
  Bytes written = 0;                // to the file in a run
  Bytes fetched = 0;                // from it
  Bytes file = 0;                   // what it takes on the disk
  std::uint32_t away = 0;           // states that are on a file between runs,
  std::uint32_t weights = 0;        // and weights
  Bytes away_bytes = 0;             // of both; part of `file`
  Bytes weight_bytes = 0;           // of the weights alone
  bool is_met() const noexcept { return limit != kUnlimited; }
  /// True where the limit makes the program do what it would not do otherwise.
  bool is_changed() const noexcept {
    return again != 0 || spilled != 0 || pieces != 0 || micro_batches != 0 ||
           time_pieces != 0 || is_away();
  }
  bool is_away() const noexcept { return away != 0 || weights != 0; }
  /// Nanoseconds as a share of the price without a limit, in percent.
  double percent(std::int64_t nanoseconds) const noexcept {
    return price == 0 ? 0.0
                      : 100.0 * static_cast<double>(nanoseconds) /
                            static_cast<double>(price);
  }
};

/// A batch that is cut into shards (cut_into_shards()).
struct Sharding {
  std::uint32_t shards = 1;
  std::int64_t rows = 0;       // of the batch
  std::uint32_t each = 0;      // calls that run for each shard
  std::uint32_t together = 0;  // ops that need the rows of all of them
  std::uint32_t ranks = 1;     // that share them out
  Bytes sent = 0;              // by a rank in a run
  std::uint64_t digest = 0;    // of the step, the same in all ranks
};

/// "a batch of 64 in 8 shards: 87 calls for each, 2 ops for all rows at once"
NEAP_API std::string parts_of(const Sharding& sharding);

/// Bytes of an optimizer's state that ranks share out.
struct StateParts {
  Bytes own = 0;           // this rank's part
  Bytes most = 0;          // the largest part
  Bytes all = 0;           // of all ranks; 0: each of them has all state
  Bytes handed_on = 0;     // part of Sharding::sent: updated parameters
  Bytes least_handed = 0;  // no way to do that has ranks send less on average
};

/// "this rank has 1.2 MiB of 4.8 MiB of optimizer state, none more than 1.3
/// MiB; of what it sends 2.4 MiB are updated parameters, at least 2.3 MiB on
/// the average of ranks"
NEAP_API std::string parts_of(const StateParts& state);

/// An update that another rank makes. Listeners give its attributes here, too:
/// ranks compare them, and count what is updated alike.
struct UpdateElsewhere {
  graph::RunListener* listener = nullptr;
  std::uint32_t index = 0;
  std::uint32_t attrs = 0;  // offset in the pool of attributes
  std::uint32_t attrs_size = 0;
};

/// The updates of a step as ranks share them out (share_out_updates()).
struct SharedUpdates {
  StateParts state;
  memory::Vector<UpdateElsewhere> elsewhere{};
};

class Ranks;

class NEAP_API Program {
 public:
  Program();
  ~Program();
  Program(Program&& other) noexcept;
  Program& operator=(Program&& other) noexcept;
  /// A copy, for other passes; the pools of layouts are shared. THROWS:
  /// OutOfMemory.
  Program copy() const { return *this; }
  /// A copy with pools of its own, which have no more than it needs: what other
  /// copies add to the shared ones is not in its bytes. THROWS: OutOfMemory.
  Program copy_apart() const;

  memory::Vector<Value> values;
  CallTable calls;                   // in the order in which they run
  memory::Vector<Operand> operands;  // pool of calls' inputs and outputs
  CallTable members;                 // pool of fused calls' parts
  memory::Vector<External> externals;
  memory::Vector<tensor::Spec> arguments;  // dense, as given at each call
  memory::Vector<std::uint8_t> numbers;    // 1: that argument is a number
  memory::Vector<GappedArgument> gapped;
  memory::Vector<Result> results;  // of the caller, then of handles
  std::uint32_t handed = 0;        // so many are the caller's
  /// The step asks whether an argument shares its storage with others: it was
  /// traced with arguments that share none.
  bool asks_aliases = false;
  GraphQuestions asked_of_arguments;
  /// 1: that argument was in another scope than the call's, or in none.
  memory::Vector<std::uint8_t> outside;
  /// The step asks which scope is current, or where an argument is.
  bool asks_scopes = false;
  /// It matters which scopes are open around the call, and not only whether
  /// one is.
  bool asks_which_scope = false;
  memory::Vector<LeafGrad> grads;
  memory::Vector<LeafMode> leaves;
  memory::Vector<base::Ref<graph::Hook>> hooks;  // of the leaves, in order
  memory::Vector<Flag> flags;
  memory::Vector<Generation> generations;
  memory::Vector<HeldHandle> held_handles;
  memory::Vector<ReboundHandle> rebound_handles;
  memory::Vector<Twins> twins;
  memory::Vector<ResultLink> result_links;
  Trail trail;  // as traced; where it is verified
  memory::Vector<Listening> listeners;
  memory::Vector<SpillSlot> slots;  // of the spill file
  memory::Vector<AwayState> away;
  Fitting fitting;
  Sharding sharding;
  std::shared_ptr<Ranks> ranks;                 // none: one
  std::shared_ptr<const SharedUpdates> shared;  // none: each rank makes all
  /// The generator's position when the trace began, and how many draws a run
  /// takes: a draw n of the trace is the (n - first)th of each run.
  base::DrawKey first_draw;
  std::uint64_t draws = 0;

  /// Handles of layouts and specs in this program and its copies.
  /// THROWS: OutOfMemory.
  Interned<tensor::Layout> keep(const tensor::Layout& layout) {
    return pools().layouts.keep(layout);
  }
  Interned<ValueSpec> keep(const ValueSpec& spec) {
    return pools().specs.keep(spec);
  }
  /// Changes what a value has in common with others. THROWS: OutOfMemory.
  template <class Change>
  void respec(ValueId id, const Change& change) {
    ValueSpec spec = (*this)[id].spec;
    change(spec);
    (*this)[id].spec = keep(spec);
  }
  /// A new value. THROWS: OutOfMemory.
  ValueId add(const Value& value);
  /// Copies operands into the pool. THROWS: OutOfMemory.
  Range add(std::span<const Operand> more);
  /// Copies attributes into the pool (by the op's own rule, where it has one)
  /// and returns their offset. THROWS: OutOfMemory.
  std::uint32_t keep_attrs(const graph::Op* op, const graph::Attrs& attrs);
  /// Appends a call; its op is counted, once it is there. THROWS: OutOfMemory.
  void add(const Call& call);

  Value& operator[](ValueId id) { return values[id.value]; }
  const Value& operator[](ValueId id) const { return values[id.value]; }
  std::span<const Operand> in(const Call& call) const {
    return std::span(operands).subspan(call.inputs.first, call.inputs.count);
  }
  std::span<const Operand> out(const Call& call) const {
    return std::span(operands).subspan(call.outputs.first, call.outputs.count);
  }
  /// The parts of a fused call, none of any other.
  CallRange members_of(const Call& call) const {
    return {members, call.members.first, call.members.count};
  }
  /// The operand that a call of a move moves.
  const Operand& moved(const Call& call) const {
    return call.kind == CallKind::kFetch ? out(call)[0] : in(call)[0];
  }
  /// The attributes of a call; null when it has none. They may be rewritten
  /// before each run.
  void* attrs_of(const Call& call) noexcept;
  const void* attrs_of(const Call& call) const noexcept;
  /// The attributes at an offset in the pool. LIFETIME: until more are kept.
  const void* attrs_at(std::uint32_t offset) const noexcept {
    return attrs_.at(offset);
  }
  void* attrs_at(std::uint32_t offset) noexcept { return attrs_.at(offset); }

  /// The size of its spill file on the disk.
  Bytes file_bytes() const noexcept {
    return slots.empty() ? 0 : slots.back().offset + slots.back().size;
  }
  /// Bytes of states and weights that are on a file between runs.
  Bytes away_bytes() const noexcept;
  /// Bytes of the program itself.
  Bytes bytes() const noexcept;

 private:
  Program(const Program& other);
  Pools& pools();

  AttrPool attrs_;
  std::shared_ptr<Pools> pools_;  // none until something is kept
};

}  // namespace neap::compiler
