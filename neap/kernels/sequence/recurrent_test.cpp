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

}  // namespace
}  // namespace neap::kernels::testing
