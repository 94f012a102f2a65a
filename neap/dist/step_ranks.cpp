// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/dist/step_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "neap/base/raise.hpp"
#include "neap/dist/group_state.hpp"

namespace neap::dist {
namespace {

template <class T>
std::span<T> elements_of(std::span<std::byte> array) {
  return {reinterpret_cast<T*>(array.data()), array.size() / sizeof(T)};
}

class PlannedRanks final : public compiler::Ranks {
 public:
  PlannedRanks(int rank, int count, std::span<const std::int64_t> batches)
      : rank_(rank),
        count_(count),
        batches_(batches.begin(), batches.end(),
                 memory::Allocator<std::int64_t>(memory::Category::kOther)) {}
  int rank() const noexcept override { return rank_; }
  int count() const noexcept override { return count_; }
  std::uint64_t number_of_step() override { return 0; }
  bool all(bool mine, std::string_view) override { return mine; }
  std::int64_t rows_of_batch(std::int64_t mine, int shards,
                             std::string_view) override {
    for (const std::int64_t rows : batches_) {
      if (base::RowsOfRanks{rows, shards, count_}.rows_of_rank(rank_) == mine) {
        return rows;
      }
    }
    return mine * count_;
  }
  std::uint64_t told(std::uint64_t mine, std::string_view) override {
    return mine;
  }
  void hand_over(std::span<std::byte>, int, int,
                 std::string_view what) override {
    raise(what);
  }
  void hand_on(std::span<std::byte>, int, std::string_view what) override {
    raise(what);
  }
  void expect_equal(std::uint64_t, std::string_view) override {}
  void refuse() noexcept override {}
  Bytes staging_bytes(Bytes array) const noexcept override {
    return dist::staging_bytes(array);
  }
  void sum(std::span<std::byte>, DType, std::span<std::byte>,
           std::string_view what) override {
    raise(what);
  }
  void share(std::span<std::byte>, const compiler::RowsOfRanks&, Bytes,
             std::string_view what) override {
    raise(what);
  }
  bool is_broken() const noexcept override { return false; }

 private:
  [[noreturn]] static void raise(std::string_view what) {
    base::raise<DistError>(
        "dist: {}: these ranks are planned, and there is no engine; give the "
        "step dist::init().for_steps()",
        what);
  }
  int rank_;
  int count_;
  memory::Vector<std::int64_t> batches_;
};

}  // namespace

// The state is that of the group, whose other exchanges take turns with these.
class StepRanks final : public compiler::Ranks {
 public:
  explicit StepRanks(std::shared_ptr<Group::State> state)
      : state_(std::move(state)) {}

  int rank() const noexcept override { return state_->engine->rank(); }
  int count() const noexcept override { return state_->engine->ranks(); }

  std::uint64_t number_of_step() override { return ++state_->steps; }
  std::int64_t rows_of_batch(std::int64_t mine, int shards,
                             std::string_view what) override {
    state_->begin(what, kStep, fmt::format(", of {} shards", shards));
    const auto all = state_->gathered(static_cast<std::uint64_t>(mine), kStep);
    compiler::RowsOfRanks rows{.shards = shards, .ranks = count()};
    for (const std::uint64_t own : all) {
      rows.rows += static_cast<std::int64_t>(own);
    }
    for (std::size_t r = 0; r < all.size(); ++r) {
      const auto own = static_cast<std::int64_t>(all[r]);
      const std::int64_t due = rows.rows_of_rank(static_cast<int>(r));
      if (own != due) {
        base::raise<ShapeError>(
            "dist: rank {} has {} rows of a batch of {} in {} shards, and {} "
            "are its own: the first shards have one row more where they "
            "cannot be of one size",
            r, own, rows.rows, shards, due);
      }
    }
    return rows.rows;
  }
  void expect_equal(std::uint64_t mine, std::string_view what) override {
    ++state_->count;
    state_->expect_equal(std::max<std::uint64_t>(mine, 1), kStep,
                         fmt::format("run of {}", what));
  }
  void refuse() noexcept override { state_->refuse(kStep); }
  bool all(bool mine, std::string_view what) override {
    state_->begin("question", what, "");
    const auto said = state_->gathered(mine ? 1 : 0, what);
    return std::ranges::all_of(said,
                               [](std::uint64_t one) { return one == 1; });
  }

  std::uint64_t told(std::uint64_t mine, std::string_view what) override {
    return state_->gathered(mine, what)[0];
  }
  void hand_over(std::span<std::byte> array, int from, int to,
                 std::string_view what) override {
    state_->exchange([&] {
      hand_over_to(*state_->engine, state_->exchanges, array, from, to, what);
    });
  }
  // Rows of which one rank has all.
  void hand_on(std::span<std::byte> array, int from,
               std::string_view what) override {
    const auto bytes = static_cast<std::int64_t>(array.size());
    state_->exchange([&] {
      share_among_ranks(*state_->engine, state_->exchanges, array, what,
                        [&](int rank) { return rank <= from ? 0 : bytes; });
    });
  }

  Bytes staging_bytes(Bytes array) const noexcept override {
    return dist::staging_bytes(array);
  }
  void sum(std::span<std::byte> array, DType dtype,
           std::span<std::byte> staging, std::string_view what) override {
    const auto add = [&](auto elements) {
      state_->exchange([&] {
        sum_over_ranks(*state_->engine, state_->exchanges, elements, staging,
                       what);
      });
    };
    switch (dtype) {
      case DType::kF32:
        return add(elements_of<float>(array));
      case DType::kF64:
        return add(elements_of<double>(array));
      case DType::kI32:
        return add(elements_of<std::int32_t>(array));
      default:
        return add(elements_of<std::int64_t>(array));
    }
  }
  void share(std::span<std::byte> array, const compiler::RowsOfRanks& rows,
             Bytes row, std::string_view what) override {
    state_->exchange([&] {
      share_among_ranks(
          *state_->engine, state_->exchanges, array, what,
          [&](int rank) { return rows.first_of_rank(rank) * row; });
    });
  }
  bool is_broken() const noexcept override { return state_->is_broken; }

 private:
  static constexpr std::string_view kStep = "a compiled step";
  std::shared_ptr<Group::State> state_;
};

std::shared_ptr<compiler::Ranks> Group::ranks_of(
    const std::shared_ptr<State>& state) {
  return std::allocate_shared<StepRanks>(
      memory::Allocator<StepRanks>(memory::Category::kOther), state);
}

std::shared_ptr<compiler::Ranks> planned_ranks(
    int rank, int ranks, std::span<const std::int64_t> batches) {
  if (ranks < 1 || !std::has_single_bit(static_cast<unsigned>(ranks)) ||
      rank < 0 || rank >= ranks) {
    base::raise<ValueError>(
        "dist: rank {} of {}; the number of ranks must be a power of two, and "
        "ranks are counted from 0",
        rank, ranks);
  }
  return std::allocate_shared<PlannedRanks>(
      memory::Allocator<PlannedRanks>(memory::Category::kOther), rank, ranks,
      batches);
}

}  // namespace neap::dist
