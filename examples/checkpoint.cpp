// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A model in a file, and a run that is interrupted and goes on with the same
// bits.
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "neap/neap.hpp"

namespace {

using neap::Tensor;

// y = sin(x) at 60 places.
struct Wave {
  std::int64_t size() const { return 60; }
  neap::data::SampleSpec spec() const {
    return {{1}, neap::f32, {1}, neap::f32};
  }
  void load(std::int64_t index, std::span<std::byte> input,
            std::span<std::byte> target) const noexcept {
    const float x = static_cast<float>(index) / 10.0F - 3.0F;
    const float y = std::sin(x);
    std::memcpy(input.data(), &x, sizeof(x));
    std::memcpy(target.data(), &y, sizeof(y));
  }
};

struct Net : neap::nn::Layer {
  neap::nn::Linear hidden{1, 16};
  neap::nn::Dropout dropout{0.1};
  neap::nn::Linear out{16, 1};

  Net() {
    register_module("hidden", hidden);
    register_module("dropout", dropout);
    register_module("out", out);
  }
  Tensor forward(const Tensor& x) const override {
    return out(dropout(neap::tanh(hidden(x))));
  }
};

// A whole program that trains, as it would be started again and again. The run
// has 40 steps; it is stopped after `stop` of them. RETURNS: the hash of its
// end.
std::uint64_t train(const std::string& resume, const std::string& save,
                    std::int64_t stop = 40) {
  neap::Generator generator(7);
  const neap::UseGenerator use(generator);
  const Wave data;
  Net net;
  neap::optim::Adam adam(net.parameters(), {.lr = 1e-2});
  neap::data::Loader loader(data, {.batch = 16, .shuffle = true, .seed = 7});
  neap::train::FitOptions options;
  options.steps = 40;
  options.resume = resume;  // empty: from the start
  options.save = {.path = save, .every_seconds = 600};
  options.trainer.loss = [](const Tensor& output, const Tensor& target) {
    return neap::mse_loss(output, target);
  };
  options.on_step = [stop](const neap::train::StepReport& report) {
    return report.step == stop ? neap::train::Next::kStop
                               : neap::train::Next::kContinue;
  };
  const auto result = neap::train::fit(net, adam, loader, options);
  if (result.resume_failure) {
    std::printf("%s\n", result.resume_failure->message.c_str());
  }
  return neap::train::state_hash(net, adam, generator);
}

bool run_goes_on(const std::string& path) {
  const std::uint64_t whole = train("", "");
  train("", path, 17);  // in the middle of an epoch
  return train(path, "") == whole;
}

bool model_comes_back(const std::string& path) {
  Net net;
  if (auto saved = neap::save(net, path); !saved) {
    std::printf("%s\n", saved.error().message.c_str());
    return false;
  }
  Net other;
  if (auto loaded = neap::load(other, path); !loaded) {
    std::printf("%s\n", loaded.error().message.c_str());
    return false;
  }
  return other.parameter("out.weight").to_vector() ==
         net.parameter("out.weight").to_vector();
}

// Lists the tensors of a file, without reading their elements.
void list(const std::string& path) {
  auto file =
      neap::formats::SafetensorsFile::open(neap::files::system_door(), path);
  for (const auto& entry : file.value().entries()) {
    std::printf("%-34s %s %s\n", entry.name.c_str(),
                std::string(neap::name_of(entry.dtype)).c_str(),
                neap::format_shape(entry.shape).c_str());
  }
}

}  // namespace

int main() {
  const auto folder = std::filesystem::temp_directory_path() /
                      ("neap-checkpoint-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const bool is_good = run_goes_on(folder / "run.safetensors") &&
                       model_comes_back(folder / "net.safetensors");
  list(folder / "run.safetensors");
  std::filesystem::remove_all(folder);
  const bool is_empty = neap::memory::default_domain().stats().live == 0;
  return is_good && is_empty ? 0 : 1;
}
