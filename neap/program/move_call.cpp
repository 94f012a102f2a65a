// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/move_call.hpp"

#include <span>
#include <string_view>

namespace neap::compiler {
namespace {

std::string_view name_of(CallKind kind) noexcept {
  switch (kind) {
    case CallKind::kSpill:
      return "spill";
    case CallKind::kFetch:
      return "fetch";
    default:
      return "await";
  }
}

}  // namespace

Call move_call(Program& program, CallKind kind, std::uint32_t slot,
               ValueId first, ValueId id) {
  const Value& value = program[first];
  Call call;
  call.kind = kind;
  call.name = name_of(kind);
  call.site = value.site;
  call.owner = value.spec->owner;
  call.category = value.spec->category;
  call.slot = slot;
  const Operand bytes{id, program.keep(tensor::dense_layout(
                              DType::kU8, Shape{program[id].spec->size}))};
  const Range range = program.add(std::span(&bytes, 1));
  (kind == CallKind::kFetch ? call.outputs : call.inputs) = range;
  return call;
}

}  // namespace neap::compiler
