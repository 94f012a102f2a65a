// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Kernel: a noexcept function over plain views that allocates nothing, listed
// by name. A list is in order of preference and ends in a readable reference;
// the first entry of the right dtype that accepts the operands runs.
#pragma once

#include <cstddef>
#include <span>

#include "neap/base/bytes.hpp"
#include "neap/base/dtype.hpp"
#include "neap/memory/tag.hpp"
#include "neap/tensor/strided.hpp"
#include "neap/threads/executor.hpp"

namespace neap::kernels {

using tensor::Strided;

/// A call. Outputs never overlap inputs, but for an output that is exactly
/// an input it took over (same data, shape and strides).
struct Args {
  std::span<const Strided> in;
  std::span<const Strided> out;
  const void* attrs = nullptr;  // the op's attributes; type known by the kernel
  std::span<std::byte> scratch;  // has as many bytes as Kernel::scratch said
  threads::Executor* executor = nullptr;  // never null in run()

  template <class T>
  const T& attrs_as() const noexcept {
    return *static_cast<const T*>(attrs);
  }
};

struct Piece;
using PieceFunction = void (*)(const Piece&) noexcept;

struct Kernel {
  const char* name;  // "relu.f32", shown in listings
  DType dtype;  // dtype of the key operand (in[0]; out[0] where there is none)
  void (*run)(const Args&) noexcept;
  /// nullptr: anything of the dtype. May look at shapes, strides, attributes
  /// and the presence of data, never at elements.
  bool (*accepts)(const Args&) noexcept = nullptr;
  /// nullptr: none. A function of shapes, strides, attributes and the
  /// executor's thread count alone; data pointers may be null.
  Bytes (*scratch)(const Args&) noexcept = nullptr;
  /// The function that run() hands to run_elementwise, where that is all it
  /// does: several such calls can run as one (fused.hpp). nullptr: none.
  PieceFunction (*piece)(const Args&) noexcept = nullptr;
};

struct KernelList {
  const char* name;  // the op's name: "relu"
  std::span<const Kernel> kernels;
};

/// The compute side of one memory space. The host's is built in; another
/// space registers its own.
class SpaceRuntime {
 public:
  SpaceRuntime() = default;
  virtual ~SpaceRuntime() = default;
  SpaceRuntime(const SpaceRuntime&) = delete;
  SpaceRuntime& operator=(const SpaceRuntime&) = delete;

  /// The kernel that this space runs for `list`, or nullptr.
  virtual const Kernel* find(const KernelList& list, DType dtype,
                             const Args& args) const noexcept = 0;
  /// Runs a kernel that find() returned. A kernel run without find() having
  /// been called in the process may use a better instruction set than NEAP_ISA
  /// says.
  virtual void launch(const Kernel& kernel, const Args& args) noexcept = 0;
  /// Copies elements between this space and the host; same dtype and shape.
  virtual void copy_from_host(const Strided& host,
                              const Strided& here) noexcept = 0;
  virtual void copy_to_host(const Strided& here,
                            const Strided& host) noexcept = 0;
};

/// THROWS: ValueError when `space` has one. LIFETIME: `runtime` until
/// remove_space.
NEAP_API void register_space(memory::SpaceId space, SpaceRuntime& runtime);
NEAP_API void remove_space(memory::SpaceId space) noexcept;

/// The runtime of a space. THROWS: DeviceError when it has none.
NEAP_API SpaceRuntime& runtime(memory::SpaceId space);

/// The kernel to run. THROWS: DTypeError naming the list and dtype when there
/// is none; DeviceError as runtime().
NEAP_API const Kernel& find(const KernelList& list, memory::SpaceId space,
                            DType dtype, const Args& args);
NEAP_API const Kernel& find(const KernelList& list, SpaceRuntime& runtime,
                            DType dtype, const Args& args);

/// Scratch bytes of a kernel for these operands.
inline Bytes scratch_bytes(const Kernel& kernel, const Args& args) noexcept {
  return kernel.scratch != nullptr ? kernel.scratch(args) : 0;
}

/// The instruction set in use, "avx512", "avx2", "sse4", "neon" or "baseline":
/// the best one here, or the lower one that NEAP_ISA names. Fixed at the first
/// call. THROWS: ValueError for an unknown or unavailable NEAP_ISA.
NEAP_API const char* isa();

/// The set of kernels, to print beside hashes: "neap", or "neap+onednn".
NEAP_API const char* kernel_set() noexcept;

/// Every list in this build, each once.
NEAP_API std::span<const KernelList* const> all_lists() noexcept;

}  // namespace neap::kernels
