// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "guards.hpp"

#include <functional>
#include <memory>

#include "binding.hpp"
#include "neap/graph/recorder.hpp"
#include "neap/memory/context.hpp"
#include "neap/memory/scope.hpp"
#include "neap/ops/precision.hpp"
#include "neap/tensor/generator.hpp"
#include "values.hpp"

namespace neap::python {

struct GuardEntry::Stack {
  GuardEntry* top = nullptr;
};

GuardEntry::Stack& GuardEntry::stack() noexcept {
  static thread_local Stack instance;
  return instance;
}

void GuardEntry::enter(nb::object self) {
  if (is_open_) {
    throw nb::value_error(
        "this block is open already: a guard is for one "
        "`with` at a time");
  }
  start();
  is_open_ = true;
  is_ended_ = false;
  self_ = std::move(self);
  home_ = &stack();
  below_ = home_->top;
  home_->top = this;
}

void GuardEntry::exit() {
  if (!is_open_ || is_ended_) {
    throw nb::value_error("this block has ended already");
  }
  if (home_ != &stack()) {
    throw nb::value_error(
        "this block was opened by another thread, which must "
        "end it");
  }
  is_ended_ = true;
  if (home_->top != this) {
    throw nb::value_error(
        "this block ends while one that was opened after it is open (in a "
        "generator or coroutine, perhaps): it holds until that one ends");
  }
  while (home_->top != nullptr && home_->top->is_ended_) {
    GuardEntry& ended = *home_->top;
    home_->top = ended.below_;
    ended.is_open_ = false;
    ended.stop();
    const nb::object last = std::move(ended.self_);  // may be the last one
  }
}

namespace {

// A guard whose constructor takes what Python's did.
template <class Guard>
using Block = GuardBlock<Guard, std::function<void(std::optional<Guard>&)>>;

// A scope, whose members may be kept while it is open.
class ScopeBlock final : public GuardEntry {
 public:
  ScopeBlock(const std::string& name, const CallSite& site)
      : site_{site.file, name.empty() ? site.function : kept_text(name),
              site.line == 0 ? 1 : site.line} {}

  Scope& scope() {
    if (!scope_) {
      throw nb::value_error("the scope is not open");
    }
    return *scope_;
  }
  std::int64_t size() const { return scope_ ? scope_->size() : 0; }

 protected:
  void start() override { scope_.emplace(site_); }
  void stop() noexcept override { scope_.reset(); }

 private:
  CallSite site_;
  std::optional<Scope> scope_;
};

void bind_scope(nb::module_& m) {
  guard_class<ScopeBlock>(
      m, "Scope",
      "A block whose tensors are released at its end, whoever still refers to "
      "them; what keep() is given is not.")
      .def(
          "__init__",
          [](ScopeBlock* self, const std::string& name) {
            new (self) ScopeBlock(name, here());
          },
          nb::arg("name") = "")
      .def(
          "keep",
          [](ScopeBlock& self, const Tensor& t) {
            return self.scope().keep(t);
          },
          nb::arg("tensor"),
          "The tensor, which the outer scope has at the end.")
      .def("release_all", [](ScopeBlock& self) { self.scope().release_all(); })
      .def("__len__", &ScopeBlock::size);
}

}  // namespace

void bind_guards(nb::module_& m) {
  guard_class<Block<NoGrad>>(m, "NoGrad",
                             "Ops inside the block leave nothing on the tape.")
      .def("__init__", [](Block<NoGrad>* self) {
        new (self) Block<NoGrad>([](auto& guard) { guard.emplace(); });
      });
  guard_class<Block<EnableGrad>>(m, "EnableGrad", "Undoes an outer NoGrad.")
      .def("__init__", [](Block<EnableGrad>* self) {
        new (self) Block<EnableGrad>([](auto& guard) { guard.emplace(); });
      });
  guard_class<Block<UsePrecision>>(
      m, "UsePrecision", "The precision of products of f32 inside the block.")
      .def(
          "__init__",
          [](Block<UsePrecision>* self, Precision precision) {
            new (self) Block<UsePrecision>(
                [precision](auto& guard) { guard.emplace(precision); });
          },
          nb::arg("precision"));
  guard_class<Block<UseGenerator>>(m, "UseGenerator",
                                   "Draws inside come from this generator.")
      .def(
          "__init__",
          [](Block<UseGenerator>* self, Generator& generator) {
            new (self) Block<UseGenerator>(
                [&generator](auto& guard) { guard.emplace(generator); });
          },
          nb::keep_alive<1, 2>(), nb::arg("generator"));
  m.def("is_grad_enabled",
        [] { return tensor::thread_execution().grad_enabled; });
  bind_scope(m);
}

}  // namespace neap::python
