// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// interpolate and its adjoint: the bits of the references, for sizes, layouts
// and thread counts.
#include "neap/kernels/conv/interpolate.hpp"

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

ResizeAxis to(std::int64_t in, std::int64_t out) {
  return {in, out, static_cast<double>(in) / static_cast<double>(out)};
}

template <class T>
std::pair<Array, Array> run(const InterpolateAttrs& attrs, bool is_reference,
                            Lay lay = Lay::kDense, int threads = 1) {
  const auto& pick = is_reference ? reference_of : first_of;
  const DType dtype = dtype_of<T>;
  const Shape in{2, 3, attrs.h.in, attrs.w.in};
  const Shape out{2, 3, attrs.h.out, attrs.w.out};
  Array x = Array::of<T>(
      in, lay, [](std::int64_t i) { return static_cast<T>(noise(i)); });
  Array g = Array::of<T>(
      out, lay, [](std::int64_t i) { return static_cast<T>(noise(i + 9)); });
  std::pair<Array, Array> made{Array(out, dtype), Array(in, dtype)};
  call(pick(interpolate_kernels, dtype), {x.view()}, {made.first.view()},
       &attrs, threads);
  call(pick(interpolate_grad_kernels, dtype), {g.view()}, {made.second.view()},
       &attrs, threads);
  return made;
}

template <class T>
void expect_same(std::pair<Array, Array> got, std::pair<Array, Array> want,
                 const InterpolateAttrs& attrs) {
  const std::string what =
      std::to_string(attrs.w.in) + " to " + std::to_string(attrs.w.out);
  EXPECT_EQ(got.first.elements(), want.first.elements()) << what;
  EXPECT_EQ(got.second.elements(), want.second.elements()) << what;
  EXPECT_TRUE(got.first.has_intact_guards() && got.second.has_intact_guards())
      << what;
}

TEST(InterpolateKernelTest, HasTheBitsOfItsReference) {
  for (const bool is_linear : {false, true}) {
    for (std::int64_t w = 1; w < 40; ++w) {
      for (const std::int64_t out : {2 * w, w + 3, (w + 1) / 2}) {
        InterpolateAttrs attrs{
            .h = to(5, 2 + w % 9), .w = to(w, out), .is_linear = is_linear};
        expect_same<float>(run<float>(attrs, false), run<float>(attrs, true),
                           attrs);
        expect_same<double>(run<double>(attrs, false), run<double>(attrs, true),
                            attrs);
        attrs.align_corners = is_linear;
        expect_same<float>(run<float>(attrs, false), run<float>(attrs, true),
                           attrs);
      }
    }
  }
}

TEST(InterpolateKernelTest, LayoutsAndThreadsDoNotChangeBits) {
  for (const bool is_linear : {false, true}) {
    const InterpolateAttrs attrs{
        .h = to(40, 80), .w = to(45, 90), .is_linear = is_linear};
    for (const Lay lay : kLays) {
      for (const int threads : {1, 2, 3}) {
        expect_same<float>(run<float>(attrs, false, lay, threads),
                           run<float>(attrs, true), attrs);
      }
    }
  }
}

}  // namespace
}  // namespace neap::kernels
