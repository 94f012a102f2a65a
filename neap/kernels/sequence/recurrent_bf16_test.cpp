// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// lstm, gru and rnn in bf16: the bits of the reference where the cell is plain,
// else those of what a step is made of, products and sigmoid.
#include <cmath>

#include "neap/kernels/activation/activations.hpp"
#include "neap/kernels/sequence/recurrent_testing.hpp"

namespace neap::kernels::testing {
namespace {

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

// With relu the cell rounds as the reference's does.
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

// Runs one step, whose first gate is a sigmoid of sums starting at the bias.
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

// The part that a cell passes to the cotangent of its h: nothing, or dh z.
std::vector<float> passed(const Case& c, Results& got) {
  if (c.net == Net::kLstm) {
    return std::vector<float>(static_cast<std::size_t>(c.batch * c.hidden));
  }
  std::vector<float> sums = columns_of(got.forward[2], 2 * c.hidden, c.hidden);
  Array dy = made<float>({c.batch, c.hidden}, 6);
  Array dh = made<float>({c.batch, c.hidden}, 7);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    sums[i] *= dh.at<float>(at) + dy.at<float>(at);
  }
  return sums;
}

// Runs one step: the cotangent of h0 is dgates w_hh, added to the passed part.
TEST_F(RecurrentBf16Test, GradientsAreThoseOfItsProducts) {
  for (const Net net : {Net::kLstm, Net::kGru}) {
    for (Case c : cases_in_bf16(net)) {
      c.steps = 1;
      c.has_state = true;
      Results got = run<float>(c);
      std::vector<float> sums = passed(c, got);
      Array w_hh = made<float>({c.gates() * c.hidden, c.hidden}, 2);
      for (std::int64_t gate = 0; gate < c.gates(); ++gate) {
        const std::int64_t row =  // of a gru's n, r, z
            (net == Net::kLstm ? gate : (gate + 2) % 3) * c.hidden;
        add_in_bf16(
            columns_of(got.backward[0], gate * c.hidden, c.hidden).data(),
            c.batch, c.hidden, {&w_hh.at<float>(row * c.hidden), c.hidden, 1},
            c.hidden, sums);
      }
      EXPECT_EQ(columns_of(got.backward[1], 0, c.hidden), sums) << text_of(c);
    }
  }
}

// Expects all results together to be near, relative to their norm.
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

}  // namespace
}  // namespace neap::kernels::testing
