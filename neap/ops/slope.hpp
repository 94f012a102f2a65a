// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The rules of an elementwise op y = f(x) and of the op that is its derivative,
// dx = g s(v), with v the input x or the output y. For sources of ops only.
#pragma once

#include "neap/ops/mul.hpp"
#include "neap/ops/support.hpp"

namespace neap::ops {

/// For ops without attributes.
struct NoAttrs {};

template <class A>
A attrs_of(const VjpContext& c) {
  if constexpr (std::is_empty_v<A>) {
    return {};
  } else {
    return c.attrs<A>();
  }
}

template <class A>
A attrs_of(const JvpContext& c) {
  if constexpr (std::is_empty_v<A>) {
    return {};
  } else {
    return c.attrs<A>();
  }
}

/// g s(v).
template <class A>
using Slope = Tensor (*)(const Operand& g, const Operand& v, const A& attrs);
/// ds/dv.
template <class A>
using Bend = Tensor (*)(const Tensor& v, const A& attrs);

/// Rules of f, where v is the input.
template <class A, Slope<A> kSlope>
void vjp_from_input(VjpContext& c) {
  c.set(0, kSlope(c.take_cotangent(), c.input(0), attrs_of<A>(c)));
}
template <class A, Slope<A> kSlope>
void jvp_from_input(JvpContext& c) {
  c.set(0, kSlope(c.tangent(), c.input(0), attrs_of<A>(c)));
}

/// Rules of f, where v is the output.
template <class A, Slope<A> kSlope>
void vjp_from_output(VjpContext& c) {
  c.set(0, kSlope(c.take_cotangent(), c.output(), attrs_of<A>(c)));
}
template <class A, Slope<A> kSlope>
void jvp_from_output(JvpContext& c) {
  c.set(0, kSlope(c.tangent(), c.output(), attrs_of<A>(c)));
}

/// Rules of dx = g s(v), inputs g and v.
template <class A, Slope<A> kSlope, Bend<A> kBend>
void vjp_of_slope(VjpContext& c) {
  const A attrs = attrs_of<A>(c);
  if (c.needs(1)) {
    c.set(1, mul(mul(kBend(c.input(1), attrs), c.input(0)), c.cotangent()));
  }
  if (c.needs(0)) {
    c.set(0, kSlope(c.take_cotangent(), c.input(1), attrs));
  }
}
template <class A, Slope<A> kSlope, Bend<A> kBend>
void jvp_of_slope(JvpContext& c) {
  const A attrs = attrs_of<A>(c);
  Tensor d;
  if (c.tangent(0).defined()) {
    d = kSlope(c.tangent(0), c.input(1), attrs);
  }
  if (c.tangent(1).defined()) {
    d = add_defined(std::move(d), mul(mul(kBend(c.input(1), attrs), c.input(0)),
                                      c.tangent(1)));
  }
  c.set(0, std::move(d));
}

/// The memory facts of dx = g s(v).
inline constexpr graph::Facts kSlopeFacts{
    .vjp_reads = {{{.inputs = 0b10}, {.inputs = 0b11}}}, .donates = 0b11};

}  // namespace neap::ops
