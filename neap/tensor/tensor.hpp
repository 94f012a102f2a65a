// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Tensor: a value handle. Copies share one body (elements, gradient link);
// what only a handle needs is freed with its last copy. Copying and dropping
// handles is safe from any thread; one handle object is not to be used by two
// threads at once.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "neap/tensor/body.hpp"
#include "neap/tensor/handle_watch.hpp"

namespace neap {

class NEAP_API Tensor {
 public:
  /// Undefined: every question but defined() throws.
  Tensor() noexcept { tell_of_birth(); }
  Tensor(const Tensor& other) noexcept : body_(other.read().body_) {
    tell_of_birth();
  }
  Tensor(Tensor&& other) noexcept : body_(std::move(other.taken().body_)) {
    tell_of_birth();
  }
  Tensor& operator=(const Tensor& other) noexcept {
    told().body_ = other.read().body_;
    return *this;
  }
  Tensor& operator=(Tensor&& other) noexcept {
    told().body_ = std::move(other.taken().body_);
    return *this;
  }
  ~Tensor() {
    if (tensor::are_ends_heard()) [[unlikely]] {
      tensor::handle_ends(*this);
    }
  }

  /// A handle to an array, for modules that create tensors. THROWS:
  /// OutOfMemory.
  explicit Tensor(base::Ref<tensor::Array> array,
                  base::Ref<tensor::GraphLink> link = nullptr,
                  std::uint32_t output = 0);

  /// False for a default-made or moved-from handle, and for one that a
  /// memory::Scope released.
  bool defined() const noexcept {
    tell_of_question();
    return is_there();
  }
  /// Whether an optional argument was given: false for a default-made (or
  /// moved-from) handle, which stands for "none". THROWS: UseAfterRelease for a
  /// handle that a memory::Scope released, which was meant to be something.
  bool is_given() const {
    tell_of_question();
    return body_ && array();
  }

  // --- what it is; all THROW: UseAfterRelease unless defined ---------------

  const Shape& shape() const { return asked()->shape(); }
  int rank() const { return shape().rank(); }
  /// Extent of one axis; negative axes count from the end. THROWS: ShapeError.
  std::int64_t size(std::int64_t axis) const;
  std::int64_t element_count() const { return shape().element_count(); }
  DType dtype() const { return asked()->dtype(); }
  tensor::SpaceId space() const { return asked()->space(); }
  tensor::Spec spec() const { return asked()->spec(); }
  const Shape& strides() const { return asked()->layout().strides; }
  bool is_contiguous() const;

  // --- elements; THROW: DeviceError outside host memory, DTypeError,
  // --- TraceError where a trace may not read or elements are not there,
  // --- UseAfterRelease when a compiled step reused their memory -----------

  /// The elements of a contiguous tensor. LIFETIME: as the storage.
  template <class T>
  std::span<const T> values(CallSite site = CallSite::here()) const {
    return {static_cast<const T*>(host_elements(dtype_of<T>, site)),
            static_cast<std::size_t>(element_count())};
  }
  /// The elements, to be written: this counts as a write of the storage, so
  /// that a backward that still needs the old values refuses. THROWS also:
  /// GraphError for a tensor that a graph records (other than a leaf) or
  /// forward mode carries.
  template <class T>
  std::span<T> mutable_values(CallSite site = CallSite::here()) {
    return {static_cast<T*>(writable_elements(dtype_of<T>, site)),
            static_cast<std::size_t>(element_count())};
  }
  /// The element at an index, converted. THROWS: ShapeError for a bad index.
  double at(std::initializer_list<std::int64_t> index,
            CallSite site = CallSite::here()) const;
  /// The only element. THROWS: ShapeError unless there is exactly one.
  double item(CallSite site = CallSite::here()) const;
  /// All elements in row-major order, converted, in memory of the context's
  /// domain. THROWS: OutOfMemory.
  memory::Vector<double> to_vector(CallSite site = CallSite::here()) const;

  // --- derivatives ---------------------------------------------------------

  /// True when a backward from results of this tensor reaches it.
  bool requires_grad() const {
    tell_of_question(tensor::Question::kRequiresGrad);
    const base::Ref<tensor::GraphLink>& position = link();
    return position && position->requires_grad();
  }
  /// True when it is not the result of a recorded op.
  bool is_leaf() const;
  /// The gradient that backward accumulated into this leaf, or undefined.
  Tensor grad() const;
  /// The same elements, detached from the graph and from forward mode.
  Tensor detach() const;

  // --- identity ------------------------------------------------------------

  /// A new handle (its own body and array) to the same elements, graph
  /// position and tangents.
  Tensor alias() const;
  /// True when both lie on one storage.
  bool is_alias_of(const Tensor& other) const;

  // --- for rooms above -----------------------------------------------------

  /// THROWS: UseAfterRelease unless defined.
  const base::Ref<tensor::Array>& array() const { return body().array(); }
  const base::Ref<tensor::GraphLink>& link() const { return body().link(); }
  std::uint32_t output_index() const { return body().output(); }
  memory::ScopeMember& scope_member() const { return read().body(); }
  /// Sets another link of the body shared by all copies.
  void set_link(base::Ref<tensor::GraphLink> link, std::uint32_t output = 0);
  /// Makes this handle that of a new result: on another link, of the current
  /// scope, whatever it was of.
  void renew(base::Ref<tensor::GraphLink> link, std::uint32_t output = 0);
  /// Makes every copy of this handle mean what `other` means: its elements and
  /// its graph position. THROWS: UseAfterRelease; TraceError while a step is
  /// traced, whose runs would not repeat it.
  void rebind(const Tensor& other);
  // No guard notices another holder of a tensor, so that a step which is traced
  // is refused where it asks one of these three about a tensor from outside it.

  /// True when no other handle, residual or view shares the elements, so that
  /// an op given this as an rvalue may take them over.
  bool is_sole_owner(const CallSite& site = CallSite::here()) const {
    tell_of_holders("is_sole_owner", site);
    return owns_alone();
  }
  /// The same for all copies of a handle, different for every other one alive.
  const void* identity(const CallSite& site = CallSite::here()) const {
    tell_of_holders("identity", site);
    return &body();
  }
  /// True when no other handle shares this body.
  bool has_sole_handle(const CallSite& site = CallSite::here()) const {
    tell_of_holders("has_sole_handle", site);
    return is_one_handle();
  }
  /// The same for the library, which is no question of a step's: of
  /// is_sole_owner() and of has_sole_handle().
  bool owns_alone() const;
  bool is_one_handle() const { return body().is_unique(); }
  /// The body of all copies; null: default-made or moved-from. A trace does not
  /// count either function as a question or an assignment.
  const base::Ref<tensor::Body>& shared() const noexcept { return body_; }
  void exchange_shared(base::Ref<tensor::Body>& other) noexcept {
    std::swap(body_, other);
    if (tensor::are_handles_heard()) [[unlikely]] {
      tensor::handle_is_filled(*this);
    }
  }

  /// Borrows the user's memory: `data` must stay valid until `deleter()` is
  /// called, exactly once, when the last tensor on it is freed. It must not
  /// throw. Counted as lent. THROWS: ShapeError when the sizes differ,
  /// OutOfMemory; `deleter` is not called then, and the memory stays the
  /// caller's.
  template <class T, std::invocable Deleter>
  static Tensor borrow(std::span<T> data, const Shape& shape, Deleter deleter,
                       CallSite site = CallSite::here());
  template <class T>
  static Tensor borrow(std::span<T> data, const Shape& shape,
                       CallSite site = CallSite::here()) {
    return borrow(
        data, shape, [] {}, site);
  }

 private:
  bool is_there() const noexcept { return body_ && body_->array(); }
  // Tells watches that this handle is about to refer to something else.
  Tensor& told() noexcept {
    if (tensor::are_handles_heard()) [[unlikely]] {
      tensor::handle_changes(*this);
    }
    return *this;
  }
  // Tells watches that this handle is moved to another one.
  Tensor& taken() noexcept {
    if (tensor::are_handles_heard()) [[unlikely]] {
      tensor::handle_is_taken(*this);
    }
    return *this;
  }
  const base::Ref<tensor::Array>& asked() const { return read().array(); }
  // Tells watches that this handle is read.
  const Tensor& read() const noexcept {
    tell_of_question();
    return *this;
  }
  void tell_of_birth() const noexcept {
    if (tensor::are_handles_heard()) [[unlikely]] {
      tensor::handle_begins(*this);
    }
  }
  void tell_of_question(
      tensor::Question question = tensor::Question::kMeaning) const noexcept {
    if (tensor::are_handles_heard()) [[unlikely]] {
      tensor::handle_is_asked(*this, question);
    }
  }
  // Tells watches of a question about who else holds it.
  void tell_of_holders(const char* function, const CallSite& site) const {
    if (tensor::are_handles_heard()) [[unlikely]] {
      tensor::holders_are_asked(*this, function, site);
    }
  }
  tensor::Body& body() const {
    if (!is_there()) {
      refuse_undefined();
    }
    return *body_;
  }
  [[noreturn]] void refuse_undefined() const;
  const void* host_elements(DType dtype, const CallSite& site) const;
  void* writable_elements(DType dtype, const CallSite& site);
  static Tensor borrow_bytes(void* data, std::int64_t count, DType dtype,
                             const Shape& shape,
                             memory::Owned<tensor::LentOwner> owner,
                             const CallSite& site);

  base::Ref<tensor::Body> body_;
};

namespace tensor {

template <class Deleter>
class LentBy final : public LentOwner {
 public:
  explicit LentBy(Deleter deleter) : deleter_(std::move(deleter)) {}
  ~LentBy() override {
    if (is_armed()) {
      deleter_();
    }
  }
  LentBy(const LentBy&) = delete;
  LentBy& operator=(const LentBy&) = delete;

 private:
  Deleter deleter_;
};

}  // namespace tensor

template <class T, std::invocable Deleter>
Tensor Tensor::borrow(std::span<T> data, const Shape& shape, Deleter deleter,
                      CallSite site) {
  memory::Owned<tensor::LentOwner> owner =
      memory::make_owned<tensor::LentBy<Deleter>>(memory::Category::kGraph,
                                                  std::move(deleter));
  return borrow_bytes(data.data(), static_cast<std::int64_t>(data.size()),
                      dtype_of<T>, shape, std::move(owner), site);
}

}  // namespace neap
