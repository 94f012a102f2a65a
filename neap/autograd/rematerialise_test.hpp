// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Shared by the tests of rematerialised segments.
#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "neap/autograd/rematerialise.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"

namespace neap {

// Every test runs in a domain of its own and ends with nothing live.
class RematerialiseTest : public ::testing::Test {
 protected:
  ~RematerialiseTest() override { EXPECT_EQ(live(), 0); }
  Bytes live() const { return domain_->stats().live; }
  static Tensor leaf(double value) {
    return requires_grad_(scalar(value, f64));
  }
  Domain::Handle domain_ = Domain::create();
  UseDomain use_{*domain_};
};

template <class E, class F>
void expect_error(const F& f, std::string_view says) {
  try {
    f();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const E& error) {
    EXPECT_NE(std::string_view(error.what()).find(says), std::string_view::npos)
        << error.what();
  }
}

}  // namespace neap
