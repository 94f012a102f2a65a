// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/shard_calls.hpp"

#include <algorithm>
#include <cstring>

#include "neap/program/call_specs.hpp"
#include "neap/program/passes.hpp"

namespace neap::compiler {

Call call_near(const Call& near, const graph::Op& op) {
  Call call;
  call.op = &op;
  call.name = op.name;
  call.kernels = op.kernel;
  call.site = near.site;
  call.owner = near.owner;
  call.category = near.category;
  call.space = near.space;
  call.segment = near.segment;
  return call;
}

void count_draws_on(Program& program, Call& part, std::int64_t rows,
                    std::int64_t first) {
  const Call call = part;
  if (call.draw_at < 0) {
    return;
  }
  const graph::Facts& facts = call.op->facts;
  const CallSpecs specs(program, call);
  const std::int64_t draws = facts.draws != nullptr
                                 ? facts.draws(specs.args())
                                 : specs.outputs()[0].shape.element_count();
  memory::Vector<std::uint64_t> attrs((call.attrs_size + 7) / 8);
  auto* bytes = reinterpret_cast<std::byte*>(attrs.data());
  const auto* from = static_cast<const std::byte*>(program.attrs_of(call));
  std::copy_n(from, call.attrs_size, bytes);
  std::int64_t number = 0;
  std::memcpy(&number, bytes + facts.first_at, sizeof(number));
  number += draws / rows * first;
  std::memcpy(bytes + facts.first_at, &number, sizeof(number));
  part.attrs =
      program.keep_attrs(call.op, graph::Attrs(bytes, call.attrs_size));
}

std::int64_t rows_of_batch(const Program& program) noexcept {
  for (const tensor::Spec& spec : program.arguments) {
    if (spec.shape.rank() > 0) {
      return spec.shape[0];
    }
  }
  return 0;
}

}  // namespace neap::compiler
