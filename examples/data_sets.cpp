// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Data from files: a table in CSV, a text, images that are cropped and mirrored
// on their way, folders of images, records that stay on the disk, and sentences
// of different lengths.
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "neap/neap.hpp"

namespace {

using neap::Tensor;

// An empty folder that goes with the object.
struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() /
                               ("neap_data_sets_" + std::to_string(getpid()));
  Folder() { std::filesystem::create_directory(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path); }

  std::string put(const std::string& name, const std::string& content) const {
    std::ofstream(path / name, std::ios::binary) << content;
    return (path / name).string();
  }
};

void expect(bool is_so, const char* what) {
  std::printf("%-45s %s\n", what, is_so ? "yes" : "NO");
  if (!is_so) {
    throw std::runtime_error(what);
  }
}

// price = 3 size - rooms, with the columns in any order.
std::string prices() {
  std::string text = "size,price,rooms\n";
  for (int i = 0; i < 60; ++i) {
    const int rooms = i * 7 % 5;
    text += std::to_string(i) + "," + std::to_string(3 * i - rooms) + "," +
            std::to_string(rooms) + "\n";
  }
  return text;
}

void table(const Folder& folder) {
  const std::string path = folder.put("prices.csv", prices());
  const std::string lines = (folder.path / "run.jsonl").string();
  auto set = neap::data::read_csv(
      neap::files::system_door(), path,
      {.target = "price", .kind = neap::data::CsvTarget::kValue});
  if (!set) {
    std::printf("%s\n", set.error().message.c_str());
    throw std::runtime_error("the table is not read");
  }
  set->standardise(set->statistics());
  neap::nn::Linear model(2, 1);
  neap::optim::Adam adam(model.parameters(), {.lr = 0.5});
  neap::data::Loader loader(*set, {.batch = 20, .shuffle = true});

  auto log = neap::train::MetricsLog::open(neap::files::system_door(),
                                           {.jsonl = lines});
  neap::train::FitOptions options;
  options.epochs = 200;
  options.trainer.loss = [](const Tensor& output, const Tensor& target) {
    return neap::mse_loss(output, target);
  };
  options.on_step = [&](const neap::train::StepReport& report) {
    // A full disk ends this run; another one may rather go on.
    return log->step(report) ? neap::train::Next::kContinue
                             : neap::train::Next::kStop;
  };
  const auto fitted = neap::train::fit(model, adam, loader, options);
  expect(!fitted.is_stopped && fitted.last_loss < 0.1,
         "prices follow from size and rooms");
  expect(log->close() && std::filesystem::file_size(lines) > 50'000,
         "every step left its line");
}

void text(const Folder& folder) {
  std::string verses;
  for (int i = 0; i < 200; ++i) {
    verses += "the quick brown fox jumps over the lazy dog\n";
  }
  const std::string path = folder.put("verses.txt", verses);
  const auto sets =
      neap::data::read_text(neap::files::system_door(), path,
                            {.block = 32, .validation = 0.1, .samples = 64});
  const neap::data::Vocabulary& vocabulary = sets->train.vocabulary();
  neap::data::Loader loader(sets->train, {.batch = 8, .prefetch = 1});
  loader.start(0);
  const neap::data::Batch* batch = loader.next();  // (8, 32), twice
  // The targets are the inputs, one character on.
  expect(batch->input.at({3, 1}) == batch->target.at({3, 0}),
         "a target is the next token");
  const auto tokens = vocabulary.encode("lazy fox");
  expect(vocabulary.size() == 28 && vocabulary.decode(*tokens) == "lazy fox",
         "27 characters and the end of line");
}

void images() {
  const neap::data::ImageSet set(neap::full({10, 28, 28}, 9, neap::u8),
                                 neap::zeros({10}, neap::u8), 10);
  // Padded to 32x32, then PyTorch's RandomCrop(32, padding=4) and
  // RandomHorizontalFlip().
  const neap::data::Augmented train(set, {.padding = 6,
                                          .height = 32,
                                          .width = 32,
                                          .random_crop = true,
                                          .flip = 0.5,
                                          .seed = 7});
  const neap::data::Augmented test(set, {.padding = 2});
  neap::data::Loader loader(train,
                            {.batch = 5, .shuffle = true, .prefetch = 2});
  loader.start(0);
  expect(loader.next()->input.shape() == neap::Shape{5, 1, 32, 32} &&
             test.spec().input == train.spec().input,
         "28x28 becomes 32x32");
}

// A PNG of one pixel.
std::string small_png() {
  std::string bytes;
  for (const int byte :
       {0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d,
        0x49, 0x48, 0x44, 0x52, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01,
        0x08, 0x02, 0x00, 0x00, 0x01, 0xe7, 0x70, 0x63, 0x48, 0x00, 0x00, 0x00,
        0x0c, 0x49, 0x44, 0x41, 0x54, 0x78, 0xda, 0x63, 0xd0, 0xf6, 0x2b, 0x04,
        0x00, 0x01, 0x92, 0x00, 0xeb, 0xb5, 0x01, 0x5d, 0xc6, 0x00, 0x00, 0x00,
        0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82}) {
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

void image_folder(const Folder& folder) {
  const std::filesystem::path flowers = folder.path / "flowers";
  for (const char* name : {"daisy", "tulip"}) {
    std::filesystem::create_directories(flowers / name);
    folder.put(std::string("flowers/") + name + "/1.png", small_png());
  }
  const std::string path = flowers.string();
  // A sub-folder for each class, PNG and JPEG in it.
  const auto found =
      neap::data::ImageFolder::open(neap::files::system_door(), path);
  if (!found) {
    std::printf("%s\n", found.error().message.c_str());
    throw std::runtime_error("the folder is not read");
  }
  const auto image = found->read(1);  // decoded now, and the caller's
  expect(image->height == 1 && image->pixels.size() == 3 &&
             found->class_name(found->label(1)) == "tulip",
         "an image has three bytes a pixel");

  // RandomResizedCrop(224), RandomHorizontalFlip(),
  // ColorJitter(0.4, 0.4, 0.4, 0.1).
  const neap::data::TransformedImages train(*found,
                                            {.random_resized_crop = true,
                                             .flip = 0.5,
                                             .jitter = {0.4, 0.4, 0.4, 0.1},
                                             .seed = 7});
  // Resize(256), CenterCrop(224).
  const neap::data::TransformedImages test(*found, {.shorter_side = 256});
  neap::data::Loader loader(train,
                            {.batch = 2, .shuffle = true, .prefetch = 1});
  loader.start(0);
  expect(loader.next()->input.shape() == neap::Shape{2, 3, 224, 224} &&
             test.spec().input == neap::Shape{3, 224, 224},
         "images of any size become samples of one");

  neap::data::Loader mixed(train,
                           {.batch = 2, .mixup = {.alpha = 0.2, .classes = 2}});
  mixed.start(0);
  const Tensor chances = mixed.next()->target;  // (2, 2): of each class
  expect(std::abs(sum(chances).item() - 2.0) < 1e-6,
         "a mixed target has probabilities");
}

void records(const Folder& folder) {
  // A label and four pixels each.
  const std::string path = folder.put(
      "records.bin", std::string("\1\10\20\30\40\2\11\21\31\41", 10));
  auto file = neap::data::RecordFile::open(neap::files::system_door(), path,
                                           {.record = 5});
  const neap::data::FileRecords set(
      std::move(*file), {{4}, neap::f32, {}, neap::i64},
      [](std::span<const std::byte> record, std::span<std::byte> input,
         std::span<std::byte> target) noexcept {
        const auto label = std::to_integer<std::int64_t>(record[0]);
        std::memcpy(target.data(), &label, sizeof(label));
        for (std::size_t i = 0; i < 4; ++i) {
          const float pixel =
              static_cast<float>(std::to_integer<int>(record[1 + i])) / 255.0F;
          std::memcpy(&input[i * sizeof(pixel)], &pixel, sizeof(pixel));
        }
      });
  neap::data::Loader loader(set, {.batch = 2, .prefetch = 1});
  loader.start(0);
  expect(loader.next()->target.at({1}) == 2.0, "records are read as they come");
}

// Sentences of different lengths, each with a label.
class Sentences {
 public:
  std::int64_t size() const { return std::ssize(texts_); }
  std::span<const neap::data::FieldSpec> fields() const { return fields_; }
  // Items of the sample's longest field, of those whose length varies.
  std::int64_t length(std::int64_t index) const noexcept {
    return std::ssize(text(index));
  }
  // The rows have their padding already.
  void load(neap::data::SampleId id,
            std::span<neap::data::FieldRow> rows) const noexcept {
    const auto& tokens = text(id.index);
    std::memcpy(rows[0].bytes.data(), tokens.data(),
                tokens.size() * sizeof(tokens[0]));
    const std::int64_t label = tokens[0] % 2;
    std::memcpy(rows[1].bytes.data(), &label, sizeof(label));
  }

 private:
  const std::vector<std::int64_t>& text(std::int64_t index) const noexcept {
    return texts_[static_cast<std::size_t>(index)];
  }
  std::vector<std::vector<std::int64_t>> texts_ = {
      {3, 1}, {2, 7, 1, 8, 2, 8}, {4}, {1, 4, 1, 4, 2}, {5, 5}, {9}};
  std::array<neap::data::FieldSpec, 2> fields_ = {
      {{.dtype = neap::i64, .is_variable = true}, {.dtype = neap::i64}}};
};

void sentences() {
  const Sentences texts;
  neap::data::FieldLoader loader(texts,
                                 {.batch = 2, .buckets = 2, .shuffle = true});
  std::int64_t tokens = 0;
  std::int64_t padded = 0;
  loader.start(0);
  while (const neap::data::FieldBatch* batch = loader.next()) {
    const Tensor& x = batch->fields[0];   // (n, length)
    const Tensor& own = batch->masks[0];  // (n, length), true: no padding
    tokens += static_cast<std::int64_t>(sum(cast(own, neap::f32)).item());
    padded += x.element_count();
  }
  expect(tokens == 17 && padded == 20, "sentences of a length come together");
}

// Samples that are in memory already.
void rows() {
  const Tensor x = neap::rand({100, 3});
  const Tensor y = sum(square(x), {1});
  const neap::data::TensorSet points(x, y);
  neap::data::Loader loader(points, {.batch = 20, .shuffle = true});
  int right = 0;
  for (const neap::data::Batch& batch : loader.epoch(0)) {
    const Tensor target = sum(square(batch.input), {1});
    right += all(eq(target, batch.target)).item() == 1.0 ? 1 : 0;
  }
  expect(right == 5, "targets stay with their inputs");
}

}  // namespace

int main() {
  try {
    const Folder folder;
    table(folder);
    text(folder);
    images();
    image_folder(folder);
    records(folder);
    sentences();
    rows();
  } catch (const std::exception&) {
    return 1;
  }
  return neap::memory::domain().stats().live == 0 ? 0 : 1;
}
