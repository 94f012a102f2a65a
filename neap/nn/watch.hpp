// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Watch: sees every call of a model's layers and keeps handles to the inputs
// and outputs of each, for a memory map to show. Only the last forward is kept:
// the next one begins by dropping the handles. Watched tensors live as long as
// they are shown, so a watched program needs more memory (an op takes over no
// memory that a handle refers to); its numbers are the same.
//
//   const nn::Watch watch(model);
//   const Tensor loss = cross_entropy(model(x), y);
//   std::puts(nn::MemoryMap(model).format().c_str());
//
// A forward begins when the watched model is called. Where a program calls the
// model's parts instead, each call replaces the part's last one.
//
// Backward fills the gradients of all these, unless told otherwise. Tensors
// that a scope released are no longer shown.
//
// Watch, model and handles may be destroyed in any order. Without a watch
// nothing is kept, and a call of a layer costs one comparison more.
//
// A compiled step that uses the model is refused while it is watched: its runs
// call no layers.
//
// Thread rule: calls in the thread that created the watch are seen, others are
// not. Creating and ending a watch is a change of the model.
#pragma once

#include <pthread.h>

#include <optional>
#include <span>

#include "neap/base/outside.hpp"
#include "neap/memory/containers.hpp"
#include "neap/memory/counted.hpp"
#include "neap/tensor/tensor.hpp"

namespace neap::nn {

class Module;
class Registry;

struct WatchOptions {
  /// Backward fills the gradients of layer outputs, too.
  bool gradients = true;
};

/// A call of a layer.
struct LayerCall {
  memory::String path;  // path from the watched model; "": the model itself
  bool is_outermost = false;  // true: no other watched layer called it
  memory::Vector<Tensor> inputs;
  Tensor output;         // undefined until the call has ended
  std::int64_t end = 0;  // position among the ends of the forward's calls
};

/// The calls that a watch has seen. The registries of a watched model refer to
/// it; calls write it.
class NEAP_API CallBook : public memory::Counted<CallBook> {
 public:
  // Created by Watch.
  CallBook(Registry& top, const WatchOptions& options,
           const memory::Tag& tag) noexcept;

  /// Notes that a layer is called. Returns the call's number, or nothing where
  /// it is not seen. THROWS: OutOfMemory, TraceError in a step that is traced;
  /// nothing is noted then.
  std::optional<std::size_t> begin(const Registry& layer);
  /// Notes a call's inputs and output. THROWS: OutOfMemory.
  void note(std::size_t call, std::span<const Tensor* const> inputs,
            const Tensor& output);
  /// The call is over. One that failed leaves nothing, nor do those inside it.
  void end(std::size_t call, bool has_failed) noexcept;

  /// The calls, in the order in which they began.
  const memory::Vector<LayerCall>& calls() const noexcept { return calls_; }
  void forget() noexcept;

  /// The watched model; nullptr once it, or its watch, was destroyed.
  const Registry* top() const noexcept { return top_; }
  /// Sees no call any more; the handles stay.
  void lose_top() noexcept { top_ = nullptr; }
  void close() noexcept;

 private:
  const Registry* top_;
  WatchOptions options_;
  pthread_t thread_;
  memory::Vector<LayerCall> calls_;
  std::int64_t depth_ = 0;  // calls that have not ended
  std::int64_t ends_ = 0;
};

/// A call of a module while it runs, for the module's watch if it has one.
class NEAP_API WatchedCall {
 public:
  /// THROWS: as CallBook::begin().
  explicit WatchedCall(const Registry& registry);
  WatchedCall(WatchedCall&&) noexcept = default;
  ~WatchedCall();
  WatchedCall(const WatchedCall&) = delete;
  WatchedCall& operator=(const WatchedCall&) = delete;

  bool is_watched() const noexcept { return static_cast<bool>(book_); }
  /// REQUIRES: is_watched(). THROWS: OutOfMemory.
  void note(std::span<const Tensor* const> inputs, const Tensor& output) const {
    book_->note(call_, inputs, output);
  }

 private:
  base::Ref<CallBook> book_;
  std::size_t call_ = 0;  // number of the call in the log
  int exceptions_ = 0;    // number of exceptions in flight when it began
};

class NEAP_API Watch {
 public:
  /// THROWS: ValueError when the model or a part of it is watched already;
  /// OutOfMemory.
  explicit Watch(const Module& model, const WatchOptions& options = {});
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// The calls of the last forward, in the order in which they began.
  /// A step that is traced is refused where it asks.
  const memory::Vector<LayerCall>& calls(
      const CallSite& site = CallSite::here()) const noexcept {
    base::tell_of_question("calls", "which calls of layers were seen", site);
    return book_->calls();
  }
  /// Drops the handles; the watch continues.
  void forget() noexcept { book_->forget(); }

 private:
  base::Ref<CallBook> book_;
};

}  // namespace neap::nn
