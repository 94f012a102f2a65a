// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/call_table.hpp"

#include <utility>

#include "neap/base/assert.hpp"
#include "neap/program/pool_bytes.hpp"

namespace neap::compiler {

std::size_t InternHash<Call>::of(const Call& form) noexcept {
  WordHash hash;
  for (const void* what : {static_cast<const void*>(form.name.data()),
                           static_cast<const void*>(form.op),
                           static_cast<const void*>(form.kernels),
                           static_cast<const void*>(form.listener)}) {
    hash.add(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(what)));
  }
  for (const std::uint32_t number :
       {form.inputs.count, form.outputs.count, form.attrs_size,
        form.listener_index, form.owner.value, form.segment,
        form.members.count}) {
    hash.add(number);
  }
  hash.add(form.scratch);
  return hash.value();
}

template class InternPool<Call>;

CallTable::Row CallTable::row_of(const Call& call) {
  NEAP_ASSERT(
      (call.kind != CallKind::kFused && !is_move(call)) || call.attrs_size == 0,
      "fused calls and moves have no attributes of their own");
  if (forms_ == nullptr) {
    using Pool = InternPool<Call>;
    const memory::Allocator<Pool> allocator(rows_.get_allocator());
    forms_ = std::allocate_shared<Pool>(allocator, allocator);
  }
  Call form = call;
  form.inputs.first = 0;
  form.outputs.first = 0;
  form.attrs = 0;
  form.members.first = 0;
  form.slot = 0;
  form.site = {};
  Call whole = call;
  return {forms_->keep(form), call.inputs.first, call.outputs.first,
          last_of(whole), call.site};
}

void CallTable::push_back(const Call& call) {
  const Row row = row_of(call);
  rows_.push_back(row);
}

void CallTable::set(std::size_t i, const Call& call) {
  rows_[i] = row_of(call);
}

void CallTable::swap(std::size_t i, std::size_t k) noexcept {
  std::swap(rows_[i], rows_[k]);
}

void CallTable::erase(std::size_t i) {
  rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(i));
}

void CallTable::trim() {
  compiler::trim(rows_);
}

CallTable CallTable::copy_apart() const {
  CallTable out;
  out.rows_.reserve(size());
  for (const Call& call : *this) {
    out.push_back(call);
  }
  return out;
}

CallTable CallTable::like() const {
  CallTable out;
  out.forms_ = forms_;
  return out;
}

Bytes CallTable::bytes() const noexcept {
  return pool_bytes(rows_) + (forms_ != nullptr ? forms_->bytes() : 0);
}

}  // namespace neap::compiler
