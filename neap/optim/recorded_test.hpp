// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// For the tests of this room: a trace that keeps the writes it is told of and
// can run them again, in place, on the tensors themselves.
#pragma once

#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "neap/graph/trace.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::optim {

class RecordedWrites final : public graph::Trace {
 public:
  struct Kept {
    std::string_view name;
    const kernels::KernelList* list = nullptr;
    std::vector<Tensor> in;
    std::vector<Tensor> out;
    alignas(16) std::array<std::byte, 128> attrs{};
    graph::RunListener* listener = nullptr;
    std::uint32_t index = 0;
  };

  void write(const graph::Write& write) override {
    Kept kept{.name = write.name,
              .list = &write.list,
              .in = {write.in.begin(), write.in.end()},
              .out = {write.out.begin(), write.out.end()},
              .listener = write.listener,
              .index = write.index};
    if (write.attrs.size() != 0) {
      std::memcpy(kept.attrs.data(), write.attrs.data(), write.attrs.size());
    }
    writes.push_back(std::move(kept));
  }
  void check(const graph::Check& /*check*/) override {}
  void depends_on(const bool& flag, base::AnyRef owner) override {
    flags.push_back({&flag, flag});
    owners.push_back(std::move(owner));
  }
  void listen(graph::RunListener& who) override {
    ++calls;
    if (std::find(listeners.begin(), listeners.end(), &who) ==
        listeners.end()) {
      listeners.push_back(&who);
    }
  }
  void on_grad_read(graph::Leaf& /*leaf*/) override {}
  bool on_grad_change(graph::Leaf& /*leaf*/) noexcept override { return true; }
  bool on_mode_change(graph::Leaf& /*leaf*/) noexcept override { return true; }
  void on_hooks(graph::Leaf& /*leaf*/) override {}
  void on_hook_removal(const graph::Hook& /*hook*/) noexcept override {}
  void depends_on_generation(const std::uint32_t& /*generation*/,
                             base::AnyRef /*owner*/) noexcept override {}
  bool on_flag_change(bool& /*flag*/,
                      base::AnyRef /*owner*/) noexcept override {
    return true;
  }
  std::uint32_t enter_segment(std::uint32_t segment) noexcept override {
    return segment;
  }

  bool holds() const {
    for (const Flag& flag : flags) {
      if (*flag.flag != flag.value) {
        return false;
      }
    }
    return true;
  }
  void run() {
    for (graph::RunListener* listener : listeners) {
      listener->before_run();
    }
    for (Kept& write : writes) {
      if (write.listener != nullptr) {
        write.listener->write_attrs(write.index, write.attrs.data());
      }
      launch(write);
    }
    for (graph::RunListener* listener : listeners) {
      listener->after_run(calls);
    }
  }

  std::vector<Kept> writes;
  std::vector<graph::RunListener*> listeners;
  std::uint32_t calls = 0;
  std::vector<base::AnyRef> owners;

 private:
  struct Flag {
    const bool* flag;
    bool value;
  };
  static void launch(const Kept& write) {
    std::vector<kernels::Strided> in;
    std::vector<kernels::Strided> out;
    for (const Tensor& tensor : write.in) {
      in.push_back(tensor.array()->strided());
    }
    for (const Tensor& tensor : write.out) {
      out.push_back(tensor.array()->strided());
    }
    const kernels::Args args{
        in, out, write.attrs.data(), {}, &tensor::executor()};
    const Tensor& key = write.in.empty() ? write.out[0] : write.in[0];
    kernels::runtime(key.space())
        .launch(kernels::find(*write.list, key.space(), key.dtype(), args),
                args);
  }

  std::vector<Flag> flags;
};

}  // namespace neap::optim
