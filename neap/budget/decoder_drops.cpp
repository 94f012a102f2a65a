// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// How the decoder makes room: what is dropped, and how it will come back.
#include <algorithm>

#include "neap/budget/decoder.hpp"
#include "neap/budget/log2.hpp"

namespace neap::budget {

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
  std::int64_t best_rank = kAnyRank;
  const auto look_at = [&](std::int32_t v) {
    if (is_above(v, best_rank)) {
      return;
    }
    const std::optional<std::int64_t> rank = rank_of(v, best_rank);
    if (rank && (best == kNever || *rank < best_rank ||
                 (*rank == best_rank && v < best))) {
      best = v;
      best_rank = *rank;
    }
  };
  // Known prices come first, so that few others are asked for to their end.
  unknown_.clear();
  for (const std::int32_t v : present_) {
    if (size(v) == 0 || size(v) < least_size || !may_drop(v, c, reluctance)) {
      continue;
    }
    if (restores_.is_known(v)) {
      look_at(v);
    } else {
      unknown_.push_back(v);
    }
  }
  std::ranges::for_each(unknown_, look_at);
  if (best == kNever || is_exhausted()) {
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

// The price of bringing a value back from the file; none where it cannot be.
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

// Nothing where the value could not be brought back, or for more than that.
std::optional<Decoder::WayBack> Decoder::way_back(std::int32_t v,
                                                  std::int32_t until,
                                                  std::int64_t most_log) {
  const auto spilled = spill_price(v, until);
  if (spilled && !ranking_.means.empty() &&
      ranking_.means[at(v)] == Means::kFile) {
    return WayBack{log2_of(*spilled), true};
  }
  const std::int64_t by_file = spilled ? log2_of(*spilled) : kAnyRank;
  const auto run =
      restores_.log_price(v, until, places_, std::min(most_log, by_file));
  if (spilled && (!run || by_file <= *run)) {
    return WayBack{by_file, true};
  }
  return run ? std::optional(WayBack{*run, false}) : std::nullopt;
}

// A rank: the lowest of a value that is needed no more. Nothing where it could
// not be brought back; a rank above `most` may be nothing, too.
std::optional<std::int64_t> Decoder::rank_of(std::int32_t v,
                                             std::int64_t most) {
  const std::int32_t until = needed_at(v);
  if (until <= position_ && pending_reads_[at(v)] == 0) {
    return std::numeric_limits<std::int64_t>::min();
  }
  if (most == std::numeric_limits<std::int64_t>::min()) {
    return std::nullopt;  // nothing is below that
  }
  const std::int64_t bias =
      ranking_.bias.empty() ? 0 : std::int64_t{ranking_.bias[at(v)]};
  const std::int64_t rest = 2 * bias - ranking_.size * log_size_[at(v)] -
                            ranking_.time * log2_of(time_until(until));
  if (pending_reads_[at(v)] == 0) {
    seen_[at(v)] = {rest, until};
  }
  const std::int64_t most_log = most == kAnyRank || ranking_.price <= 0
                                    ? kAnyRank
                                    : (most - rest) / ranking_.price;
  const auto way = way_back(v, until, most_log);
  return way ? std::optional(rest + ranking_.price * way->log_price)
             : std::nullopt;
}

// Whether rank_of() would find nothing, or a rank above this one, and collect
// no closure for it.
bool Decoder::is_above(std::int32_t v, std::int64_t rank) const noexcept {
  const Seen& seen = seen_[at(v)];
  if (is_plain_ || seen.until <= position_ || pending_reads_[at(v)] > 0) {
    return false;
  }
  const std::int64_t by_runs = restores_.least_log(v, seen.until);
  if (by_runs == Restores::kUnknown) {
    return false;
  }
  const std::int64_t log = std::min(by_runs, least_log_by_file(v));
  return log == Restores::kNone ||
         (log > 0 && seen.rest + ranking_.price * log > rank);
}

// A bound below the logarithm of spill_price(), without what is waited.
std::int64_t Decoder::least_log_by_file(std::int32_t v) const noexcept {
  if (!has_file_ || !timeline_.may_spill(v)) {
    return Restores::kNone;
  }
  std::int64_t price = fetch_prices_[at(v)];
  if (!timeline_.is_on_file(v)) {
    price +=
        timeline_.bus_price(v) + timeline_.write_time(v) / 4 * ranking_.channel;
  }
  return log2_of(price);
}

// Drops a value until it is needed, and holds until then what brings it back.
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
    seen_[at(read)].until = kNever;
  }
}

// A value on the file may be fetched, unless runs are to bring it back.
void Decoder::drop(std::int32_t v, bool is_to_be_fetched) {
  const bool is_on_file = has_file_ && timeline_.is_on_file(v);
  places_[at(v)] =
      is_on_file && is_to_be_fetched ? Place::kFile : Place::kNowhere;
  restores_.dropped(v);
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
  seen_[at(v)].until = kNever;
  restores_.added(v);
  live_ += size(v);
  place_[at(v)] = static_cast<std::int32_t>(present_.size());
  present_.push_back(v);
}

}  // namespace neap::budget
