// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/program.hpp"

#include <cstring>
#include <utility>

#include "neap/program/pool_bytes.hpp"

namespace neap::compiler {

Program::Program() = default;

Program::~Program() {
  let_go();
}

Program::Program(Program&& other) noexcept = default;

Program& Program::operator=(Program&& other) noexcept {
  if (this != &other) {
    let_go();
    values = std::move(other.values);
    calls = std::move(other.calls);
    operands = std::move(other.operands);
    members = std::move(other.members);
    externals = std::move(other.externals);
    arguments = std::move(other.arguments);
    gapped = std::move(other.gapped);
    results = std::move(other.results);
    handed = other.handed;
    asks_aliases = other.asks_aliases;
    asked_of_arguments = other.asked_of_arguments;
    grads = std::move(other.grads);
    leaves = std::move(other.leaves);
    hooks = std::move(other.hooks);
    flags = std::move(other.flags);
    generations = std::move(other.generations);
    held_handles = std::move(other.held_handles);
    rebound_handles = std::move(other.rebound_handles);
    result_links = std::move(other.result_links);
    digests = std::move(other.digests);
    listeners = std::move(other.listeners);
    first_draw = other.first_draw;
    draws = other.draws;
    attrs_ = std::move(other.attrs_);
    kept_ = std::move(other.kept_);
  }
  return *this;
}

void Program::let_go() noexcept {
  for (const Kept& kept : kept_) {
    kept.op->let_go_attrs(attrs_.data() + kept.offset);
    kept.op->release();
  }
  kept_.clear();
}

ValueId Program::add(const Value& value) {
  values.push_back(value);
  return {static_cast<std::uint32_t>(values.size() - 1)};
}

Range Program::add(std::span<const Operand> more) {
  const Range range{static_cast<std::uint32_t>(operands.size()),
                    static_cast<std::uint32_t>(more.size())};
  operands.insert(operands.end(), more.begin(), more.end());
  return range;
}

std::uint32_t Program::keep_attrs(const graph::Op* op,
                                  const graph::Attrs& attrs) {
  const std::size_t offset = attrs_.size();
  const std::size_t units = (attrs.size() + sizeof(Unit) - 1) / sizeof(Unit);
  const bool counts =
      op != nullptr && (op->count != nullptr || op->drop_attrs != nullptr);
  if (counts) {
    kept_.reserve(kept_.size() + 1);
  }
  attrs_.resize(offset + units);
  const auto at = static_cast<std::uint32_t>(offset);
  if (op != nullptr) {
    op->keep_attrs(attrs_.data() + offset, attrs);
  } else if (attrs.size() != 0) {
    std::memcpy(attrs_.data() + offset, attrs.data(), attrs.size());
  }
  if (counts) {
    op->acquire();
    kept_.push_back({op, at});
  }
  return at;
}

void Program::add(const Call& call) {
  calls.push_back(call);
}

void* Program::attrs_of(const Call& call) noexcept {
  return call.attrs_size != 0 ? attrs_.data() + call.attrs : nullptr;
}

const void* Program::attrs_of(const Call& call) const noexcept {
  return call.attrs_size != 0 ? attrs_.data() + call.attrs : nullptr;
}

Bytes Program::bytes() const noexcept {
  return pool_bytes(values, calls, operands, members, externals, arguments,
                    gapped, results, grads, leaves, hooks, flags, generations,
                    held_handles, rebound_handles, result_links, digests,
                    listeners, attrs_, kept_);
}

}  // namespace neap::compiler
