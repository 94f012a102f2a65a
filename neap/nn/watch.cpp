// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/watch.hpp"

#include <exception>
#include <string_view>

#include "neap/base/raise.hpp"
#include "neap/graph/hooks.hpp"
#include "neap/graph/replay.hpp"
#include "neap/graph/trace.hpp"
#include "neap/nn/module.hpp"

namespace neap::nn {
namespace {

// True for a path and all below it.
bool is_within(std::string_view path, std::string_view part) noexcept {
  return path.starts_with(part) &&
         (path.size() == part.size() || path[part.size()] == '.');
}

// Asks backward for the gradient of what a graph records. Inside a
// rematerialised segment there is none to keep.
void ask_for_gradient(const Tensor& tensor) {
  if (tensor.requires_grad() && !tensor.is_leaf() &&
      !graph::is_inside_segment(tensor)) {
    retain_grad(tensor);
  }
}

}  // namespace

CallBook::CallBook(Registry& top, const WatchOptions& options,
                   const memory::Tag& tag) noexcept
    : top_(&top),
      options_(options),
      thread_(::pthread_self()),
      calls_(memory::Allocator<LayerCall>(top.domain(), tag)) {}

std::optional<std::size_t> CallBook::begin(const Registry& layer) {
  if (top_ == nullptr || ::pthread_equal(::pthread_self(), thread_) == 0) {
    return std::nullopt;
  }
  if (graph::trace() != nullptr) {
    base::raise<TraceError>(
        "watch: layer '{}' is called by a step that is traced, whose runs call "
        "no layers; watch the plain function",
        layer.path_from(*top_));
  }
  LayerCall call{.path = layer.path_from(*top_),
                 .is_outermost = depth_ == 0,
                 .inputs = {},
                 .output = {},
                 .end = 0};
  if (depth_ == 0 && &layer == top_) {
    forget();
  } else if (depth_ == 0) {
    std::erase_if(calls_, [&call](const LayerCall& earlier) {
      return is_within(earlier.path, call.path);
    });
  }
  calls_.push_back(std::move(call));
  ++depth_;
  return calls_.size() - 1;
}

void CallBook::note(std::size_t call, std::span<const Tensor* const> inputs,
                    const Tensor& output) {
  if (top_ == nullptr) {
    return;
  }
  if (options_.gradients) {
    for (const Tensor* input : inputs) {
      ask_for_gradient(*input);
    }
    ask_for_gradient(output);
  }
  LayerCall& noted = calls_[call];
  noted.inputs.reserve(inputs.size());
  for (const Tensor* input : inputs) {
    noted.inputs.push_back(*input);
  }
  noted.output = output;
  noted.end = ++ends_;
}

void CallBook::end(std::size_t call, bool has_failed) noexcept {
  --depth_;
  if (has_failed && call < calls_.size()) {
    calls_.erase(calls_.begin() + static_cast<std::ptrdiff_t>(call),
                 calls_.end());
  }
}

// Calls that have not ended keep their numbers.
void CallBook::forget() noexcept {
  if (depth_ == 0) {
    calls_.clear();
    ends_ = 0;
  }
  for (LayerCall& call : calls_) {
    call.inputs.clear();
    call.output = Tensor();
  }
}

void CallBook::close() noexcept {
  top_ = nullptr;
  memory::Vector<LayerCall>(calls_.get_allocator()).swap(calls_);
}

// A module that forward() calls inside, not as a layer, notes no use itself.
WatchedCall::WatchedCall(const Registry& registry) {
  registry.note_use_of_all();
  const base::Ref<CallBook>& book = registry.book();
  if (!book) {
    return;
  }
  if (const auto call = book->begin(registry)) {
    call_ = *call;
    book_ = book;
    exceptions_ = std::uncaught_exceptions();
  }
}

WatchedCall::~WatchedCall() {
  if (book_) {
    book_->end(call_, std::uncaught_exceptions() > exceptions_);
  }
}

Watch::Watch(const Module& model, const WatchOptions& options) {
  Registry& top = model.registry();
  top.walk([](const Registry& at) {
    if (at.book() && at.book()->top() != nullptr) {
      base::raise<ValueError>(
          "watch: the module, or a part of it, is watched already");
    }
  });
  memory::Tag tag = memory::current_tag(memory::Category::kGraph);
  tag.category = memory::Category::kGraph;
  book_ = CallBook::create(top.domain(), tag, 0, top, options, tag);
  top.walk([this](Registry& at) { at.set_book(book_); });
}

Watch::~Watch() {
  if (book_->top() != nullptr) {
    const_cast<Registry*>(book_->top())->walk([this](Registry& at) {
      if (at.book() == book_) {
        at.set_book(nullptr);
      }
    });
  }
  book_->close();
}

}  // namespace neap::nn
