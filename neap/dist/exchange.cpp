// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/dist/exchange.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "neap/base/raise.hpp"
#include "neap/dist/errors.hpp"
#include "neap/dist/halves.hpp"

namespace neap::dist {
namespace {

// A process that was stopped for a while has not waited for so long.
constexpr std::int64_t kLongestLook = 1'000'000'000;

// Waits for operations, and says who is missing.
class Waiter {
 public:
  Waiter(Engine& engine, Exchanges& exchanges, std::string_view what)
      : engine_(engine), exchanges_(exchanges), what_(what) {}
  ~Waiter() {
    if (!is_over_) {
      engine_.forget();
    }
  }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  void await(int slot, int peer) {
    if (engine_.is_done(slot)) {
      return;
    }
    std::int64_t waited = 0;
    std::int64_t before = engine_.now();
    while (!engine_.is_done(slot)) {
      if (waited > exchanges_.deadline) {
        lose(peer, waited);
      }
      engine_.rest();
      const std::int64_t now = engine_.now();
      waited += std::min(now - before, kLongestLook);
      before = now;
    }
    exchanges_.waited += waited;
  }
  void finish() noexcept { is_over_ = true; }

  Engine& engine() noexcept { return engine_; }
  Exchanges& exchanges() noexcept { return exchanges_; }

 private:
  [[noreturn]] void lose(int peer, std::int64_t waited) const {
    base::raise<RankLost>(
        "dist: rank {} has not answered rank {} for {:.1f} s, in the exchange "
        "of '{}'; the run goes on from its last checkpoint, with any number of "
        "ranks",
        peer, engine_.rank(), static_cast<double>(waited) / 1e9, what_);
  }

  Engine& engine_;
  Exchanges& exchanges_;
  std::string_view what_;
  bool is_over_ = false;
};

// One range goes to a peer and another comes from it, chunk by chunk. Each
// chunk that is there is handed to take(), in order.
class Swap {
 public:
  // Receives are in the first slots, sends in those behind them.
  static constexpr int kFirstSend = kWindow;

  Swap(Waiter& waiter, int peer, int tag, std::span<const std::byte> out,
       std::int64_t in_bytes)
      : waiter_(waiter),
        peer_(peer),
        tag_(tag),
        out_(out),
        in_bytes_(in_bytes) {}

  // place(first, bytes): where a chunk is to come.
  template <class Place, class Take>
  void run(const Place& place, const Take& take) {
    const std::int64_t in_count = chunks_of(in_bytes_);
    const std::int64_t out_count =
        chunks_of(static_cast<std::int64_t>(out_.size()));
    for (std::int64_t i = 0; i < std::min<std::int64_t>(kWindow, in_count);
         ++i) {
      receive(i, place);
    }
    for (std::int64_t i = 0; i < std::max(in_count, out_count); ++i) {
      if (i < out_count) {
        send(i);
      }
      if (i < in_count) {
        waiter_.await(slot_of(i), peer_);
        const Range chunk = chunk_of(i, in_bytes_);
        take(chunk.begin, chunk.size());
        waiter_.exchanges().received += chunk.size();
        if (i + kWindow < in_count) {
          receive(i + kWindow, place);
        }
      }
    }
    for (int slot = 0; slot < kWindow; ++slot) {
      waiter_.await(kFirstSend + slot, peer_);
    }
  }

 private:
  static Range chunk_of(std::int64_t i, std::int64_t bytes) {
    return {i * kChunkBytes, std::min((i + 1) * kChunkBytes, bytes)};
  }
  static int slot_of(std::int64_t i) { return static_cast<int>(i % kWindow); }

  template <class Place>
  void receive(std::int64_t i, const Place& place) {
    const Range chunk = chunk_of(i, in_bytes_);
    waiter_.engine().receive(slot_of(i), peer_, tag_,
                             place(slot_of(i), chunk.begin, chunk.size()));
  }
  void send(std::int64_t i) {
    const int slot = kFirstSend + slot_of(i);
    waiter_.await(slot, peer_);
    const Range chunk = chunk_of(i, static_cast<std::int64_t>(out_.size()));
    waiter_.engine().send(slot, peer_, tag_,
                          out_.subspan(static_cast<std::size_t>(chunk.begin),
                                       static_cast<std::size_t>(chunk.size())));
    waiter_.exchanges().sent += chunk.size();
  }

  Waiter& waiter_;
  int peer_;
  int tag_;
  std::span<const std::byte> out_;
  std::int64_t in_bytes_;
};

template <class T>
std::span<std::byte> bytes_of(std::span<T> array, const Range& range) {
  return std::as_writable_bytes(
      array.subspan(static_cast<std::size_t>(range.begin),
                    static_cast<std::size_t>(range.size())));
}

// Integers wrap, as they do in the library's kernels.
template <class T>
T sum_of(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using Bits = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Bits>(a) + static_cast<Bits>(b));
  } else {
    return a + b;
  }
}

// The lower rank's elements come first, in a sum as in the tree.
template <class T>
void add(T* mine, const std::byte* theirs, std::int64_t count, bool is_upper) {
  // Staging is aligned, and holds what was sent as T.
  const T* other = reinterpret_cast<const T*>(theirs);
  if (is_upper) {
    for (std::int64_t i = 0; i < count; ++i) {
      mine[i] = sum_of(other[i], mine[i]);
    }
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      mine[i] = sum_of(mine[i], other[i]);
    }
  }
}

template <class T>
class TreeSum {
 public:
  TreeSum(Waiter& waiter, std::span<T> array, std::span<std::byte> staging)
      : waiter_(waiter), array_(array), staging_(staging) {}

  void run() {
    const int rank = waiter_.engine().rank();
    const int ranks = waiter_.engine().ranks();
    Range mine{0, static_cast<std::int64_t>(array_.size())};
    int phase = 0;
    for (int bit = 1; bit < ranks; bit *= 2) {
      had_[static_cast<std::size_t>(phase++)] = mine;
      mine = halve(mine, rank, bit);
    }
    for (int bit = ranks / 2; bit > 0; bit /= 2) {
      const Range all = had_[static_cast<std::size_t>(--phase)];
      hand_around(mine, all, rank, bit);
      mine = all;
    }
  }

 private:
  static constexpr std::int64_t kUnit = kUnitBytes / sizeof(T);

  Range halve(const Range& all, int rank, int bit) {
    const bool is_upper = (rank & bit) != 0;
    const Range mine = half_of(all, is_upper, kUnit);
    const Range theirs = half_of(all, !is_upper, kUnit);
    T* const first = array_.data() + mine.begin;
    Swap swap(waiter_, rank ^ bit, bit, bytes_of(array_, theirs),
              static_cast<std::int64_t>(bytes_of(array_, mine).size()));
    std::int64_t slot = 0;
    swap.run(
        [&](int to, std::int64_t, std::int64_t size) {
          return staging_.subspan(static_cast<std::size_t>(to * kChunkBytes),
                                  static_cast<std::size_t>(size));
        },
        [&](std::int64_t begin, std::int64_t size) {
          add(first + begin / static_cast<std::int64_t>(sizeof(T)),
              staging_.data() + slot * kChunkBytes,
              size / static_cast<std::int64_t>(sizeof(T)), is_upper);
          slot = (slot + 1) % kWindow;
        });
    return mine;
  }

  void hand_around(const Range& mine, const Range& all, int rank, int bit) {
    const Range theirs = half_of(all, (rank & bit) == 0, kUnit);
    const std::span<std::byte> into = bytes_of(array_, theirs);
    Swap swap(waiter_, rank ^ bit, waiter_.engine().ranks() + bit,
              bytes_of(array_, mine), static_cast<std::int64_t>(into.size()));
    swap.run(
        [&](int, std::int64_t begin, std::int64_t size) {
          return into.subspan(static_cast<std::size_t>(begin),
                              static_cast<std::size_t>(size));
        },
        [](std::int64_t, std::int64_t) {});
  }

  Waiter& waiter_;
  std::span<T> array_;
  std::span<std::byte> staging_;
  std::array<Range, 32> had_{};  // before each phase
};

template <class T>
void sum(Engine& engine, Exchanges& exchanges, std::span<T> array,
         std::span<std::byte> staging, std::string_view what) {
  Waiter waiter(engine, exchanges, what);
  TreeSum<T>(waiter, array, staging).run();
  waiter.finish();
}

}  // namespace

Bytes staging_bytes(Bytes array) noexcept {
  const Bytes larger_half = array / 2 + kUnitBytes;
  return std::min(kStagingBytes, base::round_up(larger_half, kUnitBytes));
}

void sum_over_ranks(Engine& engine, Exchanges& exchanges,
                    std::span<float> array, std::span<std::byte> staging,
                    std::string_view what) {
  sum(engine, exchanges, array, staging, what);
}

void sum_over_ranks(Engine& engine, Exchanges& exchanges,
                    std::span<double> array, std::span<std::byte> staging,
                    std::string_view what) {
  sum(engine, exchanges, array, staging, what);
}

void sum_over_ranks(Engine& engine, Exchanges& exchanges,
                    std::span<std::int32_t> array, std::span<std::byte> staging,
                    std::string_view what) {
  sum(engine, exchanges, array, staging, what);
}

void sum_over_ranks(Engine& engine, Exchanges& exchanges,
                    std::span<std::int64_t> array, std::span<std::byte> staging,
                    std::string_view what) {
  sum(engine, exchanges, array, staging, what);
}

void share_among_ranks(Engine& engine, Exchanges& exchanges,
                       std::span<std::byte> array, std::string_view what,
                       FirstOfRank first_of) {
  Waiter waiter(engine, exchanges, what);
  const int rank = engine.rank();
  const auto bytes_from = [&](int first, int count) {
    const auto begin = static_cast<std::size_t>(first_of(first));
    return array.subspan(
        begin, static_cast<std::size_t>(first_of(first + count)) - begin);
  };
  for (int bit = 1; bit < engine.ranks(); bit *= 2) {
    const int own = rank & ~(bit - 1);
    const std::span<std::byte> into = bytes_from(own ^ bit, bit);
    Swap swap(waiter, rank ^ bit, bit, bytes_from(own, bit),
              static_cast<std::int64_t>(into.size()));
    swap.run(
        [&](int, std::int64_t begin, std::int64_t count) {
          return into.subspan(static_cast<std::size_t>(begin),
                              static_cast<std::size_t>(count));
        },
        [](std::int64_t, std::int64_t) {});
  }
  waiter.finish();
}

void hand_over_to(Engine& engine, Exchanges& exchanges,
                  std::span<std::byte> array, int from, int to,
                  std::string_view what) {
  const int rank = engine.rank();
  if (from == to || (rank != from && rank != to)) {
    return;
  }
  constexpr int kTag = 0;
  Waiter waiter(engine, exchanges, what);
  const bool is_giver = rank == from;
  Swap swap(waiter, is_giver ? to : from, kTag,
            is_giver ? array : std::span<std::byte>(),
            is_giver ? 0 : static_cast<std::int64_t>(array.size()));
  swap.run(
      [&](int, std::int64_t begin, std::int64_t count) {
        return array.subspan(static_cast<std::size_t>(begin),
                             static_cast<std::size_t>(count));
      },
      [](std::int64_t, std::int64_t) {});
  waiter.finish();
}

// In the same pattern: whoever has the values of 2^k ranks gets those of the
// others.
void gather_from_ranks(Engine& engine, Exchanges& exchanges,
                       std::span<const std::byte> mine,
                       std::span<std::byte> all, std::string_view what) {
  Waiter waiter(engine, exchanges, what);
  const int rank = engine.rank();
  const std::size_t size = mine.size();
  std::memcpy(all.data() + static_cast<std::size_t>(rank) * size, mine.data(),
              size);
  for (int bit = 1; bit < engine.ranks(); bit *= 2) {
    const auto own = static_cast<std::size_t>(rank & ~(bit - 1)) * size;
    const auto other =
        static_cast<std::size_t>((rank ^ bit) & ~(bit - 1)) * size;
    const std::size_t bytes = static_cast<std::size_t>(bit) * size;
    const std::span<std::byte> into = all.subspan(other, bytes);
    Swap swap(waiter, rank ^ bit, bit, all.subspan(own, bytes),
              static_cast<std::int64_t>(bytes));
    swap.run(
        [&](int, std::int64_t begin, std::int64_t count) {
          return into.subspan(static_cast<std::size_t>(begin),
                              static_cast<std::size_t>(count));
        },
        [](std::int64_t, std::int64_t) {});
  }
  waiter.finish();
}

}  // namespace neap::dist
