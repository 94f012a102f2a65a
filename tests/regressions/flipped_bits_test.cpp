// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Files with one bit flipped were loaded as other numbers: 593 of 600 flips in
// the data, a learning rate of 1.001, a step of 7.
#include <gmock/gmock.h>

#include <fstream>
#include <random>
#include <string>

#include "neap/base/sanitizer.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/nn/linear.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/optim/adam.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/door_test.hpp"
#include "neap/train/checkpoint.hpp"
#include "neap/train/save.hpp"
#include "neap/train/state_hash.hpp"

namespace neap::tests {
namespace {

using files::system_door;
using formats::Verify;
using ::testing::HasSubstr;
using train::Checkpoint;
using train::Position;

// A model with state of an optimizer that has made a few steps.
struct SmallRun {
  explicit SmallRun(std::uint64_t seed, std::int64_t width = 2)
      : generator(seed), use(generator), net(3, width) {
    for (const Parameter& parameter : net.parameters()) {
      neap::set_grad(parameter.tensor, ones_like(parameter.tensor));
    }
    adam.step();
  }
  std::uint64_t hash() const { return train::state_hash(net, adam, generator); }
  Checkpoint checkpoint(Verify verify = Verify::kOn) {
    return {.model = net,
            .optimizer = adam,
            .generator = generator,
            .position = {.step = 5, .epoch = 1, .batch = 2},
            .facts = {{"batch", "7"}},
            .verify = verify};
  }

  Generator generator;
  UseGenerator use;
  nn::Linear net;
  optim::Adam adam{net.parameters(), optim::AdamOptions{}};
};

class FlippedBitsTest : public DoorTest {
 protected:
  std::string path() const { return folder_.at("x.safetensors"); }
  std::size_t bits() const { return 8 * folder_.get("x.safetensors").size(); }
  void flip(std::size_t bit) const {
    std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
    const auto at = static_cast<std::streamoff>(bit / 8);
    file.seekg(at);
    const int byte = file.get() ^ (1 << (bit % 8));
    file.seekp(at);
    file.put(static_cast<char>(byte));
  }

  files::TemporaryFolder folder_;
};

TEST_F(FlippedBitsTest, EveryBitOfACheckpointIsNoticedAndChangesNothing) {
  SmallRun saved(1);
  ASSERT_TRUE(saved.checkpoint().save(path()).has_value());
  SmallRun other(2);
  const std::uint64_t before = other.hash();
  const std::size_t stride = base::kAddressSanitizer ? 7 : 1;
  for (std::size_t bit = 0; bit < bits(); bit += stride) {
    flip(bit);
    Checkpoint checkpoint = other.checkpoint();
    checkpoint.position = {};
    const auto loaded = checkpoint.load(path());
    ASSERT_FALSE(loaded.has_value()) << "bit " << bit;
    ASSERT_EQ(checkpoint.position, Position{}) << "bit " << bit;
    ASSERT_EQ(other.hash(), before) << "bit " << bit;
    flip(bit);
  }
  EXPECT_TRUE(other.checkpoint().load(path()).has_value());
  EXPECT_EQ(other.hash(), saved.hash());
}

TEST_F(FlippedBitsTest, SixHundredAnywhereInALargerModelAreNoticed) {
  SmallRun saved(1, 700);
  ASSERT_TRUE(neap::save(saved.net, path()).has_value());
  SmallRun other(2, 700);
  const std::uint64_t before = other.hash();
  std::minstd_rand random(11);
  for (int i = 0; i < 600; ++i) {
    const std::size_t bit = random() % bits();
    flip(bit);
    ASSERT_FALSE(neap::load(other.net, path()).has_value()) << "bit " << bit;
    ASSERT_EQ(other.hash(), before) << "bit " << bit;
    flip(bit);
  }
  EXPECT_TRUE(neap::load(other.net, path()).has_value());
}

TEST_F(FlippedBitsTest, TheTensorIsNamed) {
  SmallRun saved(1);
  ASSERT_TRUE(saved.checkpoint().save(path()).has_value());
  SmallRun other(2);
  flip(bits() - 1);  // of the last by size and name
  const auto loaded = other.checkpoint().load(path());
  ASSERT_FALSE(loaded.has_value());
  EXPECT_EQ(loaded.error().kind, FailureKind::kCorrupt);
  EXPECT_THAT(loaded.error().message, HasSubstr("\"weight\""));
  EXPECT_THAT(loaded.error().message, HasSubstr("checksum"));
}

TEST_F(FlippedBitsTest, APieceAtATimeIsCheckedAtItsEnd) {
  const Tensor x = arange(5000);
  ASSERT_TRUE(
      formats::write_safetensors(system_door(), path(),
                                 std::array{formats::NamedTensor{"x", x}})
          .has_value());
  flip(bits() - 20'000);
  auto file = formats::SafetensorsFile::open(system_door(), path()).value();
  const formats::SafetensorsEntry& entry = *file.find("x");
  std::array<float, 1000> piece{};
  const auto into = std::as_writable_bytes(std::span(piece));
  for (std::int64_t first = 0; first < 4000; first += 1000) {
    EXPECT_TRUE(file.read_elements(entry, first, into).has_value());
  }
  EXPECT_FALSE(file.read_elements(entry, 4000, into).has_value());
  const Tensor gaps = zeros({5000, 2});
  EXPECT_FALSE(file.read(entry, select(gaps, 1, 0)).has_value());
}

TEST_F(FlippedBitsTest, WithoutVerificationTheFileIsReadAsItIs) {
  SmallRun saved(1);
  ASSERT_TRUE(saved.checkpoint().save(path()).has_value());
  SmallRun other(2);
  flip(bits() - 1);
  EXPECT_TRUE(other.checkpoint(Verify::kOff).load(path()).has_value());
  EXPECT_NE(other.hash(), saved.hash());
}

TEST_F(FlippedBitsTest, AFileOfOthersHasNoChecksumsAndIsReadAsItIs) {
  const std::string header =
      R"({"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})";
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(header.size());
  folder_.put("x.safetensors", bytes + header + "\7\11");
  auto file = formats::SafetensorsFile::open(system_door(), path()).value();
  EXPECT_FALSE(file.has_checksums());
  EXPECT_EQ(file.read(*file.find("x")).value().at({1}), 9.0);
}

}  // namespace
}  // namespace neap::tests
