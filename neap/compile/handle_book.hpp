// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// HandleBook: the handle objects that a traced step reads or assigns to, and
// what each meant when the step first touched it. A handle object (a captured
// variable, a member of a module) that is still there when the step has
// returned is one of two things:
//
//   held      it means what it meant: the program holds while it does
//   rebound   it means another tensor: a state, which every run sets anew
//
// Handles that the step makes (locals, temporaries) are its own: one that is
// still there in the end is in a container that grew, and is refused; so is the
// end of one that was there before, in a container that shrank. For sources of
// this room.
#pragma once

#include <array>
#include <unordered_map>
#include <unordered_set>

#include "neap/base/function_ref.hpp"
#include "neap/compile/given_handles.hpp"
#include "neap/compile/leaf_book.hpp"
#include "neap/compile/traced_values.hpp"
#include "neap/tensor/handle_watch.hpp"

namespace neap::compiler {

class HandleBook {
 public:
  HandleBook() = default;
  ~HandleBook() { restore(); }
  HandleBook(const HandleBook&) = delete;
  HandleBook& operator=(const HandleBook&) = delete;

  // All THROW: OutOfMemory, with nothing noted.

  /// The step makes a handle: it is its own, and must end with it once it
  /// means something.
  void on_begin(const Tensor& handle);
  /// The library makes one, or fills one of its own: it may end with the step
  /// or stay.
  void on_filled(const Tensor& handle);
  /// The step reads a handle, or is about to assign to it.
  void on_read(const Tensor& handle);
  void on_change(const Tensor& handle);
  /// The tensor that it means goes over to another handle.
  void on_taken(const Tensor& handle);
  /// There was no memory to note it: what it means is kept in a place of few,
  /// which is enough until the trace, which fails, comes to its next op.
  void spare(const Tensor& handle) noexcept;
  /// The step asks for the place in the graph that the handle means.
  void on_place_asked(const Tensor& handle);
  /// A scope is about to release what handles of `body` mean. It means that
  /// again after restore(). REQUIRES: a body of before the step.
  void on_revoke(tensor::Body& body);
  /// The step asks whether the two share their elements.
  void on_alias_asked(const Tensor& a, const Tensor& b);
  /// The step does something to the tensor `member` of before that depends on
  /// the scope it is of.
  void on_scope_asked(const memory::ScopeMember& member);
  /// RETURNS: whether it was there before the step, as far as the trace knows.
  bool on_end(const Tensor& handle) noexcept;

  /// The step is over: `exit_of` gives the program's result for what a rebound
  /// handle means now. THROWS: what `exit_of` throws; OutOfMemory.
  void note_exits(base::FunctionRef<std::uint32_t(const Tensor&)> exit_of);
  /// Every handle means again what it meant before the step. Handles inside of
  /// what is let go of (a graph's closures) end with it.
  void restore() noexcept;
  /// Tells the program of the handles that are there, in the order in which
  /// they were first touched, and of the results that are their tensors.
  /// REQUIRES: note_exits(), restore(). THROWS: OutOfMemory.
  void write_to(Program& program, const TracedValues& values,
                const LeafBook& leaves, const GivenHandles& given);
  /// A handle that the step made and that is still there, or nullptr.
  const Tensor* first_kept() const noexcept {
    return made_.empty() ? nullptr : *made_.begin();
  }

 private:
  struct Entry {
    Tensor* handle = nullptr;
    base::Ref<tensor::Body> body;    // null: undefined
    base::Ref<tensor::Array> array;  // of the body, before a rebind of it
    base::Ref<tensor::GraphLink> link;
    const memory::MemberList* home = nullptr;  // that the body is a member of
    std::uint32_t output = 0;
    std::uint64_t order = 0;
    bool is_read = false;  // while it meant what it meant before the step
    bool is_assigned = false;
    bool is_taken = false;  // what it meant was moved to another handle
    bool is_rebound = false;
    std::uint32_t result = ReboundHandle::kNone;
  };
  template <class T>
  using Set = std::unordered_set<T, std::hash<const void*>, std::equal_to<>,
                                 memory::Allocator<T>>;
  using Map = std::unordered_map<
      const Tensor*, Entry, std::hash<const void*>, std::equal_to<>,
      memory::Allocator<std::pair<const Tensor* const, Entry>>>;

  Entry* note(const Tensor& handle);
  static bool has_moved(const Entry& entry) noexcept;
  bool is_spared(const Tensor& handle) const noexcept;
  memory::Vector<Entry*> in_order();
  bool is_read(const Entry& entry, const TracedValues& values) const noexcept;
  static void stop_watching(const Entry& entry, Program& program,
                            const TracedValues& values) noexcept;
  Set<const tensor::Storage*> find_fixed(const Program& program,
                                         const TracedValues& values,
                                         const LeafBook& leaves) const;
  Set<const tensor::Body*> find_shared() const;
  void add_rebound(const Entry& entry, Program& program,
                   const TracedValues& values, bool is_fixed) const;

  Map entries_;
  Set<const Tensor*> made_;
  Set<const Tensor*> blank_;  // made by the step too, and undefined so far
  Set<const Tensor*> filled_;
  Set<const tensor::Body*> asked_;   // by handles that they went over to
  Set<const tensor::Body*> placed_;  // their places in the graph were asked for
  Set<const tensor::Body*> compared_;        // their storages were asked for
  Set<const memory::ScopeMember*> members_;  // their scopes matter
  struct Revoked {
    base::Ref<tensor::Body> body;
    base::Ref<tensor::Array> array;
    base::Ref<tensor::GraphLink> link;
  };
  static void revive(Revoked& revoked) noexcept;
  memory::Vector<Revoked> revoked_;
  struct Spare {
    Tensor* handle = nullptr;
    base::Ref<tensor::Body> body;
  };
  std::array<Spare, 32> spares_;
  std::size_t spare_count_ = 0;
  memory::Vector<base::Ref<tensor::Body>> exits_;  // let go of when it is safe
  std::uint64_t touched_ = 0;
};

}  // namespace neap::compiler
