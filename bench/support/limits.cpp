// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "support/limits.hpp"

#include <algorithm>
#include <numeric>

#include "neap/kernels/engine/kernel.hpp"
#include "neap/kernels/engine/targets.hpp"
#include "support/stream_part.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "support/limits.cpp"
#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace neap::bench {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Eight independent chains hide the latency; each begins at another number,
// or the compiler would make them one. Returns flops.
template <class T>
double multiply_add(std::int64_t rounds) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const V a = hn::Set(d, static_cast<T>(0.999));
  const V b = hn::Set(d, static_cast<T>(0.001));
  const auto start = [&](int k) { return hn::Set(d, static_cast<T>(k)); };
  V v0 = start(0), v1 = start(1), v2 = start(2), v3 = start(3);
  V v4 = start(4), v5 = start(5), v6 = start(6), v7 = start(7);
  for (std::int64_t i = 0; i < rounds; ++i) {
    v0 = hn::MulAdd(v0, a, b);
    v1 = hn::MulAdd(v1, a, b);
    v2 = hn::MulAdd(v2, a, b);
    v3 = hn::MulAdd(v3, a, b);
    v4 = hn::MulAdd(v4, a, b);
    v5 = hn::MulAdd(v5, a, b);
    v6 = hn::MulAdd(v6, a, b);
    v7 = hn::MulAdd(v7, a, b);
  }
  const V all = hn::Add(hn::Add(hn::Add(v0, v1), hn::Add(v2, v3)),
                        hn::Add(hn::Add(v4, v5), hn::Add(v6, v7)));
  keep(hn::GetLane(all));
  return 2.0 * 8.0 * static_cast<double>(hn::Lanes(d)) *
         static_cast<double>(rounds);
}

double multiply_add_f32(std::int64_t rounds) {
  return multiply_add<float>(rounds);
}

double multiply_add_f64(std::int64_t rounds) {
  return multiply_add<double>(rounds);
}

template <int kReads, class D>
HWY_INLINE hn::Vec<D> sum_at(D d, const StreamPart& part, std::int64_t i) {
  if constexpr (kReads == 0) {
    return hn::Set(d, 1.0F);
  } else {
    hn::Vec<D> sum = hn::LoadU(d, part.in[0] + i);
    if constexpr (kReads > 1) {
      sum = hn::Add(sum, hn::LoadU(d, part.in[1] + i));
    }
    if constexpr (kReads > 2) {
      sum = hn::Add(sum, hn::LoadU(d, part.in[2] + i));
    }
    return sum;
  }
}

template <int kReads, bool kPastCaches>
void write_part(const StreamPart& part) {
  const hn::ScalableTag<float> d;
  const auto step = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = part.begin; i + 4 * step <= part.end; i += 4 * step) {
    const hn::Vec<decltype(d)> v[] = {sum_at<kReads>(d, part, i),
                                      sum_at<kReads>(d, part, i + step),
                                      sum_at<kReads>(d, part, i + 2 * step),
                                      sum_at<kReads>(d, part, i + 3 * step)};
    for (int k = 0; k < 4; ++k) {
      if constexpr (kPastCaches) {
        hn::Stream(v[k], d, part.out + i + k * step);
      } else {
        hn::Store(v[k], d, part.out + i + k * step);
      }
    }
  }
  hwy::FlushStream();
}

template <int kReads>
void read_part(const StreamPart& part) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  const auto step = static_cast<std::int64_t>(hn::Lanes(d));
  V a = hn::Zero(d), b = hn::Zero(d), c = hn::Zero(d), e = hn::Zero(d);
  for (std::int64_t i = part.begin; i + 4 * step <= part.end; i += 4 * step) {
    a = hn::Add(a, sum_at<kReads>(d, part, i));
    b = hn::Add(b, sum_at<kReads>(d, part, i + step));
    c = hn::Add(c, sum_at<kReads>(d, part, i + 2 * step));
    e = hn::Add(e, sum_at<kReads>(d, part, i + 3 * step));
  }
  keep(hn::GetLane(hn::Add(hn::Add(a, b), hn::Add(c, e))));
}

template <int kReads>
void move_reading(const StreamPart& part, bool past_caches) {
  if (part.out == nullptr) {
    read_part<kReads>(part);
  } else if (past_caches) {
    write_part<kReads, true>(part);
  } else {
    write_part<kReads, false>(part);
  }
}

void move_part(const StreamPart& part, int reads, bool past_caches) {
  switch (reads) {
    case 0:
      return move_reading<0>(part, past_caches);
    case 1:
      return move_reading<1>(part, past_caches);
    case 2:
      return move_reading<2>(part, past_caches);
    default:
      return move_reading<3>(part, past_caches);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::bench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::bench {
namespace {

HWY_EXPORT(multiply_add_f32);
HWY_EXPORT(multiply_add_f64);
HWY_EXPORT(move_part);

double multiply_add(DType dtype, std::int64_t rounds) {
  return dtype == f32 ? HWY_DYNAMIC_DISPATCH(multiply_add_f32)(rounds)
                      : HWY_DYNAMIC_DISPATCH(multiply_add_f64)(rounds);
}

constexpr std::int64_t kGroup = 256;  // floats; whole groups of any vectors

}  // namespace

double fma_peak(threads::Executor& executor, DType dtype) {
  kernels::isa();  // chooses the instruction set, which the dispatch obeys
  // Half a millisecond each: some of them meet no other process.
  constexpr std::int64_t kRounds = 200'000;
  constexpr int kTrials = 60;
  double best = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> flops(static_cast<std::size_t>(executor.threads()));
    const double begin = now();
    threads::parallel_parts(
        executor, executor.threads(), [&](int part) noexcept {
          flops[static_cast<std::size_t>(part)] = multiply_add(dtype, kRounds);
        });
    const double seconds = now() - begin;
    best = std::max(best,
                    std::accumulate(flops.begin(), flops.end(), 0.0) / seconds);
  }
  return best;
}

Streams::Streams(int reads, int writes, Bytes bytes)
    : reads_(reads), writes_(writes) {
  const std::int64_t streams = std::int64_t{reads} + writes;
  const auto width = static_cast<std::int64_t>(sizeof(float));
  count_ =
      std::max<std::int64_t>(bytes / (streams * width) / kGroup, 1) * kGroup;
  data_.resize(static_cast<std::size_t>(streams));
  for (auto& stream : data_) {
    stream.assign(static_cast<std::size_t>(count_), 0.5F);
  }
}

Bytes Streams::bytes() const noexcept {
  return (reads_ + writes_) * count_ * static_cast<Bytes>(sizeof(float));
}

void Streams::run(threads::Executor& executor, int passes, bool past_caches) {
  threads::parallel_for(executor, count_, kGroup,
                        [&](std::int64_t begin, std::int64_t end) noexcept {
                          StreamPart part{.begin = begin, .end = end};
                          for (int i = 0; i < reads_; ++i) {
                            part.in[static_cast<std::size_t>(i)] =
                                data_[static_cast<std::size_t>(i)].data();
                          }
                          if (writes_ > 0) {
                            part.out = data_.back().data();
                          }
                          for (int pass = 0; pass < passes; ++pass) {
                            HWY_DYNAMIC_DISPATCH(move_part)
                            (part, reads_, past_caches);
                          }
                        });
}

std::vector<Contender> Streams::contenders(threads::Executor& executor) {
  const auto passes = [this, &executor](bool past_caches) {
    return [this, &executor, past_caches](int count) {
      // Not pass by pass: starting the threads is not what is measured.
      constexpr int kPasses = 8;
      std::vector<double> seconds;
      for (int done = 0; done < count; done += kPasses) {
        const int bunch = std::min(kPasses, count - done);
        const double begin = now();
        run(executor, bunch, past_caches);
        seconds.push_back((now() - begin) / bunch);
      }
      return seconds;
    };
  };
  std::vector<Contender> result{{"plain loop", passes(false)}};
  if (writes_ > 0) {
    result.push_back({"loop past the caches", passes(true)});
  }
  return result;
}

}  // namespace neap::bench
#endif  // HWY_ONCE
