// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// lstm, gru, rnn and their gradients: vectors against the reference, and the
// same bits for any number of threads and any way x lies.
#include "neap/kernels/recurrent.hpp"

#include "neap/kernels/gru.hpp"
#include "neap/kernels/kernel_testing.hpp"
#include "neap/kernels/lstm.hpp"
#include "neap/kernels/rnn.hpp"

namespace neap::kernels {
namespace {

using testing::Array;
using testing::call;
using testing::first_of;
using testing::kLays;
using testing::Lay;
using testing::noise;
using testing::reference_of;

enum class Net { kLstm, kGru, kTanh, kRelu };
constexpr Net kNets[] = {Net::kLstm, Net::kGru, Net::kTanh, Net::kRelu};

struct Case {
  Net net = Net::kLstm;
  std::int64_t steps = 3;
  std::int64_t batch = 2;
  std::int64_t features = 3;
  std::int64_t hidden = 4;
  bool has_state = true;
  bool is_reverse = false;
  bool keeps = true;
  Lay lay = Lay::kDense;
  int threads = 1;

  bool is_gated() const { return net == Net::kLstm || net == Net::kGru; }
  std::int64_t gates() const {
    return net == Net::kLstm ? 4 : net == Net::kGru ? 3 : 1;
  }
  std::int64_t columns() const { return is_gated() ? 4 : 1; }
  const KernelList& list() const {
    return net == Net::kLstm  ? lstm_kernels
           : net == Net::kGru ? gru_kernels
                              : rnn_kernels;
  }
  const KernelList& grad_list() const {
    return net == Net::kLstm  ? lstm_grad_kernels
           : net == Net::kGru ? gru_grad_kernels
                              : rnn_grad_kernels;
  }
};

template <class T>
Array made(const Shape& shape, int salt, Lay lay = Lay::kDense) {
  return Array::of<T>(shape, lay, [salt](std::int64_t i) {
    return static_cast<T>(0.15 * noise(7 * i + salt));
  });
}

struct Results {
  std::vector<Array> forward;
  std::vector<Array> backward;
};

std::vector<Strided> views_of(std::vector<Array>& arrays) {
  std::vector<Strided> views;
  for (Array& array : arrays) {
    views.push_back(array.view());
  }
  return views;
}

template <class T>
const Kernel& pick(const KernelList& list, bool by_reference) {
  return by_reference ? reference_of(list, dtype_of<T>)
                      : first_of(list, dtype_of<T>);
}

template <class T>
std::vector<Array> forward(const Case& c, bool by_reference) {
  std::vector<Array> in;
  in.push_back(made<T>({c.steps, c.batch, c.features}, 0, c.lay));
  in.push_back(made<T>({c.gates() * c.hidden, c.features}, 1, c.lay));
  in.push_back(made<T>({c.gates() * c.hidden, c.hidden}, 2, c.lay));
  in.push_back(made<T>({c.columns() * c.hidden}, 3));
  for (int k = 0; c.has_state && k < (c.net == Net::kLstm ? 2 : 1); ++k) {
    in.push_back(made<T>({c.batch, c.hidden}, 4 + k));
  }
  const DType dtype = dtype_of<T>;
  std::vector<Array> out;
  out.emplace_back(Shape{c.steps, c.batch, c.hidden}, dtype);
  out.emplace_back(Shape{c.batch, c.hidden}, dtype);
  if (c.is_gated()) {
    out.emplace_back(c.keeps ? Shape{c.steps, c.batch, 4 * c.hidden} : Shape{0},
                     dtype);
  }
  if (c.net == Net::kLstm) {
    out.emplace_back(Shape{c.keeps ? c.steps : 1, c.batch, c.hidden}, dtype);
  }
  const RecurrentAttrs attrs{.has_state = c.has_state,
                             .is_reverse = c.is_reverse,
                             .keeps = c.keeps,
                             .is_relu = c.net == Net::kRelu};
  call(pick<T>(c.list(), by_reference), views_of(in), views_of(out), &attrs,
       c.threads);
  return out;
}

// The gradient of what a forward call gave, for some cotangents.
template <class T>
std::vector<Array> backward(const Case& c, std::vector<Array>& y,
                            bool by_reference) {
  std::vector<Array> in;
  in.push_back(c.is_gated() ? y[2] : y[0]);
  in.push_back(made<T>({c.gates() * c.hidden, c.hidden}, 2, c.lay));
  if (c.is_gated()) {
    in.push_back(c.net == Net::kLstm ? y[3] : y[0]);
    if (c.has_state) {
      in.push_back(made<T>({c.batch, c.hidden}, c.net == Net::kLstm ? 5 : 4));
    }
  }
  in.push_back(made<T>({c.steps, c.batch, c.hidden}, 6));
  in.push_back(made<T>({c.batch, c.hidden}, 7));
  const bool has_dc = c.net == Net::kLstm;
  if (has_dc) {
    in.push_back(made<T>({c.steps, c.batch, c.hidden}, 8));
  }
  const DType dtype = dtype_of<T>;
  std::vector<Array> out;
  out.emplace_back(Shape{c.steps, c.batch, c.columns() * c.hidden}, dtype);
  for (int k = 0; k < (has_dc ? 2 : 1); ++k) {
    out.emplace_back(c.has_state ? Shape{c.batch, c.hidden} : Shape{0}, dtype);
  }
  const RecurrentGradAttrs attrs{.has_state = c.has_state && c.is_gated(),
                                 .is_reverse = c.is_reverse,
                                 .is_relu = c.net == Net::kRelu,
                                 .has_dy = true,
                                 .has_dh = true,
                                 .has_dc = has_dc,
                                 .wants_state = c.has_state};
  call(pick<T>(c.grad_list(), by_reference), views_of(in), views_of(out),
       &attrs, c.threads);
  return out;
}

template <class T>
Results run(const Case& c, bool by_reference = false) {
  Results results;
  results.forward = forward<T>(c, by_reference);
  if (c.keeps) {
    results.backward = backward<T>(c, results.forward, by_reference);
  }
  for (std::vector<Array>* arrays : {&results.forward, &results.backward}) {
    for (Array& array : *arrays) {
      EXPECT_TRUE(array.has_intact_guards());
    }
  }
  return results;
}

template <class T>
void expect_near(std::vector<Array>& got, std::vector<Array>& want,
                 double tolerance, const std::string& what) {
  for (std::size_t k = 0; k < want.size(); ++k) {
    for (std::int64_t i = 0; i < want[k].count(); ++i) {
      ASSERT_NEAR(static_cast<double>(got[k].at<T>(i)),
                  static_cast<double>(want[k].at<T>(i)), tolerance)
          << what << ": output " << k << " element " << i;
    }
  }
}

template <class T>
void expect_reference(const Case& c, const std::string& what) {
  constexpr double kTolerance = sizeof(T) == 4 ? 2e-5 : 1e-13;
  Results got = run<T>(c);
  Results want = run<T>(c, true);
  expect_near<T>(got.forward, want.forward, kTolerance, what + " forward");
  expect_near<T>(got.backward, want.backward, kTolerance, what + " backward");
}

void expect_same(Results& a, Results& b, const std::string& what) {
  const auto compare = [&](std::vector<Array>& x, std::vector<Array>& y) {
    for (std::size_t k = 0; k < x.size(); ++k) {
      EXPECT_EQ(x[k].elements(), y[k].elements()) << what << ": output " << k;
    }
  };
  compare(a.forward, b.forward);
  compare(a.backward, b.backward);
}

TEST(RecurrentTest, GivesWhatTheReferenceGives) {
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

TEST(RecurrentTest, GivesTheSameWhereNothingIsKept) {
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
TEST(RecurrentTest, GivesTheSameBitsHoweverItsOperandsLie) {
  for (const Net net : kNets) {
    for (const bool is_reverse : {false, true}) {
      Case c{.net = net, .steps = 300, .batch = 5, .is_reverse = is_reverse};
      Results dense = run<float>(c);
      for (const Lay lay : kLays) {
        c.lay = lay;
        Results other = run<float>(c);
        expect_same(other, dense, "lay");
      }
    }
  }
}

TEST(RecurrentTest, GivesTheSameBitsForAnyNumberOfThreads) {
  for (const Net net : kNets) {
    for (const std::int64_t hidden : {24, 40, 100}) {
      for (const std::int64_t batch : {3, 40}) {
        Case c{.net = net, .batch = batch, .hidden = hidden};
        Results one = run<float>(c);
        for (const int threads : {2, 3, 7}) {
          c.threads = threads;
          Results more = run<float>(c);
          expect_same(more, one, std::to_string(threads));
        }
      }
    }
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
}  // namespace neap::kernels
