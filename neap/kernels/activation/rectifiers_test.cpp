// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// relu, relu_bits and relu_grad: the bits, and that lengths, layouts and
// threads change none.
#include "neap/kernels/activation/rectifiers.hpp"

#include <limits>

#include "neap/kernels/activation/activation_attrs.hpp"
#include "neap/kernels/activation/relu_bits.hpp"
#include "neap/kernels/engine/bits.hpp"
#include "neap/kernels/engine/kernel_testing.hpp"

namespace neap::kernels {
namespace {

using testing::Array;
using testing::call;
using testing::first_of;
using testing::kLays;
using testing::Lay;
using testing::noise;
using testing::reference_of;

struct Result {
  Array y;
  Array bits;
  Array dx;
};

template <class T>
Array noise_array(const Shape& shape, Lay lay) {
  return Array::of<T>(shape, lay,
                      [](std::int64_t i) { return static_cast<T>(noise(i)); });
}

// Forward, and backward of a cotangent that differs from x.
template <class T>
Result run(const Shape& shape, double slope, bool is_reference = false,
           Lay lay = Lay::kDense, int threads = 1) {
  const auto& pick = is_reference ? reference_of : first_of;
  const SlopeAttrs attrs{slope};
  const DType dtype = dtype_of<T>;
  Array x = noise_array<T>(shape, lay);
  Array g = Array::of<T>(
      shape, lay, [](std::int64_t i) { return static_cast<T>(noise(i + 77)); });
  Result result{Array(shape, dtype, lay),
                Array({bit_bytes(shape.element_count())}, u8, lay),
                Array(shape, dtype, lay)};
  call(pick(relu_bits_kernels, dtype), {x.view()},
       {result.y.view(), result.bits.view()}, &attrs, threads);
  call(pick(relu_grad_kernels, dtype), {g.view(), result.bits.view()},
       {result.dx.view()}, &attrs, threads);
  return result;
}

template <class T>
void expect_same(Result got, Result want, const std::string& what) {
  EXPECT_EQ(got.y.elements(), want.y.elements()) << what;
  EXPECT_EQ(got.bits.elements(), want.bits.elements()) << what;
  EXPECT_EQ(got.dx.elements(), want.dx.elements()) << what;
  EXPECT_TRUE(got.y.has_intact_guards() && got.bits.has_intact_guards() &&
              got.dx.has_intact_guards())
      << what;
}

TEST(ReluBitsKernelTest, AgreesWithItsReferenceAtEveryLength) {
  for (const double slope : {0.0, 0.25}) {
    for (std::int64_t n = 0; n <= 140; ++n) {
      expect_same<float>(run<float>({n}, slope), run<float>({n}, slope, true),
                         std::to_string(n));
      expect_same<double>(run<double>({n}, slope),
                          run<double>({n}, slope, true), std::to_string(n));
    }
  }
}

TEST(ReluBitsKernelTest, LayoutsAndThreadsDoNotChangeBits) {
  const Shape shapes[] = {{}, {3, 0, 2}, {70, 701}, {17001, 3}};
  for (const Shape& shape : shapes) {
    for (Lay lay : kLays) {
      for (int threads = 1; threads <= 3; ++threads) {
        expect_same<float>(run<float>(shape, 0.0, false, lay, threads),
                           run<float>(shape, 0.0), format_shape(shape));
      }
    }
  }
}

TEST(ReluBitsKernelTest, EqualsReluAndLeakyRelu) {
  const Shape shape{131, 17};
  const SlopeAttrs leaky{0.25};
  Array x = noise_array<float>(shape, Lay::kDense);
  Array y(shape, f32);
  call(first_of(relu_kernels, f32), {x.view()}, {y.view()});
  EXPECT_EQ(y.elements(), run<float>(shape, 0.0).y.elements());
  call(first_of(leaky_relu_kernels, f32), {x.view()}, {y.view()}, &leaky);
  EXPECT_EQ(y.elements(), run<float>(shape, 0.25).y.elements());
}

TEST(ReluBitsKernelTest, WritesOverItsInput) {
  const SlopeAttrs attrs{0.0};
  const Shape shape{7, 101};
  const Result want = run<float>(shape, 0.0);
  for (Lay lay : kLays) {
    Array x = noise_array<float>(shape, lay);
    Array bits({bit_bytes(shape.element_count())}, u8);
    call(first_of(relu_bits_kernels, f32), {x.view()}, {x.view(), bits.view()},
         &attrs);
    EXPECT_EQ(x.elements(), Array(want.y).elements());
    EXPECT_EQ(bits.elements(), Array(want.bits).elements());
  }
}

TEST(ReluBitsKernelTest, ZeroIsNotPositiveAndNanPassesItsCotangent) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const float values[] = {0.0F, -0.0F, kNan, kInf, -kInf, 1e-40F, -1e-40F};
  const SlopeAttrs attrs{0.0};
  Array x =
      Array::of<float>({7}, Lay::kDense, [&](auto i) { return values[i]; });
  Array y({7}, f32);
  Array bits({1}, u8);
  call(first_of(relu_bits_kernels, f32), {x.view()}, {y.view(), bits.view()},
       &attrs);
  EXPECT_EQ(bits.at<std::uint8_t>(0), 0b0101100);
  EXPECT_EQ(y.at<float>(4), 0.0F);
  Array g = Array::of<float>({7}, Lay::kDense, [&](auto) { return kNan; });
  call(first_of(relu_grad_kernels, f32), {g.view(), bits.view()}, {y.view()},
       &attrs);
  EXPECT_EQ(y.at<float>(0), 0.0F);
  EXPECT_TRUE(std::isnan(y.at<float>(3)));
}

}  // namespace
}  // namespace neap::kernels
