// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// state_hash: 64 bits of everything that a training step changes: parameters
// and buffers in order of registration, the optimizer's state and step counts,
// the generator. Equal hashes mean equal bits (xxHash64, seed 0, over names,
// dtypes, shapes and elements).
#pragma once

#include <cstdint>

#include "neap/nn/module.hpp"
#include "neap/optim/ema.hpp"
#include "neap/optim/optimizer.hpp"
#include "neap/tensor/generator.hpp"

namespace neap::train {

/// Where ranks share out the optimizer's state (Optimizer::share_out), all of
/// them call it, and each gets the hash of rank 0, which reads one tensor of
/// the others at a time. THROWS: ShapeError unless every tensor is dense;
/// DeviceError off the host; TraceError in a dry run (rehearsal), and in a step
/// that is traced; as Optimizer::read_state, and ValueError where rank 0 threw.
NEAP_API std::uint64_t state_hash(const nn::Module& model,
                                  const optim::Optimizer& optimizer,
                                  const Generator& generator,
                                  CallSite site = CallSite::here());
/// The same with averages of the model's tensors. THROWS: as the other.
NEAP_API std::uint64_t state_hash(const nn::Module& model,
                                  const optim::Optimizer& optimizer,
                                  const optim::Ema& average,
                                  const Generator& generator,
                                  CallSite site = CallSite::here());

}  // namespace neap::train
