// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// StateShare: the ranks that share out an optimizer's state, and how rank 0
// reads what the others have. A tensor of another rank's state has no memory
// here: it is away (tensor::Storage), and its keeper asks the rank for the
// elements, which only works while all ranks read together.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "neap/base/function_ref.hpp"
#include "neap/tensor/tensor.hpp"

namespace neap::compiler {
class Ranks;
}

namespace neap::optim {

class StateShare : public std::enable_shared_from_this<StateShare> {
 public:
  /// `largest`: no state has more bytes. Rank 0 takes so much memory for what
  /// it reads, 256 KiB at most. THROWS: OutOfMemory.
  StateShare(std::shared_ptr<compiler::Ranks> ranks, Bytes largest);
  ~StateShare();
  StateShare(const StateShare&) = delete;
  StateShare& operator=(const StateShare&) = delete;

  int rank() const noexcept;
  int count() const noexcept;

  /// A keeper of the elements of state `number`, which rank `of` has. THROWS:
  /// OutOfMemory.
  memory::Owned<tensor::Keeper> keeper(std::uint64_t number, int of);

  /// Does what Optimizer::read_state() says. `state(number)`: this rank's own.
  std::optional<std::uint64_t> read(
      std::string_view what, base::FunctionRef<Tensor(std::uint64_t)> state,
      base::FunctionRef<int(std::uint64_t)> rank_of,
      base::FunctionRef<std::uint64_t()> read);

 private:
  class Elsewhere;
  void ask(std::uint64_t number, int of, std::span<std::byte> into);
  std::optional<std::uint64_t> lead(std::string_view what,
                                    base::FunctionRef<std::uint64_t()> read);
  std::optional<std::uint64_t> serve(
      std::string_view what, base::FunctionRef<Tensor(std::uint64_t)> state,
      base::FunctionRef<int(std::uint64_t)> rank_of);

  std::shared_ptr<compiler::Ranks> ranks_;
  /// Elements of another rank lie here first. An engine may still write to it
  /// after an exchange that failed, so that it stays for good then.
  base::Ref<tensor::Storage> staging_;
  std::string_view reading_;  // what all ranks read for; empty: they do not
};

}  // namespace neap::optim
