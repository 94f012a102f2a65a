// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// DebugRun: a run that poisons what ended and looks at guard bands, call by
// call. What it finds is a bug of a kernel (a custom op's, say) or of Neap.
//
//   | band | values of the buffer | rounding, band |     poison, once it ended
#pragma once

#include "neap/compile/instructions.hpp"

namespace neap::compiler {

class DebugRun {
 public:
  /// LIFETIME: of all, beyond this. THROWS: OutOfMemory.
  DebugRun(const Program& program, const Plan& plan,
           Instructions& instructions);

  /// Like Instructions::run. THROWS also: InternalError naming the call that
  /// wrote into a band.
  void run(std::size_t& at);

 private:
  struct Block {  // a buffer's part of an arena, bands and rounding included
    std::byte* data;
    Bytes size;
  };
  Block block_of(BufferId id) const noexcept;
  void poison(BufferId id) const;
  void poison_all() const;
  void set_bands(BufferId id) const noexcept;
  void check_bands(std::uint32_t call) const;
  bool is_here(BufferId id) const noexcept;

  const Program& program_;
  const Plan& plan_;
  Instructions& instructions_;
  memory::Vector<BufferId> by_first_;  // buffers in arenas
  memory::Vector<BufferId> by_last_;
  memory::Vector<BufferId> live_;
};

}  // namespace neap::compiler
