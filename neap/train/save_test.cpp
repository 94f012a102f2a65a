// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/train/save.hpp"

#include <gmock/gmock.h>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile.hpp"
#include "neap/files/fault_door.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/door_test.hpp"
#include "neap/testing/fail_sweep.hpp"
#include "neap/train/small_training_test.hpp"

namespace neap::train {
namespace {

using files::system_door;
using formats::NamedTensor;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two layers whose weights are one tensor.
struct Tied : nn::Module {
  nn::Linear encoder{3, 3};
  nn::Linear decoder{3, 3};
  Tied() {
    register_module("encoder", encoder);
    register_module("decoder", decoder);
    tie("decoder.weight", encoder.parameter("weight"));
  }
};

class SaveTest : public DoorTest {
 protected:
  std::string path() const { return folder_.at("net.safetensors"); }
  // All elements, in order of registration.
  static std::vector<double> values(const nn::Module& module) {
    std::vector<double> all;
    for (const ParameterList& list : {module.parameters(), module.buffers()}) {
      for (const Parameter& parameter : list) {
        const auto some = parameter.tensor.to_vector();
        all.insert(all.end(), some.begin(), some.end());
      }
    }
    return all;
  }
  static Failure failure_of(Result<LoadReport> loaded) {
    return loaded ? Failure{FailureKind::kIo, "none"} : loaded.error();
  }
  Result<void> write(std::span<const NamedTensor> tensors) const {
    return formats::write_safetensors(system_door(), path(), tensors);
  }

  files::TemporaryFolder folder_;
};

TEST_F(SaveTest, NamesAreThoseOfTheModule) {
  const Net net;
  ASSERT_TRUE(save(net, path(), {.metadata = {{"epoch", "3"}}}).has_value());
  const auto file =
      formats::SafetensorsFile::open(system_door(), path()).value();
  std::vector<std::string> names;
  for (const formats::SafetensorsEntry& entry : file.entries()) {
    names.emplace_back(entry.name);
  }
  EXPECT_THAT(names, ElementsAre("hidden.bias", "hidden.weight", "out.bias",
                                 "out.weight", "scale"));
  EXPECT_EQ(*file.find_text("format"), "pt");
  EXPECT_EQ(*file.find_text("epoch"), "3");
}

TEST_F(SaveTest, ALoadedModelHasTheBitsOfTheSavedOne) {
  Net saved;
  fill_(saved.scale, 0.25);
  ASSERT_TRUE(save(saved, path()).has_value());
  Net loaded;
  ASSERT_NE(values(loaded), values(saved));
  const auto report = neap::load(loaded, path());
  ASSERT_TRUE(report.has_value());
  EXPECT_TRUE(report->missing.empty() && report->unexpected.empty());
  EXPECT_EQ(values(loaded), values(saved));
  EXPECT_EQ(loaded.scale.item(), 0.25);  // the layer's own handle, too
}

TEST_F(SaveTest, ATiedParameterIsStoredOnce) {
  const Tied tied;
  ASSERT_TRUE(save(tied, path()).has_value());
  const auto file =
      formats::SafetensorsFile::open(system_door(), path()).value();
  EXPECT_EQ(file.entries().size(), 3U);
  EXPECT_EQ(file.find("decoder.weight"), nullptr);
  EXPECT_EQ(*file.find_text("decoder.weight"), "encoder.weight");
  Tied back;
  ASSERT_TRUE(neap::load(back, path()).has_value());
  EXPECT_EQ(values(back), values(tied));
}

TEST_F(SaveTest, ATiedParameterMayHaveAnyOfItsNamesOrAll) {
  const Tensor bias = zeros({3});
  const Tensor weight = ones({3, 3});
  const auto tensors = [&](std::initializer_list<NamedTensor> weights) {
    std::vector<NamedTensor> all(weights);
    all.push_back({"encoder.bias", bias});
    all.push_back({"decoder.bias", bias});
    return all;
  };
  Tied net;
  for (const auto& all : {tensors({{"encoder.weight", weight}}),
                          tensors({{"decoder.weight", weight}}),
                          tensors({{"encoder.weight", weight},
                                   {"decoder.weight", ones({3, 3})}})}) {
    fill_(net.parameter("encoder.weight").detach(), 0.0);
    ASSERT_TRUE(write(all).has_value());
    ASSERT_TRUE(neap::load(net, path()).has_value());
    EXPECT_EQ(net.parameter("encoder.weight").at({2, 2}), 1.0);
  }
  ASSERT_TRUE(write(tensors({{"encoder.weight", weight},
                             {"decoder.weight", zeros({3, 3})}}))
                  .has_value());
  const std::vector<double> before = values(net);
  const Failure failure = failure_of(neap::load(net, path()));
  EXPECT_EQ(failure.kind, FailureKind::kMismatch);
  EXPECT_THAT(failure.message, HasSubstr("are one tensor of the model"));
  EXPECT_EQ(values(net), before);
}

TEST_F(SaveTest, NamesThatOnlyOneHasAreAFailureIfStrict) {
  const Net net;
  ASSERT_TRUE(write(std::array{NamedTensor{"hidden.weight", ones({8, 2})},
                               NamedTensor{"hidden.gain", ones({8})}})
                  .has_value());
  Net into;
  const std::vector<double> before = values(into);
  const Failure failure = failure_of(neap::load(into, path()));
  EXPECT_EQ(failure.kind, FailureKind::kMismatch);
  EXPECT_THAT(failure.message, HasSubstr("\"hidden.bias\" is not there"));
  EXPECT_THAT(failure.message, HasSubstr("and 1 more"));
  EXPECT_EQ(values(into), before);

  const auto report = neap::load(into, path(), {.strict = false});
  ASSERT_TRUE(report.has_value());
  EXPECT_THAT(report->missing,
              ElementsAre("hidden.bias", "out.weight", "out.bias", "scale"));
  EXPECT_THAT(report->unexpected, ElementsAre("hidden.gain"));
  EXPECT_EQ(into.parameter("hidden.weight").at({7, 1}), 1.0);
}

TEST_F(SaveTest, ATensorOfAnotherShapeOrDTypeIsRefusedStrictOrNot) {
  for (const Tensor& wrong : {ones({2, 8}), ones({8, 2}, f64)}) {
    ASSERT_TRUE(write(std::array{NamedTensor{"hidden.bias", ones({8})},
                                 NamedTensor{"hidden.weight", wrong}})
                    .has_value());
    Net net;
    const std::vector<double> before = values(net);
    const Failure failure =
        failure_of(neap::load(net, path(), {.strict = false}));
    EXPECT_EQ(failure.kind, FailureKind::kMismatch);
    EXPECT_THAT(failure.message, HasSubstr("\"hidden.weight\" is f"));
    EXPECT_THAT(failure.message, HasSubstr("f32 [8, 2] here"));
    EXPECT_EQ(values(net), before);
  }
}

TEST_F(SaveTest, EveryFaultOfALoadLeavesTheModelUnchanged) {
  const Net saved;
  ASSERT_TRUE(save(saved, path()).has_value());
  Net net;
  const std::vector<double> before = values(net);
  std::int64_t n = 1;
  for (;; ++n) {
    files::FaultDoor door(system_door(), {.fail_at = n, .longest_read = 20});
    if (neap::load(net, path(), {.door = &door}).has_value()) {
      break;
    }
    ASSERT_EQ(values(net), before) << n;
  }
  EXPECT_GT(n, 15);
  EXPECT_EQ(values(net), values(saved));
}

TEST_F(SaveTest, AFileThatEndsEarlyLeavesTheModelUnchanged) {
  const Net saved;
  ASSERT_TRUE(save(saved, path()).has_value());
  const std::string whole = folder_.get("net.safetensors");
  Net net;
  const std::vector<double> before = values(net);
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    folder_.put("net.safetensors", whole.substr(0, size));
    EXPECT_EQ(failure_of(neap::load(net, path())).kind,
              FailureKind::kTruncated);
    ASSERT_EQ(values(net), before);
  }
}

TEST_F(SaveTest, EveryFailedAllocationLeavesTheModelUnchanged) {
  const Net saved;
  const auto written = testing::sweep_allocation_failures(
      *domain_, [&] { EXPECT_TRUE(save(saved, path()).has_value()); });
  EXPECT_TRUE(written.ok()) << written.problems.front();
  Net net;
  const std::vector<double> before = values(net);
  const auto read = testing::sweep_allocation_failures(
      *domain_, [&] { EXPECT_TRUE(neap::load(net, path()).has_value()); },
      [&](std::int64_t n) { ASSERT_EQ(values(net), before) << n; });
  EXPECT_TRUE(read.ok()) << read.problems.front();
  EXPECT_GT(read.failures, 10);
  EXPECT_EQ(values(net), values(saved));
}

TEST_F(SaveTest, ALoadTakesAsManyBytesAsItReads) {
  const nn::Linear saved(256, 64);
  ASSERT_TRUE(save(saved, path()).has_value());
  nn::Linear net(256, 64);
  domain_->reset_peak();
  const Bytes before = domain_->stats().live;
  ASSERT_TRUE(neap::load(net, path()).has_value());
  const Bytes more = domain_->stats().live_peak - before;
  EXPECT_GE(more, saved.parameter_bytes());
  EXPECT_LE(more, saved.parameter_bytes() + 8 * kKiB);
  EXPECT_EQ(domain_->stats().live, before);
}

TEST_F(SaveTest, ACompiledFunctionGoesOnWithTheLoadedValues) {
  const nn::Linear saved(4, 3);
  ASSERT_TRUE(save(saved, path()).has_value());
  nn::Linear net(4, 3);
  const NoGrad no_grad;
  auto forward = neap::compile([&](const Tensor& x) { return net(x); });
  const Tensor x = rand({2, 4});
  forward(x);
  ASSERT_TRUE(neap::load(net, path()).has_value());
  nn::Linear plain(4, 3);
  ASSERT_TRUE(neap::load(plain, path()).has_value());
  EXPECT_EQ(forward(x).to_vector(), plain(x).to_vector());
}

TEST_F(SaveTest, ABackwardThatNeedsTheOldValuesRefuses) {
  nn::Linear net(4, 3);
  ASSERT_TRUE(save(net, path()).has_value());
  const Tensor x = requires_grad_(rand({2, 4}));
  const Tensor y = sum(net(x));
  ASSERT_TRUE(neap::load(net, path()).has_value());
  EXPECT_THROW(backward(y), GraphError);
}

}  // namespace
}  // namespace neap::train
