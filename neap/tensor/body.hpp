// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Body: what copies of a handle share: an array and a position on the graph. A
// body lies in the slot that every array's block has for one; a second body of
// the same array (a residual's handle beside the user's) has a block of its
// own. It is what a scope revokes: it means nothing then, and holds nothing.
//
// Thread rule: one thread at a time changes what a body means. While the body
// is in a list of members it holds the lock of the lists for that, so that a
// report of another thread may look.
#pragma once

#include "neap/memory/scope_member.hpp"
#include "neap/tensor/array.hpp"
#include "neap/tensor/graph_link.hpp"

namespace neap::tensor {

class Body final : public memory::ScopeMember, public memory::Counted<Body> {
 public:
  /// A member of the context's scope. THROWS: OutOfMemory, never when the
  /// array's own slot is free.
  static base::Ref<Body> create(base::Ref<Array> array,
                                base::Ref<GraphLink> link,
                                std::uint32_t output);

  // Constructed by create().
  Body(base::Ref<Array> array, base::Ref<GraphLink> link,
       std::uint32_t output) noexcept
      : array_(std::move(array)),
        link_(std::move(link)),
        output_(static_cast<std::uint16_t>(output)) {}

  /// Null once revoked.
  const base::Ref<Array>& array() const noexcept { return array_; }
  const base::Ref<GraphLink>& link() const noexcept { return link_; }
  std::uint32_t output() const noexcept { return output_; }
  bool is_of_trace() const noexcept override { return is_of_trace_; }
  /// The scope that released this; unknown before.
  base::SiteId revoked_by() const noexcept { return revoked_by_; }

  void set_link(base::Ref<GraphLink> link, std::uint32_t output) noexcept;
  /// Means what `other` means from now on. The elements that it meant are freed
  /// with their last other holder.
  void rebind(const Body& other) noexcept;
  /// Leaves its scope and joins the current one, as if newly created.
  void renew() noexcept;

  void release() noexcept {
    if (drop_reference()) {
      end();
    }
  }

  bool try_hold() noexcept override { return try_acquire(); }
  void drop() noexcept override { release(); }
  bool is_held_once() const noexcept override { return is_unique(); }
  Bytes revoke(base::SiteId scope) noexcept override;
  bool is_revoked() const noexcept override { return !array_; }
  /// Undoes a revoke(); a member of the context's scope from now on.
  /// REQUIRES: revoked.
  void revive(base::Ref<Array> array, base::Ref<GraphLink> link) noexcept;

 private:
  Bytes bytes() const noexcept { return array_->storage()->size(); }
  base::Ref<Array> take_array() noexcept;
  NEAP_API void end() noexcept;

  // Block that this lies in, if not array_'s.
  SharedBlock* shared_block_ = nullptr;
  base::Ref<Array> array_;
  base::Ref<GraphLink> link_;  // null: no derivative flows through
  std::uint16_t output_ = 0;   // number of the linked node's output
  bool is_of_trace_ = false;
  base::SiteId revoked_by_{};
};

}  // namespace neap::tensor
