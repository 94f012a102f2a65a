// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// lstm, gru, rnn and their gradients: vectors against the reference, and the
// same bits for any number of threads and any way x lies.
#include "neap/kernels/sequence/recurrent.hpp"

#include "neap/kernels/sequence/recurrent_testing.hpp"

namespace neap::kernels::testing {
namespace {

template <class T>
void expect_reference(const Case& c, const std::string& what) {
  constexpr double kTolerance = sizeof(T) == 4 ? 2e-5 : 1e-13;
  Results got = run<T>(c);
  Results want = run<T>(c, true);
  expect_near<T>(got.forward, want.forward, kTolerance, what + " forward");
  expect_near<T>(got.backward, want.backward, kTolerance, what + " backward");
}

TEST(RecurrentTest, EqualsTheReference) {
  for (const Net net : kNets) {
    for (const std::int64_t hidden : {1, 5, 16, 17, 33, 64}) {
      for (const std::int64_t batch : {1, 13, 30}) {
        const Case c{.net = net,
                     .batch = batch,
                     .features = 7,
                     .hidden = hidden,
                     .is_reverse = hidden % 2 == 0};
        const std::string what = std::to_string(static_cast<int>(net)) + " h " +
                                 std::to_string(hidden) + " b " +
                                 std::to_string(batch);
        expect_reference<float>(c, what);
        expect_reference<double>(c, what);
      }
    }
  }
}

TEST(RecurrentTest, BeginsWithZerosWhereThereIsNoState) {
  for (const Net net : kNets) {
    for (const std::int64_t steps : {1, 4}) {
      const Case c{.net = net, .steps = steps, .has_state = false};
      expect_reference<double>(c, std::to_string(static_cast<int>(net)));
    }
  }
}

TEST(RecurrentTest, ComputesTheSameWhereNothingIsKept) {
  for (const Net net : kNets) {
    Case c{.net = net, .steps = 700, .batch = 3};
    Results kept = run<float>(c);
    c.keeps = false;
    std::vector<Array> y = forward<float>(c, false);
    EXPECT_EQ(y[0].elements(), kept.forward[0].elements());
    EXPECT_EQ(y[1].elements(), kept.forward[1].elements());
    Case r = c;
    r.steps = 5;
    expect_reference<float>(r, "light");
  }
}

// Rows that lie unevenly go through a copy, some steps at a time.
TEST(RecurrentTest, HasTheSameBitsHoweverItsOperandsLie) {
  for (const Net net : kNets) {
    for (const Precision precision : precisions()) {
      Case c{.net = net,
             .steps = 300,
             .batch = 5,
             .hidden = 7,
             .is_reverse = precision == Precision::kF32,
             .precision = precision};
      Results dense = run<float>(c);
      for (const Lay lay : kLays) {
        c.lay = lay;
        Results other = run<float>(c);
        expect_same(other, dense, "lay");
      }
    }
  }
}

void expect_same_for_threads(Case c) {
  for (const Precision precision : precisions()) {
    c.threads = 1;
    c.precision = precision;
    Results one = run<float>(c);
    for (const int threads : {2, 3, 7}) {
      c.threads = threads;
      Results more = run<float>(c);
      expect_same(more, one, std::to_string(threads));
    }
  }
}

TEST(RecurrentTest, HasTheSameBitsForAnyNumberOfThreads) {
  for (const Net net : kNets) {
    for (const std::int64_t hidden : {24, 40, 100}) {
      for (const std::int64_t batch : {3, 40}) {
        expect_same_for_threads({.net = net, .batch = batch, .hidden = hidden});
      }
    }
  }
}

TEST(RecurrentTest, RunsTheReferenceInBf16WhereTheProcessorCannot) {
  isa();
  const RecurrentAttrs attrs{.precision = Precision::kBf16};
  const RecurrentGradAttrs grad_attrs{.precision = Precision::kBf16};
  const auto takes_reference = [](const KernelList& list, const void* of) {
    Args args;
    args.attrs = of;
    return &find(list, memory::kHost, f32, args) == &reference_of(list, f32);
  };
  for (const Net net : kNets) {
    const Case c{.net = net};
    EXPECT_EQ(takes_reference(c.list(), &attrs), !has_bf16_dot());
    EXPECT_EQ(takes_reference(c.grad_list(), &grad_attrs), !has_bf16_dot());
  }
}

TEST(RecurrentTest, TakesASequenceOfNoSamples) {
  for (const Net net : kNets) {
    run<float>({.net = net, .batch = 0});
  }
}

TEST(RecurrentTest, LetsNaNThrough) {
  std::vector<Array> in;
  in.push_back(made<float>({2, 1, 1}, 0));
  in.push_back(made<float>({3, 1}, 1));
  in.push_back(made<float>({3, 3}, 2));
  in.push_back(made<float>({3}, 3));
  in[0].at<float>(0) = std::numeric_limits<float>::quiet_NaN();
  for (const bool is_relu : {false, true}) {
    Array y({2, 1, 3}, f32);
    Array h({1, 3}, f32);
    const RecurrentAttrs attrs{.is_relu = is_relu};
    call(first_of(rnn_kernels, f32), views_of(in), {y.view(), h.view()},
         &attrs);
    for (std::int64_t i = 0; i < y.count(); ++i) {
      EXPECT_TRUE(std::isnan(y.at<float>(i)));
    }
  }
}

// Steps [first, first + count) of an array over time, as its own.
template <class T>
Array steps_of(Array& all, const Shape& shape, std::int64_t first) {
  const std::int64_t step = all.count() / all.view().shape[0];
  return Array::of<T>(shape, Lay::kDense, [&](std::int64_t i) {
    return all.at<T>(first * step + i);
  });
}

// lstm_grad over the later steps, then over the earlier ones from what those
// have left, has the bits of one call.
template <class T>
void expect_same_in_two_parts(bool by_reference) {
  constexpr std::int64_t kSteps = 5;
  constexpr std::int64_t kLater = 2;
  constexpr std::int64_t kEarlier = kSteps - kLater;
  Case c{.steps = kSteps, .batch = 3, .hidden = 17};
  Results whole = run<T>(c, by_reference);
  std::vector<Array>& y = whole.forward;
  Array dy = made<T>({kSteps, c.batch, c.hidden}, 6);
  Array dc = made<T>({kSteps, c.batch, c.hidden}, 8);
  const auto part = [&](std::int64_t first, std::int64_t count, Array before,
                        Array dh, Array* last_dc) {
    std::vector<Array> in;
    in.push_back(steps_of<T>(y[2], {count, c.batch, 4 * c.hidden}, first));
    in.push_back(made<T>({4 * c.hidden, c.hidden}, 2));
    in.push_back(steps_of<T>(y[3], {count, c.batch, c.hidden}, first));
    in.push_back(std::move(before));
    in.push_back(steps_of<T>(dy, {count, c.batch, c.hidden}, first));
    in.push_back(std::move(dh));
    in.push_back(steps_of<T>(dc, {count, c.batch, c.hidden}, first));
    if (last_dc != nullptr) {
      in.push_back(*last_dc);
    }
    std::vector<Array> out;
    out.emplace_back(Shape{count, c.batch, 4 * c.hidden}, dtype_of<T>);
    out.emplace_back(Shape{c.batch, c.hidden}, dtype_of<T>);
    out.emplace_back(Shape{c.batch, c.hidden}, dtype_of<T>);
    const RecurrentGradAttrs attrs{.has_state = true,
                                   .has_dy = true,
                                   .has_dh = true,
                                   .has_dc = true,
                                   .wants_state = true,
                                   .has_last_dc = last_dc != nullptr};
    call(pick<T>(lstm_grad_kernels, by_reference), views_of(in), views_of(out),
         &attrs, 1);
    return out;
  };
  std::vector<Array> later = part(
      kEarlier, kLater, steps_of<T>(y[3], {c.batch, c.hidden}, kEarlier - 1),
      made<T>({c.batch, c.hidden}, 7), nullptr);
  std::vector<Array> earlier =
      part(0, kEarlier, made<T>({c.batch, c.hidden}, 5), later[1], &later[2]);
  const auto want = whole.backward[0].elements();
  auto got = earlier[0].elements();
  const auto rest = later[0].elements();
  got.insert(got.end(), rest.begin(), rest.end());
  EXPECT_EQ(got, want);
  EXPECT_EQ(earlier[1].elements(), whole.backward[1].elements());
  EXPECT_EQ(earlier[2].elements(), whole.backward[2].elements());
}

TEST(RecurrentTest, AGradientGoesOnFromLaterSteps) {
  for (const bool by_reference : {false, true}) {
    expect_same_in_two_parts<float>(by_reference);
    expect_same_in_two_parts<double>(by_reference);
  }
}

}  // namespace
}  // namespace neap::kernels::testing
