// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// BornAway: the making of a model whose weights are larger than memory.
//
//   auto model = [&] {
//     const BornAway away({.folder = "/scratch"});
//     return models::Gpt(options);
//   }();
//   auto step = compile(train, {.budget = 2 * kGiB,
//                               .spill = {.folder = "/scratch"}});
#pragma once

#include <memory>

#include "neap/compile/options.hpp"
#include "neap/tensor/element_sink.hpp"

namespace neap {

namespace compiler {
class StateFile;
}

/// While it is there, weights that this thread makes at its door go to a file
/// in the folder as they are made, one after the other: parameters that modules
/// register, and what the functions of nn/init.hpp fill, of at least `.least`
/// bytes. They come home when anybody looks at them. A compiled step with a
/// budget and the same folder and door uses that file on. The file lasts as
/// long as what is on it.
class NEAP_API BornAway final : private tensor::ElementSink {
 public:
  /// THROWS: ValueError without a folder; IoError; ThreadError; OutOfMemory.
  explicit BornAway(const SpillOptions& options);
  /// A weight that is not in the file by then, and cannot go there, stays in
  /// memory.
  ~BornAway();
  BornAway(const BornAway&) = delete;
  BornAway& operator=(const BornAway&) = delete;

 private:
  void take(const base::Ref<tensor::Storage>& storage) override;
  void send_latest();

  std::shared_ptr<compiler::StateFile> file_;
  memory::Domain& domain_;
  Bytes least_;
  base::Ref<tensor::Storage> latest_;  // it may be set anew at once
  tensor::UseElementSink use_;
};

}  // namespace neap
