// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/budget/decoder.hpp"

#include <algorithm>

#include "neap/budget/log2.hpp"

namespace neap::budget {

Decoder::Decoder(const Problem& problem)
    : problem_(&problem),
      uses_(problem),
      pending_(problem, uses_),
      probe_(problem, uses_),
      restores_(problem, uses_),
      timeline_(problem),
      fetch_prices_(problem.channel ? problem.values.size() : 0, 0),
      places_(problem.values.size(), Place::kNowhere),
      place_(problem.values.size(), 0),
      held_until_(problem.values.size(), kNever),
      pending_reads_(problem.values.size(), 0) {
  present_.reserve(problem.values.size());
  log_size_.reserve(problem.values.size());
  for (std::size_t v = 0; v < problem.values.size(); ++v) {
    log_size_.push_back(log2_of(problem.values[v].size));
    if (problem.values[v].outlives) {
      outliving_.push_back(static_cast<std::int32_t>(v));
    }
  }
}

void Decoder::begin(std::int64_t target, const Ranking& ranking,
                    std::int64_t below) {
  target_ = target;
  ranking_ = ranking;
  below_ = below;
  live_ = 0;
  has_file_ = problem_->channel && ranking.channel != kNoFile;
  if (has_file_) {
    begin_channel();
  }
  restores_.begin(fetch_prices_);
  std::fill(places_.begin(), places_.end(), Place::kNowhere);
  std::fill(held_until_.begin(), held_until_.end(), kNever);
  std::fill(pending_reads_.begin(), pending_reads_.end(), 0);
  present_.clear();
  out_.schedule.runs.clear();
  out_.schedule.drops.clear();
  out_.price = 0;
}

void Decoder::begin_channel() {
  timeline_.begin(target_);
  for (std::size_t i = 0; i < fetch_prices_.size(); ++i) {
    const auto v = static_cast<std::int32_t>(i);
    if (timeline_.may_spill(v)) {
      fetch_prices_[i] = timeline_.bus_price(v) +
                         timeline_.read_time(v) / 4 * ranking_.channel;
    }
  }
  pending_.set_fetch_prices(fetch_prices_);
  probe_.set_fetch_prices(fetch_prices_);
}

const Decoded* Decoder::decode(std::int64_t target, const Ranking& ranking,
                               std::int64_t below) {
  begin(target, ranking, below);
  for (std::int32_t c = 0; c <= uses_.calls(); ++c) {
    if (!visit(c)) {
      return nullptr;
    }
  }
  if (has_file_) {
    out_.price += timeline_.finish(out_.schedule);
  }
  return out_.price < below ? &out_ : nullptr;
}

// Behind the last call, what outlives the calls is brought back. Where room is
// scarce, a value that a later run reads is dropped, and brought back again.
bool Decoder::visit(std::int32_t position) {
  constexpr int kMostAttempts = 16;
  position_ = position;
  const std::span<const std::int32_t> reads =
      position < uses_.calls() ? std::span(call(position).reads)
                               : std::span(std::as_const(outliving_));
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    if (!find_runs(reads)) {
      break;
    }
    std::size_t done = 0;
    bool is_run = true;
    while (is_run && done < runs_.size() && can_run(runs_[done])) {
      is_run = run(runs_[done]);
      done += is_run ? 1 : 0;
    }
    if (is_run && done == runs_.size() && position_ == uses_.calls()) {
      is_run = fetch(reads, kNever);
    }
    expect_no_more(reads, done);
    if (!is_run) {
      return false;
    }
    if (done == runs_.size() && are_there(reads)) {
      return true;
    }
  }
  return false;
}

bool Decoder::are_there(std::span<const std::int32_t> values) const noexcept {
  return position_ < uses_.calls() ||  // they were, when the call ran
         std::all_of(values.begin(), values.end(),
                     [&](std::int32_t v) { return is_there(v); });
}

bool Decoder::can_run(std::int32_t c) const noexcept {
  return std::all_of(
      call(c).reads.begin(), call(c).reads.end(),
      [&](std::int32_t v) { return places_[at(v)] != Place::kNowhere; });
}

// The runs that bring back what is read here, in the order of the calls, and
// the call itself.
bool Decoder::find_runs(std::span<const std::int32_t> reads) {
  pending_.begin();
  for (const std::int32_t v : reads) {
    if (!is_there(v) && !is_fetched(v) &&
        !pending_.collect(v, position_, places_)) {
      return false;
    }
  }
  const std::int64_t stalls = has_file_ ? timeline_.stalls() : 0;
  if (out_.price + stalls + pending_.run_price() >= below_) {
    return false;
  }
  runs_.assign(pending_.calls().begin(), pending_.calls().end());
  std::sort(runs_.begin(), runs_.end());
  if (position_ < uses_.calls()) {
    runs_.push_back(position_);
  } else {
    count_reads(reads, 1);
  }
  for (const std::int32_t c : runs_) {
    count_reads(call(c).reads, 1);
  }
  return true;
}

// Whether a value comes from the file now; runs may have become cheaper.
bool Decoder::is_fetched(std::int32_t v) {
  if (places_[at(v)] != Place::kFile) {
    return false;
  }
  const std::int64_t price = timeline_.bus_price(v) + timeline_.fetch_stall(v);
  if (price == 0 ||
      (!ranking_.means.empty() && ranking_.means[at(v)] == Means::kFile)) {
    return true;
  }
  probe_.begin();
  return !probe_.collect(v, position_, places_) || probe_.price() >= price;
}

// Those of runs that were not done are not to come either.
void Decoder::expect_no_more(std::span<const std::int32_t> reads,
                             std::size_t done) noexcept {
  for (; done < runs_.size(); ++done) {
    count_reads(call(runs_[done]).reads, -1);
  }
  if (position_ == uses_.calls()) {
    count_reads(reads, -1);
  }
}

void Decoder::count_reads(std::span<const std::int32_t> values,
                          std::int32_t more) noexcept {
  for (const std::int32_t v : values) {
    pending_reads_[at(v)] += more;
  }
}

bool Decoder::run(std::int32_t c) {
  if (!fetch(call(c).reads, c) || !make_room(c)) {
    return false;
  }
  bool is_taken_from_file = false;
  if (has_file_) {
    if (taken_ != kNever) {  // it is written before its memory is taken over
      const auto way = way_back(taken_, needed_at(taken_));
      is_taken_from_file = way && way->is_from_file;
      if (is_taken_from_file) {
        write(taken_);
      }
    }
    timeline_.run(call(c), live_ + needed_by(c));
  }
  out_.price += c == position_ ? 0 : call(c).price;
  out_.schedule.runs.push_back(
      {.index = c,
       .drops_end = static_cast<std::uint32_t>(out_.schedule.drops.size())});
  end_run(c, is_taken_from_file);
  return true;
}

void Decoder::end_run(std::int32_t c, bool is_taken_from_file) {
  for (const std::int32_t v : call(c).makes) {
    if (!is_there(v)) {
      add(v);
    }
  }
  for (const std::int32_t v : call(c).reads) {
    --pending_reads_[at(v)];
    if (v == taken_) {
      drop_for_now(v, is_taken_from_file);
    } else if (!is_needed(v)) {
      drop(v, true);
    }
  }
  for (const std::int32_t v : call(c).makes) {
    if (!is_needed(v)) {
      drop(v, true);
    }
  }
}

// What is on the file comes before its reader runs; kNever: the end.
bool Decoder::fetch(std::span<const std::int32_t> values, std::int32_t reader) {
  for (const std::int32_t v : values) {
    if (places_[at(v)] != Place::kFile) {
      continue;
    }
    while (live_ + size(v) > target_) {
      if (!drop_some(reader, live_ + size(v) - target_, Reluctance::kPending)) {
        return false;
      }
    }
    timeline_.fetch(v, live_ + size(v));
    out_.price += timeline_.bus_price(v);
    add(v);
  }
  return true;
}

void Decoder::write(std::int32_t v) {
  if (!timeline_.is_on_file(v)) {
    timeline_.write(v);
    out_.price += timeline_.bus_price(v);
  }
}

// Memory beside what is there, while it runs.
std::int64_t Decoder::needed_by(std::int32_t c) const noexcept {
  std::int64_t needed = call(c).scratch;
  for (const std::int32_t v : call(c).makes) {
    needed += size(v);
  }
  const auto& pairs = call(c).take_overs;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const bool is_taken = std::any_of(
        pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(i),
        [&](const TakeOver& other) {
          return other.read == pairs[i].read || other.made == pairs[i].made;
        });
    if (!is_taken && !is_there(pairs[i].made) &&
        (pairs[i].read == taken_ || ends_here(pairs[i].read))) {
      needed -= std::min(size(pairs[i].made), size(pairs[i].read));
    }
  }
  return needed;
}

// Whether an input is dropped when its reader ends.
bool Decoder::ends_here(std::int32_t v) const noexcept {
  return pending_reads_[at(v)] == 1 && held_until_[at(v)] <= position_ &&
         uses_.next(v, position_ + 1) == kNever;
}

bool Decoder::is_needed(std::int32_t v) const noexcept {
  return pending_reads_[at(v)] > 0 || held_until_[at(v)] > position_ ||
         uses_.next(v, position_ + 1) != kNever;
}

bool Decoder::make_room(std::int32_t c) {
  taken_ = kNever;
  while (true) {  // a drop may keep an input from being taken over
    const std::int64_t missing = live_ + needed_by(c) - target_;
    if (missing <= 0) {
      return true;
    }
    if (!drop_some(c, missing, Reluctance::kPinned) && !take_input(c) &&
        !drop_one(c, 0, Reluctance::kPending)) {
      return false;
    }
  }
}

// Small values are left alone at first.
bool Decoder::drop_some(std::int32_t c, std::int64_t missing, Reluctance most) {
  return drop_one(c, missing / 16, Reluctance::kNone) ||
         drop_one(c, 0, Reluctance::kNone) ||
         drop_one(c, 0, Reluctance::kPinned) ||
         (most == Reluctance::kPending && drop_one(c, 0, Reluctance::kPending));
}

// Lets an output take the memory of an input that will be brought back.
bool Decoder::take_input(std::int32_t c) {
  if (taken_ != kNever) {
    return false;
  }
  for (const TakeOver& pair : call(c).take_overs) {
    if (pending_reads_[at(pair.read)] == 1 && !ends_here(pair.read) &&
        !is_there(pair.made) && rank_of(pair.read)) {
      taken_ = pair.read;
      return true;
    }
  }
  return false;
}

// Drops the value of the lowest rank among those of at least a size.
bool Decoder::drop_one(std::int32_t c, std::int64_t least_size,
                       Reluctance reluctance) {
  std::int32_t best = kNever;
  std::int64_t best_rank = 0;
  for (const std::int32_t v : present_) {
    if (size(v) == 0 || size(v) < least_size || !may_drop(v, c, reluctance)) {
      continue;
    }
    const std::optional<std::int64_t> rank = rank_of(v);
    if (rank && (best == kNever || *rank < best_rank ||
                 (*rank == best_rank && v < best))) {
      best = v;
      best_rank = *rank;
    }
  }
  if (best == kNever) {
    return false;
  }
  const std::int32_t until = needed_at(best);
  const auto way = way_back(best, until);
  drop_for_now(best, way && way->is_from_file);
  return true;
}

bool Decoder::may_drop(std::int32_t v, std::int32_t c,
                       Reluctance reluctance) const noexcept {
  if (pending_reads_[at(v)] > 0) {
    if (reluctance != Reluctance::kPending || c == kNever) {
      return false;
    }
    const auto& reads = call(c).reads;
    return std::find(reads.begin(), reads.end(), v) == reads.end();
  }
  return reluctance != Reluctance::kNone || ranking_.kept_until.empty() ||
         ranking_.kept_until[at(v)] <= position_;
}

// The position at which it will be read, or until which it is held.
std::int32_t Decoder::needed_at(std::int32_t v) const noexcept {
  if (pending_reads_[at(v)] > 0 && v != taken_) {
    return position_;
  }
  const std::int32_t next = uses_.next(v, position_ + 1);
  return next != kNever ? next : held_until_[at(v)];
}

std::int64_t Decoder::time_until(std::int32_t position) const noexcept {
  return uses_.price_before(position) - uses_.price_before(position_);
}

// What it costs to have a value back from the file; nothing where it cannot be.
std::optional<std::int64_t> Decoder::spill_price(
    std::int32_t v, std::int32_t until) const noexcept {
  if (!has_file_ || !timeline_.may_spill(v) ||
      (!ranking_.means.empty() && ranking_.means[at(v)] == Means::kRuns)) {
    return std::nullopt;
  }
  std::int64_t price = fetch_prices_[at(v)];
  if (!timeline_.is_on_file(v)) {
    price += timeline_.bus_price(v) + timeline_.write_stall(v) +
             timeline_.write_time(v) / 4 * ranking_.channel;
  }
  const std::int64_t late = timeline_.read_time(v) - time_until(until);
  return price + std::max<std::int64_t>(late, 0);
}

// Nothing where the value could not be brought back.
std::optional<Decoder::WayBack> Decoder::way_back(std::int32_t v,
                                                  std::int32_t until) {
  const auto spilled = spill_price(v, until);
  if (spilled && !ranking_.means.empty() &&
      ranking_.means[at(v)] == Means::kFile) {
    return WayBack{log2_of(*spilled), true};
  }
  const auto run = restores_.log_price(v, until, places_);
  if (spilled && (!run || log2_of(*spilled) <= *run)) {
    return WayBack{log2_of(*spilled), true};
  }
  return run ? std::optional(WayBack{*run, false}) : std::nullopt;
}

// The same, or where it is needed no more: the lowest.
std::optional<std::int64_t> Decoder::rank_of(std::int32_t v) {
  const std::int32_t until = needed_at(v);
  if (until <= position_ && pending_reads_[at(v)] == 0) {
    return std::numeric_limits<std::int64_t>::min();
  }
  const auto way = way_back(v, until);
  if (!way) {
    return std::nullopt;
  }
  const std::int64_t bias =
      ranking_.bias.empty() ? 0 : std::int64_t{ranking_.bias[at(v)]};
  return 2 * bias + ranking_.price * way->log_price -
         ranking_.size * log_size_[at(v)] -
         ranking_.time * log2_of(time_until(until));
}

// What brings it back is held until then.
void Decoder::drop_for_now(std::int32_t v, bool is_from_file) {
  const bool is_pending = pending_reads_[at(v)] > 0;
  const std::int32_t until = std::max(needed_at(v), held_until_[at(v)]);
  const bool is_needed_later = until > position_ || is_pending;
  if (is_needed_later && is_from_file) {
    write(v);
  }
  drop(v, is_from_file || !is_needed_later);
  if (!is_needed_later || is_from_file) {
    return;
  }
  probe_.begin();
  static_cast<void>(probe_.collect(v, until, places_));
  for (const std::int32_t read : probe_.reads()) {
    held_until_[at(read)] = std::max(held_until_[at(read)], until);
  }
}

// What is on the file may be fetched, unless runs are to bring it back.
void Decoder::drop(std::int32_t v, bool is_to_be_fetched) {
  const bool is_on_file = has_file_ && timeline_.is_on_file(v);
  places_[at(v)] =
      is_on_file && is_to_be_fetched ? Place::kFile : Place::kNowhere;
  restores_.changed(v);
  live_ -= size(v);
  const std::int32_t last = present_.back();
  present_[at(place_[at(v)])] = last;
  place_[at(last)] = place_[at(v)];
  present_.pop_back();
  if (has_file_ && timeline_.drop(v)) {
    return;  // an item of its own
  }
  out_.schedule.drops.push_back(v);
  out_.schedule.runs.back().drops_end =
      static_cast<std::uint32_t>(out_.schedule.drops.size());
}

void Decoder::add(std::int32_t v) {
  places_[at(v)] = Place::kMemory;
  restores_.changed(v);
  live_ += size(v);
  place_[at(v)] = static_cast<std::int32_t>(present_.size());
  present_.push_back(v);
}

}  // namespace neap::budget
