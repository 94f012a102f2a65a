// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/rank_cut.hpp"

#include "neap/base/call_site.hpp"
#include "neap/base/raise.hpp"
#include "neap/program/dataflow.hpp"
#include "neap/program/digest.hpp"
#include "neap/program/hash.hpp"
#include "neap/program/trail.hpp"

namespace neap::compiler {

RankCut::RankCut(Program& program, const Ranks* ranks, std::int64_t rows,
                 std::uint32_t shards)
    : program_(program),
      rows_{.rows = rows,
            .shards = shards,
            .ranks = ranks != nullptr ? ranks->count() : 1},
      rank_(ranks != nullptr ? ranks->rank() : 0) {
  if (has_others()) {
    mark_arguments();
    expect_unwritten();
  }
}

void RankCut::mark_arguments() {
  shared_out_.assign(program_.values.size(), 0);
  for (std::uint32_t v = 0; v < shared_out_.size(); ++v) {
    const Value& value = program_.values[v];
    if (value.origin == Origin::kArgument) {
      const Shape& shape = program_.arguments[value.index].shape;
      shared_out_[v] = shape.rank() > 0 && shape[0] == rows_.rows ? 1 : 0;
    }
  }
}

void RankCut::expect_unwritten() const {
  for (const Call& call : program_.calls) {
    for (const Operand& out : program_.out(call)) {
      const ValueId over = program_[out.value].over;
      if (over != kNoValue && is_shared_out(over)) {
        base::raise<TraceError>(
            "compile: the step writes to its argument {} ({}), whose rows are "
            "shared out among ranks; let it write to a copy()",
            program_[over].index, base::format_site(call.site));
      }
    }
  }
  for (const Result& result : program_.results) {
    if (is_shared_out(result.operand.value)) {
      base::raise<TraceError>(
          "compile: a result of the step is its argument {}, or a part of it, "
          "of whose rows each rank has some; leave it out",
          program_[result.operand.value].index);
    }
  }
}

// Halves go to another rank, then halves of these, and all the way back.
Call RankCut::sum(const Call& near, Bytes bytes) {
  sent_ += 2 * (bytes - bytes / rows_.ranks);
  return exchange_near(program_, near, "sum_over_ranks",
                       {.is_sum = true, .rows = rows_});
}

// A rank hands on its rows, then those of two ranks, of four, ...
Call RankCut::share(const Call& near, const ValueRows& rows, DType dtype) {
  for (std::int64_t bit = 1; bit < rows_.ranks; bit *= 2) {
    const std::int64_t first = rank_ & ~(bit - 1);
    sent_ += rows.outer * rows.inner * size_of(dtype) *
             (rows_.first_of_rank(first + bit) - rows_.first_of_rank(first));
  }
  return exchange_near(
      program_, near, "share_rows",
      {.outer = rows.outer, .row = rows.inner * size_of(dtype), .rows = rows_});
}

Call exchange_near(Program& program, const Call& near, std::string_view name,
                   const ExchangeAttrs& attrs) {
  Call call;
  call.kind = CallKind::kExchange;
  call.name = name;
  call.site = near.site;
  call.owner = near.owner;
  call.category = near.category;
  call.reads_outputs = true;
  call.attrs = program.keep_attrs(nullptr, attrs);
  call.attrs_size = sizeof(attrs);
  return call;
}

void RankCut::cut_arguments() {
  if (!has_others()) {
    return;
  }
  const std::int64_t count = rows_.rows_of_rank(rank_);
  for (std::uint32_t v = 0; v < shared_out_.size(); ++v) {
    if (shared_out_[v] != 0) {
      program_.respec({v}, [&](ValueSpec& spec) {
        spec.shape[0] = count;
        spec.size = spec.shape.element_count() * size_of(spec.dtype);
      });
    }
  }
  for (tensor::Spec& spec : program_.arguments) {
    if (spec.shape.rank() > 0 && spec.shape[0] == rows_.rows) {
      spec.shape[0] = count;
    }
  }
}

// The structure says where values are left; the trail says it by addresses.
std::uint64_t step_digest(const Program& program) {
  Hash hash;
  hash.add(structure_digest(program));
  for (const std::uint64_t call : trail_of(program).calls) {
    hash.add(call);
  }
  hash.add(program.draws);
  return hash.get();
}

std::uint64_t exchange_digest(const Program& program) noexcept {
  Hash hash;
  hash.add(program.sharding.digest);
  for (const Call& call : program.calls) {
    if (call.kind == CallKind::kExchange) {
      const auto& attrs =
          *static_cast<const ExchangeAttrs*>(program.attrs_of(call));
      const ValueSpec& spec = program[program.out(call)[0].value].spec;
      hash.add(attrs.is_sum);
      hash.add(attrs.from);
      hash.add(spec.dtype);
      hash.add(spec.size);
      hash.add(attrs.rows.rows);
      hash.add(attrs.rows.shards);
    }
  }
  return hash.get();
}

// A rank's own program may leave out what another reads.
void mark_compared(Program& program) {
  const Dataflow flow(program);
  for (std::uint32_t v = 0; v < program.values.size(); ++v) {
    const Value& value = program.values[v];
    if (value.origin == Origin::kExternal && !flow.readers({v}).empty()) {
      External& external = program.externals[value.index];
      external.is_compared = !external.is_constant;
    }
  }
}

std::uint64_t state_digest(const Program& program) noexcept {
  Hash hash;
  for (const External& external : program.externals) {
    if (!external.is_compared || !external.tensor.defined()) {
      continue;
    }
    const tensor::Storage& storage = *external.tensor.array()->storage();
    if (storage.has_elements()) {
      hash.add(storage.data(), static_cast<std::size_t>(storage.size()));
    }
  }
  return hash.get();
}

std::uint64_t state_writes(const Program& program) noexcept {
  Hash hash;
  for (const External& external : program.externals) {
    if (external.is_compared && external.tensor.defined()) {
      const tensor::Storage& storage = *external.tensor.array()->storage();
      hash.add(storage.number());
      hash.add(storage.writes());
    }
  }
  return hash.get() | 1U;
}

bool is_shared_out(const Program& program, std::size_t argument) noexcept {
  const Sharding& cut = program.sharding;
  const Shape& shape = program.arguments[argument].shape;
  const RowsOfRanks rows{cut.rows, cut.shards, cut.ranks};
  return shape.rank() > 0 &&
         shape[0] == rows.rows_of_rank(program.ranks->rank());
}

}  // namespace neap::compiler
