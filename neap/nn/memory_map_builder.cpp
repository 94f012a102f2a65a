// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// How a memory map is filled: list by list, from the model's registry, its
// watch and the tape.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "neap/base/append.hpp"
#include "neap/nn/memory_map.hpp"
#include "neap/nn/watch.hpp"

namespace neap::nn {
namespace {

// `path` seen from `top`, both of one tree; nothing where it lies outside.
std::optional<std::string_view> path_below(std::string_view path,
                                           std::string_view top) {
  if (top.empty()) {
    return path;
  }
  if (!path.starts_with(top)) {
    return std::nullopt;
  }
  path.remove_prefix(top.size());
  if (path.empty() || path.front() == '.') {
    return path.empty() ? path : path.substr(1);
  }
  return std::nullopt;
}

memory::String join(std::string_view path, std::string_view name) {
  memory::String joined(path);
  if (!joined.empty()) {
    joined += '.';
  }
  return joined += name;
}

}  // namespace

class MemoryMap::Builder {
 public:
  Builder(MemoryMap& map, const Module& model) : map_(map), model_(model) {
    const base::Ref<CallBook>& book = model.registry().book();
    if (book && book->top() != nullptr) {
      find_calls(*book);
    }
  }

  void add_parameters() {
    for (Parameter& parameter : model_.parameters()) {
      const base::Ref<tensor::Array> array = parameter.tensor.array();
      map_.add({.name = std::move(parameter.name),
                .aliases = std::move(parameter.aliases),
                .list = MapList::kParameters,
                .handle = std::move(parameter.tensor)},
               *array);
    }
    for (Parameter& buffer : model_.buffers()) {
      add(MapList::kBuffers, std::move(buffer.name), buffer.tensor);
    }
  }

  void add_calls() {
    memory::Vector<const Call*> by_end;
    for (const Call& call : calls_) {
      by_end.push_back(&call);
    }
    std::ranges::sort(by_end, {},
                      [](const Call* call) { return call->seen->end; });
    for (const Call* call : by_end) {
      add(MapList::kOutputs, name_in(*call, "output"), call->seen->output);
    }
    for (const Call& call : calls_) {
      const memory::Vector<Tensor>& inputs = call.seen->inputs;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        add(MapList::kInputs,
            name_in(call,
                    inputs.size() == 1 ? "input" : fmt::format("input{}", i)),
            inputs[i]);
      }
    }
  }

  void add_caches(std::span<const Tensor> results) {
    memory::Vector<Tensor> roots(results.begin(), results.end());
    memory::Vector<Tensor> ends;
    for (const Call& call : calls_) {
      roots.push_back(call.seen->output);
      if (call.seen->is_outermost) {
        std::ranges::copy(call.seen->inputs, std::back_inserter(ends));
      }
    }
    const Registry& registry = model_.registry();
    const std::string_view top = registry.domain().path_of(registry.owner());
    for (const NodeRef& node : kept_nodes(roots, ends)) {
      const graph::Node& kept = node_of(node);
      const auto path = path_below(kept.domain().path_of(kept.owner()), top);
      if (path) {
        add_residuals(node,
                      join(*path, fmt::format("cache.{}", kept.op().name)));
      }
    }
  }

  void add_gradients() {
    const std::size_t count = map_.entries_.size();
    for (std::size_t i = 0; i < count; ++i) {
      const Tensor grad = map_.entries_[i].grad();
      if (!grad.defined()) {
        continue;
      }
      MapEntry entry{.name = join(map_.entries_[i].name, "grad"),
                     .list = MapList::kGradients,
                     .handle = grad};
      for (const memory::String& alias : map_.entries_[i].aliases) {
        entry.aliases.push_back(join(alias, "grad"));
      }
      map_.add(std::move(entry), *grad.array());
    }
  }

 private:
  // A call as this model sees it.
  struct Call {
    const LayerCall* seen;
    std::string_view path;
    std::size_t turn;  // of this layer, from 1
  };
  using Turns = Table<memory::String, Hash, std::equal_to<>>;

  void find_calls(const CallBook& book) {
    const memory::String top = model_.registry().path_from(*book.top());
    Turns turns;
    for (const LayerCall& call : book.calls()) {
      const auto path = path_below(call.path, top);
      if (path && call.end != 0) {
        calls_.push_back({&call, *path, ++turns[memory::String(*path)]});
      }
    }
  }

  static memory::String with_turn(memory::String name, std::size_t turn) {
    if (turn > 1) {
      base::append(name, "#{}", turn);
    }
    return name;
  }

  static memory::String name_in(const Call& call, std::string_view what) {
    return with_turn(join(call.path, what), call.turn);
  }

  void add(MapList list, memory::String name, const Tensor& tensor) {
    if (tensor.defined()) {
      map_.add({.name = std::move(name), .list = list, .handle = tensor},
               *tensor.array());
    }
  }

  void add_residuals(const NodeRef& node, memory::String stem) {
    const std::size_t turn = ++ops_[stem];
    stem = with_turn(std::move(stem), turn);
    for (const graph::Residual& kept : node_of(node).residuals()) {
      constexpr std::uint16_t kOutput = graph::Residual::kOutputBit;
      const bool is_output = (kept.position & kOutput) != 0;
      const std::string place = fmt::format(
          "{}{}", is_output ? "output" : "input", kept.position & ~kOutput);
      map_.add({.name = join(stem, place),
                .list = MapList::kCaches,
                .node = node,
                .position = kept.position},
               *kept.array);
    }
  }

  MemoryMap& map_;
  const Module& model_;
  memory::Vector<Call> calls_;  // those that have ended, as they began
  Turns ops_;                   // how often a layer has called an op
};

MemoryMap::MemoryMap(const Module& model, const MapOptions& options) {
  Builder builder(*this, model);
  builder.add_parameters();
  builder.add_calls();
  builder.add_caches(options.results);
  builder.add_gradients();
}

}  // namespace neap::nn
