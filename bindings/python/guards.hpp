// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Guards of `with` blocks. In C++ a guard lives on the stack, and the order of
// their ends follows from that; generators, coroutines and notebooks leave
// `with` blocks in any order. So the guards of a thread stand in a stack of its
// own: one that ends while a later one is open says so by an exception, and
// ends for good when those that were opened after it have ended.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <utility>

namespace neap::python {

namespace nb = nanobind;

/// A place in the guards of a thread.
class GuardEntry {
 public:
  GuardEntry() = default;
  virtual ~GuardEntry() = default;
  GuardEntry(const GuardEntry&) = delete;
  GuardEntry& operator=(const GuardEntry&) = delete;

  bool is_open() const noexcept { return is_open_; }
  /// `self` is the Python object of this guard, which lives while it is open.
  /// THROWS: ValueError (of Python) when it is open; what start() throws.
  void enter(nb::object self);
  /// THROWS: ValueError (of Python) in another thread than that of enter(), or
  /// while a later guard is open; this one then ends with the later one.
  void exit();

 protected:
  /// Changes the context, until stop().
  virtual void start() = 0;
  virtual void stop() noexcept = 0;

 private:
  struct Stack;
  static Stack& stack() noexcept;

  bool is_open_ = false;
  bool is_ended_ = false;  // exit() has been called
  nb::object self_;        // while it is open
  GuardEntry* below_ = nullptr;
  Stack* home_ = nullptr;
};

/// A guard of C++ in a `with` block; `make` constructs it in place.
template <class Guard, class Make>
class GuardBlock final : public GuardEntry {
 public:
  explicit GuardBlock(Make make) : make_(std::move(make)) {}
  Guard* guard() noexcept { return guard_ ? &*guard_ : nullptr; }

 protected:
  void start() override { make_(guard_); }
  void stop() noexcept override { guard_.reset(); }

 private:
  Make make_;
  std::optional<Guard> guard_;
};

/// The class of a guard, for `with`.
template <class T>
nb::class_<T> guard_class(nb::module_& m, const char* name, const char* doc) {
  return nb::class_<T>(m, name, doc)
      .def("__enter__",
           [](nb::object self) {
             nb::cast<T&>(self).enter(self);
             return self;
           })
      .def(
          "__exit__",
          [](T& self, nb::handle, nb::handle, nb::handle) { self.exit(); },
          nb::arg("type").none(), nb::arg("value").none(),
          nb::arg("traceback").none());
}

}  // namespace neap::python
