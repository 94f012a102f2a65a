// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/formats/safetensors.hpp"

#include <gmock/gmock.h>

#include <bit>
#include <cstring>
#include <limits>

#include "neap/files/fault_door.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/formats/json_cursor.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/door_test.hpp"
#include "neap/testing/fail_sweep.hpp"

namespace neap::formats {
namespace {

using files::system_door;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SafetensorsTest : public DoorTest {
 protected:
  std::string path() const { return folder_.at("x.safetensors"); }
  Result<void> write(std::span<const NamedTensor> tensors,
                     const Metadata& metadata = {}) const {
    return write_safetensors(system_door(), path(), tensors, metadata);
  }
  SafetensorsFile open() const {
    return SafetensorsFile::open(system_door(), path()).value();
  }

  files::TemporaryFolder folder_;
};

Tensor transposed(const Tensor& tensor) {
  return Tensor(
      tensor::Array::make(tensor.array()->storage(),
                          tensor::permuted(tensor.array()->layout(), {1, 0})));
}

TEST_F(SafetensorsTest, WritesTheBytesOfTheFormat) {
  const std::array tensors = {
      NamedTensor{"b", from_values({1.0, 2.0}, {2})},
      NamedTensor{"a", from_values({3.0}, {}, i64)},
      NamedTensor{"c", from_values({7.0, 8.0, 9.0}, {3, 1}, u8)}};
  ASSERT_TRUE(write(tensors, {{"z", "1"}, {"format", "pt"}}).has_value());
  const std::string header =
      R"({"__metadata__":{"neap.xxh3.header":"b7c46f6c5aac15ad",)"
      R"("neap.xxh3.tensors":"4d922029c1f42e7d4de8d78f7134f4b739372d8b3daea467")"
      R"(,"format":"pt","z":"1"},)"
      R"("a":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
      R"("b":{"dtype":"F32","shape":[2],"data_offsets":[8,16]},)"
      R"("c":{"dtype":"U8","shape":[3,1],"data_offsets":[16,19]}})";
  const std::string padded =
      header + std::string((8 - header.size() % 8) % 8, ' ');
  std::string expected(8, '\0');
  expected[0] = static_cast<char>(padded.size() % 256);
  expected[1] = static_cast<char>(padded.size() / 256);
  expected += padded;
  expected += std::string("\3\0\0\0\0\0\0\0\0\0\x80\x3F\0\0\0\x40\7\x8\x9", 19);
  EXPECT_EQ(folder_.get("x.safetensors"), expected);
}

TEST_F(SafetensorsTest, HeadersOfAnyLengthEndAtTheNextEightBytes) {
  const std::array tensors = {NamedTensor{"x", zeros({1})}};
  for (std::size_t length = 9000; length < 9008; ++length) {
    const memory::String text(length, 't');
    ASSERT_TRUE(write(tensors, {{"key", text}}).has_value());
    EXPECT_EQ(*open().find_text("key"), text);
    const std::string bytes = folder_.get("x.safetensors");
    const std::size_t data = bytes.size() - 4;
    EXPECT_EQ(data % 8, 0U);
    EXPECT_LT(data - (bytes.rfind("}}") + 2), 8U);
  }
}

TEST_F(SafetensorsTest, TheOrderGivenChangesNoByte) {
  const NamedTensor a{"a", from_values({1.0}, {1})};
  const NamedTensor b{"b", from_values({2.0}, {1})};
  ASSERT_TRUE(write(std::array{a, b}).has_value());
  const std::string first = folder_.get("x.safetensors");
  ASSERT_TRUE(write(std::array{b, a}).has_value());
  EXPECT_EQ(folder_.get("x.safetensors"), first);
}

TEST_F(SafetensorsTest, ReadsEveryDTypeBackBitForBit) {
  for (const DType dtype : {f32, f64, bf16, i32, i64, u8, boolean}) {
    const Tensor from = from_values({0, 1, 0, 1, 1, 1}, {2, 3}, dtype);
    ASSERT_TRUE(write(std::array{NamedTensor{"x", from}}).has_value());
    SafetensorsFile file = open();
    const Tensor back = file.read(*file.find("x")).value();
    EXPECT_EQ(back.dtype(), dtype);
    EXPECT_EQ(back.shape(), from.shape());
    EXPECT_EQ(
        std::memcmp(back.array()->strided().data, from.array()->strided().data,
                    static_cast<std::size_t>(6 * size_of(dtype))),
        0);
  }
}

TEST_F(SafetensorsTest, KeepsTheBitsOfNumbersThatAreNone) {
  const Tensor from = empty({2});
  const auto values = from.detach().mutable_values<float>();
  values[0] = -std::numeric_limits<float>::quiet_NaN();
  values[1] = -0.0F;
  ASSERT_TRUE(write(std::array{NamedTensor{"x", from}}).has_value());
  const Tensor into = zeros({2});
  ASSERT_TRUE(read_safetensors(system_door(), path(),
                               std::array{NamedTensor{"x", into}})
                  .has_value());
  const auto bits = [](float value) {
    return std::bit_cast<std::uint32_t>(value);
  };
  const auto found = into.values<float>();
  EXPECT_EQ(bits(found[0]), bits(values[0]));
  EXPECT_EQ(bits(found[1]), bits(values[1]));
}

TEST_F(SafetensorsTest, ListsWhatIsThereWithoutReadingIt) {
  const std::array tensors = {NamedTensor{"w", zeros({2, 3})},
                              NamedTensor{"n", zeros({}, i64)},
                              NamedTensor{"none", zeros({0, 5})}};
  ASSERT_TRUE(write(tensors, {{"k", "v \"\n\xC3\xA9"}}).has_value());
  const SafetensorsFile file = open();
  std::vector<std::string> names;
  for (const SafetensorsEntry& entry : file.entries()) {
    names.emplace_back(entry.name);
  }
  EXPECT_THAT(names, ElementsAre("n", "none", "w"));
  EXPECT_EQ(file.find("w")->shape, Shape({2, 3}));
  EXPECT_EQ(file.find("w")->dtype, f32);
  EXPECT_EQ(file.find("none")->shape, Shape({0, 5}));
  EXPECT_EQ(file.find("x"), nullptr);
  ASSERT_NE(find_key(file.metadata(), "k"), nullptr);
  EXPECT_EQ(*find_key(file.metadata(), "k"), "v \"\n\xC3\xA9");
  EXPECT_EQ(find_key(file.metadata(), "w"), nullptr);
  EXPECT_EQ(file.find_text("k"), find_key(file.metadata(), "k"));
  EXPECT_EQ(file.find_text("a"), nullptr);
  EXPECT_EQ(file.find_text("z"), nullptr);
}

TEST_F(SafetensorsTest, AFileWithoutTensorsIsOne) {
  ASSERT_TRUE(write({}).has_value());
  EXPECT_TRUE(open().entries().empty());
  EXPECT_EQ(folder_.get("x.safetensors"),
            std::string("P\0\0\0\0\0\0\0", 8) +
                R"({"__metadata__":{"neap.xxh3.header":"acc769ca24e87542",)"
                R"("neap.xxh3.tensors":""}} )");
}

TEST_F(SafetensorsTest, TakesTensorsOfAnyStrides) {
  const Tensor dense = rand({150, 70});  // more than one buffer
  ASSERT_TRUE(
      write(std::array{NamedTensor{"x", transposed(dense)}}).has_value());
  SafetensorsFile file = open();
  const Tensor plain = file.read(*file.find("x")).value();
  EXPECT_EQ(plain.shape(), Shape({70, 150}));
  EXPECT_EQ(plain.at({3, 149}), dense.at({149, 3}));
  EXPECT_EQ(plain.to_vector(), transposed(dense).to_vector());
  const Tensor back = zeros({150, 70});
  ASSERT_TRUE(file.read(*file.find("x"), transposed(back)).has_value());
  EXPECT_EQ(back.to_vector(), dense.to_vector());
}

TEST_F(SafetensorsTest, ReadsPartsOfATensor) {
  ASSERT_TRUE(write(std::array{NamedTensor{"a", ones({3})},
                               NamedTensor{"x", arange(10)}})
                  .has_value());
  SafetensorsFile file = open();
  const SafetensorsEntry& x = *file.find("x");
  std::array<float, 3> part{};
  const auto into = std::as_writable_bytes(std::span(part));
  ASSERT_TRUE(file.read_elements(x, 7, into).has_value());
  EXPECT_THAT(part, ElementsAre(7, 8, 9));
  ASSERT_TRUE(file.read_elements(x, 0, into).has_value());
  EXPECT_THAT(part, ElementsAre(0, 1, 2));
  EXPECT_TRUE(file.read_elements(x, 10, {}).has_value());
  EXPECT_THROW(static_cast<void>(file.read_elements(x, 11, {})), ValueError);
  EXPECT_THROW(static_cast<void>(file.read_elements(x, 8, into)), ValueError);
  EXPECT_THROW(static_cast<void>(file.read_elements(x, -1, into)), ValueError);
  EXPECT_THROW(static_cast<void>(file.read_elements(x, 0, into.first(3))),
               ValueError);
}

TEST_F(SafetensorsTest, PartsOutOfOrderAreNotComparedWithTheChecksum) {
  ASSERT_TRUE(write(std::array{NamedTensor{"x", arange(10)}}).has_value());
  SafetensorsFile file = open();
  const SafetensorsEntry& x = *file.find("x");
  std::array<float, 3> part{};
  const auto into = std::as_writable_bytes(std::span(part));
  ASSERT_TRUE(file.read_elements(x, 0, into.first(4)).has_value());
  for (int time = 0; time < 3; ++time) {
    ASSERT_TRUE(file.read_elements(x, 7, into).has_value());
    EXPECT_THAT(part, ElementsAre(7, 8, 9));
  }
}

TEST_F(SafetensorsTest, RefusesTensorsThatAreNotWhatTheFileHas) {
  const std::array tensors = {NamedTensor{"a", ones({2})},
                              NamedTensor{"b", ones({2})}};
  ASSERT_TRUE(write(tensors).has_value());
  const Tensor a = zeros({2});
  for (const NamedTensor& wrong :
       {NamedTensor{"b", zeros({3})}, NamedTensor{"b", zeros({2}, f64)},
        NamedTensor{"b", zeros({2, 1})}, NamedTensor{"c", zeros({2})}}) {
    const auto read = read_safetensors(system_door(), path(),
                                       std::array{NamedTensor{"a", a}, wrong});
    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().kind, FailureKind::kMismatch);
    EXPECT_EQ(a.at({0}), 0.0);  // nothing was read
  }
  SafetensorsFile file = open();
  EXPECT_EQ(file.read(*file.find("b"), zeros({3})).error().kind,
            FailureKind::kMismatch);
}

TEST_F(SafetensorsTest, RefusesNamesThatAFileCannotHave) {
  const Tensor x = ones({1});
  const auto refused = [&](std::string_view name) {
    EXPECT_THROW(static_cast<void>(write(std::array{NamedTensor{name, x}})),
                 NameError);
  };
  refused("__metadata__");
  refused("\xFF");
  EXPECT_THROW(static_cast<void>(
                   write(std::array{NamedTensor{"a", x}, NamedTensor{"a", x}})),
               NameError);
  EXPECT_THROW(static_cast<void>(write({}, {{"k", "1"}, {"k", "2"}})),
               NameError);
  EXPECT_THROW(static_cast<void>(write({}, {{"k", "\xC0"}})), NameError);
  EXPECT_FALSE(system_door().exists(path()).value());
}

TEST_F(SafetensorsTest, WritesNoHeaderThatWouldNotBeRead) {
  Metadata metadata = {{"k", ""}};
  ASSERT_TRUE(write({}, metadata).has_value());
  const std::size_t rest = folder_.get("x.safetensors").rfind('}') + 1 - 8;
  const auto most = static_cast<std::size_t>(kMaxSafetensorsHeader);
  metadata[0].value.assign((most - rest) / 6, '\1');  // 6 bytes each: \u0001
  metadata[0].value.append((most - rest) % 6 + 1, 'v');
  EXPECT_THROW(rehearse_safetensors({}, metadata), ValueError);
  metadata[0].value.pop_back();
  rehearse_safetensors({}, metadata);
}

TEST_F(SafetensorsTest, EveryFaultOfAWriteLeavesTheOldFileOrTheNew) {
  const std::array before = {NamedTensor{"x", zeros({1000})}};
  const std::array after = {NamedTensor{"x", ones({1000})},
                            NamedTensor{"y", ones({3}, i64)}};
  const auto value = [&] {
    SafetensorsFile file = open();
    return file.read(*file.find("x")).value().at({999});
  };
  for (const bool is_killed : {false, true}) {
    std::int64_t n = 1;
    for (bool is_done = false; !is_done; ++n) {
      ASSERT_TRUE(write(before).has_value());
      files::FaultDoor door(system_door(), {.fail_at = is_killed ? 0 : n,
                                            .stop_at = is_killed ? n : 0,
                                            .longest_write = 1500});
      const auto written = write_safetensors(door, path(), after);
      is_done = written.has_value();
      const bool is_renamed =
          is_done ||
          written.error().message.find("sync folder") != std::string::npos;
      EXPECT_EQ(value(), is_renamed ? 1.0 : 0.0) << n;
    }
    EXPECT_GT(n, 10);
    EXPECT_EQ(value(), 1.0);
  }
}

TEST_F(SafetensorsTest, EveryFaultOfAReadIsAFailure) {
  const std::array tensors = {NamedTensor{"x", ones({500})},
                              NamedTensor{"y", ones({3})}};
  ASSERT_TRUE(write(tensors).has_value());
  const std::array into = {NamedTensor{"x", zeros({500})},
                           NamedTensor{"y", zeros({3})}};
  std::int64_t n = 1;
  for (;; ++n) {
    files::FaultDoor door(system_door(), {.fail_at = n, .longest_read = 700});
    const auto read = read_safetensors(door, path(), into);
    if (read.has_value()) {
      break;
    }
    EXPECT_EQ(read.error().kind, FailureKind::kIo);
  }
  EXPECT_GT(n, 7);
  EXPECT_EQ(into[0].tensor.at({499}), 1.0);
}

TEST_F(SafetensorsTest, AFileThatBecomesShorterIsTruncated) {
  ASSERT_TRUE(write(std::array{NamedTensor{"x", ones({500})}}).has_value());
  SafetensorsFile file = open();
  const std::string whole = folder_.get("x.safetensors");
  folder_.put("x.safetensors", whole.substr(0, whole.size() - 1));
  const auto read = file.read(*file.find("x"));
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().kind, FailureKind::kTruncated);
}

TEST_F(SafetensorsTest, ABoolThatIsNeitherZeroNorOneIsRefused) {
  ASSERT_TRUE(
      write(std::array{NamedTensor{"x", ones({3}, boolean)}}).has_value());
  std::string bytes = folder_.get("x.safetensors");
  bytes.back() = '\2';
  folder_.put("x.safetensors", bytes);
  SafetensorsFile file = open();
  const auto read = file.read(*file.find("x"));
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().kind, FailureKind::kCorrupt);
  EXPECT_THAT(read.error().message, HasSubstr("\"x\" has a bool"));
}

// The length of a number does not matter either.
TEST_F(SafetensorsTest, WritingAllocatesWhatItsDryRunDoes) {
  const std::array tensors = {NamedTensor{"x", ones({5})},
                              NamedTensor{"y", ones({3, 7})}};
  const auto most_of = [&](const auto& act) {
    domain_->reset_peak();
    const Bytes before = domain_->stats().live;
    act();
    EXPECT_EQ(domain_->stats().live, before);
    return domain_->stats().live_peak - before;
  };
  const Metadata metadata = {{"step", "1"}, {"rate", "0.001"}};
  const Metadata later = {{"step", "123456789"}, {"rate", "0.00098765432"}};
  const Bytes rehearsed =
      most_of([&] { rehearse_safetensors(tensors, metadata); });
  EXPECT_GT(rehearsed, 0);
  EXPECT_EQ(most_of([&] { EXPECT_TRUE(write(tensors, metadata)); }), rehearsed);
  EXPECT_EQ(most_of([&] { EXPECT_TRUE(write(tensors, later)); }), rehearsed);
}

TEST_F(SafetensorsTest, EveryRefusalOfMemoryLeavesNothing) {
  const std::array tensors = {
      NamedTensor{"a name that is longer than a small string", ones({5})},
      NamedTensor{"y", ones({3})}};
  const Metadata metadata = {{"key", "a text that is longer, too, than some"}};
  const auto written = testing::sweep_allocation_failures(
      *domain_, [&] { EXPECT_TRUE(write(tensors, metadata).has_value()); });
  EXPECT_TRUE(written.ok()) << written.problems.front();
  EXPECT_GT(written.failures, 2);
  const auto read = testing::sweep_allocation_failures(*domain_, [&] {
    SafetensorsFile file = open();
    EXPECT_EQ(file.read(*file.find("y")).value().at({2}), 1.0);
  });
  EXPECT_TRUE(read.ok()) << read.problems.front();
  EXPECT_GT(read.failures, 5);
}

}  // namespace
}  // namespace neap::formats
