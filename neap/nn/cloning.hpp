// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Cloning: deep copies of models. A clone has the same names, shapes, values,
// ties, frozen parameters and modes, in memory of its own from the context's
// domain. It has no gradients, and no optimizer knows it.
//
//   Mlp b = a.clone();       // layers and models of the library
//   Net d = nn::clone(c);    // any module that Net() creates in the same form
//   Net e = nn::clone(c, [] { return Net(64); });    // or that a function does
//
// A module of one's own is constructed again, draws nothing from the caller's
// generator, and is given values, ties, frozen parameters and modes by name.
// Its other members (numbers, flags) are as the constructor leaves them. A
// module that wants these copied too, or must not be constructed twice, says
// how:
//
//   struct Net : nn::Module {
//     nn::Linear fc1{784, 256}, fc2{256, 10};
//     Net() { name_parts(); }
//     Net(const Net& other, nn::Cloning& cloning)
//         : Module(other, cloning),  // copies parameters and buffers
//           fc1(other.fc1, cloning), fc2(other.fc2, cloning) { name_parts(); }
//     void name_parts() { register_module("fc1", fc1); register_module("fc2",
//     fc2); }
//   };
//
// A module that holds handles to its own parameters sets them again, as weight_
// = parameter("weight").
#pragma once

#include <functional>
#include <typeinfo>
#include <unordered_map>

#include "neap/nn/module.hpp"
#include "neap/tensor/generator.hpp"

namespace neap::nn {

namespace detail {
/// make(), whose random values are not the caller's draws.
template <class Make>
auto without_draws(Make& make) {
  Generator apart(0);
  const UseGenerator use(apart);
  return make();
}
}  // namespace detail

/// A copying of a whole model, which makes sure that one tensor in the model is
/// one in the copy.
class NEAP_API Cloning {
 public:
  /// THROWS: ValueError unless `model` is of the type asked for, not of one
  /// derived from it; OutOfMemory.
  Cloning(const Module& model, const std::type_info& asked, CallSite site);

  /// Gives `copy`, newly constructed, the state of `model` (which is copied, or
  /// a part of it), but for ties: finish(). THROWS: ValueError when the two
  /// have not the same parts, names, shapes and dtypes; OutOfMemory.
  void fill(const Module& model, Module& copy) const;

  // --- called by the constructor of Module -----------------------------------

  /// The copy of an entry's tensor. THROWS: OutOfMemory.
  Tensor copy_of(const Entry& entry);
  /// True where another entry gives the copy its name.
  bool is_tied(const Entry& entry) const noexcept;
  const CallSite& site() const noexcept { return site_; }

  /// Ties in the whole copy what is tied in the model. THROWS: ValueError when
  /// a name of the model is missing in the copy, or means a tensor that is
  /// another name's too in one of the two alone.
  void finish(Module& copy) const;

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

/// A module that says how it is copied.
template <class M>
concept HasCloningConstructor = std::constructible_from<M, const M&, Cloning&>;

/// The module that `make` returns, with all that `model` has by name. THROWS:
/// ValueError as Cloning and Cloning::fill; OutOfMemory.
template <std::derived_from<Module> M, std::invocable<> Make>
M clone(const M& model, Make make, CallSite site = CallSite::here()) {
  Cloning cloning(model, typeid(M), site);
  M copy = detail::without_draws(make);
  cloning.fill(model, copy);
  cloning.finish(copy);
  return copy;
}

/// THROWS: ValueError as Cloning; OutOfMemory.
template <std::derived_from<Module> M>
M clone(const M& model, CallSite site = CallSite::here()) {
  static_assert(HasCloningConstructor<M> || std::default_initializable<M>,
                "clone(model, [] { return M(...); }), or give M a constructor "
                "M(const M&, Cloning&)");
  if constexpr (HasCloningConstructor<M>) {
    Cloning cloning(model, typeid(M), site);
    M copy(model, cloning);
    cloning.finish(copy);
    return copy;
  } else {
    return clone(
        model, [] { return M(); }, site);
  }
}

}  // namespace neap::nn
