// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Cloning: deep copies of models. A clone has the same names, shapes, values,
// ties, frozen parameters and modes, in memory of its own at the context's
// door. It has no gradients, and no optimizer knows it.
//
//   Mlp b = a.clone();            // layers and models of the library
//   Net d = nn::clone(c);         // any module with a constructor such as
//
//   struct Net : nn::Module {
//     nn::Linear fc1{784, 256}, fc2{256, 10};
//     Net() { name_parts(); }
//     Net(const Net& other, nn::Cloning& cloning)
//         : Module(other, cloning),  // copies parameters and buffers
//           fc1(other.fc1, cloning), fc2(other.fc2, cloning) { name_parts(); }
//     void name_parts() { add("fc1", fc1); add("fc2", fc2); }
//   };
//
// A module that holds handles to its own parameters takes them anew, as
// weight_ = parameter("weight").
#pragma once

#include <functional>
#include <typeinfo>
#include <unordered_map>

#include "neap/nn/module.hpp"

namespace neap::nn {

/// A copying of a whole model: sees to it that what is one tensor in the
/// model is one in the copy.
class NEAP_API Cloning {
 public:
  /// THROWS: ValueError unless `model` is of the type asked for, not of one
  /// derived from it; OutOfMemory.
  Cloning(const Module& model, const std::type_info& asked, CallSite site);

  // For Module's constructor.

  /// The copy of an entry's tensor. THROWS: OutOfMemory.
  Tensor copy_of(const Entry& entry);
  /// True where another entry gives the copy its name.
  bool is_tied(const Entry& entry) const noexcept;
  const CallSite& site() const noexcept { return site_; }

  /// THROWS: ValueError when a name of the model is missing in the copy.
  void check(const Module& copy) const;

 private:
  struct Made {
    const Entry* home = nullptr;
    Tensor copy{};
  };
  using Arrays = std::unordered_map<
      const tensor::Array*, Made, std::hash<const tensor::Array*>,
      std::equal_to<>,
      memory::Allocator<std::pair<const tensor::Array* const, Made>>>;

  const Module& model_;
  CallSite site_;
  Arrays made_;
};

/// THROWS: ValueError as Cloning; OutOfMemory.
template <std::derived_from<Module> M>
M clone(const M& model, CallSite site = CallSite::here()) {
  Cloning cloning(model, typeid(M), site);
  M copy(model, cloning);
  cloning.check(copy);
  return copy;
}

}  // namespace neap::nn
