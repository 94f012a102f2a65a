// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/optim/state_share.hpp"

#include <algorithm>
#include <utility>

#include "neap/base/raise.hpp"
#include "neap/memory/context.hpp"
#include "neap/optim/launch.hpp"
#include "neap/optim/optimizer.hpp"
#include "neap/program/ranks.hpp"
#include "neap/tensor/host_access.hpp"

namespace neap::optim {

using base::raise;

namespace {

// Rank 0 tells the others these, or, from kFirst on, which state it asks for.
constexpr std::uint64_t kFailed = 0;
constexpr std::uint64_t kEnded = 1;
constexpr std::uint64_t kFirst = 2;

constexpr Bytes kPiece = 256 * kKiB;

// Visits an array in the pieces in which it goes from rank to rank.
template <class Visit>
void for_each_piece(std::span<std::byte> array, const Visit& visit) {
  constexpr auto kMost = static_cast<std::size_t>(kPiece);
  for (std::size_t at = 0; at < array.size(); at += kMost) {
    visit(array.subspan(at, std::min(kMost, array.size() - at)));
  }
}

}  // namespace

class StateShare::Elsewhere final : public tensor::Keeper {
 public:
  Elsewhere(std::shared_ptr<StateShare> share, std::uint64_t number, int of)
      : share_(std::move(share)), number_(number), of_(of) {}
  void put_into(std::span<std::byte> into) override {
    share_->ask(number_, of_, into);
  }

 private:
  std::shared_ptr<StateShare> share_;
  std::uint64_t number_;
  int of_;
};

StateShare::StateShare(std::shared_ptr<compiler::Ranks> ranks, Bytes largest)
    : ranks_(std::move(ranks)) {
  if (ranks_->rank() == 0) {
    staging_ = tensor::Storage::allocate(
        std::min(largest, kPiece),
        memory::current_tag(memory::Category::kWorkspace), memory::domain());
  }
}

StateShare::~StateShare() {
  if (staging_ && ranks_->is_broken()) {
    static_cast<void>(staging_.leak());
  }
}

int StateShare::rank() const noexcept {
  return ranks_->rank();
}
int StateShare::count() const noexcept {
  return ranks_->count();
}

memory::Owned<tensor::Keeper> StateShare::keeper(std::uint64_t number, int of) {
  return memory::make_owned<Elsewhere>(memory::Category::kGraph,
                                       shared_from_this(), number, of);
}

void StateShare::ask(std::uint64_t number, int of, std::span<std::byte> into) {
  if (reading_.empty()) {
    raise<ValueError>(
        "optimizer: rank {} has this state, and rank {} reads it alone; save "
        "by Trainer::save(), or read it in Optimizer::read_state(), which all "
        "ranks call",
        of, rank());
  }
  if (std::min(static_cast<Bytes>(into.size()), kPiece) > staging_->size()) {
    raise<InternalError>("optimizer: a state is larger than its parameter");
  }
  static_cast<void>(ranks_->told(kFirst + number, reading_));
  for_each_piece(into, [&](std::span<std::byte> piece) {
    const std::span<std::byte> mine{staging_->data(), piece.size()};
    ranks_->hand_over(mine, of, rank(), reading_);
    std::ranges::copy(mine, piece.begin());
  });
}

// All ranks are here before the first of them asks: it may hold locks then.
std::optional<std::uint64_t> StateShare::read(
    std::string_view what, base::FunctionRef<Tensor(std::uint64_t)> state,
    base::FunctionRef<int(std::uint64_t)> rank_of,
    base::FunctionRef<std::uint64_t()> read) {
  static_cast<void>(ranks_->all(true, what));
  return rank() == 0 ? lead(what, read) : serve(what, state, rank_of);
}

std::optional<std::uint64_t> StateShare::lead(
    std::string_view what, base::FunctionRef<std::uint64_t()> read) {
  std::uint64_t found = 0;
  reading_ = what;
  try {
    found = read();
  } catch (...) {
    reading_ = {};
    if (!ranks_->is_broken()) {
      static_cast<void>(ranks_->told(kFailed, what));
    }
    throw;
  }
  reading_ = {};
  static_cast<void>(ranks_->told(kEnded, what));
  return ranks_->told(found, what);
}

std::optional<std::uint64_t> StateShare::serve(
    std::string_view what, base::FunctionRef<Tensor(std::uint64_t)> state,
    base::FunctionRef<int(std::uint64_t)> rank_of) {
  for (;;) {
    const std::uint64_t asked = ranks_->told(0, what);
    if (asked == kFailed) {
      return std::nullopt;
    }
    if (asked == kEnded) {
      return ranks_->told(0, what);
    }
    if (rank_of(asked - kFirst) != rank()) {
      continue;
    }
    const Tensor mine = state(asked - kFirst);
    tensor::Storage& storage = *mine.array()->storage();
    for_each_piece({storage.data(), static_cast<std::size_t>(storage.size())},
                   [&](std::span<std::byte> piece) {
                     ranks_->hand_over(piece, rank(), 0, what);
                   });
  }
}

// --- of an optimizer ---------------------------------------------------------

void Optimizer::share_out(const std::shared_ptr<compiler::Ranks>& ranks) {
  check_not_traced("share_out");
  if (ranks == nullptr || ranks->count() == 1) {
    if (share_ != nullptr) {
      raise<ValueError>(
          "share_out: {} ranks share out the state already; make another "
          "optimizer, and load its state from a checkpoint",
          share_->count());
    }
    return;
  }
  if (share_ != nullptr && share_->count() == ranks->count() &&
      share_->rank() == ranks->rank()) {
    return;
  }
  check_shareable();
  Bytes largest = 0;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Tensor& parameter = parameters_[i].tensor;  // as large as a state
    largest = std::max(largest,
                       parameter.element_count() * size_of(parameter.dtype()));
  }
  auto share = std::allocate_shared<StateShare>(
      memory::Allocator<StateShare>(memory::Category::kOther), ranks, largest);
  choose_ranks(ranks->count());
  share_ = std::move(share);
}

void Optimizer::check_shareable() const {
  if (!is_by_parameter()) {
    raise<ValueError>(
        "share_out: an update of this optimizer ({}) needs the state of all "
        "parameters at once, so that ranks cannot share it out; let each have "
        "all of it",
        describe(0));
  }
  const bool has_state = std::ranges::any_of(
      slots_, [](const Slot& slot) { return slot.state[0].defined(); });
  if (share_ != nullptr || programs_ != nullptr || has_state ||
      step_count_ != 0) {
    raise<ValueError>(
        "share_out: the optimizer has made or traced steps{}; share its state "
        "out before the first, and before a checkpoint is resumed",
        share_ != nullptr ? ", or is of other ranks" : "");
  }
}

// Ranks balance bytes of state; a parameter without any counts by its own.
Bytes Optimizer::weight_of(std::size_t index) const {
  const Tensor& parameter = parameters_[index].tensor;
  Bytes bytes = 0;
  for (std::size_t k = 0; k < states_at(index); ++k) {
    bytes += state_shape(index, k).element_count() * size_of(parameter.dtype());
  }
  return bytes != 0 ? bytes
                    : parameter.element_count() * size_of(parameter.dtype());
}

// The largest first, each to the rank that has least: the same in all ranks.
void Optimizer::choose_ranks(int count) {
  memory::Vector<std::size_t> order;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    order.push_back(i);
  }
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::size_t i) { return weight_of(i); });
  memory::Vector<Bytes> load(static_cast<std::size_t>(count), 0);
  for (const std::size_t i : order) {
    const auto least = std::ranges::min_element(load);
    slots_[i].rank = static_cast<int>(least - load.begin());
    *least += weight_of(i);
  }
}

bool Optimizer::has_state_of(std::size_t index) const noexcept {
  return share_ == nullptr || slots_[index].rank == share_->rank();
}

// Without memory; in a rehearsal, too.
Tensor Optimizer::absent_state(std::size_t index, std::size_t k,
                               const memory::Tag& tag) const {
  Tensor state =
      late_zeros_for(parameters_[index].tensor, state_shape(index, k), tag);
  state.array()->storage()->send_away(
      share_->keeper(index * kMaxState + k, slots_[index].rank));
  return state;
}

// Given tensors of what another rank has are left to that rank.
void Optimizer::leave_absent(OptimizerState& state, base::SiteId site) const {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    OptimizerState::Slot& given = state.slots[i];
    for (std::size_t k = 0;
         !has_state_of(i) && given.is_used() && k < given.tensor_count; ++k) {
      given.tensors[k] = slots_[i].state[k].defined()
                             ? slots_[i].state[k]
                             : absent_state(i, k, state_tag(i, site));
    }
  }
}

void Optimizer::check_here() const {
  if (share_ != nullptr) {
    raise<ValueError>(
        "step: {} ranks share out the optimizer's state, and a step outside of "
        "a compiled one needs all of it; compile the step with .ranks",
        share_->count());
  }
}

std::optional<std::uint64_t> Optimizer::read_state(
    std::string_view what, base::FunctionRef<std::uint64_t()> read) const {
  if (share_ == nullptr) {
    return read();
  }
  check_not_read("read_state");
  return share_->read(
      what,
      [&](std::uint64_t n) {
        return slots_[n / kMaxState].state[n % kMaxState];
      },
      [&](std::uint64_t n) { return slots_[n / kMaxState].rank; }, read);
}

}  // namespace neap::optim
