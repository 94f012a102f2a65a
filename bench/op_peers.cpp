// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "op_peers.hpp"

#include <algorithm>

#include "neap/neap.hpp"
#include "op_calls.hpp"

namespace neap::bench {
namespace {

using Operands = PeerOperands;

constexpr std::int64_t kSide = 32;  // of the small systems

Tensor cached(Tensor& place, Tensor (*make)(const Operands& o),
              const Operands& o) {
  if (!place.defined()) {
    place = make(o);
  }
  return place;
}

const PeerOp kElementwise[] = {
    {"exp", "x.exp()", [](Operands& o) { return exp(o.x()); }},
    {"log", "x.log()", [](Operands& o) { return log(o.x()); }},
    {"log2", "x.log2()", [](Operands& o) { return log2(o.x()); }},
    {"log1p", "x.log1p()", [](Operands& o) { return log1p(o.x()); }},
    {"expm1", "x.expm1()", [](Operands& o) { return expm1(o.x()); }},
    {"sqrt", "x.sqrt()", [](Operands& o) { return sqrt(o.x()); }},
    {"rsqrt", "x.rsqrt()", [](Operands& o) { return rsqrt(o.x()); }},
    {"sin", "x.sin()", [](Operands& o) { return sin(o.x()); }},
    {"cos", "x.cos()", [](Operands& o) { return cos(o.x()); }},
    {"tan", "x.tan()", [](Operands& o) { return tan(o.x()); }},
    {"sinh", "x.sinh()", [](Operands& o) { return sinh(o.x()); }},
    {"atan", "x.atan()", [](Operands& o) { return atan(o.x()); }},
    {"atanh", "(x-1).atanh()",
     [](Operands& o) { return atanh(sub(o.x(), 1)); }},
    {"tanh", "x.tanh()", [](Operands& o) { return tanh(o.x()); }},
    {"sigmoid", "x.sigmoid()", [](Operands& o) { return sigmoid(o.x()); }},
    {"relu", "x.relu()", [](Operands& o) { return relu(o.x()); }},
    {"gelu", "F.gelu(x)", [](Operands& o) { return gelu(o.x()); }},
    {"gelu tanh", "F.gelu(x,approximate='tanh')",
     [](Operands& o) { return gelu(o.x(), GeluForm::kTanh); }},
    {"silu", "F.silu(x)", [](Operands& o) { return silu(o.x()); }},
    {"mish", "F.mish(x)", [](Operands& o) { return mish(o.x()); }},
    {"softplus", "F.softplus(x)", [](Operands& o) { return softplus(o.x()); }},
    {"log_sigmoid", "F.logsigmoid(x)",
     [](Operands& o) { return log_sigmoid(o.x()); }},
    {"elu", "F.elu(x)", [](Operands& o) { return elu(o.x()); }},
    {"leaky_relu", "F.leaky_relu(x)",
     [](Operands& o) { return leaky_relu(o.x()); }},
    {"erf", "x.erf()", [](Operands& o) { return erf(o.x()); }},
    {"erfc", "x.erfc()", [](Operands& o) { return erfc(o.x()); }},
    {"abs", "x.abs()", [](Operands& o) { return abs(o.x()); }},
    {"neg", "-x", [](Operands& o) { return neg(o.x()); }},
    {"square", "x.square()", [](Operands& o) { return square(o.x()); }},
    {"reciprocal", "x.reciprocal()",
     [](Operands& o) { return reciprocal(o.x()); }},
    {"floor", "x.floor()", [](Operands& o) { return floor(o.x()); }, false,
     false},
    {"sign", "x.sign()", [](Operands& o) { return sign(o.x()); }, false, false},
    {"clip", "x.clamp(0.3,0.9)",
     [](Operands& o) { return clip(o.x(), 0.3, 0.9); }},
    {"add", "x+y", [](Operands& o) { return add(o.x(), o.y()); }},
    {"add a row", "x+column",
     [](Operands& o) { return add(o.x(), o.column()); }},
    {"sub", "x-y", [](Operands& o) { return sub(o.x(), o.y()); }},
    {"mul", "x*y", [](Operands& o) { return mul(o.x(), o.y()); }},
    {"div", "x/y", [](Operands& o) { return div(o.x(), o.y()); }},
    {"maximum", "torch.maximum(x,y)",
     [](Operands& o) { return maximum(o.x(), o.y()); }},
    {"pow", "torch.pow(x,y)", [](Operands& o) { return pow(o.x(), o.y()); }},
    {"atan2", "torch.atan2(x,y)",
     [](Operands& o) { return atan2(o.x(), o.y()); }},
    {"fmod", "torch.fmod(x,y)", [](Operands& o) { return fmod(o.x(), o.y()); },
     false, false},
    {"lt", "x<y", [](Operands& o) { return lt(o.x(), o.y()); }, false, false},
    {"logical_and", "torch.logical_and(b,b)",
     [](Operands& o) { return logical_and(o.mask(), o.mask()); }, false, false},
    {"where", "torch.where(b,x,y)",
     [](Operands& o) { return where(o.mask(), o.x(), o.y()); }},
    {"dropout", "F.dropout(x,0.1)",
     [](Operands& o) { return dropout(o.x(), 0.1); }},
};

const PeerOp kAlongAxes[] = {
    {"sum", "x.sum(d)", [](Operands& o) { return sum(o.x(), {o.axis()}); },
     true},
    {"mean", "x.mean(d)", [](Operands& o) { return mean(o.x(), {o.axis()}); },
     true},
    {"amax", "x.amax(d)", [](Operands& o) { return amax(o.x(), {o.axis()}); },
     true},
    {"amin", "x.amin(d)", [](Operands& o) { return amin(o.x(), {o.axis()}); },
     true},
    {"argmax", "x.argmax(d)",
     [](Operands& o) { return argmax(o.x(), o.axis()); }, true, false},
    {"prod", "x.prod(d)", [](Operands& o) { return prod(o.x(), {o.axis()}); },
     true},
    {"any", "b.any(d)", [](Operands& o) { return any(o.mask(), {o.axis()}); },
     true, false},
    {"logsumexp", "x.logsumexp(d)",
     [](Operands& o) { return logsumexp(o.x(), {o.axis()}); }, true},
    {"var", "x.var(d)", [](Operands& o) { return var(o.x(), {o.axis()}); },
     true},
    {"norm", "torch.linalg.vector_norm(x,2,d)",
     [](Operands& o) { return norm(o.x(), 2.0, {o.axis()}); }, true},
    {"softmax", "x.softmax(d)",
     [](Operands& o) { return softmax(o.x(), o.axis()); }, true},
    {"log_softmax", "x.log_softmax(d)",
     [](Operands& o) { return log_softmax(o.x(), o.axis()); }, true},
    {"cumsum", "x.cumsum(d)",
     [](Operands& o) { return cumsum(o.x(), o.axis()); }, true},
    {"sort", "x.sort(dim=d,stable=True)[0]",
     [](Operands& o) { return sort(o.x(), o.axis()).values; }, true, false},
    {"flip", "x.flip(d)", [](Operands& o) { return flip(o.x(), {o.axis()}); },
     true},
    {"roll", "x.roll(3,d)",
     [](Operands& o) { return roll(o.x(), 3, o.axis()); }, true},
    {"concat", "torch.cat((x,y),d)",
     [](Operands& o) {
       return concat({o.x(), o.y()}, o.axis());
     },
     true},
    {"gather", "x.gather(d,i)",
     [](Operands& o) { return gather(o.x(), o.axis(), o.index()); }, true},
    {"index_select", "x.index_select(d,i[:,0])",
     [](Operands& o) {
       return index_select(o.x(), o.axis(), select(o.index(), 1, 0));
     },
     true},
};

const PeerOp kOthers[] = {
    {"copy", "x.clone(memory_format=torch.contiguous_format)",
     [](Operands& o) { return copy(o.x()); }},
    {"pad", "F.pad(x,(1,1,1,1))",
     [](Operands& o) {
       return pad(o.x(), {1, 1, 1, 1});
     }},
    {"layer_norm", "F.layer_norm(x,(columns,),column,column)",
     [](Operands& o) {
       return layer_norm(o.x(), {o.columns()}, o.column(), o.column());
     }},
    {"cross_entropy", "F.cross_entropy(x,labels)",
     [](Operands& o) { return cross_entropy(o.x(), o.labels()); }},
    {"linear_cross_entropy", "F.cross_entropy(F.linear(x,w,column),labels)",
     [](Operands& o) {
       return linear_cross_entropy(o.x(), o.weight(), o.column(), o.labels());
     }},
    {"matmul", "x@w", [](Operands& o) { return matmul(o.x(), o.weight()); }},
    {"matrix times vector", "x@column",
     [](Operands& o) { return matmul(o.x(), o.column()); }},
    {"linear", "F.linear(x,w,column)",
     [](Operands& o) { return linear(o.x(), o.weight(), o.column()); }},
    {"linear of one row", "F.linear(row,x)",
     [](Operands& o) { return linear(o.row(), o.x()); }},
    {"row times matrix", "row@x.t()",
     [](Operands& o) { return matmul(o.row(), transpose(o.x())); }},
    {"cholesky", "torch.linalg.cholesky(s)",
     [](Operands& o) { return cholesky(o.systems()); }, false, false, false},
    {"inverse", "torch.linalg.inv(s)",
     [](Operands& o) { return inverse(o.systems()); }, false, false, false},
    {"solve", "torch.linalg.solve(s,s)",
     [](Operands& o) { return solve(o.systems(), o.systems()); }, false, false,
     false},
    {"rand", "torch.rand(rows,columns)",
     [](Operands& o) {
       return rand({o.rows(), o.columns()});
     },
     false, false, false},
    {"randn", "torch.randn(rows,columns)",
     [](Operands& o) {
       return randn({o.rows(), o.columns()});
     },
     false, false, false},
    {"randint", "torch.randint(0,1000,(rows,columns))",
     [](Operands& o) {
       return randint(0, 1000, {o.rows(), o.columns()});
     },
     false, false, false},
    {"zeros", "torch.zeros(rows,columns)",
     [](Operands& o) {
       return zeros({o.rows(), o.columns()});
     },
     false, false, false},
};

}  // namespace

PeerOperands::PeerOperands(std::int64_t rows, std::int64_t columns,
                           OperandLayout layout, std::int64_t axis)
    : rows_(rows), columns_(columns), layout_(layout), axis_(axis) {}

Tensor PeerOperands::matrix() const {
  return layout_ == OperandLayout::kTransposed
             ? transpose(numbers({columns_, rows_}))
             : numbers({rows_, columns_});
}

Tensor PeerOperands::numbered(std::size_t which) {
  if (!matrices_[which].defined()) {
    matrices_[which] = matrix();
  }
  return matrices_[which];
}

void PeerOperands::differentiate_x() {
  matrices_[0] = requires_grad_(x().detach());
}

Tensor PeerOperands::mask() {
  if (!mask_.defined()) {
    const NoGrad no_grad;
    mask_ = gt(x(), 0.5);
  }
  return mask_;
}

Tensor PeerOperands::index() {
  if (!index_.defined()) {
    index_ = bench::labels({rows_, columns_}, axis_ == 0 ? rows_ : columns_);
  }
  return index_;
}

Tensor PeerOperands::weight() {
  return cached(
      weight_,
      [](const Operands& o) {
        return numbers({o.columns(), o.columns()});
      },
      *this);
}

Tensor PeerOperands::row() {
  return cached(
      row_,
      [](const Operands& o) {
        return numbers({1, o.columns()});
      },
      *this);
}

Tensor PeerOperands::column() {
  return cached(
      column_, [](const Operands& o) { return numbers({o.columns()}); }, *this);
}

Tensor PeerOperands::systems() {
  return cached(
      systems_,
      [](const Operands& o) {
        const std::int64_t count =
            std::max<std::int64_t>(o.rows() * o.columns() / (kSide * kSide), 1);
        return numbers({count, kSide, kSide}) + eye(kSide) * 64;
      },
      *this);
}

Tensor PeerOperands::labels() {
  return cached(
      labels_,
      [](const Operands& o) { return bench::labels({o.rows()}, o.columns()); },
      *this);
}

std::span<const PeerOp> peer_ops() {
  static const std::vector<PeerOp> all = [] {
    std::vector<PeerOp> list;
    list.insert(list.end(), std::begin(kElementwise), std::end(kElementwise));
    list.insert(list.end(), std::begin(kAlongAxes), std::end(kAlongAxes));
    list.insert(list.end(), std::begin(kOthers), std::end(kOthers));
    return list;
  }();
  return all;
}

}  // namespace neap::bench
