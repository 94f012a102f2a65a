// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/sequential.hpp"

#include <fmt/core.h>

#include <array>
#include <typeinfo>
#include <utility>

#include "neap/base/append.hpp"
#include "neap/base/raise.hpp"

namespace neap::nn {
namespace {

// A layer that is a Sequential and nothing more; else nullptr.
template <class L>
auto plain_sequential(L& layer) noexcept {
  using Result =
      std::conditional_t<std::is_const_v<L>, const Sequential*, Sequential*>;
  return typeid(layer) == typeid(Sequential) ? static_cast<Result>(&layer)
                                             : nullptr;
}

}  // namespace

void Sequential::append(std::string_view name, memory::Owned<Layer> layer) {
  std::array<char, 24> digits{};
  if (name.empty()) {
    name = {digits.data(), base::format_into(digits, "{}", layers_.size())};
  }
  registry().renew();
  layers_.push_back(std::move(layer));
  try {
    register_module(name, *layers_.back());
  } catch (...) {
    layers_.pop_back();
    throw;
  }
}

// Copies the nested ones empty, and fills them later.
Sequential::Sequential(const Sequential& other, Cloning& cloning)
    : Sequential(other, cloning, Shell{}) {
  struct Copy {
    const Sequential* from;
    Sequential* to;
  };
  memory::Vector<Copy> pending;
  pending.push_back({&other, this});
  while (!pending.empty()) {
    const Copy at = pending.back();
    pending.pop_back();
    for (const memory::Owned<Layer>& layer : at.from->layers_) {
      const memory::String name = at.from->name_of(*layer);
      if (const Sequential* inner = plain_sequential(std::as_const(*layer))) {
        memory::Owned<Sequential> shell = memory::make_owned<Sequential>(
            memory::Category::kGraph, Sequential(*inner, cloning, Shell{}));
        pending.push_back({inner, shell.get()});
        at.to->append(name, std::move(shell));
      } else {
        at.to->append(name, layer->copy_layer(cloning));
      }
    }
  }
}

// The layers stay where the registry does.
// NOLINTBEGIN(bugprone-use-after-move)
Sequential::Sequential(Sequential&& other) noexcept
    : Cloneable(std::move(other)),
      layers_(other.is_moved_from() ? std::move(other.layers_)
                                    : decltype(layers_)()) {}

// NOLINTNEXTLINE(performance-noexcept-move-constructor): as Module's
Sequential& Sequential::operator=(Sequential&& other) {
  Cloneable::operator=(std::move(other));
  if (other.is_moved_from()) {
    layers_ = std::move(other.layers_);
  }
  return *this;
}
// NOLINTEND(bugprone-use-after-move)

// Inner Sequentials that lose their owner queue up through themselves.
Sequential::~Sequential() {
  memory::Owned<Layer> dying;
  const auto orphan = [&dying](Sequential& at) {
    for (memory::Owned<Layer>& layer : at.layers_) {
      if (Sequential* inner = plain_sequential(*layer)) {
        inner->next_dying_ = std::exchange(dying, std::move(layer));
      }
    }
    at.layers_.clear();
  };
  orphan(*this);
  while (dying) {
    auto& at = static_cast<Sequential&>(*dying);
    const memory::Owned<Layer> last =
        std::exchange(dying, std::move(at.next_dying_));
    orphan(at);
  }
}

// A Sequential that runs inside another: where it is, and what its watch is
// owed. A layer below it takes its owner's path from its own registry.
struct Sequential::Frame {
  explicit Frame(Sequential& which, const Tensor& x)
      : at(&which),
        call(which.registry()),
        input(call.is_watched() ? x : Tensor()) {}
  Frame(Frame&&) noexcept = default;
  Frame& operator=(Frame&&) = delete;
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
  ~Frame() = default;

  void finish(const Tensor& output) const {
    if (call.is_watched()) {
      const std::array<const Tensor*, 1> inputs{&input};
      call.note(inputs, output);
    }
  }

  Sequential* at;
  std::size_t next = 0;  // layer
  WatchedCall call;
  Tensor input;  // where watched
};

Tensor Sequential::run_nested(Sequential& outermost, const Tensor& x) {
  memory::Vector<Frame> frames;
  frames.emplace_back(outermost, x);
  Tensor y = x;
  while (!frames.empty()) {
    Frame& frame = frames.back();
    if (frame.next == frame.at->layers_.size()) {
      frame.finish(y);
      frames.pop_back();
      continue;
    }
    Layer& layer = *frame.at->layers_[frame.next++];
    if (Sequential* inner = plain_sequential(layer)) {
      frames.emplace_back(*inner, y);
    } else {
      y = layer(y);
    }
  }
  return y;
}

Tensor Sequential::forward(const Tensor& x) const {
  registry().note_use();  // its layers may be exchanged as a whole
  Tensor y = x;
  for (const memory::Owned<Layer>& layer : layers_) {
    Sequential* inner = plain_sequential(*layer);
    y = inner != nullptr ? run_nested(*inner, y) : (*layer)(y);
  }
  return y;
}

std::int64_t Sequential::size() const noexcept {
  is_moved_from();  // a step that asks depends on which layers there are
  return static_cast<std::int64_t>(layers_.size());
}

Layer& Sequential::operator[](std::int64_t position) const {
  registry().note_use();
  if (position < 0 || position >= size()) {
    base::raise<ValueError>("Sequential: position {} of {} layers", position,
                            size());
  }
  return *layers_[static_cast<std::size_t>(position)];
}

template class Cloneable<Sequential>;

}  // namespace neap::nn
