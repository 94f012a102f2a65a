// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Nobody needs the gradient of the data: of every layer but the first a step
// computes three products (its result, the gradients of its input and of its
// weight), of the first two; eagerly and compiled.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "neap/graph/recorder.hpp"
#include "neap/graph/vertex.hpp"
#include "training.hpp"

namespace neap::tests {
namespace {

using Counts = std::map<std::string, int, std::less<>>;

// Runs calls at once, and counts them by op.
class CountingRecorder final : public graph::Recorder {
 public:
  void record(const graph::OpCall& call, std::span<Tensor> outputs) override {
    ++counts_[std::string(call.op.name)];
    graph::eager().record(call, outputs);
  }
  const Counts& counts() const { return counts_; }

 private:
  Counts counts_;
};

int of(const Counts& counts, std::string_view op) {
  const auto found = counts.find(op);
  return found == counts.end() ? 0 : found->second;
}

// The products of layers, by what they compute.
struct Products {
  int convs = 0;       // and what a transposed one's input gets
  int transposed = 0;  // and what a convolution's input gets
  int weights = 0;     // gradients of both
  int linears = 0;
  int matmuls = 0;  // gradients of linear layers
  friend bool operator==(const Products&, const Products&) = default;
};

std::ostream& operator<<(std::ostream& out, const Products& p) {
  return out << p.convs << " convolutions, " << p.transposed << " transposed, "
             << p.weights << " gradients of weights, " << p.linears
             << " linear, " << p.matmuls << " products";
}

Products products_of(const Counts& counts) {
  return {of(counts, "conv2d") + of(counts, "conv2d_relu_bits"),
          of(counts, "conv_transpose2d"), of(counts, "conv2d_weight"),
          of(counts, "linear"), of(counts, "matmul")};
}

class FirstLayerTest : public ::testing::TestWithParam<Kind> {
 protected:
  // Products of a step, from the parameters: matrices or images of weights.
  static Products needed(const nn::Module& module) {
    int convs = 0;
    int transposed = 0;
    int linears = 0;
    for (const nn::Parameter& parameter : module.parameters()) {
      const bool goes_up =
          std::string_view(parameter.name).ends_with("up.weight");
      const bool is_image = parameter.tensor.rank() == 4;
      convs += is_image && !goes_up ? 1 : 0;
      transposed += is_image && goes_up ? 1 : 0;
      linears += parameter.tensor.rank() == 2 ? 1 : 0;
    }
    const int first_conv = convs > 0 ? 1 : 0;
    const int first_linear = 1 - first_conv;
    return {convs + transposed, transposed + convs - first_conv,
            convs + transposed, linears,
            linears > 0 ? 2 * linears - first_linear : 0};
  }
};

Products products_of_eager_step(Training& training, const Tensor& x,
                                const Tensor& y) {
  CountingRecorder recorder;
  const graph::UseRecorder use(&recorder);
  training.subject().differentiate(x, y);
  return products_of(recorder.counts());
}

TEST_P(FirstLayerTest, HasNoGradientOfItsInputEagerly) {
  Training training({.kind = GetParam()});
  const auto [x, y] = training.batch(0);
  const Products found = products_of_eager_step(training, x, y);
  EXPECT_EQ(found, needed(training.subject().module()));
  const Products asked = products_of_eager_step(training, requires_grad_(x), y);
  EXPECT_EQ(asked.transposed + asked.matmuls,
            found.transposed + found.matmuls + 1);
}

TEST_P(FirstLayerTest, HasNoGradientOfItsInputCompiled) {
  Training training({.kind = GetParam()});
  auto step = training.compile();
  step.prepare(training.specs());
  Counts counts;
  for (const compiler::Call& call : step.program().calls) {
    ++counts[std::string(call.name)];
  }
  EXPECT_EQ(products_of(counts), needed(training.subject().module()));
}

INSTANTIATE_TEST_SUITE_P(All, FirstLayerTest,
                         ::testing::Values(Kind::kMlp, Kind::kLeNet, Kind::kVgg,
                                           Kind::kResNet, Kind::kResNet34,
                                           Kind::kUNet),
                         kind_of);

}  // namespace
}  // namespace neap::tests
