// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A gradient of weights that goes on from sample to sample has the bits of all
// samples at once: by every kernel, in parts of any size.
#include <algorithm>

#include "neap/kernels/conv/conv_for_test.hpp"

namespace neap::kernels {
namespace {

using testing::Array;
using testing::call;
using testing::Lay;

Strided samples_of(Strided image, std::int64_t first, std::int64_t count) {
  if (image.data != nullptr) {  // null without elements
    image.data += first * image.strides[0] * size_of(image.dtype);
  }
  image.shape[0] = count;
  return image;
}

/// The same for more samples.
Problem with_samples(Problem p, std::int64_t n) {
  p.n = n;
  return p;
}

bool takes(const Kernel& kernel, DType dtype, const Args& args) {
  return kernel.dtype == dtype &&
         (kernel.accepts == nullptr || kernel.accepts(args));
}

/// The gradient in parts of at most `each` samples, the first by
/// conv2d_weight, the others by one kernel that adds; where that accepts no
/// part, nothing is compared.
template <class T>
void expect_parts_of_the_whole(const Problem& p, Lay lay, std::int64_t each,
                               int threads) {
  Array x = filled<T>(p.x(), lay, 1);
  Array y = filled<T>(p.y(), lay, 2);
  Array want(p.w(), dtype_of<T>);
  call(testing::reference_of(conv2d_weight_kernels, dtype_of<T>),
       {x.view(), y.view()}, {want.view()}, &p.attrs);
  for (const Kernel& kernel : conv2d_weight_add_kernels.kernels) {
    Array sum(p.w(), dtype_of<T>);
    bool is_taken = true;
    for (std::int64_t first = 0; first < p.n && is_taken; first += each) {
      const std::int64_t count = std::min(each, p.n - first);
      const std::vector<Strided> some{samples_of(x.view(), first, count),
                                      samples_of(y.view(), first, count)};
      const std::vector<Strided> in{sum.view(), some[0], some[1]};
      const Strided out[] = {sum.view()};
      if (first == 0) {
        const Args args{some, out, &p.attrs, {}, nullptr};
        call(find(conv2d_weight_kernels, memory::kHost, dtype_of<T>, args),
             some, {out[0]}, &p.attrs, threads);
        continue;
      }
      is_taken = takes(kernel, dtype_of<T>, {in, out, &p.attrs, {}, nullptr});
      if (is_taken) {
        call(kernel, in, {out[0]}, &p.attrs, threads);
      }
    }
    EXPECT_TRUE(!is_taken || sum.elements() == want.elements())
        << kernel.name << ": " << p.text() << " by " << each << ", " << threads
        << " threads";
    EXPECT_TRUE(sum.has_intact_guards() || sum.count() == 0) << kernel.name;
  }
}

TEST(ConvWeightAddTest, GoesOnToTheBitsOfAllSamples) {
  at_each_isa([] {
    for (const Problem& small : problems()) {
      const Problem p = with_samples(small, 5);
      for (const std::int64_t each : {1, 3}) {
        expect_parts_of_the_whole<float>(p, Lay::kDense, each, 1);
        expect_parts_of_the_whole<double>(p, Lay::kDense, each, 1);
      }
      expect_parts_of_the_whole<float>(in_bf16(p), Lay::kDense, 2, 1);
      expect_parts_of_the_whole<float>(in_bf16(p), Lay::kDense, 4, 1);
    }
  });
}

TEST(ConvWeightAddTest, HasTheSameBitsForEveryLayoutAndThreadCount) {
  for (const Problem& small : problems()) {
    const Problem p = with_samples(small, 7);
    for (const int threads : {2, 3}) {
      for (const Lay lay : testing::kLays) {
        expect_parts_of_the_whole<float>(p, lay, 3, threads);
        expect_parts_of_the_whole<float>(in_bf16(p), lay, 4, threads);
      }
    }
  }
}

// The sum that is given need not lie where the result goes.
TEST(ConvWeightAddTest, LeavesASumInOtherMemoryAsItWas) {
  for (const Problem& small : problems()) {
    const Problem p = with_samples(small, 3);
    Array x = filled<float>(p.x(), Lay::kDense, 1);
    Array y = filled<float>(p.y(), Lay::kDense, 2);
    Array before = filled<float>(p.w(), Lay::kReversed, 3);
    const auto given = before.elements();
    Array want(p.w(), f32);
    Array got(p.w(), f32);
    call(testing::reference_of(conv2d_weight_add_kernels, f32),
         {before.view(), x.view(), y.view()}, {want.view()}, &p.attrs);
    const std::vector<Strided> in{before.view(), x.view(), y.view()};
    const Strided out[] = {got.view()};
    call(find(conv2d_weight_add_kernels, memory::kHost, f32,
              {in, out, &p.attrs, {}, nullptr}),
         in, {out[0]}, &p.attrs);
    EXPECT_EQ(got.elements(), want.elements()) << p.text();
    EXPECT_EQ(before.elements(), given) << p.text();
  }
}

// Without samples the sum stays as it was.
TEST(ConvWeightAddTest, OfNoSamplesAddsNothing) {
  for (const Problem& small : problems()) {
    const Problem p = with_samples(small, 0);
    Array x = filled<float>(p.x(), Lay::kDense, 1);
    Array y = filled<float>(p.y(), Lay::kDense, 2);
    Array sum = filled<float>(p.w(), Lay::kDense, 3);
    const auto given = sum.elements();
    const std::vector<Strided> in{sum.view(), x.view(), y.view()};
    const Strided out[] = {sum.view()};
    call(find(conv2d_weight_add_kernels, memory::kHost, f32,
              {in, out, &p.attrs, {}, nullptr}),
         in, {out[0]}, &p.attrs);
    EXPECT_EQ(sum.elements(), given) << p.text();
  }
}

}  // namespace
}  // namespace neap::kernels
