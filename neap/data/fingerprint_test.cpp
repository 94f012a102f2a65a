// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Equal data have equal fingerprints, and whatever a sample is made from
// changes them.
#include "neap/data/fingerprint.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "neap/data/augmented.hpp"
#include "neap/data/csv_set.hpp"
#include "neap/data/file_records.hpp"
#include "neap/data/loader.hpp"
#include "neap/data/text_set.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/tensor/create.hpp"

namespace neap::data {
namespace {

void expect_all_different(const std::vector<std::uint64_t>& found) {
  EXPECT_EQ(std::set(found.begin(), found.end()).size(), found.size());
}

ImageSet images(std::initializer_list<double> pixels,
                std::initializer_list<double> labels, const Shape& shape) {
  return ImageSet(from_values(pixels, shape, u8),
                  from_values(labels, {shape[0]}, u8), 10);
}

TEST(FingerprintTest, OfImagesIsOfPixelsLabelsAndScale) {
  const auto plain = [] {
    return images({1, 2, 3, 4, 5, 6, 7, 8}, {0, 1}, {2, 2, 2});
  };
  ImageSet scaled = plain();
  scaled.standardise({.mean = 0.5});
  expect_all_different(
      {plain().fingerprint(), scaled.fingerprint(),
       images({1, 2, 3, 4, 5, 6, 7, 9}, {0, 1}, {2, 2, 2}).fingerprint(),
       images({1, 2, 3, 4, 5, 6, 7, 8}, {1, 0}, {2, 2, 2}).fingerprint(),
       images({1, 2, 3, 4, 5, 6, 7, 8}, {0, 1}, {2, 2, 1, 2}).fingerprint()});
  EXPECT_EQ(plain().fingerprint(), plain().fingerprint());
}

TEST(FingerprintTest, OfAugmentedImagesIsOfTheOptionsToo) {
  const ImageSet set = images({1, 2, 3, 4}, {5}, {1, 2, 2});
  std::vector<std::uint64_t> found{set.fingerprint()};
  for (const AugmentOptions& options :
       {AugmentOptions{}, AugmentOptions{.padding = 1},
        AugmentOptions{.height = 1}, AugmentOptions{.width = 1},
        AugmentOptions{.flip = 0.5}, AugmentOptions{.flip = 0.5, .seed = 1},
        AugmentOptions{.padding = 1, .random_crop = true}}) {
    found.push_back(Augmented(set, options).fingerprint());
  }
  expect_all_different(found);
}

TEST(FingerprintTest, OfATextIsOfItsCharactersAndItsBlocks) {
  const auto of = [](std::string_view text, const BlockOptions& options) {
    return TextSet(tokenise(text, Symbols::kCharacters).value(), options)
        .fingerprint();
  };
  expect_all_different({of("abcabc", {.block = 2}),  //
                        of("abcacb", {.block = 2}),
                        of("abdabd", {.block = 2}),  // the same tokens
                        of("abcabc", {.block = 3}),
                        of("abcabc", {.block = 2, .end = 5}),
                        of("abcabc", {.block = 2, .random = true}),
                        of("abcabc", {.block = 2, .random = true, .seed = 1})});
  EXPECT_EQ(of("abcabc", {.block = 2}), of("abcabc", {.block = 2}));
}

TEST(FingerprintTest, OfATableIsOfItsNumbers) {
  const auto of = [](std::initializer_list<double> features, const Shape& shape,
                     std::initializer_list<double> targets, DType dtype) {
    return CsvSet(from_values(features, shape),
                  from_values(targets, {shape[0]}, dtype))
        .fingerprint();
  };
  expect_all_different(
      {of({1, 2}, {2, 1}, {0, 1}, i32), of({1, 3}, {2, 1}, {0, 1}, i32),
       of({1, 2}, {2, 1}, {1, 0}, i32), of({1, 2}, {2, 1}, {0, 1}, f32)});
}

TEST(FingerprintTest, OfAFileIsOfItsSizesItsFirstRecordAndItsLast) {
  const files::TemporaryFolder folder;
  const auto of = [&](const char* bytes, const RecordLayout& layout) {
    const auto path = folder.put("a.bin", bytes);
    auto file = RecordFile::open(files::system_door(), path, layout);
    const auto decode = [](auto, auto, auto) noexcept {};
    return FileRecords(std::move(*file), {{1}, u8, {}, i64}, decode)
        .fingerprint();
  };
  expect_all_different({of("abcd", {.record = 1}), of("abcd", {.record = 2}),
                        of("abcde", {.header = 1, .record = 1}),
                        of("xbcd", {.record = 1}), of("abcx", {.record = 1})});
  EXPECT_EQ(of("abcd", {.record = 1}), of("axyd", {.record = 1}));
}

// A set that does not say what it holds.
struct Silent {
  std::int64_t size() const { return 1; }
  SampleSpec spec() const { return {{1}, u8, {}, i64}; }
  void load(std::int64_t, std::span<std::byte>,
            std::span<std::byte>) const noexcept {}
};

TEST(FingerprintTest, IsALoadersWhereTheSetHasOne) {
  const ImageSet set = images({1, 2, 3, 4}, {5}, {1, 2, 2});
  EXPECT_EQ(Loader(set, {.batch = 1}).fingerprint(), set.fingerprint());
  const Silent silent;
  EXPECT_EQ(Loader(silent, {.batch = 1}).fingerprint(), std::nullopt);
}

}  // namespace
}  // namespace neap::data
