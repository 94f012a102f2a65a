// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Derivatives of functions, as torch.autograd.functional and torch.func have
// them: products with the Jacobian's transpose (vjp) and with the Hessian
// (hvp), and both matrices in full. The primals need not require grad, and no
// gradient is accumulated anywhere. A result is detached from reverse mode
// unless create_graph is given; forward mode passes through in any case, so
// that jvp of each of these needs nothing.
#pragma once

#include "neap/autograd/gradients.hpp"
#include "neap/autograd/jvp.hpp"

namespace neap {

struct DerivativeOptions {
  /// Results can be differentiated again by reverse mode: by primals that
  /// require grad, and by other tensors that f uses and that do. Under NoGrad
  /// it means nothing.
  bool create_graph = false;
};

/// The second result of vjp(): gives cotangents of the primals for
/// cotangents of the results, as often as wanted. It holds f's tape.
class NEAP_API Pullback {
 public:
  Pullback() = default;

  /// <cotangent, df/dx_i> for each primal i, of its shape; zeros where f does
  /// not use it. An undefined cotangent is zero. THROWS: ShapeError for a
  /// cotangent unlike its result (also in dtype or space), or when there are
  /// not as many as results; GraphError when default-made, or when a value that
  /// the tape needs was overwritten; OutOfMemory.
  Gradients operator()(const Tensor& cotangent) const {
    return (*this)(std::span(&cotangent, 1));
  }
  Gradients operator()(std::span<const Tensor> cotangents) const;

 private:
  friend struct PullbackMaker;
  Tensors outputs_;  // results, with their nodes on the tape
  Tensors inputs_;   // inputs that f was given
  Tensors primals_;  // the inputs by whose identity gradients are asked for
  bool create_graph_ = false;
};

struct VjpResult {
  Tensor value;
  Pullback pullback;
};

struct VjpResults {
  Tensors values;
  Pullback pullback;
};

/// f(primal) and its pullback. f is called once.
/// THROWS: whatever f throws; DTypeError for a primal that is not floating.
NEAP_API VjpResult vjp(autograd::Function f, const Tensor& primal,
                       const DerivativeOptions& options = {});
NEAP_API VjpResult vjp(autograd::FunctionOfMany f,
                       std::span<const Tensor> primals,
                       const DerivativeOptions& options = {});
NEAP_API VjpResults vjp(autograd::FunctionToMany f,
                        std::span<const Tensor> primals,
                        const DerivativeOptions& options = {});

struct HvpResult {
  Tensor value;     // has one element
  Tensor gradient;  // has the primal's shape
  Tensor product;   // the Hessian times the direction, of the primal's shape
};

struct HvpResults {
  Tensor value;
  Gradients gradients;  // a gradient for each primal
  Gradients products;
};

/// The product of the Hessian of f (one result of one element) with a
/// direction, by forward over reverse: the cost of a gradient and its tangent,
/// and no tape of the second order. Of several primals: the whole Hessian with
/// all directions (undefined: zero). f is called once. THROWS: ShapeError when
/// f(x) has more than one element; as jvp and vjp.
NEAP_API HvpResult hvp(autograd::Function f, const Tensor& primal,
                       const Tensor& direction,
                       const DerivativeOptions& options = {});
NEAP_API HvpResults hvp(autograd::FunctionOfMany f,
                        std::span<const Tensor> primals,
                        std::span<const Tensor> directions,
                        const DerivativeOptions& options = {});

enum class JacobianMode {
  kAuto,     // forward where the primals have fewer elements than the result
  kForward,  // f is run with its tangent once for each element of the primals
  kReverse,  // f is run once, its pullback once for each element of the result
};

struct JacobianOptions {
  JacobianMode mode = JacobianMode::kAuto;
  bool create_graph = false;  // the same as in DerivativeOptions
};

/// All of df/dx: shape f(x).shape + x.shape, [i..., j...] = d f_i / d x_j. Of
/// several primals: one such tensor each. With kAuto, f is called once to learn
/// the result's size. A function that draws random numbers draws again each
/// time that it is called. THROWS: as vjp, and as jvp in forward mode.
NEAP_API Tensor jacobian(autograd::Function f, const Tensor& primal,
                         const JacobianOptions& options = {});
NEAP_API Tensors jacobian(autograd::FunctionOfMany f,
                          std::span<const Tensor> primals,
                          const JacobianOptions& options = {});

/// All second derivatives of f (a result of one element): shape x.shape +
/// x.shape. One hvp for each element of x. Of several primals: [i][j] has shape
/// x_i.shape + x_j.shape. THROWS: as hvp.
NEAP_API Tensor hessian(autograd::Function f, const Tensor& primal,
                        const DerivativeOptions& options = {});
NEAP_API memory::Vector<Tensors> hessian(autograd::FunctionOfMany f,
                                         std::span<const Tensor> primals,
                                         const DerivativeOptions& options = {});

}  // namespace neap
