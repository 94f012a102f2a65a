// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/dist/traffic.hpp"

#include <algorithm>
#include <array>

#include "neap/dist/halves.hpp"
#include "neap/program/ranks.hpp"

namespace neap::dist {
namespace {

class Counter {
 public:
  Counter(const compiler::Ranks& ranks, const Network& network)
      : rank_(ranks.rank()), ranks_(ranks.count()), network_(network) {}

  Traffic take() const {
    Traffic out = out_;
    out.least_seconds = static_cast<double>(out.least) / network_.rate;
    return out;
  }

  // In the order of sum_over_ranks(), whose second half takes the way back.
  void sum(Bytes bytes) {
    std::array<Range, 32> had{};
    Range mine{0, bytes};
    std::size_t phase = 0;
    for (int bit = 1; bit < ranks_; bit *= 2) {
      had[phase++] = mine;
      const Range theirs = half_of(mine, (rank_ & bit) == 0, kUnitBytes);
      mine = half_of(mine, (rank_ & bit) != 0, kUnitBytes);
      swap(theirs.size(), mine.size());
    }
    for (int bit = ranks_ / 2; bit > 0; bit /= 2) {
      const Range all = had[--phase];
      const Range theirs = half_of(all, (rank_ & bit) == 0, kUnitBytes);
      swap(mine.size(), theirs.size());
      mine = all;
    }
    out_.least += 2 * (bytes - bytes / ranks_);
  }

  template <class First>
  void share(const First& first_of, Bytes all) {
    for (int bit = 1; bit < ranks_; bit *= 2) {
      const int own = rank_ & ~(bit - 1);
      const auto bytes_from = [&](int first) {
        return first_of(first + bit) - first_of(first);
      };
      swap(bytes_from(own), bytes_from(own ^ bit));
    }
    out_.least += all - all / ranks_;
  }

  // Ranks that neither send nor receive in a phase wait for those that do.
  void hand_on(int from, Bytes bytes) {
    for (int bit = 1; bit < ranks_; bit *= 2) {
      const auto has_it = [&](int rank) {
        return (rank & ~(bit - 1)) == (from & ~(bit - 1));
      };
      swap(has_it(rank_) ? bytes : 0, has_it(rank_ ^ bit) ? bytes : 0);
      if (!has_it(rank_) && !has_it(rank_ ^ bit)) {
        out_.seconds += seconds_of(bytes, chunks_of(bytes), chunks_of(bytes));
      }
    }
    out_.least += bytes - bytes / ranks_;
  }

 private:
  void swap(Bytes out, Bytes in) {
    const std::int64_t sends = chunks_of(out);
    const std::int64_t receives = chunks_of(in);
    out_.sent += out;
    out_.received += in;
    out_.sends += sends;
    out_.receives += receives;
    if (sends + receives != 0) {
      out_.seconds += seconds_of(std::max(out, in), std::max(sends, receives),
                                 sends + receives);
    }
  }

  double seconds_of(Bytes bytes, std::int64_t one_way,
                    std::int64_t both) const {
    const double o = network_.overhead;
    const double first = network_.latency + 2 * o;
    double rate = network_.rate;
    if (one_way > kWindow) {  // no more are on their way
      rate = std::min(rate, static_cast<double>(kStagingBytes) / (2 * first));
    }
    const std::int64_t more = std::max<std::int64_t>(both - 2, 0);
    return first + std::max(static_cast<double>(bytes) / rate,
                            static_cast<double>(more) * o);
  }

  int rank_;
  int ranks_;
  Network network_;
  Traffic out_;
};

}  // namespace

Traffic traffic_of(const compiler::Program& program, const Network& network,
                   int comparisons) {
  if (program.ranks == nullptr || program.sharding.ranks <= 1) {
    return {};
  }
  Counter counter(*program.ranks, network);
  constexpr Bytes kNumber = sizeof(std::uint64_t);
  for (int i = 0; i < comparisons; ++i) {
    counter.share([](int rank) { return rank * kNumber; },
                  program.ranks->count() * kNumber);
  }
  for (const compiler::Call& call : program.calls) {
    if (call.kind != compiler::CallKind::kExchange) {
      continue;
    }
    const auto& attrs =
        *static_cast<const compiler::ExchangeAttrs*>(program.attrs_of(call));
    const compiler::ValueSpec& spec = program[program.out(call)[0].value].spec;
    const Bytes bytes = spec.size;
    if (attrs.is_sum) {
      counter.sum(bytes);
      continue;
    }
    if (attrs.from != compiler::ExchangeAttrs::kNobody) {
      counter.hand_on(attrs.from, bytes);
      continue;
    }
    for (std::int64_t i = 0; i < attrs.outer; ++i) {
      counter.share(
          [&](int rank) { return attrs.rows.first_of_rank(rank) * attrs.row; },
          bytes / attrs.outer);
    }
  }
  return counter.take();
}

}  // namespace neap::dist
