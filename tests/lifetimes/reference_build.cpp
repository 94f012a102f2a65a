// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "reference.hpp"

namespace neap::lifetimes {
namespace {

constexpr std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

// Arrays that the recorded call keeps: inputs, outputs, and others.
std::vector<Kept> kept_by(Model& model, const Call& call,
                          const std::array<int, 2>& operands,
                          const std::array<bool, 2>& needs,
                          const std::array<int, 2>& outputs) {
  const OpFacts& facts = call.facts();
  unsigned inputs = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    inputs |= needs[i] ? facts.keeps_inputs[i] : 0U;
  }
  std::vector<Kept> kept;
  const auto keep = [&](int array) {
    const int storage = model.arrays[at(array)].storage;
    kept.push_back({array, model.storages[at(storage)].version});
  };
  for (int i = 0; i < 2; ++i) {
    if ((inputs >> static_cast<unsigned>(i) & 1U) != 0) {
      keep(model.body(operands[at(i)]).array);
    }
    if ((facts.keeps_outputs >> static_cast<unsigned>(i) & 1U) != 0) {
      keep(model.body(outputs[at(i)]).array);
    }
  }
  if (facts.keeps_bits) {
    const int bits = model.make_fresh(call.out[0], {});
    const int array = model.body(bits).array;
    const auto bytes = static_cast<Bytes>(count_of(call.out[0]) + 7) / 8;
    model.storages[at(model.arrays[at(array)].storage)].bytes = bytes;
    keep(array);
  }
  return kept;
}

bool may_donate(const Model& model, const Call& call,
                const std::array<int, 2>& operands, int moved, bool records) {
  const OpFacts& facts = call.facts();
  unsigned may = facts.donates;
  if (records) {
    may &=
        ~static_cast<unsigned>(facts.keeps_inputs[0] | facts.keeps_inputs[1]);
  }
  if (moved == kNone || (may >> static_cast<unsigned>(moved) & 1U) == 0) {
    return false;
  }
  const int body = operands[at(moved)];
  const Array& array = model.array_of(body);
  const auto bytes = static_cast<Bytes>(count_of(array.shape) * sizeof(double));
  return array.shape == call.out[0] && model.is_sole_owner(body) &&
         model.storages[at(array.storage)].bytes == bytes;
}

// A view of elements in place: element i of the result is one of the input's.
int make_view(Model& model, const Call& call, int operand) {
  const Array from = model.array_of(operand);
  Array array = from;
  array.shape = call.out[0];
  Values places{};
  for (std::size_t i = 0; i < count_of(from.shape); ++i) {
    places[i] = static_cast<double>(from.at[i]);
  }
  const Values taken = forward(call, {places, {}})[0];
  for (std::size_t i = 0; i < count_of(array.shape); ++i) {
    array.at[i] = static_cast<std::size_t>(std::lround(taken[i]));
  }
  return model.make_view(array);
}

int record(Model& model, const Call& call, const std::array<int, 2>& operands,
           const std::array<bool, 2>& needs, const ValuePair& in,
           const ValuePair& out, const std::array<int, 2>& bodies, int action) {
  Vertex node;
  node.action = action;
  node.call = call;
  node.in = in;
  node.out = out;
  for (std::size_t i = 0; i < 2; ++i) {
    if (needs[i]) {
      const Body& body = model.body(operands[i]);
      node.edges[i] = {body.vertex, body.output};
    }
  }
  node.kept = kept_by(model, call, operands, needs, bodies);
  return model.add_vertex(std::move(node));
}

}  // namespace

std::string site_text(int action) {
  return fmt::format("{}:{} ({})", kFile, action, kFunction);
}

Built build(Model& model, const Call& call, const std::array<int, 2>& operands,
            int moved, bool is_grad_enabled, int action) {
  const OpFacts& facts = call.facts();
  std::array<bool, 2> needs{};
  ValuePair in{};
  for (std::size_t i = 0; i < at(facts.inputs); ++i) {
    needs[i] = is_grad_enabled && model.requires_grad(operands[i]);
    in[i] = model.values_of(operands[i]);
  }
  const bool records = needs[0] || needs[1];
  const ValuePair out = forward(call, in);
  Built built;
  built.is_donated = may_donate(model, call, operands, moved, records);
  for (int k = 0; k < facts.outputs; ++k) {
    if (facts.is_view) {
      built.bodies[at(k)] = make_view(model, call, operands[0]);
    } else if (k == 0 && built.is_donated) {
      built.bodies[0] = operands[at(moved)];
      model.move_member(built.bodies[0], model.current_scope);
      const int storage = model.array_of(built.bodies[0]).storage;
      model.storages[at(storage)].values = out[0];
    } else {
      built.bodies[at(k)] = model.make_fresh(call.out[at(k)], out[at(k)]);
    }
  }
  if (records) {
    built.vertex =
        record(model, call, operands, needs, in, out, built.bodies, action);
  }
  for (int k = 0; k < facts.outputs; ++k) {
    model.body(built.bodies[at(k)]).vertex = built.vertex;
    model.body(built.bodies[at(k)]).output = k;
  }
  return built;
}

}  // namespace neap::lifetimes
