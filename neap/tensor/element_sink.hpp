// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// ElementSink: told of parameters as they are made, to keep their elements
// where they take no memory, where a model is larger than that.
#pragma once

#include "neap/tensor/storage.hpp"

namespace neap::tensor {

class NEAP_API ElementSink {
 public:
  /// The storage's elements are set; it may be told so again, as they are set
  /// anew. It may send it away, now or later. THROWS: IoError; OutOfMemory; the
  /// elements are where they were then.
  virtual void take(const base::Ref<Storage>& storage) = 0;

  ElementSink() = default;
  ElementSink(const ElementSink&) = delete;
  ElementSink& operator=(const ElementSink&) = delete;

 protected:
  ~ElementSink() = default;
};

/// The sink is in use on the current thread, until the end of the scope.
class NEAP_API UseElementSink {
 public:
  explicit UseElementSink(ElementSink& sink) noexcept;
  ~UseElementSink();
  UseElementSink(const UseElementSink&) = delete;
  UseElementSink& operator=(const UseElementSink&) = delete;

 private:
  ElementSink* outer_;
};

/// Tells the sink in use, if there is one. THROWS: as ElementSink::take().
NEAP_API void offer_elements(const base::Ref<Storage>& storage);

}  // namespace neap::tensor
