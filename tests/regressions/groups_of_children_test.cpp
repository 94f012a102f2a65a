// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A checkpoint could not be saved when two groups of the optimizer were made of
// children whose parameters have the same names.
#include <gmock/gmock.h>

#include "neap/files/temporary_folder.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/nn/linear.hpp"
#include "neap/optim/adam.hpp"
#include "neap/optim/sgd.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/door_test.hpp"
#include "neap/train/checkpoint.hpp"
#include "neap/train/state_hash.hpp"

namespace neap::tests {
namespace {

struct Pair : nn::Module {
  nn::Linear a{2, 3};
  nn::Linear b{2, 3};
  Pair() {
    register_module("a", a);
    register_module("b", b);
  }
};

// Groups of the children, in the order given; each parameter has a gradient of
// its own, so that states cannot be taken for one another.
struct Training {
  explicit Training(bool is_a_first = true)
      : adam((is_a_first ? net.a : net.b).parameters(),
             optim::AdamOptions{.lr = 0.5}) {
    adam.add_group((is_a_first ? net.b : net.a).parameters(),
                   optim::AdamOptions{.lr = 0.25});
  }
  void step(double gradient) {
    for (const Parameter& parameter : net.parameters()) {
      gradient += 1.0;
      neap::set_grad(parameter.tensor,
                     full(parameter.tensor.shape(), gradient));
    }
    adam.step();
  }
  train::Checkpoint checkpoint() {
    return {.model = net, .optimizer = adam, .generator = generator};
  }
  std::uint64_t hash() const { return train::state_hash(net, adam, generator); }

  Generator generator{1};
  UseGenerator use{generator};
  Pair net;
  optim::Adam adam;
};

class GroupsOfChildrenTest : public DoorTest {
 protected:
  std::string path() const { return folder_.at("x.safetensors"); }
  files::TemporaryFolder folder_;
};

TEST_F(GroupsOfChildrenTest, AreSavedAndLoadedByTheirPathsInTheModel) {
  Training saved;
  saved.step(0.0);
  ASSERT_TRUE(saved.checkpoint().save(path()).has_value());
  const auto file =
      formats::SafetensorsFile::open(files::system_door(), path()).value();
  for (const char* name :
       {"optimizer.exp_avg.a.weight", "optimizer.exp_avg.b.weight",
        "optimizer.exp_avg_sq.a.bias", "optimizer.exp_avg_sq.b.bias"}) {
    EXPECT_NE(file.find(name), nullptr) << name;
  }
  Training other;
  other.step(5.0);
  ASSERT_TRUE(other.checkpoint().load(path()).has_value());
  EXPECT_EQ(other.hash(), saved.hash());
  saved.step(1.0);
  other.step(1.0);
  EXPECT_EQ(other.hash(), saved.hash());
}

TEST_F(GroupsOfChildrenTest, AStateGoesToItsParameterWhateverTheOrder) {
  Training saved;
  saved.step(0.0);
  ASSERT_TRUE(saved.checkpoint().save(path()).has_value());
  Training other(false);
  ASSERT_TRUE(other.checkpoint().load(path()).has_value());
  const auto state_of = [](const Training& run, const Tensor& parameter) {
    const auto state = run.adam.state();
    for (std::size_t i = 0; i < state.slots.size(); ++i) {
      if (run.adam.parameters()[i].tensor.link() == parameter.link()) {
        return state.slots[i].tensors[0].to_vector();
      }
    }
    return memory::Vector<double>();
  };
  EXPECT_EQ(state_of(other, other.net.a.weight()),
            state_of(saved, saved.net.a.weight()));
  EXPECT_EQ(state_of(other, other.net.b.weight()),
            state_of(saved, saved.net.b.weight()));
  EXPECT_NE(state_of(other, other.net.a.weight()),
            state_of(other, other.net.b.weight()));
}

// A file without checksums, as files were before there were any.
TEST_F(GroupsOfChildrenTest, AnOldFileHasTheNamesOfTheOptimizer) {
  struct One : nn::Module {
    nn::Linear part{2, 3};
    One() { register_module("part", part); }
  };
  One net;
  optim::SGD sgd(net.part.parameters(), {.lr = 0.5});
  Generator generator(1);
  train::Checkpoint checkpoint{
      .model = net, .optimizer = sgd, .generator = generator};
  ASSERT_TRUE(checkpoint.save(path()).has_value());
  std::string bytes = folder_.get("x.safetensors");
  for (std::size_t at = 0;
       (at = bytes.find("updates.part.", at)) != std::string::npos;) {
    bytes.replace(at, 13, "updates.");
  }
  const std::size_t begin = bytes.find("\"neap.xxh3.header\"");
  bytes.erase(begin, bytes.find("\"format\"") - begin);
  const std::size_t length = bytes.find("]}}") + 3 - 8;
  const std::size_t padding = bytes.find_first_not_of(' ', 8 + length);
  bytes.erase(8 + length, padding - 8 - length);
  bytes[0] = static_cast<char>(length % 256);
  bytes[1] = static_cast<char>(length / 256);
  folder_.put("x.safetensors", bytes);
  const auto loaded = checkpoint.load(path());
  EXPECT_TRUE(loaded.has_value()) << loaded.error().message;
}

}  // namespace
}  // namespace neap::tests
