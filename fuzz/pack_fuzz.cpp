// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A problem that is read is written and read again: the same buffers.
#include "neap/planner/csv.hpp"
#include "target.hpp"

namespace neap::fuzz {
namespace {

bool is_same(const planner::Buffer& a, const planner::Buffer& b) {
  return a.lower == b.lower && a.upper == b.upper && a.size == b.size &&
         a.alignment == b.alignment && a.fixed == b.fixed &&
         a.alias_of == b.alias_of && a.alias_at == b.alias_at;
}

}  // namespace

void one_input(std::string_view bytes) {
  const auto csv = planner::parse_csv(bytes);
  if (!csv) {
    expect(csv.error().message.size() < 2000);
    return;
  }
  const auto& buffers = csv->problem.buffers;
  const auto again = planner::parse_csv(planner::to_csv(csv->problem));
  expect(again.has_value());
  expect(again->problem.buffers.size() == buffers.size());
  memory::Vector<std::int64_t> offsets(buffers.size());
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    expect(is_same(buffers[i], again->problem.buffers[i]));
    offsets[i] = static_cast<std::int64_t>(7 * i);
  }
  const auto planned = planner::parse_csv(planner::add_offsets(bytes, offsets));
  expect(planned.has_value() && planned->offsets == offsets);
}

}  // namespace neap::fuzz
