// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Loading by other names, dtypes and shapes than the module has.
#include <gmock/gmock.h>

#include <cstring>

#include "neap/files/temporary_folder.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/door_test.hpp"
#include "neap/train/save.hpp"
#include "neap/train/small_training_test.hpp"

namespace neap::train {
namespace {

using files::system_door;
using formats::NamedTensor;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two layers, (2, 3) and (4, 2).
struct Pair : nn::Module {
  nn::Linear body{3, 2};
  nn::Linear head{2, 4, false};
  Pair() {
    register_module("body", body);
    register_module("head", head);
  }
};

class LoadOptionsTest : public DoorTest {
 protected:
  std::string path() const { return folder_.at("x.safetensors"); }
  void write(std::initializer_list<NamedTensor> tensors,
             const char* file = "x.safetensors") const {
    ASSERT_TRUE(formats::write_safetensors(system_door(), folder_.at(file),
                                           std::vector(tensors))
                    .has_value());
  }
  // A file of one tensor that Neap itself does not write.
  template <class T>
  void write_raw(const std::string& name, const std::string& dtype,
                 const std::string& shape, const std::vector<T>& values) const {
    const std::size_t bytes = values.size() * sizeof(T);
    const std::string header =
        "{\"" + name + R"(":{"dtype":")" + dtype + R"(","shape":)" + shape +
        R"(,"data_offsets":[0,)" + std::to_string(bytes) + "]}}";
    std::string file(8, '\0');
    const std::uint64_t length = header.size();
    std::memcpy(file.data(), &length, 8);
    file += header;
    file.append(reinterpret_cast<const char*>(values.data()), bytes);
    folder_.put("x.safetensors", file);
  }
  static Failure failure_of(Result<LoadReport> loaded) {
    EXPECT_FALSE(loaded.has_value());
    return loaded ? Failure{FailureKind::kIo, "none"} : loaded.error();
  }

  files::TemporaryFolder folder_;
  Tensor body_ = from_values({1, 2, 3, 4, 5, 6}, {2, 3});
  Tensor bias_ = from_values({7, 8}, {2});
  Tensor head_ = from_values({1, 2, 3, 4, 5, 6, 7, 8}, {4, 2});

  void TearDown() override {
    body_ = bias_ = head_ = Tensor();
    DoorTest::TearDown();
  }
};

TEST(NamePatternTest, StarsStandForWholeComponents) {
  EXPECT_TRUE(matches("h.0.attn.bias", "h.*.attn.bias"));
  EXPECT_FALSE(matches("h.0.1.attn.bias", "h.*.attn.bias"));
  EXPECT_FALSE(matches("h.0.attn", "h.*.attn.bias"));
  EXPECT_FALSE(matches("h.0.attn.bias.x", "h.*.attn.bias"));
  EXPECT_TRUE(matches("head.a.b", "head.**"));
  EXPECT_FALSE(matches("head", "head.**"));
  EXPECT_FALSE(matches("header.a", "head.**"));
  EXPECT_TRUE(matches("x", "**"));
  EXPECT_EQ(renamed("h.7.mlp.w1.weight",
                    {"h.*.mlp.*.weight", "layers.*.ff.*.weight"}),
            "layers.7.ff.w1.weight");
  EXPECT_EQ(renamed("a.b.c", {"a.**", "z.y.**"}), "z.y.b.c");
  EXPECT_EQ(renamed("b.c", {"a.**", "z.**"}), "");
}

TEST(NamePatternTest, PatternsThatAreNoneAreRefused) {
  for (const char* bad : {"", "a..b", ".a", "a.", "**.a"}) {
    EXPECT_THROW(check_pattern(bad), ValueError) << bad;
  }
  EXPECT_THROW(check(Rename{"a.*", "b"}), ValueError);
  EXPECT_THROW(check(Rename{"a.*.**", "b.**"}), ValueError);
  Pair pair;
  EXPECT_THROW(static_cast<void>(load(pair, "x", {.ignore = {"a..b"}})),
               ValueError);
}

TEST_F(LoadOptionsTest, NamesArePrefixedRenamedAndLeftOut) {
  write({{"net.stem.kernel", body_},
         {"net.stem.bias", bias_},
         {"net.head.weight", head_},
         {"net.mask", bias_}});
  Pair pair;
  const auto report =
      load(pair, path(),
           {.prefix = "net.",
            .rename = {{"stem.kernel", "body.weight"}, {"stem.*", "body.*"}},
            .ignore = {"mask"}});
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(pair.body.weight().at({1, 2}), 6.0);
  EXPECT_EQ(pair.body.bias().at({1}), 8.0);
  EXPECT_EQ(pair.head.weight().at({3, 1}), 8.0);
}

TEST_F(LoadOptionsTest, AllThatDoesNotFitIsSaidAtOnce) {
  write({{"body.weight", head_}, {"body.scale", bias_}, {"more", bias_}});
  Pair pair;
  const auto before = pair.body.weight().to_vector();
  const Failure failed = failure_of(load(pair, path()));
  EXPECT_EQ(failed.kind, FailureKind::kMismatch);
  EXPECT_THAT(failed.message,
              HasSubstr(R"("body.weight" is f32 [4, 2] there)"));
  EXPECT_THAT(failed.message, HasSubstr(R"("body.bias" is not there)"));
  EXPECT_THAT(failed.message, HasSubstr(R"("head.weight" is not there)"));
  EXPECT_THAT(failed.message, HasSubstr("and 1 more"));
  EXPECT_EQ(pair.body.weight().to_vector(), before);
}

TEST_F(LoadOptionsTest, TwoTensorsDoNotBecomeOne) {
  write({{"a.weight", body_}, {"body.weight", body_}});
  Pair pair;
  EXPECT_THAT(failure_of(load(pair, path(),
                              {.strict = false, .rename = {{"a.*", "body.*"}}}))
                  .message,
              HasSubstr(R"(both become "body.weight")"));
}

TEST_F(LoadOptionsTest, MatricesAreTransposedAndConvertedOnTheWay) {
  const Tensor turned =
      from_values({1, 4, 2, 5, 3, 6}, {3, 2}, f64);  // body_ transposed
  write({{"body.weight", turned}});
  for (const bool in_place : {false, true}) {
    Pair pair;
    ASSERT_TRUE(load(pair, path(),
                     {.strict = false,
                      .convert = true,
                      .in_place = in_place,
                      .transpose = {"*.weight"}})
                    .has_value());
    EXPECT_EQ(pair.body.weight().to_vector(), body_.to_vector());
  }
  Pair pair;
  EXPECT_THAT(failure_of(load(pair, path(),
                              {.strict = false, .transpose = {"*.weight"}}))
                  .message,
              HasSubstr(R"("body.weight" is f64 [2, 3] there, f32 [2, 3])"));
}

TEST_F(LoadOptionsTest, TypesThatNeapHasNotAreWidened) {
  write_raw<std::uint16_t>("body.bias", "F16", "[2]", {0x3C00, 0xC100});
  Pair pair;
  ASSERT_TRUE(load(pair, path(), {.strict = false}).has_value());
  EXPECT_EQ(pair.body.bias().to_vector(), (memory::Vector<double>{1.0, -2.5}));
  write_raw<std::int8_t>("body.bias", "I8", "[2]", {-3, 5});
  EXPECT_FALSE(load(pair, path(), {.strict = false}).has_value());
  ASSERT_TRUE(
      load(pair, path(), {.strict = false, .convert = true}).has_value());
  EXPECT_EQ(pair.body.bias().to_vector(), (memory::Vector<double>{-3.0, 5.0}));
}

TEST_F(LoadOptionsTest, PiecesOfALargeTensorAreConvertedAlike) {
  std::vector<std::uint16_t> halves(70'000);
  for (std::size_t i = 0; i < halves.size(); ++i) {
    halves[i] = static_cast<std::uint16_t>(0x3C00 + i % 1024);
  }
  write_raw("weight", "F16", "[350,200]", halves);
  nn::Linear wide(350, 200, false, f64);
  nn::Linear tall(200, 350, false, f64);
  ASSERT_TRUE(load(tall, path(), {.convert = true}).has_value());
  ASSERT_TRUE(load(wide, path(), {.convert = true, .transpose = {"weight"}})
                  .has_value());
  for (const std::int64_t i : {0, 1, 199}) {
    for (const std::int64_t j : {0, 7, 349}) {
      const double value = 1 + static_cast<double>((j * 200 + i) % 1024) / 1024;
      EXPECT_EQ(tall.weight().at({j, i}), value);
      EXPECT_EQ(wide.weight().at({i, j}), value);
    }
  }
}

// Elements of their own first, but none where they go straight to their place.
TEST_F(LoadOptionsTest, NothingIsInMemoryTwiceInPlace) {
  std::vector<std::uint16_t> halves(70'000, 0x3C00);
  write_raw("weight", "F16", "[350,200]", halves);
  nn::Linear layer(200, 350, false);
  const auto extra = [&](bool in_place) {
    domain_->reset_peak();
    const Bytes before = domain_->stats().live;
    EXPECT_TRUE(load(layer, path(), {.in_place = in_place}).has_value());
    return domain_->stats().live_peak - before;
  };
  EXPECT_GE(extra(false), 280'000);
  EXPECT_LT(extra(true), 16 * kKiB);
}

TEST_F(LoadOptionsTest, HeadsOfAnotherShapeAreSkippedByName) {
  write({{"body.weight", body_}, {"body.bias", bias_}, {"head.weight", bias_}});
  Pair pair;
  const auto before = pair.head.weight().to_vector();
  EXPECT_FALSE(load(pair, path()).has_value());
  const auto report = load(pair, path(), {.skip = {"head.**"}});
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_THAT(report->skipped, ElementsAre("head.weight"));
  EXPECT_EQ(pair.head.weight().to_vector(), before);
  EXPECT_EQ(pair.body.bias().at({0}), 7.0);
}

TEST_F(LoadOptionsTest, ShardsAreOneSource) {
  write({{"body.weight", body_}}, "a.safetensors");
  write({{"body.bias", bias_}, {"head.weight", head_}}, "b.safetensors");
  folder_.put("model.safetensors.index.json",
              R"({"weight_map": {"body.weight": "a.safetensors",
                  "body.bias": "b.safetensors",
                  "head.weight": "b.safetensors"}})");
  Pair pair;
  const auto report = load(pair, folder_.path());
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(pair.body.weight().at({0, 1}), 2.0);
  EXPECT_EQ(pair.head.weight().at({0, 1}), 2.0);
}

TEST_F(LoadOptionsTest, IntegersThatDoNotFitAreRefusedAndChangeNothing) {
  struct Counts : nn::Module {
    Tensor counts;
    Counts() {
      counts = register_buffer("counts", from_values({1, 2}, {2}, i32));
    }
  };
  write_raw<std::int64_t>("counts", "I64", "[2]", {5, std::int64_t{1} << 40});
  Counts counts;
  EXPECT_THAT(failure_of(load(counts, path(), {.convert = true})).message,
              HasSubstr(R"("counts" has a number that i32 has not)"));
  EXPECT_EQ(counts.counts.to_vector(), (memory::Vector<double>{1, 2}));
}

}  // namespace
}  // namespace neap::train
