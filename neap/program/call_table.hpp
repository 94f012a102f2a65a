// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// CallTable: the calls of a program, 24 bytes each. Calls that differ in
// operands, attributes and call site alone share what is left, their form, in a
// pool that copies of the table share. A call is read and set as a whole: what
// operator[] gives is a copy.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>

#include "neap/program/call.hpp"
#include "neap/program/interned.hpp"

namespace neap::compiler {

template <>
struct InternHash<Call> {
  static std::size_t of(const Call& form) noexcept;
};
extern template class NEAP_API InternPool<Call>;

class CallTable;

/// Calls that stand next to one another. LIFETIME: the table's.
class CallRange {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Call;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = const Call;

    Iterator() = default;
    Iterator(const CallTable& table, std::size_t at) noexcept
        : table_(&table), at_(at) {}
    inline const Call operator*() const;
    Iterator& operator++() noexcept {
      ++at_;
      return *this;
    }
    Iterator operator++(int) noexcept {
      const Iterator before = *this;
      ++at_;
      return before;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const CallTable* table_ = nullptr;
    std::size_t at_ = 0;
  };

  CallRange(const CallTable& table, std::size_t first,
            std::size_t count) noexcept
      : table_(&table), first_(first), count_(count) {}
  std::size_t size() const noexcept { return count_; }
  inline const Call operator[](std::size_t i) const;
  Iterator begin() const noexcept { return {*table_, first_}; }
  Iterator end() const noexcept { return {*table_, first_ + count_}; }

 private:
  const CallTable* table_;
  std::size_t first_;
  std::size_t count_;
};

/// The calls of a program. Not thread-safe; nor are a table and its copies
/// together.
class NEAP_API CallTable {
 public:
  std::size_t size() const noexcept { return rows_.size(); }
  bool empty() const noexcept { return rows_.empty(); }
  // A constant, so that nobody sets a member of a copy.
  const Call operator[](std::size_t i) const {  // NOLINT(*-const-return-type)
    const Row& row = rows_[i];
    Call call = row.form;
    call.inputs.first = row.inputs;
    call.outputs.first = row.outputs;
    call.site = row.site;
    last_of(call) = row.last;
    return call;
  }
  /// The attributes of one call, quickly. REQUIRES: it is not fused.
  std::uint32_t attrs_at(std::size_t i) const noexcept { return rows_[i].last; }
  const Call back() const {  // NOLINT(*-const-return-type)
    return (*this)[size() - 1];
  }
  CallRange::Iterator begin() const noexcept { return {*this, 0}; }
  CallRange::Iterator end() const noexcept { return {*this, size()}; }

  /// THROWS: OutOfMemory, and nothing has changed.
  void push_back(const Call& call);
  void set(std::size_t i, const Call& call);
  template <class Change>
  void change(std::size_t i, const Change& change) {
    Call call = (*this)[i];
    change(call);
    set(i, call);
  }
  void swap(std::size_t i, std::size_t k) noexcept;
  void erase(std::size_t i);
  void reserve(std::size_t count) { rows_.reserve(count); }
  /// Frees the capacity to grow.
  void trim();
  /// A copy with forms of its own, those that its calls have.
  CallTable copy_apart() const;
  /// An empty table that shares the forms.
  CallTable like() const;
  Bytes bytes() const noexcept;

 private:
  struct Row {
    Interned<Call> form;  // the rest, with 0 for what stands here
    std::uint32_t inputs = 0;
    std::uint32_t outputs = 0;
    std::uint32_t last = 0;  // last_of() the call
    base::SiteId site{};
  };
  // The one of these three that a call has.
  static std::uint32_t& last_of(Call& call) noexcept {
    if (call.kind == CallKind::kFused) {
      return call.members.first;
    }
    return is_move(call) ? call.slot : call.attrs;
  }
  Row row_of(const Call& call);

  memory::Vector<Row> rows_;
  std::shared_ptr<InternPool<Call>> forms_;  // none while it is empty
};

const Call CallRange::Iterator::operator*() const {  // NOLINT
  return (*table_)[at_];
}
const Call CallRange::operator[](std::size_t i) const {  // NOLINT
  return (*table_)[first_ + i];
}

}  // namespace neap::compiler
