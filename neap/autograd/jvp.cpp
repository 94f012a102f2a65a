// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/autograd/jvp.hpp"

#include <optional>

#include "neap/autograd/own_memory.hpp"
#include "neap/autograd/tangent_recorder.hpp"
#include "neap/base/raise.hpp"

namespace neap {

using autograd::TangentRecorder;

JvpResults jvp(autograd::FunctionToMany f, std::span<const Tensor> primals,
               std::span<const Tensor> tangents, const JvpOptions& options) {
  autograd::check_tangents("jvp", primals, tangents);
  std::optional<TangentRecorder> recorder(std::in_place, options.create_graph);
  Tensors handles;
  handles.reserve(primals.size());
  for (std::size_t i = 0; i < primals.size(); ++i) {
    handles.push_back(primals[i].alias());
    recorder->set(handles.back(), tangents[i]);
  }
  JvpResults results;
  {
    const graph::UseRecorder guard(&*recorder);
    results.values = f(handles);
  }
  results.tangents.reserve(results.values.size());
  for (const Tensor& value : results.values) {
    results.tangents.push_back(recorder->tangent_or_zeros(value));
  }
  recorder.reset();  // it holds tangents of its own
  autograd::put_in_own_memory(results.tangents, tangents);
  return results;
}

JvpResult jvp(autograd::FunctionOfMany f, std::span<const Tensor> primals,
              std::span<const Tensor> tangents, const JvpOptions& options) {
  const auto listed = [&](std::span<const Tensor> in) {
    Tensors out;
    out.push_back(f(in));
    return out;
  };
  JvpResults all =
      jvp(autograd::FunctionToMany(listed), primals, tangents, options);
  return {std::move(all.values[0]), std::move(all.tangents[0])};
}

JvpResult jvp(autograd::Function f, const Tensor& primal, const Tensor& tangent,
              const JvpOptions& options) {
  const auto first = [&](std::span<const Tensor> in) { return f(in[0]); };
  return jvp(autograd::FunctionOfMany(first), std::span(&primal, 1),
             std::span(&tangent, 1), options);
}

// Calls itself as often as the derivative's order, and costs double with each.
Tensor directional_derivative(
    autograd::FunctionOfMany f, std::span<const Tensor> primals,
    std::span<const std::span<const Tensor>> directions,
    const JvpOptions& options) {
  if (directions.empty()) {
    return f(primals);
  }
  const auto inner = [&](std::span<const Tensor> in) {
    return directional_derivative(f, in, directions.subspan(1), options);
  };
  return jvp(autograd::FunctionOfMany(inner), primals, directions[0], options)
      .tangent;
}

Tensor directional_derivative(autograd::Function f, const Tensor& primal,
                              std::initializer_list<Tensor> directions,
                              const JvpOptions& options) {
  const auto first = [&](std::span<const Tensor> in) { return f(in[0]); };
  memory::Vector<std::span<const Tensor>> lists;
  lists.reserve(directions.size());
  for (const Tensor& direction : directions) {
    lists.emplace_back(&direction, 1);
  }
  return directional_derivative(autograd::FunctionOfMany(first),
                                std::span(&primal, 1), lists, options);
}

}  // namespace neap
