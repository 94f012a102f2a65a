// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// sgd, adam, lion, rmsprop and scale: against references, and by hand.
#include <array>
#include <bit>
#include <cmath>

#include "neap/kernels/elementwise/scale.hpp"
#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/engine/kernel_testing.hpp"
#include "neap/kernels/optim/adam.hpp"
#include "neap/kernels/optim/lion.hpp"
#include "neap/kernels/optim/rmsprop.hpp"
#include "neap/kernels/optim/sgd.hpp"
#include "neap/kernels/optim/updates.hpp"

namespace neap::kernels {
namespace {

using testing::Array;
using testing::first_of;
using testing::kLays;
using testing::Lay;
using testing::noise;
using testing::reference_of;

template <class T>
std::vector<Array> states(const Shape& shape, int count, Lay lay) {
  std::vector<Array> arrays;
  for (int k = 0; k < count; ++k) {
    arrays.push_back(Array::of<T>(shape, lay, [k](std::int64_t i) {
      return static_cast<T>(std::abs(noise(5 * i + k + 1)));
    }));
  }
  return arrays;
}

// Runs `steps` steps and gives back all states, one after the other.
template <class T>
std::vector<Array> run(const Kernel& kernel, const void* attrs,
                       const Shape& shape, int count, Lay lay, int threads) {
  std::vector<Array> out = states<T>(shape, count, lay);
  std::vector<Strided> views;
  for (Array& array : out) {
    views.push_back(array.view());
  }
  for (int step = 0; step < 3; ++step) {
    Array grad = Array::of<T>(shape, lay, [step](std::int64_t i) {
      return static_cast<T>(noise(7 * i + step));
    });
    testing::call(kernel, {grad.view()}, views, attrs, threads);
  }
  return out;
}

template <class T>
void expect_reference(const KernelList& list, const void* attrs, int count,
                      double tolerance) {
  const DType dtype = dtype_of<T>;
  const Shape shape{3, 71};
  std::vector<Array> want =
      run<T>(reference_of(list, dtype), attrs, shape, count, Lay::kDense, 1);
  std::vector<Array> dense =
      run<T>(first_of(list, dtype), attrs, shape, count, Lay::kDense, 1);
  for (std::size_t k = 0; k < want.size(); ++k) {
    for (std::int64_t i = 0; i < want[k].count(); ++i) {
      ASSERT_NEAR(static_cast<double>(dense[k].at<T>(i)),
                  static_cast<double>(want[k].at<T>(i)), tolerance)
          << list.name << " output " << k << " element " << i;
    }
  }
  for (Lay lay : kLays) {
    for (int threads = 1; threads <= 3; ++threads) {
      std::vector<Array> got =
          run<T>(first_of(list, dtype), attrs, shape, count, lay, threads);
      for (std::size_t k = 0; k < want.size(); ++k) {
        EXPECT_EQ(got[k].elements(), dense[k].elements());
      }
    }
  }
}

TEST(SgdTest, AgreesWithItsReference) {
  for (int bits = 0; bits < 8; ++bits) {
    SgdAttrs attrs{.lr = 0.1, .momentum = 0.9, .grad_scale = 0.5};
    attrs.nesterov = (bits & 1) != 0;
    attrs.maximize = (bits & 2) != 0;
    attrs.dampening = attrs.nesterov ? 0.0 : 0.3;
    attrs.weight_decay = (bits & 4) != 0 ? 0.01 : 0.0;
    expect_reference<float>(sgd_kernels, &attrs, 2, 4e-6);
    expect_reference<double>(sgd_kernels, &attrs, 2, 1e-14);
    attrs.is_first_step = true;
    expect_reference<float>(sgd_kernels, &attrs, 2, 4e-6);
    attrs.momentum = 0.0;
    expect_reference<float>(sgd_kernels, &attrs, 1, 4e-6);
  }
}

TEST(SgdTest, FirstStepDoesNotReadTheBuffer) {
  const SgdAttrs attrs{
      .lr = 0.5, .momentum = 0.9, .dampening = 0.7, .is_first_step = true};
  Array grad = Array::of<float>({5}, Lay::kDense, [](auto) { return 2.0F; });
  Array param = Array::of<float>({5}, Lay::kDense, [](auto) { return 3.0F; });
  Array buffer =
      Array::of<float>({5}, Lay::kDense, [](auto) { return std::nanf(""); });
  testing::call(first_of(sgd_kernels, f32), {grad.view()},
                {param.view(), buffer.view()}, &attrs);
  EXPECT_EQ(buffer.at<float>(4), 2.0F);
  EXPECT_EQ(param.at<float>(4), 2.0F);
}

TEST(AdamTest, AgreesWithItsReference) {
  for (int bits = 0; bits < 4; ++bits) {
    AdamAttrs attrs{.lr = 0.01,
                    .weight_decay = 0.1,
                    .bias_correction1 = 0.1,
                    .bias_correction2 = 0.001,
                    .grad_scale = 0.5};
    attrs.decoupled = (bits & 1) != 0;
    attrs.maximize = (bits & 2) != 0;
    expect_reference<float>(adam_kernels, &attrs, 3, 4e-6);
    expect_reference<double>(adam_kernels, &attrs, 3, 1e-14);
  }
}

TEST(AdamTest, FirstStepMovesByTheLearningRate) {
  const AdamAttrs attrs{.lr = 0.01,
                        .eps = 0.0,
                        .bias_correction1 = 1 - 0.9,
                        .bias_correction2 = 1 - 0.999};
  Array grad = Array::of<double>({3}, Lay::kDense, [](std::int64_t i) {
    return static_cast<double>(i + 1) * (i == 1 ? -1.0 : 1.0);
  });
  std::vector<Array> state;
  for (int k = 0; k < 3; ++k) {
    state.push_back(
        Array::of<double>({3}, Lay::kDense, [](auto) { return 0.0; }));
  }
  testing::call(first_of(adam_kernels, f64), {grad.view()},
                {state[0].view(), state[1].view(), state[2].view()}, &attrs);
  EXPECT_NEAR(state[0].at<double>(0), -0.01, 1e-12);
  EXPECT_NEAR(state[0].at<double>(1), 0.01, 1e-12);
}

TEST(LionTest, AgreesWithItsReference) {
  for (const bool climbs : {false, true}) {
    const LionAttrs attrs{
        .lr = 0.01, .weight_decay = 0.1, .grad_scale = 0.5, .maximize = climbs};
    expect_reference<float>(lion_kernels, &attrs, 2, 4e-6);
    expect_reference<double>(lion_kernels, &attrs, 2, 1e-14);
  }
}

TEST(LionTest, MovesByItsRateAndKeepsZerosAndNaN) {
  const LionAttrs attrs{.lr = 0.25};
  const std::array grads{2.0, -1e-300, 0.0, std::nan("")};
  Array grad = Array::of<double>({4}, Lay::kDense, [&](std::int64_t i) {
    return grads[static_cast<std::size_t>(i)];
  });
  Array param = Array::of<double>({4}, Lay::kDense, [](auto) { return 1.0; });
  Array m = Array::of<double>({4}, Lay::kDense, [](auto) { return 0.0; });
  testing::call(first_of(lion_kernels, f64), {grad.view()},
                {param.view(), m.view()}, &attrs);
  EXPECT_EQ(param.at<double>(0), 0.75);
  EXPECT_EQ(param.at<double>(1), 1.25);
  EXPECT_EQ(param.at<double>(2), 1.0);
  EXPECT_TRUE(std::isnan(param.at<double>(3)));
  EXPECT_NEAR(m.at<double>(0), 0.02, 1e-15);
}

TEST(RmspropTest, AgreesWithItsReference) {
  for (const bool climbs : {false, true}) {
    const RmspropAttrs attrs{.lr = 0.01,
                             .alpha = 0.9,
                             .momentum = 0.8,
                             .weight_decay = 0.1,
                             .grad_scale = 0.5,
                             .maximize = climbs};
    for (const int count : {2, 3}) {
      expect_reference<float>(rmsprop_kernels, &attrs, count, 1e-5);
      expect_reference<double>(rmsprop_kernels, &attrs, count, 1e-13);
    }
  }
}

// Parameters of f32 and f64, with their gradients and moments.
struct Model {
  explicit Model(std::initializer_list<std::int64_t> counts) {
    for (const std::int64_t count : counts) {
      const Shape shape{count};
      const bool is_wide = operands.size() % 3 == 2;
      operands.push_back(is_wide ? states<double>(shape, 4, Lay::kDense)
                                 : states<float>(shape, 4, Lay::kDense));
    }
  }
  // Views of the operands of one parameter.
  std::vector<Strided> views(std::size_t i) {
    std::vector<Strided> views;
    for (Array& array : operands[i]) {
      views.push_back(array.view());
    }
    return views;
  }

  std::vector<std::vector<Array>> operands;
};

constexpr std::initializer_list<std::int64_t> kCounts{
    1, 40000, 63, 0, 65, 16384, 7, 100001, 5, 0};

TEST(UpdatesTest, HaveTheBitsOfOneCallAfterAnother) {
  const AdamAttrs attrs{.lr = 0.01, .weight_decay = 0.1};
  Model alone(kCounts);
  for (std::size_t i = 0; i < alone.operands.size(); ++i) {
    const std::vector<Strided> views = alone.views(i);
    testing::call(first_of(adam_kernels, views[0].dtype), {views[0]},
                  {views[1], views[2], views[3]}, &attrs);
  }
  for (int threads = 1; threads <= 5; ++threads) {
    Model joint(kCounts);
    std::vector<UpdateMember> members(joint.operands.size());
    for (std::size_t i = 0; i < members.size(); ++i) {
      const std::vector<Strided> views = joint.views(i);
      const Args args{std::span(views).first(1),
                      std::span(views).subspan(1),
                      &attrs,
                      {},
                      &threads::serial_executor()};
      ASSERT_TRUE(
          member_of(first_of(adam_kernels, views[0].dtype), args, members[i]));
    }
    testing::BackwardExecutor executor(threads);
    run_updates(members, executor);
    for (std::size_t i = 0; i < members.size(); ++i) {
      for (std::size_t k = 0; k < 4; ++k) {
        EXPECT_EQ(joint.operands[i][k].elements(),
                  alone.operands[i][k].elements())
            << "parameter " << i << " operand " << k;
        EXPECT_TRUE(joint.operands[i][k].has_intact_guards());
      }
    }
  }
}

TEST(UpdatesTest, TakeDenseOperandsOfAKernelThatNamesItsPieces) {
  const SgdAttrs attrs{.lr = 0.1};
  const auto is_member = [&](const Kernel& kernel, Lay grad, Lay param) {
    Array in = Array::of<float>({3, 4}, grad, [](auto) { return 1.0F; });
    Array out = Array::of<float>({3, 4}, param, [](auto) { return 1.0F; });
    const Strided from = in.view();
    const Strided to = out.view();
    UpdateMember member;
    return member_of(kernel,
                     {std::span(&from, 1),
                      std::span(&to, 1),
                      &attrs,
                      {},
                      &threads::serial_executor()},
                     member);
  };
  const Kernel& kernel = first_of(sgd_kernels, f32);
  EXPECT_TRUE(is_member(kernel, Lay::kDense, Lay::kDense));
  EXPECT_FALSE(is_member(kernel, Lay::kTransposed, Lay::kDense));
  EXPECT_FALSE(is_member(kernel, Lay::kDense, Lay::kSliced));
  EXPECT_FALSE(
      is_member(reference_of(sgd_kernels, f32), Lay::kDense, Lay::kDense));
}

TEST(ScaleTest, MultipliesInPlaceByANumberInMemory) {
  Array factor = Array::of<double>({}, Lay::kDense, [](auto) { return 0.25; });
  for (Lay lay : kLays) {
    for (const DType key : {f32, f64}) {
      Array x = Array::of<float>(
          {7, 11}, lay, [](std::int64_t i) { return static_cast<float>(i); });
      testing::call(first_of(scale_kernels, key), {factor.view()}, {x.view()},
                    nullptr, 2);
      EXPECT_EQ(x.at<float>(76), 19.0F);
      EXPECT_EQ(x.at<float>(1), 0.25F);
      EXPECT_TRUE(x.has_intact_guards());
    }
  }
}

TEST(ScaleTest, ByOneWritesNothing) {
  Array one = Array::of<double>({}, Lay::kDense, [](auto) { return 1.0; });
  const auto signalling = std::bit_cast<float>(0x7fa00001U);
  Array x =
      Array::of<float>({3}, Lay::kDense, [=](auto) { return signalling; });
  testing::call(first_of(scale_kernels, f32), {one.view()}, {x.view()},
                nullptr);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(x.at<float>(1)), 0x7fa00001U);
}

}  // namespace
}  // namespace neap::kernels
