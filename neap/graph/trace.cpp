// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/graph/trace.hpp"

#include <atomic>

#include "neap/memory/containers.hpp"

namespace neap::graph {
namespace {

std::uint64_t next_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

Trace::Trace() noexcept : number_(next_number()) {}

void run_check(const Check& check) {
  if (Trace* current = trace()) {
    current->check(check);
    return;
  }
  memory::Vector<tensor::Strided> views;
  views.reserve(check.values.size());
  for (const Tensor& value : check.values) {
    if (!value.array()->storage()->has_elements()) {
      return;  // a rehearsal
    }
    views.push_back(value.array()->strided());
  }
  check.look(check.op, views, check.attrs);
}

}  // namespace neap::graph
