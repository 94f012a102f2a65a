// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// lstm, gru, rnn and their gradients: vectors against the reference, and the
// same bits for any number of threads and any way x lies.
#include "neap/kernels/recurrent.hpp"

#include "neap/kernels/gru.hpp"
#include "neap/kernels/kernel_testing.hpp"
#include "neap/kernels/lstm.hpp"
#include "neap/kernels/rnn.hpp"
#include "neap/kernels/sigmoid.hpp"

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
  Precision precision = Precision::kF32;

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
                             .is_relu = c.net == Net::kRelu,
                             .precision = c.precision};
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
                                 .wants_state = c.has_state,
                                 .precision = c.precision};
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

// Those that can be tested here.
std::vector<Precision> precisions() {
  isa();
  return has_bf16_dot()
             ? std::vector<Precision>{Precision::kF32, Precision::kBf16}
             : std::vector<Precision>{Precision::kF32};
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

TEST(RecurrentTest, GivesTheSameBitsForAnyNumberOfThreads) {
  for (const Net net : kNets) {
    for (const std::int64_t hidden : {24, 40, 100}) {
      for (const std::int64_t batch : {3, 40}) {
        for (const Precision precision : precisions()) {
          Case c{.net = net,
                 .batch = batch,
                 .hidden = hidden,
                 .precision = precision};
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
}

class RecurrentBf16Test : public ::testing::Test {
 protected:
  void SetUp() override {
    if (precisions().size() == 1) {
      GTEST_SKIP() << "no dot products of bf16 here";
    }
  }
};

std::vector<Case> cases_in_bf16(Net net) {
  std::vector<Case> cases;
  for (const std::int64_t hidden : {1, 5, 16, 17, 33, 64}) {
    for (const std::int64_t batch : {1, 13, 30}) {
      cases.push_back({.net = net,
                       .batch = batch,
                       .features = 7,
                       .hidden = hidden,
                       .has_state = batch != 13,
                       .is_reverse = hidden % 2 == 0,
                       .precision = Precision::kBf16});
    }
  }
  return cases;
}

std::string text_of(const Case& c) {
  return "net " + std::to_string(static_cast<int>(c.net)) + ", h " +
         std::to_string(c.hidden) + ", b " + std::to_string(c.batch);
}

// Where the cell rounds as the reference's does: with relu.
TEST_F(RecurrentBf16Test, HasTheBitsOfTheReference) {
  for (const Case& c : cases_in_bf16(Net::kRelu)) {
    Results got = run<float>(c);
    Results want = run<float>(c, true);
    expect_same(got, want, text_of(c));
  }
}

// sums += x w over units, in bf16. w's rows are those of a gate.
void add_in_bf16(const float* x, std::int64_t rows, std::int64_t depth,
                 const GemmOperand<float>& w, std::int64_t columns,
                 std::vector<float>& sums) {
  Gemm<float> product;
  product.m = rows;
  product.n = columns;
  product.k = depth;
  product.a = {x, depth, 1};
  product.b = w;
  product.c = sums.data();
  product.start = GemmStart::kC;
  product.precision = Precision::kBf16;
  gemm_reference(product);
}

// Columns [first, first + width) of (b, all).
std::vector<float> columns_of(Array& x, std::int64_t first,
                              std::int64_t width) {
  const std::int64_t all = x.shape().back(1);
  std::vector<float> part;
  for (std::int64_t i = 0; i < x.count(); ++i) {
    if (i % all >= first && i % all < first + width) {
      part.push_back(x.at<float>(i));
    }
  }
  return part;
}

std::vector<float> sigmoid_of(std::vector<float> x) {
  const Shape shape{static_cast<std::int64_t>(x.size())};
  const Strided view{reinterpret_cast<std::byte*>(x.data()), f32, shape, {1}};
  call(first_of(sigmoid_kernels, f32), {view}, {view});
  return x;
}

// Of one step, whose first gate is a sigmoid of sums that start at the bias.
TEST_F(RecurrentBf16Test, GatesAreThoseOfItsProducts) {
  for (const Net net : {Net::kLstm, Net::kGru}) {
    for (Case c : cases_in_bf16(net)) {
      c.steps = 1;
      c.has_state = true;
      const bool is_lstm = net == Net::kLstm;
      Results got = run<float>(c);
      Array x = made<float>({c.batch, c.features}, 0);
      Array h = made<float>({c.batch, c.hidden}, 4);
      Array w_ih = made<float>({c.gates() * c.hidden, c.features}, 1);
      Array w_hh = made<float>({c.gates() * c.hidden, c.hidden}, 2);
      Array bias = made<float>({4 * c.hidden}, 3);
      std::vector<float> sums;
      for (std::int64_t i = 0; i < c.batch * c.hidden; ++i) {
        sums.push_back(bias.at<float>((is_lstm ? 0 : c.hidden) + i % c.hidden));
      }
      add_in_bf16(&x.at<float>(0), c.batch, c.features,
                  {&w_ih.at<float>(0), 1, c.features}, c.hidden, sums);
      add_in_bf16(&h.at<float>(0), c.batch, c.hidden,
                  {&w_hh.at<float>(0), 1, c.hidden}, c.hidden, sums);
      EXPECT_EQ(columns_of(got.forward[2], is_lstm ? 0 : c.hidden, c.hidden),
                sigmoid_of(sums))
          << text_of(c);
    }
  }
}

// Of one step: the cotangent of h0 is that product, onto what a gru lets pass.
TEST_F(RecurrentBf16Test, GradientsAreThoseOfItsProducts) {
  for (const Net net : {Net::kLstm, Net::kGru}) {
    for (Case c : cases_in_bf16(net)) {
      c.steps = 1;
      c.has_state = true;
      const bool is_lstm = net == Net::kLstm;
      Results got = run<float>(c);
      std::vector<float> sums(static_cast<std::size_t>(c.batch * c.hidden));
      if (!is_lstm) {
        sums = columns_of(got.forward[2], 2 * c.hidden, c.hidden);
        Array dy = made<float>({c.batch, c.hidden}, 6);
        Array dh = made<float>({c.batch, c.hidden}, 7);
        for (std::size_t i = 0; i < sums.size(); ++i) {
          const auto at = static_cast<std::int64_t>(i);
          sums[i] *= dh.at<float>(at) + dy.at<float>(at);
        }
      }
      Array w_hh = made<float>({c.gates() * c.hidden, c.hidden}, 2);
      for (std::int64_t gate = 0; gate < c.gates(); ++gate) {
        const std::int64_t row =
            (is_lstm ? gate : (gate + 2) % 3) * c.hidden;  // n, r, z
        add_in_bf16(
            columns_of(got.backward[0], gate * c.hidden, c.hidden).data(),
            c.batch, c.hidden, {&w_hh.at<float>(row * c.hidden), c.hidden, 1},
            c.hidden, sums);
      }
      EXPECT_EQ(columns_of(got.backward[1], 0, c.hidden), sums) << text_of(c);
    }
  }
}

// Of all results together, relative to their norm.
void expect_near_in_norm(std::vector<Array>& got, std::vector<Array>& want,
                         double tolerance, const std::string& what) {
  double apart = 0.0;
  double all = 0.0;
  for (std::size_t k = 0; k < want.size(); ++k) {
    for (std::int64_t i = 0; i < want[k].count(); ++i) {
      const double value = want[k].at<float>(i);
      apart += std::pow(got[k].at<float>(i) - value, 2);
      all += value * value;
    }
  }
  EXPECT_LE(std::sqrt(apart), tolerance * std::sqrt(all)) << what;
}

// The reference's cells round otherwise; that may round a factor otherwise.
TEST_F(RecurrentBf16Test, IsNearF32AndTheReference) {
  for (const Net net : {Net::kLstm, Net::kGru, Net::kTanh}) {
    for (Case c : cases_in_bf16(net)) {
      Results got = run<float>(c);
      Results reference = run<float>(c, true);
      c.precision = Precision::kF32;
      Results want = run<float>(c);
      const std::string what = text_of(c);
      expect_near_in_norm(got.forward, want.forward, 0x1p-7, what);
      expect_near_in_norm(got.backward, want.backward, 0x1p-6, what);
      expect_near_in_norm(got.forward, reference.forward, 0x1p-11, what);
      expect_near_in_norm(got.backward, reference.backward, 0x1p-11, what);
      EXPECT_NE(got.backward[0].elements(), want.backward[0].elements());
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
}  // namespace neap::kernels
