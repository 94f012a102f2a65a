// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/dist/measure.hpp"

#include <algorithm>
#include <array>

#include "neap/base/raise.hpp"
#include "neap/dist/errors.hpp"
#include "neap/dist/exchange.hpp"
#include "neap/memory/containers.hpp"

namespace neap::dist {
namespace {

constexpr int kBurst = 16;      // messages each way
constexpr int kBurstTag = 64;   // of no exchange between two ranks
constexpr int kLargeShare = 8;  // large swaps are so many times fewer
constexpr std::size_t kSmall = 8;

using Bytes8 = std::array<std::byte, kSmall>;

class Meter {
 public:
  Meter(Engine& engine, const MeasureOptions& options)
      : engine_(engine), options_(options) {
    exchanges_.deadline = static_cast<std::int64_t>(options.deadline * 1e9);
  }

  Network measure() {
    const double one = median(options_.repeats, [&] { swap(kSmall); });
    const double many = median(options_.repeats, [&] { burst(); });
    const auto large = static_cast<std::size_t>(options_.large);
    const double long_one = median(std::max(options_.repeats / kLargeShare, 3),
                                   [&] { swap(large); });
    Network out;
    out.overhead = std::max(many - one, 0.0) / (2 * (kBurst - 1));
    // The link has part of what bursts take, so that no more may be left.
    out.overhead = std::min(out.overhead, one / 2);
    out.latency = one - 2 * out.overhead;
    constexpr double kLeast = 1e-9;  // seconds: clocks are no finer
    out.rate =
        static_cast<double>(options_.large) / std::max(long_one - one, kLeast);
    return out;
  }

 private:
  // Seconds. What comes first is slower, and not counted.
  template <class Run>
  double median(int repeats, const Run& run) {
    memory::Vector<std::int64_t> times;
    for (int i = -repeats / 4 - 1; i < repeats; ++i) {
      const std::int64_t start = engine_.now();
      run();
      if (i >= 0) {
        times.push_back(engine_.now() - start);
      }
    }
    const auto middle =
        times.begin() + static_cast<std::int64_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return static_cast<double>(*middle) / 1e9;
  }

  void swap(std::size_t bytes) {
    mine_.resize(bytes);
    all_.resize(2 * bytes);
    gather_from_ranks(engine_, exchanges_, mine_, all_, "the network");
  }

  void burst() {
    const int peer = 1 - engine_.rank();
    for (int i = 0; i < kBurst; ++i) {
      engine_.receive(i, peer, kBurstTag, in_[static_cast<std::size_t>(i)]);
    }
    for (int i = 0; i < kBurst; ++i) {
      engine_.send(kBurst + i, peer, kBurstTag,
                   out_[static_cast<std::size_t>(i)]);
    }
    const std::int64_t start = engine_.now();
    for (int slot = 0; slot < 2 * kBurst; ++slot) {
      while (!engine_.is_done(slot)) {
        if (engine_.now() - start > exchanges_.deadline) {
          engine_.forget();
          base::raise<RankLost>("dist: rank {} has not answered rank {}", peer,
                                engine_.rank());
        }
        engine_.rest();
      }
    }
  }

  Engine& engine_;
  const MeasureOptions& options_;
  Exchanges exchanges_;
  memory::Vector<std::byte> mine_;
  memory::Vector<std::byte> all_;
  std::array<Bytes8, kBurst> in_{};
  std::array<Bytes8, kBurst> out_{};
};

}  // namespace

Network measure_network(Engine& engine, const MeasureOptions& options) {
  if (engine.ranks() != 2) {
    base::raise<ValueError>(
        "dist: a network is measured between 2 ranks, and there are {}",
        engine.ranks());
  }
  return Meter(engine, options).measure();
}

}  // namespace neap::dist
