// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Subject: something small that can be trained, and batches for it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "neap/nn/module.hpp"
#include "neap/tensor/layout.hpp"

namespace neap::tests {

enum class Kind : std::uint8_t {
  kMlp,
  kLeNet,
  kVgg,      // batch norms: whose buffers a step writes
  kResNet,   // residual sums
  kUNet,     // a class for every pixel
  kGpt,      // keeps everything that backward reads
  kGptAnew,  // computes its blocks anew in backward
  kLstm,
  kGruLm,
  kNewton,  // conjugate gradients over Hessian-vector products
  kResNet34,
  kGptProducts,  // keeps products of matrices alone
  kGptRotary,    // rotary positions, swiglu, neither biases nor a tied head
  kLstmLm,
};

/// A network of each kind.
inline constexpr std::array kFewKinds{
    Kind::kMlp, Kind::kLeNet,   Kind::kVgg,  Kind::kResNet, Kind::kUNet,
    Kind::kGpt, Kind::kGptAnew, Kind::kLstm, Kind::kGruLm,  Kind::kNewton};

inline constexpr std::array kAllKinds{
    Kind::kMlp,       Kind::kLeNet,  Kind::kVgg,      Kind::kResNet,
    Kind::kUNet,      Kind::kGpt,    Kind::kGptAnew,  Kind::kLstm,
    Kind::kGruLm,     Kind::kNewton, Kind::kResNet34, Kind::kGptProducts,
    Kind::kGptRotary, Kind::kLstmLm};

/// Every model of the room, and every form of Gpt.
inline constexpr std::array kEveryModel{
    Kind::kMlp,         Kind::kLeNet,     Kind::kVgg,  Kind::kResNet,
    Kind::kResNet34,    Kind::kUNet,      Kind::kGpt,  Kind::kGptAnew,
    Kind::kGptProducts, Kind::kGptRotary, Kind::kLstm, Kind::kLstmLm,
    Kind::kGruLm};

const char* name_of(Kind kind);

class Subject {
 public:
  virtual ~Subject() = default;
  virtual nn::Module& module() = 0;
  /// The loss; afterwards each parameter has a gradient (for Newton's method,
  /// the direction in which it goes).
  virtual Tensor differentiate(const Tensor& x, const Tensor& y) = 0;
  virtual std::array<tensor::Spec, 2> specs(std::int64_t batch) const = 0;
  /// Labels are below this.
  virtual std::int64_t classes() const = 0;
};

std::unique_ptr<Subject> make_subject(Kind kind);

}  // namespace neap::tests
