// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Models of Hugging Face's folders, and tensors beside what was recorded of
// them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tuple>

#include "distance.hpp"
#include "neap/models/pretrained.hpp"

namespace neap::models::testing {

/// Relative to the whole tensor's norm, or to `least` where that is more: small
/// gradients are differences of large ones.
struct Tolerance {
  double relative = 0;
  double least = 0;
};

/// A file of golden/, read.
inline nlohmann::json read_golden(const char* name) {
  return nlohmann::json::parse(
      std::ifstream(std::string(NEAP_MODELS_GOLDEN "/") + name));
}

/// A case of a file and the dtype that its model computes in.
using Case = std::tuple<std::size_t, DType>;

/// Tests of the cases of a file.
class GoldenTest : public ::testing::TestWithParam<Case> {
 protected:
  explicit GoldenTest(const nlohmann::json& file) : file_(file) {}

  const nlohmann::json& entry() const {
    return file_["cases"][std::get<0>(GetParam())];
  }
  DType dtype() const { return std::get<1>(GetParam()); }
  memory::Owned<nn::Layer> read(bool keep_layers = true) const {
    return from_pretrained(
               NEAP_MODELS_GOLDEN "/" + entry()["name"].get<std::string>(),
               {.dtype = dtype(), .keep_layers = keep_layers})
        .value();
  }

 private:
  const nlohmann::json& file_;
  memory::Domain::Handle domain_ = memory::Domain::create();
  memory::UseDomain use_{*domain_};
};

inline std::string name_of_case(const nlohmann::json& file, const Case& which) {
  return file["cases"][std::get<0>(which)]["name"].get<std::string>() + "_" +
         std::string(name_of(std::get<1>(which)));
}

/// `wanted`: the norm, and the sum of element i times cos(0.3 i).
inline void expect_summary(const nlohmann::json& wanted, const Tensor& got,
                           const Tolerance& tolerance, std::string_view name) {
  double square = 0;
  double projection = 0;
  double i = 0;
  for (const double value : got.to_vector()) {
    square += value * value;
    projection += value * std::cos(0.3 * i);
    i += 1;
  }
  const double norm = wanted[0].get<double>();
  const double limit = tolerance.relative * std::max(norm, tolerance.least);
  EXPECT_NEAR(std::sqrt(square), norm, limit) << name;
  EXPECT_NEAR(projection, wanted[1].get<double>(), 4 * limit) << name;
}

}  // namespace neap::models::testing
