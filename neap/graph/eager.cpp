// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The eager recorder. One call in order: check, infer, acquire everything
// (outputs, scratch, tape node), and only then let the kernel write.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "neap/base/immortal.hpp"
#include "neap/base/raise.hpp"
#include "neap/graph/into.hpp"
#include "neap/graph/into_impl.hpp"
#include "neap/graph/node.hpp"
#include "neap/graph/record_result.hpp"
#include "neap/graph/recorder.hpp"
#include "neap/tensor/creator.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::graph {
namespace {

using memory::Category;
using tensor::Array;

constexpr std::size_t kInPlace = 8;  // inputs of a call, kept on the stack

// Room for `count` values that are about to be written: in place for the usual
// few, allocated for more. What is not used is never touched.
template <class T, std::size_t kRoom = kInPlace>
class Small {
 public:
  static_assert(std::is_trivially_destructible_v<T>);

  explicit Small(std::size_t count) : count_(count) {
    if (count > kRoom) {
      data_ = many_.emplace(count).data();
    } else {
      data_ = reinterpret_cast<T*>(few_);
      std::uninitialized_default_construct_n(data_, count);
    }
  }
  Small(const Small&) = delete;
  Small& operator=(const Small&) = delete;
  std::span<T> span() const noexcept { return {data_, count_}; }
  T& operator[](std::size_t i) const noexcept { return data_[i]; }

 private:
  T* data_;
  std::size_t count_;
  std::optional<memory::Vector<T>> many_;
  alignas(T) std::byte few_[kRoom * sizeof(T)];  // NOLINT(*-avoid-c-arrays)
};

class Call {
 public:
  explicit Call(const OpCall& call)
      : call_(call),
        domain_(memory::domain()),
        specs_(call.inputs.size()),
        output_specs_(static_cast<std::size_t>(call.op.outputs)) {
    const std::span<Spec> specs = specs_.span();
    for (std::size_t i = 0; i < specs.size(); ++i) {
      const Array& array = *call.inputs[i].tensor().array();
      specs[i].dtype = array.dtype();
      specs[i].shape = array.shape();
      specs[i].space = array.space();
      if (!array.storage()->fetch_elements()) {
        check_rehearsed(*array.storage());
        rehearsed_ = array.storage().get();
      }
      if (specs[i].space != specs[0].space) {
        base::raise<DeviceError>(
            "{}: operands lie in memory spaces {} and {}, copy one to the "
            "other's first",
            call.op.name, specs[0].space.value, specs[i].space.value);
      }
    }
    if (!specs.empty()) {
      for (Spec& spec : outputs()) {
        spec.space = specs[0].space;
      }
    }
    call.op.infer({call.op.name, specs, call.attrs}, outputs());
  }

  void run(std::span<Tensor> results) {
    const bool records = is_recorded(call_);
    if (call_.op.view != nullptr) {
      const auto& input = call_.inputs[0].tensor().array();
      arrays_[0] = Array::make(input->storage(),
                               call_.op.view(input->layout(), call_.attrs));
    } else {
      acquire_outputs(records);
    }
    base::Ref<Node> node;
    if (records) {
      node = Node::create(call_, outputs(), domain_);
      node->keep(std::span(arrays_).first(outputs().size()));
    }
    // Handles are made before the kernel runs: they too may find no memory.
    std::array<Tensor, kMaxOutputs> handles;
    const std::size_t first = donor_ != nullptr ? 1 : 0;
    for (std::size_t k = first; k < outputs().size(); ++k) {
      handles[k] =
          Tensor(arrays_[k], link_for(node, k), static_cast<std::uint32_t>(k));
    }
    if (call_.op.view == nullptr) {
      compute();
    }
    if (donor_ != nullptr) {  // its handle becomes the result's
      donor_->renew(link_for(node, 0));
      handles[0] = std::move(*donor_);
    }
    if (node) {
      node->finish();
    }
    for (std::size_t k = 0; k < outputs().size(); ++k) {
      results[k] = std::move(handles[k]);
    }
  }

  void run_into(const Tensor& dst) {
    check_into(call_, output_specs_[0], dst);
    arrays_[0] = dst.array();
    compute();
    dst.array()->storage()->bump_version(call_.site);
  }

 private:
  std::span<Spec> outputs() const noexcept { return output_specs_.span(); }

  // In a rehearsal calls are made, and nothing is computed.
  void check_rehearsed(const tensor::Storage& storage) const {
    if (storage.absence() != tensor::Absence::kRehearsed) {
      tensor::refuse_elements(storage, call_.op.name, call_.site);
    }
  }

  // The place on the graph of output k.
  base::Ref<tensor::GraphLink> link_for(const base::Ref<Node>& node,
                                        std::size_t k) const noexcept {
    return is_floating(output_specs_[k].dtype)
               ? base::Ref<tensor::GraphLink>::share(node.get())
               : nullptr;
  }

  // The input whose memory output 0 takes over, or nullptr. Only an rvalue
  // that nothing else refers to, and that this call's own vjp does not read.
  Tensor* find_donor(bool records) const {
    std::uint32_t kept = 0;
    for (const Reads& reads : call_.op.facts.vjp_reads) {
      kept |= records ? reads.inputs : 0U;
    }
    const std::size_t count = std::min<std::size_t>(call_.inputs.size(), 32);
    for (std::size_t i = 0; i < count; ++i) {
      Tensor* candidate = call_.inputs[i].temporary();
      const bool may = ((call_.op.facts.donates & ~kept) >> i & 1U) != 0;
      if (may && candidate != nullptr &&
          candidate->spec() == output_specs_[0] && candidate->owns_alone() &&
          candidate->is_contiguous() && !candidate->array()->has_tangents() &&
          candidate->array()->layout().offset == 0 &&
          tensor::extent_bytes(candidate->array()->layout()) ==
              candidate->array()->storage()->size()) {
        return candidate;
      }
    }
    return nullptr;
  }

  void acquire_outputs(bool records) {
    const memory::Tag tag =
        memory::current_tag(Category::kActivations, call_.site);
    std::size_t k = 0;
    donor_ = find_donor(records);
    if (donor_ != nullptr) {
      arrays_[k++] = donor_->array();
    }
    for (; k < outputs().size(); ++k) {
      arrays_[k] = Array::allocate(output_specs_[k], tag, domain_);
    }
  }

  // In a rehearsal scratch is asked for, too, and the kernel is not run.
  void compute() {
    const bool is_real = arrays_[0]->storage()->fetch_elements();
    if (!is_real) {
      check_rehearsed(*arrays_[0]->storage());
    } else if (rehearsed_ != nullptr) {  // there is nothing to compute from
      tensor::refuse_elements(*rehearsed_, call_.op.name, call_.site);
    }
    if (call_.op.transfer) {
      if (is_real) {
        transfer();
      }
      return;
    }
    Small<tensor::Strided> in(call_.inputs.size());
    Small<tensor::Strided, kMaxOutputs> out(outputs().size());
    for (std::size_t i = 0; i < call_.inputs.size(); ++i) {
      in[i] = call_.inputs[i].tensor().array()->strided();
    }
    for (std::size_t k = 0; k < outputs().size(); ++k) {
      out[k] = arrays_[k]->strided();
    }
    kernels::Args args{
        in.span(), out.span(), call_.attrs.data(), {}, &tensor::executor()};
    const Spec& key = call_.inputs.empty() ? output_specs_[0] : specs_[0];
    kernels::SpaceRuntime& runtime = kernels::runtime(key.space);
    const kernels::Kernel& kernel =
        kernels::find(*call_.op.kernel, runtime, key.dtype, args);
    const Bytes scratch = kernels::scratch_bytes(kernel, args);
    memory::Block block;
    if (scratch != 0) {
      memory::Tag tag = memory::current_tag(Category::kWorkspace, call_.site);
      tag.category = Category::kWorkspace;
      tag.space = key.space;
      block = is_real ? domain_.allocate(scratch, tag)
                      : domain_.allocate_elements(scratch, tag);
      args.scratch = {static_cast<std::byte*>(block.data),
                      static_cast<std::size_t>(block.size)};
    }
    if (is_real) {
      runtime.launch(kernel, args);
    }
    domain_.release(block);
  }

  void transfer() {
    const tensor::Strided from = call_.inputs[0].tensor().array()->strided();
    const tensor::Strided to = arrays_[0]->strided();
    if (output_specs_[0].space == memory::kHost) {
      kernels::runtime(specs_[0].space).copy_to_host(from, to);
    } else {
      kernels::runtime(output_specs_[0].space).copy_from_host(from, to);
    }
  }

  const OpCall& call_;
  memory::Domain& domain_;
  Small<Spec> specs_;
  Small<Spec, kMaxOutputs> output_specs_;
  std::array<base::Ref<Array>, kMaxOutputs> arrays_;
  Tensor* donor_ = nullptr;
  const tensor::Storage* rehearsed_ = nullptr;  // of an input without elements
};

class Eager final : public Recorder {
 public:
  void record(const OpCall& call, std::span<Tensor> outputs) override {
    Call(call).run(outputs);
  }
};

}  // namespace

void run_into(const OpCall& call, const Tensor& dst) {
  Trace* current = trace();
  if (current != nullptr && tensor::thread_execution().recorder != nullptr) {
    write_into(*current, call, dst);
  } else {
    Call(call).run_into(dst);
  }
}

Recorder& eager() noexcept {
  static base::Immortal<Eager> instance;
  return *instance;
}

}  // namespace neap::graph
