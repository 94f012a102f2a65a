// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A training whose optimizer and weights have most of the memory, for tests of
// those that are in a file.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/base/sanitizer.hpp"
#include "neap/compile/born_away.hpp"
#include "neap/compile/compile_for_test.hpp"
#include "neap/files/door.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/memory/budget.hpp"
#include "neap/memory/out_of_memory.hpp"
#include "neap/nn/init.hpp"
#include "neap/nn/module.hpp"
#include "neap/ops/ops.hpp"
#include "neap/optim/adam.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/generator.hpp"

namespace neap::compiler {

using Rows = std::vector<std::vector<float>>;

// Layers with AdamW: 8 bytes of state a parameter. A door and a generator of
// its own, so that two trainings with the same calls have the same numbers.
class AwayNet {
 public:
  static constexpr std::int64_t kWidth = 192;
  static constexpr int kLayers = 8;
  static constexpr int kMoments = 2 * kLayers;
  static constexpr Bytes kWeights = kLayers * kWidth * kWidth * 4;
  static constexpr Bytes kState = 2 * kWeights;

  // While it is there, the training's door and generator are in use.
  struct Here {
    explicit Here(AwayNet& net)
        : use_domain(*net.domain), use_generator(net.generator) {}
    memory::UseDomain use_domain;
    UseGenerator use_generator;
  };

  // `born`: weights are made in this file, in so much memory besides.
  explicit AwayNet(bool is_rehearsal = false,
                   const SpillOptions* born = nullptr, Bytes room = kUnlimited)
      : domain(memory::Domain::create({.is_rehearsal = is_rehearsal})) {
    const Here here(*this);
    std::optional<Budget> budget;
    std::optional<BornAway> away;
    if (born != nullptr) {
      budget.emplace(room == kUnlimited ? room : in_use() + room);
      away.emplace(*born);
    }
    ParameterList list;
    for (int i = 0; i < kLayers; ++i) {
      weights.push_back(requires_grad_(empty({kWidth, kWidth})));
      nn::normal_(weights.back(), 0.0, 0.1);
      const std::string name = "w" + std::to_string(i);
      list.push_back({memory::String(name.c_str()), weights.back(), {}});
    }
    adam.emplace(list, optim::AdamOptions{.lr = 1e-3});
  }

  Tensor forward(const Tensor& x) const {
    Tensor y = x;
    for (const Tensor& w : weights) {
      y = tanh(matmul(y, w));
    }
    return sum(square(y));
  }
  auto function() {
    return [this](const Tensor& x) {
      Tensor loss = forward(x);
      backward(loss);
      adam->step({.release_gradients = true});
      return loss;
    };
  }
  auto compiled(const CompileOptions& options) {
    const Here here(*this);
    return neap::compile(function(), options);
  }
  Tensor batch(std::int64_t rows = 16) { return randn({rows, kWidth}); }
  // A step with the next batch; its loss.
  template <class Step>
  double run(Step& step, std::int64_t rows = 16) {
    const Here here(*this);
    return step(batch(rows)).item();
  }

  // In use, as budgets bound it.
  Bytes in_use() const {
    const memory::Stats stats = domain->stats();
    return stats.held + stats.external;
  }
  Rows values() const {
    Rows out;
    for (const Tensor& w : weights) {
      out.push_back(floats(w));
    }
    return out;
  }
  // Brings them home.
  Rows moments() const {
    Rows out;
    adam->visit_state([&](std::string_view, const Tensor& tensor) {
      out.push_back(floats(tensor));
    });
    return out;
  }
  // The number of weights without memory.
  int weights_away() const {
    return static_cast<int>(std::count_if(
        weights.begin(), weights.end(),
        [](const Tensor& w) { return w.array()->storage()->is_away(); }));
  }
  // The number of moments without memory.
  int away() const {
    int count = 0;
    adam->visit_state([&](std::string_view, const Tensor& tensor) {
      count += tensor.array()->storage()->is_away() ? 1 : 0;
    });
    return count;
  }

  memory::Domain::Handle domain;
  Generator generator{7};
  std::vector<Tensor> weights;
  std::optional<optim::AdamW> adam;
};

// The net's weights as a module, for a save and a load.
struct AwayModel : nn::Module {
  explicit AwayModel(const AwayNet& net) {
    for (std::size_t i = 0; i < net.weights.size(); ++i) {
      register_parameter("w" + std::to_string(i), net.weights[i]);
    }
  }
};

// The same weights and moments.
inline void expect_same(const AwayNet& some, const AwayNet& plain) {
  EXPECT_EQ(some.values(), plain.values());
  EXPECT_EQ(some.moments(), plain.moments());
}

// Room that all of the state has to be away for: books, threads, an arena.
inline constexpr Bytes kTight = 1600 * kKiB;
// Beside the weights that are in use then; they have to be away, too.
inline constexpr Bytes kTighter = 864 * kKiB;

class AwayTest : public ::testing::Test {
 protected:
  // Code that is touched for the first time grows the process, and is not to
  // make the plan of a process's first run another than that of its second.
  static void SetUpTestSuite() {
    static const bool is_touched = [] {
      for (const Bytes more : {512 * kKiB, 256 * kKiB}) {
        const files::TemporaryFolder folder;
        AwayNet net;
        auto step = net.compiled({.budget = net.in_use() + kTighter + more,
                                  .spill = spill_to(folder.path())});
        net.run(step);
        net.run(step);
      }
      return true;
    }();
    EXPECT_TRUE(is_touched);
  }
  static SpillOptions spill_to(const std::string& folder) {
    return {.folder = folder,
            .write_rate = 4'000'000'000,
            .fetch_rate = 4'000'000'000,
            .least = 4 * kKiB,
            .part = 64 * kKiB};  // of 144
  }
  SpillOptions spill() const { return spill_to(folder.path()); }
  // Beside what is in use now.
  CompileOptions within(const AwayNet& net, Bytes room) const {
    net.domain->trim();
    return {.budget = net.in_use() + room, .spill = spill()};
  }
  files::TemporaryFolder folder;
};

/// Tests in both rooms; in the smaller one weights are in the file, too.
class AwayRoomsTest : public AwayTest,
                      public testing::WithParamInterface<Bytes> {
 protected:
  void SetUp() override {
    if (base::kAddressSanitizer && GetParam() == kTighter) {
      GTEST_SKIP() << "other builds have the time for weights as well";
    }
  }
  static int weights() { return GetParam() == kTighter ? AwayNet::kLayers : 0; }
};

inline std::string name_of_room(const testing::TestParamInfo<Bytes>& room) {
  return room.param == kTighter ? "WeightsAndStates" : "States";
}

}  // namespace neap::compiler
