// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Checkpoints: everything that passes from one training step to the next, in a
// file.
#include <map>

#include <nanobind/stl/map.h>

#include "binding.hpp"
#include "failures.hpp"
#include "neap/optim/ema.hpp"
#include "neap/optim/plateau.hpp"
#include "neap/train/checkpoint.hpp"
#include "values.hpp"

namespace neap::python {
namespace {

using FactTexts = std::map<std::string, std::string>;

train::Checkpoint checkpoint_of(nn::Module& model, optim::Optimizer& optimizer,
                                optim::Ema* average,
                                optim::ReduceOnPlateau* plateau,
                                const FactTexts& facts) {
  train::Checkpoint out{.model = model,
                        .optimizer = optimizer,
                        .generator = tensor::generator(),
                        .average = average,
                        .plateau = plateau};
  for (const auto& [key, value] : facts) {
    out.facts.push_back({memory::String(key), memory::String(value)});
  }
  return out;
}

void save(const std::string& path, nn::Module& model,
          optim::Optimizer& optimizer, optim::Ema* average,
          optim::ReduceOnPlateau* plateau, const FactTexts& facts,
          std::int64_t step, std::int64_t epoch, std::int64_t batch) {
  const CallSite site = here();
  const Unlocked release;
  train::Checkpoint checkpoint =
      checkpoint_of(model, optimizer, average, plateau, facts);
  checkpoint.position = {step, epoch, batch};
  check(checkpoint.save(path, files::system_door(), site));
}

TupleOf<std::int64_t, std::int64_t, std::int64_t> load(
    const std::string& path, nn::Module& model, optim::Optimizer& optimizer,
    optim::Ema* average, optim::ReduceOnPlateau* plateau,
    const FactTexts& facts, bool verify) {
  const CallSite site = here();
  train::Position position;
  {
    const Unlocked release;
    train::Checkpoint checkpoint =
        checkpoint_of(model, optimizer, average, plateau, facts);
    checkpoint.verify = verify ? formats::Verify::kOn : formats::Verify::kOff;
    check(checkpoint.load(path, files::system_door(), site));
    position = checkpoint.position;
  }
  return tuple_of(std::move(position.step), std::move(position.epoch),
                  std::move(position.batch));
}

}  // namespace

void bind_train(nb::module_& m) {
  m.def("_save", &save, nb::arg("path"), nb::arg("model"), nb::arg("optimizer"),
        nb::arg("average").none(), nb::arg("plateau").none(), nb::arg("facts"),
        nb::arg("step"), nb::arg("epoch"), nb::arg("batch"));
  m.def("_load", &load, nb::arg("path"), nb::arg("model"), nb::arg("optimizer"),
        nb::arg("average").none(), nb::arg("plateau").none(), nb::arg("facts"),
        nb::arg("verify"));
}

}  // namespace neap::python
