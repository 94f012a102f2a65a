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
      seen_(problem.values.size()),
      fetch_prices_(problem.channel ? problem.values.size() : 0, 0),
      places_(problem.values.size(), Place::kNowhere),
      place_(problem.values.size(), 0),
      held_until_(problem.values.size(), kNever),
      pending_reads_(problem.values.size(), 0) {
  present_.reserve(problem.values.size());
  unknown_.reserve(problem.values.size());
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
  pending_.set_work(0);
  probe_.set_work(0);
  std::fill(places_.begin(), places_.end(), Place::kNowhere);
  for (std::size_t v = 0; v < held_until_.size(); ++v) {
    held_until_[v] =
        ranking.keeps_helpers ? problem_->values[v].helps_until : kNever;
  }
  std::fill(pending_reads_.begin(), pending_reads_.end(), 0);
  std::fill(seen_.begin(), seen_.end(), Seen());
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
    if (is_exhausted() || !find_runs(reads)) {
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

// Takes the reads of runs that were not done, and `reads` at the end, off those
// to come.
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
  taken_ = kNever;
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

// Fetches the values that are on the file before their reader runs; kNever: at
// the end.
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

}  // namespace neap::budget
