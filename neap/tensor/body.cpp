// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/tensor/body.hpp"

#include <mutex>

#include "neap/memory/context.hpp"
#include "neap/memory/membership.hpp"
#include "neap/memory/scope_stats.hpp"
#include "neap/tensor/creator.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::tensor {
namespace {

// Holds the lock of the lists if the body is in one: reports look under it.
class Change {
 public:
  explicit Change(const Body& body) noexcept
      : lock_(memory::Membership::instance().lock, std::defer_lock) {
    if (memory::Membership::home_of(body) != nullptr) {
      lock_.lock();
    }
  }

 private:
  std::unique_lock<base::SpinLock> lock_;
};

}  // namespace

base::Ref<Body> Body::create(base::Ref<Array> array, base::Ref<GraphLink> link,
                             std::uint32_t output) {
  memory::Domain& domain = array->domain();
  base::Ref<Body> body;
  if (void* place = array->take_body_place()) {
    body = place_at(place, domain, std::move(array), std::move(link), output);
  } else {
    const memory::Tag tag = array->storage()->header_tag();
    body = Counted<Body>::create(domain, tag, 0, std::move(array),
                                 std::move(link), output);
  }
  body->is_of_trace_ = tensor::thread_execution().creator != nullptr;
  body->enter(body->bytes());
  return body;
}

// Takes the array out of the body. A body that lies in its block shares that
// block from now on.
base::Ref<Array> Body::take_array() noexcept {
  base::Ref<Array> array = std::move(array_);
  if (is_placed() && shared_block_ == nullptr) {
    shared_block_ = &array->share_block();
  }
  return array;
}

void Body::rebind(const Body& other) noexcept {
  if (&other == this) {
    return;
  }
  memory::count_rebound(bytes(), other.bytes());
  base::Ref<Array> array = other.array_;
  base::Ref<GraphLink> link = other.link_;
  base::Ref<Array> old;  // goes, like the old link, after the lock
  {
    const Change change(*this);
    old = take_array();
    array_ = std::move(array);
    std::swap(link_, link);
    output_ = other.output_;
  }
}

void Body::set_link(base::Ref<GraphLink> link, std::uint32_t output) noexcept {
  const Change change(*this);
  std::swap(link_, link);  // the old one goes with the caller's, after the lock
  output_ = static_cast<std::uint16_t>(output);
}

void Body::renew() noexcept {
  leave(bytes());
  enter(bytes());
}

Bytes Body::revoke(base::SiteId scope) noexcept {
  if (Creator* creator = tensor::thread_execution().creator) {
    creator->on_revoke(*this);
  }
  const Bytes counted = bytes();
  revoked_by_ = scope;
  const base::Ref<Array> array = take_array();
  link_ = nullptr;
  return counted;
}

void Body::revive(base::Ref<Array> array, base::Ref<GraphLink> link) noexcept {
  array_ = std::move(array);
  link_ = std::move(link);
  revoked_by_ = {};
  enter(bytes());
}

// The block that the body lies in outlives it.
void Body::end() noexcept {
  if (array_) {
    leave(bytes());
  }
  if (!is_placed()) {
    destroy(this);
  } else if (shared_block_ == nullptr) {
    const base::Ref<Array> home = std::move(array_);
    std::destroy_at(this);
    home->give_body_place();
  } else {
    SharedBlock* block = shared_block_;
    std::destroy_at(this);
    if (block->owner() == SharedBlock::Owner::kStorage) {
      static_cast<Storage*>(block)->body_ends();
    } else {
      static_cast<Array*>(block)->body_ends();
    }
  }
}

}  // namespace neap::tensor
