// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Reductions over a leading axis where columns are few, and NaN among them: the
// bits of the defined order.
#include <limits>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/engine/kernel_testing.hpp"
#include "neap/kernels/reduction/amax.hpp"
#include "neap/kernels/reduction/norm.hpp"
#include "neap/kernels/reduction/prod.hpp"
#include "neap/kernels/reduction/sum.hpp"

namespace neap::kernels {
namespace {

using testing::Array;
using testing::call;
using testing::first_of;
using testing::noise;
using testing::reference_of;

template <class T>
Array column_array(std::int64_t length, std::int64_t columns, bool with_nan) {
  return Array::of<T>({length, columns}, testing::Lay::kDense,
                      [=](std::int64_t i) {
                        if (with_nan && i % 1777 == 1) {
                          return std::numeric_limits<T>::quiet_NaN();
                        }
                        // Infinities of both signs: their sum is NaN too.
                        if (with_nan && i % 1777 > 1774) {
                          const T x = std::numeric_limits<T>::infinity();
                          return i % 2 == 0 ? x : -x;
                        }
                        return static_cast<T>(noise(i) / 4);
                      });
}

template <class T>
void expect_reference(const KernelList& list, const NormAttrs& attrs) {
  for (const std::int64_t length : {1, 3, 1024, 1030, 2500}) {
    for (std::int64_t columns = 1; columns <= 70;
         columns += columns < 20 ? 1 : 7) {
      for (const bool with_nan : {false, true}) {
        Array x = column_array<T>(length, columns, with_nan);
        Array want({1, columns}, dtype_of<T>);
        call(reference_of(list, dtype_of<T>), {x.view()}, {want.view()},
             &attrs);
        for (int threads = 1; threads <= 3; ++threads) {
          Array y({1, columns}, dtype_of<T>);
          call(first_of(list, dtype_of<T>), {x.view()}, {y.view()}, &attrs,
               threads);
          for (std::int64_t c = 0; c < columns; ++c) {
            const T got = y.at<T>(c);
            const T expected = want.at<T>(c);
            ASSERT_TRUE(got == expected || (got != got && expected != expected))
                << list.name << " of " << length << " x " << columns
                << " column " << c << " threads " << threads << ": " << got
                << " for " << expected;
          }
          EXPECT_TRUE(y.has_intact_guards());
        }
      }
    }
  }
}

TEST(ReduceColumnsTest, FewColumnsHaveTheBitsOfTheDefinedOrder) {
  for (const double p : {0.0, 1.0, 2.0, std::numeric_limits<double>::infinity(),
                         -std::numeric_limits<double>::infinity()}) {
    const NormAttrs attrs{1, p};
    expect_reference<float>(norm_kernels, attrs);
    expect_reference<double>(norm_kernels, attrs);
  }
  for (const KernelList* list :
       {&sum_kernels, &prod_kernels, &amax_kernels, &amin_kernels}) {
    expect_reference<float>(*list, {1, 0.0});
    expect_reference<double>(*list, {1, 0.0});
  }
}

TEST(ReduceColumnsTest, SumsOfBytesOverManyRowsDoNotOverflow) {
  const ReduceAttrs attrs{1};
  for (const std::int64_t columns : {1, 7, 1300}) {
    Array x = Array::of<std::uint8_t>({5000, columns}, testing::Lay::kDense,
                                      [](std::int64_t) { return 255; });
    Array y({1, columns}, i64);
    call(first_of(sum_kernels, u8), {x.view()}, {y.view()}, &attrs, 2);
    for (std::int64_t c = 0; c < columns; ++c) {
      ASSERT_EQ(y.at<std::int64_t>(c), 255 * 5000) << c;
    }
  }
}

}  // namespace
}  // namespace neap::kernels
