// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Samples without elements were read at a null address.
#include <gtest/gtest.h>

#include "neap/data/loader.hpp"
#include "neap/data/tensor_set.hpp"
#include "neap/tensor/create.hpp"

namespace neap::data {
namespace {

TEST(EmptySamplesTest, HaveRowsOfNoBytes) {
  for (const int prefetch : {0, 2}) {
    const TensorSet set(zeros({4, 0}), arange(4, i64));
    Loader loader(set, {.batch = 3, .prefetch = prefetch});
    std::int64_t samples = 0;
    for (const Batch& batch : loader.epoch(0)) {
      EXPECT_EQ(batch.input.shape(), (Shape{batch.size(), 0}));
      EXPECT_EQ(batch.target.to_vector()[0], static_cast<double>(samples));
      samples += batch.size();
    }
    EXPECT_EQ(samples, 4);
  }
}

TEST(EmptySamplesTest, BothHalvesMayBeEmpty) {
  const TensorSet set(zeros({4, 2, 0}), zeros({4, 0, 3}));
  Loader loader(set, {.batch = 4});
  loader.start(0);
  EXPECT_EQ(loader.next()->target.shape(), (Shape{4, 0, 3}));
}

}  // namespace
}  // namespace neap::data
