// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Creator: creates, while a step is traced, the tensors that come from nothing,
// from numbers or from chance, and is told of host reads of elements. It is
// part of the context; without one, tensors are created at once.
#pragma once

#include "neap/tensor/tensor.hpp"

namespace neap::tensor {

class Generator;

/// The tensor that a creation function is about to make.
struct Creation {
  enum class Kind : std::uint8_t {
    kElements,  // empty, or values that the host computes
    kFilled,    // all elements are `value`
    kRand,      // uniform in [0, 1)
    kRandn,     // normal
    kRandint,   // integers in [low, high)
    kRandperm,  // 0, 1, ... in a random order
  };
  Kind kind = Kind::kElements;
  Spec spec;
  double value = 0.0;
  std::int64_t low = 0;
  std::int64_t high = 0;
  CallSite site;
};

class NEAP_API Creator {
 public:
  Creator() = default;
  virtual ~Creator() = default;
  Creator(const Creator&) = delete;
  Creator& operator=(const Creator&) = delete;

  /// The tensor that stands for what is asked for, or an undefined one: it is
  /// then made as ever. THROWS: OutOfMemory, TraceError.
  virtual Tensor create(const Creation& what) = 0;
  /// `tensor` was made as ever: its elements are the same in every run.
  virtual void made(const Tensor& tensor) = 0;
  /// The host is about to read or write elements at `site`; `what` names the
  /// function. THROWS: TraceError where they may be others in the next run.
  virtual void on_host_access(const Tensor& tensor, const char* what,
                              bool is_write, const CallSite& site) = 0;

  // Events of handle objects in the thread that traces; temporaries and
  // locals of the step are among them. A failure is kept, and refuses the
  // trace.

  /// `handle` was made, with a meaning or undefined.
  virtual void on_handle_begin(const Tensor& handle) noexcept = 0;
  /// The library has filled a handle of its own: no assignment of the step's.
  virtual void on_handle_filled(const Tensor& handle) noexcept = 0;
  /// `handle` is about to mean something else.
  virtual void on_handle_change(const Tensor& handle) noexcept = 0;
  /// The tensor that `handle` means is about to go over to another handle.
  virtual void on_handle_taken(const Tensor& handle) noexcept = 0;
  /// The step copies it, or asks what it means.
  virtual void on_handle_asked(const Tensor& handle,
                               Question question) noexcept = 0;
  virtual void on_handle_end(const Tensor& handle) noexcept = 0;
  /// A scope is about to give back what handles of `body` mean.
  virtual void on_revoke(Body& body) noexcept = 0;
  /// The step asks whether the two share a storage.
  virtual void on_alias_asked(const Tensor& a, const Tensor& b) noexcept = 0;
  /// The step asks by `function` who holds the tensor of `handle`.
  virtual void on_holders_asked(const Tensor& handle, const char* function,
                                const CallSite& site) noexcept = 0;
  /// The step asks `generator` for its state, or changes it, by `function`.
  /// RETURNS: whether it may be changed; else the trace will fail.
  virtual bool on_generator_used(const Generator& generator,
                                 const char* function,
                                 const CallSite& site) noexcept = 0;
};

/// THROWS: TraceError or UseAfterRelease, which name `what` and `site`.
/// REQUIRES: the storage has no elements.
[[noreturn]] NEAP_API void refuse_elements(const Storage& storage,
                                           std::string_view what,
                                           base::SiteId site);

}  // namespace neap::tensor
