// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/dist/group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "neap/base/raise.hpp"
#include "neap/graph/trace.hpp"
#include "neap/memory/containers.hpp"
#include "neap/memory/context.hpp"
#include "neap/tensor/host_access.hpp"
#include "neap/tensor/storage.hpp"

namespace neap::dist {
namespace {

constexpr std::size_t kMostRanks = 1024;

// "0, 2 and 3"
std::string listed(std::span<const int> ranks) {
  std::string out;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const bool is_last = i + 1 == ranks.size();
    out += fmt::format("{}{}",
                       i == 0    ? ""
                       : is_last ? " and "
                                 : ", ",
                       ranks[i]);
  }
  return out;
}

// Says which ranks have which value. A few values are enough to find the cause.
[[noreturn]] void refuse(std::string_view name,
                         std::span<const std::uint64_t> values) {
  std::string text;
  std::vector<std::uint64_t> seen;
  for (const std::uint64_t value : values) {
    if (std::ranges::find(seen, value) != seen.end() || seen.size() == 4) {
      continue;
    }
    seen.push_back(value);
    std::vector<int> having;
    for (std::size_t rank = 0; rank < values.size() && having.size() < 8;
         ++rank) {
      if (values[rank] == value) {
        having.push_back(static_cast<int>(rank));
      }
    }
    text += fmt::format("{}{} on rank{} {}", text.empty() ? "" : ", ", value,
                        having.size() == 1 ? "" : "s", listed(having));
  }
  base::raise<RankMismatch>(
      "dist: the ranks differ in '{}': {}; start all of them with the same "
      "program and options",
      name, text);
}

// A run would not do again what the host does while a step is traced.
void refuse_in_step(const char* what) {
  if (graph::trace() != nullptr) {
    base::raise<TraceError>(
        "dist: {} in a step that is traced; exchange between steps, or run the "
        "step as it is",
        what);
  }
}

// FNV-1a, 64 bits.
std::uint64_t hash_of(std::string_view text, std::uint64_t hash) noexcept {
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  }
  return hash;
}

}  // namespace

struct Group::State {
  State(std::shared_ptr<Engine> with, std::int64_t deadline)
      : engine(std::move(with)),
        values(static_cast<std::size_t>(engine->ranks()), 0,
               memory::Allocator<std::uint64_t>(memory::Category::kOther)) {
    exchanges.deadline = deadline;
  }

  // The value of each rank.
  std::span<const std::uint64_t> gathered(std::uint64_t mine,
                                          std::string_view what) {
    gather_from_ranks(*engine, exchanges, std::as_bytes(std::span(&mine, 1)),
                      std::as_writable_bytes(std::span(values)), what);
    return values;
  }
  void expect_equal(std::string_view name, std::uint64_t mine) {
    for (const std::uint64_t value : gathered(mine, name)) {
      if (value != mine) {
        refuse(name, values);
      }
    }
  }

  std::shared_ptr<Engine> engine;
  Exchanges exchanges;
  memory::Vector<std::uint64_t> values;  // room for one of each rank
};

Group::Group(std::shared_ptr<Engine> engine, const GroupOptions& options) {
  const auto ranks = static_cast<std::size_t>(engine->ranks());
  if (!std::has_single_bit(ranks) || ranks > kMostRanks) {
    base::raise<ValueError>(
        "dist: a group of {} ranks; their number must be a power of two, at "
        "most {}: start {}",
        ranks, kMostRanks, std::bit_floor(std::min(ranks, kMostRanks)));
  }
  if (!(options.deadline > 0.0 && options.deadline < 1e9)) {
    base::raise<ValueError>(
        "dist: a deadline of {} s; it must be a positive number of seconds",
        options.deadline);
  }
  if (ranks > 1) {
    state_ = std::allocate_shared<State>(
        memory::Allocator<State>(memory::Category::kOther), std::move(engine),
        static_cast<std::int64_t>(options.deadline * 1e9));
  }
}

int Group::rank() const noexcept {
  return state_ ? state_->engine->rank() : 0;
}
int Group::ranks() const noexcept {
  return state_ ? state_->engine->ranks() : 1;
}
std::string_view Group::engine_name() const noexcept {
  return state_ ? state_->engine->name() : "none";
}

void Group::agree(std::span<const Fact> facts) const {
  refuse_in_step("agree()");
  if (!state_) {
    return;
  }
  std::uint64_t names = 14695981039346656037ULL;
  for (const Fact& fact : facts) {
    names = hash_of(fact.name, names);
  }
  state_->expect_equal("what they compare", names);
  for (const Fact& fact : facts) {
    state_->expect_equal(fact.name, fact.value);
  }
}

void Group::meet(std::string_view what) const {
  refuse_in_step("meet()");
  if (state_) {
    state_->gathered(0, what);
  }
}

void Group::sum(const Tensor& x, std::string_view what, CallSite site) const {
  refuse_in_step("sum()");
  tensor::check_host_access(x, "dist::Group::sum", site, true);
  const tensor::Array& array = *x.array();
  if (x.dtype() != DType::kF32 && x.dtype() != DType::kF64) {
    base::raise<DTypeError>("sum: '{}' is {}, expected f32 or f64", what,
                            name_of(x.dtype()));
  }
  if (!tensor::is_contiguous(array.layout())) {
    base::raise<ShapeError>(
        "sum: '{}' has gaps or is a transposed view, {}; "
        "pass contiguous() of it",
        what, format_shape(x.shape()));
  }
  if (!state_ || x.element_count() == 0) {
    return;
  }
  const auto count = static_cast<std::size_t>(x.element_count());
  const Bytes bytes = x.element_count() * size_of(x.dtype());
  state_->expect_equal(what, hash_of(format_shape(x.shape()),
                                     static_cast<std::uint64_t>(bytes)));
  const base::Ref<tensor::Storage> staging = tensor::Storage::allocate(
      staging_bytes(bytes), memory::current_tag(memory::Category::kWorkspace),
      memory::domain());
  const std::span<std::byte> room{staging->data(),
                                  static_cast<std::size_t>(staging->size())};
  std::byte* const data = array.strided().data;
  if (x.dtype() == DType::kF32) {
    sum_over_ranks(*state_->engine, state_->exchanges,
                   {reinterpret_cast<float*>(data), count}, room, what);
  } else {
    sum_over_ranks(*state_->engine, state_->exchanges,
                   {reinterpret_cast<double*>(data), count}, room, what);
  }
  array.storage()->bump_version(base::intern(site));
}

double Group::sum(double x, std::string_view what) const {
  refuse_in_step("sum()");
  if (state_) {
    alignas(64) std::array<std::byte, 128> staging{};
    sum_over_ranks(*state_->engine, state_->exchanges, std::span(&x, 1),
                   staging, what);
  }
  return x;
}

void Group::abort(int status) const noexcept {
  if (state_) {
    state_->engine->abort(status);
  }
}

GroupCounts Group::counts() const noexcept {
  if (!state_) {
    return {};
  }
  const Exchanges& all = state_->exchanges;
  return {all.sent, all.received, static_cast<double>(all.waited) / 1e9};
}

}  // namespace neap::dist
