// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/image_form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "neap/formats/whole_text.hpp"
#include "neap/models/json_config.hpp"

namespace neap::models {
namespace {

constexpr Bytes kMostConfig = kMiB;
constexpr std::array<double, 3> kHalves = {0.5, 0.5, 0.5};
constexpr std::array<double, 3> kImageNetMean = {0.485, 0.456, 0.406};
constexpr std::array<double, 3> kImageNetDeviation = {0.229, 0.224, 0.225};

// One number for all channels, or one for each.
bool read_channels(JsonConfig& config, std::string_view key,
                   std::array<double, 3>& into) {
  std::size_t count = 0;
  if (!config.has(key)) {
    config.pass(key);
    return false;
  }
  config.reals(key, [&](double value) {
    if (count < into.size()) {
      into[count] = value;
    }
    ++count;
  });
  if (count == 1) {
    into.fill(into[0]);
  } else if (count != into.size()) {
    config.complain(fmt::format("{} has {} numbers, expected 3", key, count));
  }
  return true;
}

void check_statistics(JsonConfig& config, const ImageForm& form) {
  constexpr double kLeast = 1e-6;
  constexpr double kMost = 1e6;  // pixels are from 0 to 1
  if (!std::ranges::all_of(form.deviation,
                           [](double value) { return value >= kLeast; })) {
    config.complain("a deviation is not positive");
  }
  for (const auto& values : {form.mean, form.deviation}) {
    for (const double value : values) {
      if (!(std::abs(value) <= kMost)) {
        config.complain(fmt::format(
            "{} is no mean or deviation of pixels from 0 to 1", value));
      }
    }
  }
}

// A number, or the height and width of a square; what has the shorter side
// alone gives that.
struct Size {
  std::optional<std::int64_t> square{};
  std::optional<std::int64_t> shorter{};
};

Size read_size(JsonConfig& config, std::string_view key) {
  Size size;
  if (!config.has(key)) {
    config.pass(key);
    return size;
  }
  if (!config.is_object(key)) {
    size.square = config.number(key, 1);
    return size;
  }
  JsonConfig within = config.object(key);
  if (within.has("shortest_edge")) {
    size.shorter = within.number("shortest_edge", 1);
  } else {
    const std::int64_t height = within.number("height", 0);
    size.square = height;
    if (height == 0 || within.number("width", 0) != height) {
      within.complain("other than a square is not implemented");
    }
  }
  config.take_complaints(within);
  return size;
}

// The shorter side of which `share` is cut out, as timm has it.
std::int64_t shorter_of(JsonConfig& config, std::string_view key,
                        std::int64_t size, double usual) {
  const double share = config.real(key, usual);
  if (!(share > 0.0 && share <= 1.0)) {
    config.complain(fmt::format("{} is {}, expected a share", key, share));
    return size;
  }
  return static_cast<std::int64_t>(
      std::floor(static_cast<double>(size) / share));
}

// A Vit has a place for each patch.
void take_size(JsonConfig& config, const PretrainedConfig& model,
               std::int64_t said, ImageForm& form) {
  constexpr std::int64_t kMost = 4096;
  if (const auto* vit = std::get_if<VitOptions>(&model);
      vit != nullptr && vit->image != said) {
    config.complain(
        fmt::format("images of {}, where config.json has an image_size of {}",
                    said, vit->image));
  } else if (said > kMost) {
    config.complain(
        fmt::format("images of {}, at most {} are implemented", said, kMost));
  } else {
    form.size = said;
  }
}

void read_preprocessor(JsonConfig& config, const PretrainedConfig& model,
                       ImageForm& form) {
  const bool has_mean = read_channels(config, "image_mean", form.mean);
  const bool has_deviation = read_channels(config, "image_std", form.deviation);
  if (has_mean || has_deviation) {
    form.said_by = "preprocessor_config.json";
  }
  if (!config.boolean("do_normalize", true)) {
    form.mean = {};
    form.deviation = {1.0, 1.0, 1.0};
    form.said_by = "preprocessor_config.json";
  }
  constexpr double kFull = 255.0;
  constexpr double kNear = 1e-4;
  const double factor = config.real("rescale_factor", 1.0 / kFull);
  if (!config.boolean("do_rescale", true) ||
      std::abs(factor * kFull - 1.0) > kNear) {
    config.complain("pixels are not rescaled by 1/255");
  }
  const Size crop = read_size(config, "crop_size");
  const Size size = read_size(config, "size");
  const auto said = crop.square   ? crop.square
                    : size.square ? size.square
                                  : size.shorter;
  take_size(config, model, said.value_or(form.size), form);
  form.shorter_side = shorter_of(config, "crop_pct", form.size, 1.0);
  if (crop.square && size.shorter) {
    form.shorter_side = std::max(*size.shorter, form.size);
  }
}

void read_timm(JsonConfig& config, const PretrainedConfig& model,
               ImageForm& form) {
  JsonConfig within = config.object("pretrained_cfg");
  const bool has_mean = read_channels(within, "mean", form.mean);
  const bool has_deviation = read_channels(within, "std", form.deviation);
  if (has_mean || has_deviation) {
    form.said_by = "config.json";
  }
  std::array<std::int64_t, 3> size{};
  std::size_t count = 0;
  within.numbers("input_size", [&](std::int64_t value) {
    if (count < size.size()) {
      size[count] = value;
    }
    ++count;
  });
  if (count > 0) {
    if (count != size.size() || size[0] != form.channels ||
        size[1] != size[2] || size[1] < 1) {
      within.complain(fmt::format("input_size is not {} channels of a square",
                                  form.channels));
    } else {
      take_size(within, model, size[1], form);
    }
  }
  const double usual = std::holds_alternative<VitOptions>(model) ? 1.0 : 0.875;
  form.shorter_side = shorter_of(within, "crop_pct", form.size, usual);
  config.take_complaints(within);
}

ImageForm usual_form(const PretrainedConfig& model) {
  if (const auto* vit = std::get_if<VitOptions>(&model)) {
    return {.channels = vit->channels,
            .size = vit->image,
            .shorter_side = vit->image,
            .mean = kHalves,
            .deviation = kHalves};
  }
  return {.channels = std::get<ResNetOptions>(model).channels,
          .mean = kImageNetMean,
          .deviation = kImageNetDeviation};
}

using Reader = void (*)(JsonConfig&, const PretrainedConfig&, ImageForm&);

Result<ImageForm> read_by(Reader reader, const std::string& path,
                          const PretrainedConfig& model,
                          const PretrainedOptions& options) {
  const auto text = formats::read_whole_text(
      options.door != nullptr ? *options.door : files::system_door(), path,
      kMostConfig);
  if (!text) {
    return tl::make_unexpected(text.error());
  }
  auto config = JsonConfig::parse(*text, path);
  if (!config) {
    return tl::make_unexpected(std::move(config.error()));
  }
  ImageForm form = usual_form(model);
  reader(*config, model, form);
  check_statistics(*config, form);
  if (form.channels != 1 && form.channels != 3) {
    config->complain(
        fmt::format("{} channels, 1 and 3 are implemented", form.channels));
  }
  return config->said(path).map([&] { return form; });
}

}  // namespace

bool is_image_model(const PretrainedConfig& config) noexcept {
  return std::holds_alternative<VitOptions>(config) ||
         std::holds_alternative<ResNetOptions>(config);
}

Result<ImageForm> read_image_form(const std::string& folder,
                                  const PretrainedConfig& config,
                                  const PretrainedOptions& options) {
  auto form = read_by(&read_preprocessor, folder + "/preprocessor_config.json",
                      config, options);
  const bool is_absent = !form && form.error().kind == FailureKind::kNotFound;
  return is_absent
             ? read_by(&read_timm, folder + "/config.json", config, options)
             : form;
}

}  // namespace neap::models
