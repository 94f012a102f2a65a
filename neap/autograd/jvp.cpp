// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/autograd/jvp.hpp"

#include "neap/autograd/tangent_recorder.hpp"
#include "neap/base/raise.hpp"
#include "neap/memory/containers.hpp"
#include "neap/ops/fill.hpp"

namespace neap {

using base::raise;

JvpResult jvp(const std::function<Tensor(std::span<const Tensor>)>& f,
              std::span<const Tensor> primals,
              std::span<const Tensor> tangents) {
  if (primals.size() != tangents.size()) {
    raise<ShapeError>("jvp: {} tangents for {} primals", tangents.size(),
                      primals.size());
  }
  autograd::TangentRecorder recorder(true);
  memory::Vector<Tensor> handles;
  for (std::size_t i = 0; i < primals.size(); ++i) {
    if (primals[i].spec() != tangents[i].spec()) {
      raise<ShapeError>("jvp: tangent {} of shape {} for a primal of shape {}",
                        i, format_shape(tangents[i].shape()),
                        format_shape(primals[i].shape()));
    }
    handles.push_back(primals[i].alias());
    recorder.set(handles.back(), tangents[i]);
  }
  JvpResult result;
  {
    const graph::UseRecorder guard(&recorder);
    result.value = f(handles);
  }
  result.tangent = recorder.tangent_of(result.value);
  if (!result.tangent.defined()) {
    result.tangent = ops::filled(result.value.spec(), 0.0, CallSite::here());
  }
  return result;
}

}  // namespace neap
