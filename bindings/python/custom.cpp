// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Operations of the user's own: a forward and derivatives in Python, both
// written in other operations. The forward has run when the op is called, on
// operands that nothing records; the op takes the results over:
//
//   operands   inputs x | results y of the forward | what it saved besides
//   results    y, in the same memory where nobody else has it
//
// So a compiled step runs the forward's operations as its own, without Python,
// and what the derivatives read is kept as for any op.
#include "neap/ops/custom_op.hpp"

#include <cstring>

#include "binding.hpp"
#include "hook.hpp"
#include "neap/graph/recorder.hpp"
#include "neap/graph/trace.hpp"
#include "values.hpp"

namespace neap::python {
namespace {

using Tensors = std::vector<Tensor>;

// The operands of a call, in their order, and which the derivatives read.
struct Operands {
  int inputs = 0;
  int results = 0;
  int saved = 0;
  std::uint32_t reads_inputs = 0;
  std::uint32_t reads_results = 0;

  int count() const noexcept { return inputs + results + saved; }
  bool reads_input(int i) const noexcept {
    return ((reads_inputs >> static_cast<unsigned>(i)) & 1U) != 0;
  }
  bool reads_result(int k) const noexcept {
    return ((reads_results >> static_cast<unsigned>(k)) & 1U) != 0;
  }
};

CustomOp::Facts facts_of(const Operands& operands) {
  CustomOp::Facts facts;
  std::uint32_t read = operands.reads_inputs;
  for (int i = operands.inputs + operands.results; i < operands.count(); ++i) {
    read |= 1U << static_cast<unsigned>(i);
  }
  facts.vjp_reads.fill({.inputs = read, .outputs = operands.reads_results});
  facts.donates = 1U << static_cast<unsigned>(operands.inputs);
  return facts;
}

nb::object or_none(const Tensor& t) {
  return t.is_given() ? nb::cast(t) : nb::none();
}

// Derivatives may be asked of what runs now: by a graph, or by a recorder of
// tangents beyond the usual one.
bool is_differentiated() {
  const tensor::Execution& now = tensor::thread_execution();
  return now.grad_enabled ||
         (now.recorder != nullptr && now.recorder != &graph::base_recorder());
}

// The saved values as the derivatives get them: lists of the inputs and results
// that they read (None: the others), and of the rest.
template <class Context>
nb::tuple saved_of(const Operands& operands, Context& c) {
  nb::list inputs;
  for (int i = 0; i < operands.inputs; ++i) {
    inputs.append(operands.reads_input(i) ? nb::cast(Tensor(c.input(i)))
                                          : nb::none());
  }
  nb::list results;
  for (int k = 0; k < operands.results; ++k) {
    results.append(operands.reads_result(k) ? nb::cast(Tensor(c.output(k)))
                                            : nb::none());
  }
  nb::list saved;
  for (int i = operands.inputs + operands.results; i < operands.count(); ++i) {
    saved.append(nb::cast(Tensor(c.input(i))));
  }
  return nb::make_tuple(inputs, results, saved);
}

// The rule of one call.
struct Rule {
  std::string_view name;
  int inputs = 0;
  int outputs = 1;
  CustomOp::Facts facts;
  Operands operands;
  Held pull;  // (saved, cotangents, is_differentiated) -> cotangents

  void shape(CustomOp::Specs in, CustomOp::OutSpecs out) const {
    for (std::size_t k = 0; k < out.size(); ++k) {
      out[k] = in[static_cast<std::size_t>(operands.inputs) + k];
    }
  }
  // Results are dense, as the caller of _custom_op() has made them.
  void forward(const CustomOp::Forward& c) const noexcept {
    for (int k = 0; k < operands.results; ++k) {
      const kernels::Strided& from = c.input(operands.inputs + k);
      const kernels::Strided& to = c.output(k);
      const Bytes bytes = to.shape.element_count() * size_of(to.dtype);
      if (to.data != from.data && bytes > 0) {
        std::memcpy(to.data, from.data, static_cast<std::size_t>(bytes));
      }
    }
  }
  void vjp(CustomOp::Vjp& c) const {
    const Locked locked;
    const OwnSites sites;
    nb::list cotangents;
    for (int k = 0; k < operands.results; ++k) {
      cotangents.append(or_none(c.cotangent(k)));
    }
    const nb::object given = in_python([&] {
      return nb::object(
          pull.get()(saved_of(operands, c), cotangents, is_differentiated()));
    });
    for (int i = 0; i < operands.inputs; ++i) {
      if (nb::object each = given[i]; !each.is_none() && c.needs(i)) {
        c.set(i, tensor_of("vjp", each));
      }
    }
  }
};

// The same with a derivative in forward mode.
struct RuleWithJvp : Rule {
  Held push;  // (saved, tangents, is_differentiated) -> tangents

  void jvp(CustomOp::Jvp& c) const {
    const Locked locked;
    const OwnSites sites;
    nb::list tangents;
    for (int i = 0; i < operands.inputs; ++i) {
      tangents.append(or_none(c.tangent(i)));
    }
    const nb::object given = in_python([&] {
      return nb::object(
          push.get()(saved_of(operands, c), tangents, is_differentiated()));
    });
    for (int k = 0; k < operands.results; ++k) {
      if (nb::object each = given[k]; !each.is_none()) {
        c.set(k, tensor_of("jvp", each));
      }
    }
  }
};

Rule make_rule(std::string_view name, const Operands& operands,
               nb::object pull) {
  return {.name = name,
          .inputs = operands.count(),
          .outputs = operands.results,
          .facts = facts_of(operands),
          .operands = operands,
          .pull = Held(std::move(pull))};
}

CustomOp make_op(std::string_view name, const Operands& operands,
                 nb::object pull, nb::object push, const CallSite& site) {
  Rule rule = make_rule(name, operands, std::move(pull));
  if (push.is_none()) {
    return CustomOp(std::move(rule), site);
  }
  return CustomOp(RuleWithJvp{std::move(rule), Held(std::move(push))}, site);
}

// `results` is emptied, so that their memory may be taken over.
TensorTuple call(const std::string& name, nb::object pull, nb::object push,
                 const Tensors& inputs, nb::list results, const Tensors& saved,
                 std::uint32_t reads_inputs, std::uint32_t reads_results) {
  const CallSite site = here();
  Tensors made = nb::cast<Tensors>(results);
  results.clear();
  const Operands operands{
      static_cast<int>(inputs.size()), static_cast<int>(made.size()),
      static_cast<int>(saved.size()), reads_inputs, reads_results};
  const CustomOp op = make_op(kept_text(name), operands, std::move(pull),
                              std::move(push), site);
  std::vector<Operand> all;
  all.reserve(static_cast<std::size_t>(operands.count()));
  for (const Tensor& t : inputs) {
    all.emplace_back(t, site);
  }
  for (Tensor& t : made) {
    all.emplace_back(std::move(t), site);
  }
  for (const Tensor& t : saved) {
    all.emplace_back(t, site);
  }
  memory::Vector<Tensor> out = op.all(std::span<const Operand>(all), site);
  return to_python_tuple(out);
}

}  // namespace

void bind_custom(nb::module_& m) {
  m.def("_custom_op", &call, nb::arg("name"), nb::arg("pull"),
        nb::arg("push").none(), nb::arg("inputs"), nb::arg("results"),
        nb::arg("saved"), nb::arg("reads_inputs"), nb::arg("reads_results"));
}

}  // namespace neap::python
