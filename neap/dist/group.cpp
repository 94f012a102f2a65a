// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/dist/group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <exception>
#include <string>
#include <utility>

#include "neap/base/raise.hpp"
#include "neap/dist/group_state.hpp"
#include "neap/dist/step_ranks.hpp"
#include "neap/graph/recorder.hpp"
#include "neap/graph/trace.hpp"
#include "neap/memory/containers.hpp"
#include "neap/memory/context.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/tensor/host_access.hpp"
#include "neap/tensor/storage.hpp"

namespace neap::dist {
namespace {

constexpr std::size_t kMostRanks = 1024;
// A run would not do again what the host does while a step is traced.
void refuse_in_step(const char* what) {
  if (graph::trace() != nullptr) {
    base::raise<TraceError>(
        "dist: {} in a step that is traced; exchange between steps, or run the "
        "step as it is",
        what);
  }
}

// A graph that has recorded the tensor would give gradients of what it was, so
// that other writes in place are refused, too.
void check_summable(const Tensor& x, std::string_view what,
                    const CallSite& site) {
  tensor::check_host_access(x, "dist::Group::sum", site, true);
  if (x.dtype() != DType::kF32 && x.dtype() != DType::kF64) {
    base::raise<DTypeError>("sum: '{}' is {}, expected f32 or f64", what,
                            name_of(x.dtype()));
  }
  if (!tensor::is_contiguous(x.array()->layout())) {
    base::raise<ShapeError>(
        "sum: '{}' has gaps or is a transposed view, {}; pass contiguous() of "
        "it",
        what, format_shape(x.shape()));
  }
  if (!x.is_leaf() || (x.requires_grad() && is_grad_enabled())) {
    base::raise<GraphError>(
        "sum: '{}' is written in place, and a graph records it; sum gradients, "
        "or a leaf under NoGrad",
        what);
  }
}

}  // namespace

std::string listed(std::span<const int> ranks) {
  std::string out = ranks.size() == 1 ? "rank " : "ranks ";
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

std::uint64_t hash_of(std::string_view text, std::uint64_t hash) noexcept {
  constexpr std::uint64_t kPrime = 1099511628211ULL;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  }
  return (hash ^ text.size() ^ 0x100U) * kPrime;
}

void GroupOptions::check() const {
  if (!(deadline > 0.0 && deadline < 1e9)) {
    base::raise<ValueError>(
        "dist: a deadline of {} s; it must be a positive number of seconds",
        deadline);
  }
}

void Group::State::begin(std::string_view kind, std::string_view what,
                         std::string_view detail) {
  std::uint64_t mine = hash_of(kind, kHashStart + ++count);
  mine = std::max<std::uint64_t>(hash_of(detail, hash_of(what, mine)), 1);
  expect_equal(mine, what, fmt::format("{} of '{}'{}", kind, what, detail));
}

void Group::State::expect_equal(std::uint64_t mine, std::string_view what,
                                std::string_view here) {
  std::array<int, kMostListed> others{};
  std::size_t found = 0;
  const auto all = gathered(mine, what);
  for (std::size_t rank = 0; rank < all.size() && found < kMostListed; ++rank) {
    if (all[rank] != mine) {
      others[found++] = static_cast<int>(rank);
    }
  }
  if (found != 0) {
    base::raise<RankMismatch>(
        "dist: the ranks differ: rank {} is at the {}, {} not, or with other "
        "shapes; start all of them with the same program and options",
        engine->rank(), here, listed(std::span(others).first(found)));
  }
}

Group::Group(std::shared_ptr<Engine> engine, const GroupOptions& options) {
  options.check();
  const auto ranks =
      static_cast<std::size_t>(engine != nullptr ? engine->ranks() : 0);
  if (!std::has_single_bit(ranks) || ranks > kMostRanks) {
    base::raise<ValueError>(
        "dist: a group of {} ranks; their number must be a power of two, at "
        "most {}: start {}",
        ranks, kMostRanks,
        std::max<std::size_t>(std::bit_floor(std::min(ranks, kMostRanks)), 1));
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
  std::uint64_t names = kHashStart;
  for (const Fact& fact : facts) {
    names = hash_of(fact.name, names);
  }
  state_->begin("comparison", "facts",
                fmt::format(" ({} of them, names {:x})", facts.size(), names));
  for (const Fact& fact : facts) {
    const auto values = state_->gathered(fact.value, fact.name);
    if (std::ranges::any_of(
            values, [&](std::uint64_t value) { return value != fact.value; })) {
      refuse_fact(fact.name, values);
    }
  }
}

// Says which ranks have which value. A few values are enough to find the cause.
void Group::refuse_fact(std::string_view name,
                        std::span<const std::uint64_t> values) {
  std::string text;
  std::array<std::uint64_t, 4> seen{};
  std::size_t count = 0;
  for (const std::uint64_t value : values) {
    const auto known = std::span(seen).first(count);
    if (count == seen.size() ||
        std::ranges::find(known, value) != known.end()) {
      continue;
    }
    seen[count++] = value;
    std::array<int, kMostListed> having{};
    std::size_t found = 0;
    for (std::size_t rank = 0; rank < values.size() && found < kMostListed;
         ++rank) {
      if (values[rank] == value) {
        having[found++] = static_cast<int>(rank);
      }
    }
    text += fmt::format("{}{} on {}", text.empty() ? "" : ", ", value,
                        listed(std::span(having).first(found)));
  }
  base::raise<RankMismatch>(
      "dist: the ranks differ in '{}': {}; start all of them with the same "
      "program and options",
      name, text);
}

void Group::meet(std::string_view what) const {
  refuse_in_step("meet()");
  if (state_) {
    state_->begin("meeting", what, "");
  }
}

void Group::sum(const Tensor& x, std::string_view what, CallSite site) const {
  refuse_in_step("sum()");
  base::Ref<tensor::Storage> staging;
  const auto prepare = [&] {
    check_summable(x, what, site);
    if (state_) {
      staging = tensor::Storage::allocate(
          staging_bytes(x.element_count() * size_of(x.dtype())),
          memory::current_tag(memory::Category::kWorkspace), memory::domain());
    }
  };
  if (!state_) {
    prepare();
    return;
  }
  try {
    prepare();
  } catch (...) {
    state_->refuse(what);
    throw;
  }
  state_->begin(
      "sum", what,
      fmt::format(", {} {}", name_of(x.dtype()), format_shape(x.shape())));
  sum_elements(x, *staging, what);
  x.array()->storage()->bump_version(base::intern(site));
}

void Group::sum_elements(const Tensor& x, tensor::Storage& staging,
                         std::string_view what) const {
  State& state = *state_;
  const std::span<std::byte> room{staging.data(),
                                  static_cast<std::size_t>(staging.size())};
  const auto count = static_cast<std::size_t>(x.element_count());
  std::byte* const data = x.array()->strided().data;
  try {
    state.exchange([&] {
      if (x.dtype() == DType::kF32) {
        sum_over_ranks(*state.engine, state.exchanges,
                       {reinterpret_cast<float*>(data), count}, room, what);
      } else {
        sum_over_ranks(*state.engine, state.exchanges,
                       {reinterpret_cast<double*>(data), count}, room, what);
      }
    });
  } catch (...) {
    if (state.kept.empty()) {
      state.kept.push_back(base::Ref<tensor::Storage>::share(&staging));
      state.kept.push_back(x.array()->storage());
    }
    throw;
  }
}

// By the tree, in every rank alike.
double Group::sum(double x, std::string_view what) const {
  refuse_in_step("sum()");
  if (!state_) {
    return x;
  }
  state_->begin("sum", what, ", a number");
  const auto values = state_->gathered(std::bit_cast<std::uint64_t>(x), what);
  for (std::size_t step = 1; step < values.size(); step *= 2) {
    for (std::size_t i = 0; i < values.size(); i += 2 * step) {
      state_->values[i] =
          std::bit_cast<std::uint64_t>(std::bit_cast<double>(values[i]) +
                                       std::bit_cast<double>(values[i + step]));
    }
  }
  return std::bit_cast<double>(values[0]);
}

memory::Vector<double> Group::gather(double mine, std::string_view what) const {
  refuse_in_step("gather()");
  memory::Vector<double> out(static_cast<std::size_t>(ranks()), mine);
  if (state_) {
    state_->begin("gathering", what, "");
    const auto all = state_->gathered(std::bit_cast<std::uint64_t>(mine), what);
    std::ranges::transform(all, out.begin(), [](std::uint64_t bits) {
      return std::bit_cast<double>(bits);
    });
  }
  return out;
}

GroupCounts Group::counts() const noexcept {
  if (!state_) {
    return {};
  }
  const Exchanges& all = state_->exchanges;
  return {all.sent, all.received, static_cast<double>(all.waited) / 1e9};
}

std::shared_ptr<compiler::Ranks> Group::for_steps() const {
  return state_ ? ranks_of(state_) : nullptr;
}

void Group::abort(int status) const noexcept {
  if (state_) {  // launchers see eight bits, of which all 0 are success
    state_->engine->abort((status & 0xff) == 0 ? 1 : status);
  }
}

}  // namespace neap::dist
