// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/graph/trace.hpp"

#include <array>
#include <atomic>

#include "neap/graph/record_result.hpp"
#include "neap/tensor/creator.hpp"

namespace neap::graph {
namespace {

std::uint64_t next_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

// Links keep the count of their references to themselves and what derives from
// them.
class Count : public tensor::GraphLink {
 public:
  static bool is_one(const tensor::GraphLink& link) noexcept {
    return (link.*(&Count::is_unique))();
  }
};

// In a rehearsal nothing is looked at.
void check_absent(const Check& check, const Tensor& value) {
  const tensor::Storage& storage = *value.array()->storage();
  if (storage.absence() != tensor::Absence::kRehearsed) {
    tensor::refuse_elements(storage, check.op, check.site);
  }
}

}  // namespace

Trace::Trace() noexcept : number_(next_number()), since_(latest_sequence()) {}

Recorder& base_recorder() noexcept {
  auto* traced = dynamic_cast<Recorder*>(trace());
  return traced != nullptr ? *traced : eager();
}

bool is_last_reference(const base::Ref<tensor::GraphLink>& link) noexcept {
  return Count::is_one(*link);
}

void run_check(const Check& check) {
  if (Trace* current = trace()) {
    current->check(check);
    return;
  }
  std::array<tensor::Strided, kMostChecked> views;
  std::size_t count = 0;
  for (const Tensor& value : check.values) {
    if (!value.array()->storage()->fetch_elements()) {
      check_absent(check, value);
      return;
    }
    views[count++] = value.array()->strided();
  }
  check.look(check.op, std::span(views).first(count), check.attrs);
}

}  // namespace neap::graph
