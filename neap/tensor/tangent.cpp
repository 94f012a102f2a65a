// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/tensor/tangent.hpp"

#include <mutex>
#include <utility>

#include "neap/base/spin_lock.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::tensor {

class Tangent {
 public:
  /// THROWS: OutOfMemory.
  static LooseTangent create(const Array& array) {
    memory::Domain& domain = array.domain();
    const memory::Block block = domain.allocate(
        sizeof(Tangent), array.storage()->header_tag(), memory::kAlignment);
    auto* tangent = ::new (block.data) Tangent;
    tangent->domain_ = &domain;
    tangent->bucket_ = block.bucket;
    return LooseTangent(tangent);
  }
  static void destroy(Tangent* tangent) noexcept {
    const memory::Block block{tangent, sizeof(Tangent), tangent->bucket_};
    memory::Domain& domain = *tangent->domain_;
    std::destroy_at(tangent);
    domain.release(block, memory::kAlignment);
  }

  Tensor value;
  TangentLevel* level = nullptr;
  const Array* array = nullptr;
  Tangent* next = nullptr;  // of the same array, or of the dying
  Tangent* next_in_level = nullptr;
  Tangent* before_in_level = nullptr;

 private:
  memory::Domain* domain_ = nullptr;
  memory::BucketId bucket_{};
};

/// Tangents on their way out. One may hold the last reference to a tape whose
/// residuals have tangents in turn, and so on: whoever lets tangents go first
/// empties the list in a loop, and what comes up meanwhile joins it.
class DyingTangents {
 public:
  static void bury(Tangent* chain) noexcept {
    if (chain == nullptr) {
      return;
    }
    if (DyingTangents* running = tensor::thread_execution().dying_tangents) {
      running->join(chain);
      return;
    }
    DyingTangents dying;
    const tensor::ExecutionGuard guard(
        [&](tensor::Execution& c) { c.dying_tangents = &dying; });
    dying.join(chain);
    while (dying.first_ != nullptr) {
      Tangent::destroy(std::exchange(dying.first_, dying.first_->next));
    }
  }

 private:
  void join(Tangent* chain) noexcept {
    while (chain != nullptr) {
      Tangent* one = std::exchange(chain, chain->next);
      one->next = std::exchange(first_, one);
    }
  }
  Tangent* first_ = nullptr;
};

/// The lists, all under one lock.
class TangentList {
 public:
  using Guard = std::lock_guard<base::SpinLock>;

  static base::SpinLock& lock() noexcept {
    static constinit base::SpinLock lock;
    return lock;
  }
  static Tangent* first(const Array& array) noexcept {
    return array.tangents_.load(std::memory_order_acquire);
  }
  static Tangent* find(const Array& array, const TangentLevel* level) noexcept {
    Tangent* at = first(array);
    while (at != nullptr && at->level != level) {
      at = at->next;
    }
    return at;
  }

  static void link(const Array& array, TangentLevel& level,
                   Tangent* tangent) noexcept {
    tangent->array = &array;
    tangent->next = first(array);
    array.tangents_.store(tangent, std::memory_order_release);
    tangent->level = &level;
    tangent->before_in_level = nullptr;
    tangent->next_in_level = std::exchange(level.first_, tangent);
    if (tangent->next_in_level != nullptr) {
      tangent->next_in_level->before_in_level = tangent;
    }
  }

  static void unlink_from_level(Tangent* tangent) noexcept {
    if (tangent->before_in_level != nullptr) {
      tangent->before_in_level->next_in_level = tangent->next_in_level;
    } else {
      tangent->level->first_ = tangent->next_in_level;
    }
    if (tangent->next_in_level != nullptr) {
      tangent->next_in_level->before_in_level = tangent->before_in_level;
    }
  }

  // An array has one tangent for each pass that it is inside of: a short list.
  static void unlink(Tangent* tangent) noexcept {
    unlink_from_level(tangent);
    const Array& array = *tangent->array;
    Tangent* at = first(array);
    if (at == tangent) {  // the last touch: then the array may end at any time
      array.tangents_.store(tangent->next, std::memory_order_release);
    } else {
      while (at->next != tangent) {
        at = at->next;
      }
      at->next = tangent->next;
    }
    tangent->next = nullptr;
  }

  /// Takes all tangents of a dying array off their levels.
  static Tangent* unlink_all(const Array& array) noexcept {
    const Guard guard(lock());
    Tangent* chain = first(array);
    for (Tangent* at = chain; at != nullptr; at = at->next) {
      unlink_from_level(at);
    }
    return chain;
  }

  static Tangent* unlink_first(TangentLevel& level) noexcept {
    const Guard guard(lock());
    Tangent* tangent = level.first_;
    if (tangent != nullptr) {
      unlink(tangent);
    }
    return tangent;
  }
};

void TangentDeleter::operator()(Tangent* tangent) const noexcept {
  DyingTangents::bury(tangent);
}

void Array::drop_tangents() noexcept {
  DyingTangents::bury(TangentList::unlink_all(*this));
}

TangentLevel::~TangentLevel() {
  Tangent* chain = nullptr;
  while (Tangent* tangent = TangentList::unlink_first(*this)) {
    tangent->next = std::exchange(chain, tangent);
  }
  DyingTangents::bury(chain);
}

Tensor TangentLevel::of(const Tensor& value) const {
  const Array& array = *value.array();
  if (!array.has_tangents()) {
    return {};
  }
  const TangentList::Guard guard(TangentList::lock());
  const Tangent* tangent = TangentList::find(array, this);
  return tangent != nullptr ? tangent->value : Tensor();
}

void TangentLevel::set(const Tensor& value, Tensor tangent) {
  LooseTangent loose = take(value);
  if (!loose) {
    loose = Tangent::create(*value.array());
  }
  std::swap(loose->value, tangent);
  put_back(value, std::move(loose));
}

LooseTangent TangentLevel::take(const Tensor& value) noexcept {
  const Array& array = *value.array();
  if (!array.has_tangents()) {
    return {};
  }
  const TangentList::Guard guard(TangentList::lock());
  Tangent* tangent = TangentList::find(array, this);
  if (tangent != nullptr) {
    TangentList::unlink(tangent);
  }
  return LooseTangent(tangent);
}

void TangentLevel::put_back(const Tensor& value,
                            LooseTangent tangent) noexcept {
  if (tangent) {
    const TangentList::Guard guard(TangentList::lock());
    TangentList::link(*value.array(), *this, tangent.release());
  }
}

namespace {

std::size_t count_of(const Array& array) noexcept {
  std::size_t count = 0;
  for (const Tangent* at = TangentList::first(array); at != nullptr;
       at = at->next) {
    ++count;
  }
  return count;
}

}  // namespace

void copy_tangents(const Array& from, Array& to) {
  if (!from.has_tangents()) {
    return;
  }
  // Nothing is allocated under the lock. Another thread may take
  // tangents away meanwhile (its level ends), never add one.
  std::size_t room = 0;
  {
    const TangentList::Guard guard(TangentList::lock());
    room = count_of(from);
  }
  LooseTangent spare;  // with what follows it
  for (std::size_t i = 0; i < room; ++i) {
    LooseTangent one = Tangent::create(to);
    one->next = spare.release();
    spare = std::move(one);
  }
  const TangentList::Guard guard(TangentList::lock());
  for (Tangent* at = TangentList::first(from); at != nullptr; at = at->next) {
    Tangent* one = spare.release();
    spare.reset(std::exchange(one->next, nullptr));
    one->value = at->value;
    TangentList::link(to, *at->level, one);
  }
}

}  // namespace neap::tensor
