// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The engine of MPI: messages from rank to rank alone. Sums are Neap's, since
// MPI's differ with the algorithm that it chooses, and its collectives take
// memory.
#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <string_view>

#include "neap/base/raise.hpp"
#include "neap/dist/errors.hpp"
#include "neap/dist/plugin.hpp"

namespace neap::dist {
namespace {

void check(int code, const char* what) {
  if (code == MPI_SUCCESS) {
    return;
  }
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int size = 0;
  MPI_Error_string(code, text.data(), &size);
  base::raise<DistError>(
      "mpi: {}: {}", what,
      std::string_view(text.data(), static_cast<std::size_t>(size)));
}

class Mpi final : public Engine {
 public:
  Mpi() {
    requests_.fill(MPI_REQUEST_NULL);
    int is_initialised = 0;
    int is_over = 0;
    MPI_Initialized(&is_initialised);
    MPI_Finalized(&is_over);
    if (is_over != 0) {
      base::raise<DistError>("mpi: it has been finalized in this process");
    }
    if (is_initialised == 0) {
      int provided = 0;
      check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided),
            "MPI_Init_thread");
      is_ours_ = true;
    }
    // Messages of the program's own are none of this engine's.
    check(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &ranks_);
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int size = 0;
    MPI_Get_library_version(text.data(), &size);
    name_ = std::string_view(text.data(), static_cast<std::size_t>(size));
    name_.resize(std::min(name_.find_first_of(",\n"), name_.size()));
  }

  // With a rank lost, MPI_Finalize would wait for it; so may it be where this
  // one ends before the others.
  ~Mpi() override {
    if (is_ours_ && !is_broken_ && is_own_process() && all_end()) {
      MPI_Comm_free(&comm_);
      MPI_Finalize();
    }
  }
  Mpi(const Mpi&) = delete;
  Mpi& operator=(const Mpi&) = delete;

  int rank() const noexcept override { return rank_; }
  int ranks() const noexcept override { return ranks_; }
  std::string_view name() const noexcept override { return name_; }

  void send(int slot, int peer, int tag,
            std::span<const std::byte> from) override {
    expect_own_process();
    check(MPI_Isend(from.data(), static_cast<int>(from.size()), MPI_BYTE, peer,
                    tag, comm_, &request(slot)),
          "MPI_Isend");
    sizes_[static_cast<std::size_t>(slot)] = -1;
  }
  void receive(int slot, int peer, int tag,
               std::span<std::byte> into) override {
    expect_own_process();
    check(MPI_Irecv(into.data(), static_cast<int>(into.size()), MPI_BYTE, peer,
                    tag, comm_, &request(slot)),
          "MPI_Irecv");
    sizes_[static_cast<std::size_t>(slot)] = static_cast<int>(into.size());
  }
  bool is_done(int slot) override {
    if (request(slot) == MPI_REQUEST_NULL) {
      return true;
    }
    int is_done = 0;
    MPI_Status status;
    check(MPI_Test(&request(slot), &is_done, &status), "MPI_Test");
    const int expected = sizes_[static_cast<std::size_t>(slot)];
    if (is_done != 0 && expected >= 0) {
      int size = 0;
      MPI_Get_count(&status, MPI_BYTE, &size);
      if (size != expected) {
        base::raise<DistError>("mpi: a message of {} bytes came, expected {}",
                               size, expected);
      }
    }
    return is_done != 0;
  }

  std::int64_t now() noexcept override {
    return std::chrono::nanoseconds(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  // Other ranks may share this core.
  void rest() noexcept override { sched_yield(); }

  // A receive that is cancelled writes nothing more. A send may be read until
  // the process ends, which is soon.
  void forget() noexcept override {
    is_broken_ = true;
    for (std::size_t slot = 0; slot < requests_.size(); ++slot) {
      if (requests_[slot] == MPI_REQUEST_NULL) {
        continue;
      }
      if (sizes_[slot] >= 0) {  // one that has met its send cannot be cancelled
        MPI_Cancel(&requests_[slot]);
        ends_within(requests_[slot], kMoment);
      }
      if (requests_[slot] != MPI_REQUEST_NULL) {
        MPI_Request_free(&requests_[slot]);
      }
    }
  }
  void abort(int status) noexcept override { MPI_Abort(comm_, status); }

 private:
  static constexpr std::int64_t kMoment = 100'000'000;  // nanoseconds
  static constexpr std::int64_t kFarewell = 10'000'000'000;

  // A child that was forked is no rank.
  bool is_own_process() const noexcept { return getpid() == process_; }
  void expect_own_process() const {
    if (!is_own_process()) {
      base::raise<DistError>(
          "mpi: a forked child is no rank; exchange in its parent");
    }
  }
  bool ends_within(MPI_Request& request, std::int64_t nanoseconds) noexcept {
    const std::int64_t start = now();
    int is_done = 0;
    while (MPI_Test(&request, &is_done, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
           is_done == 0 && now() - start < nanoseconds) {
      rest();
    }
    return is_done != 0;
  }
  bool all_end() noexcept {
    MPI_Request request = MPI_REQUEST_NULL;
    return MPI_Ibarrier(comm_, &request) == MPI_SUCCESS &&
           ends_within(request, kFarewell);
  }

  MPI_Request& request(int slot) {
    return requests_[static_cast<std::size_t>(slot)];
  }

  pid_t process_ = getpid();
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int ranks_ = 1;
  bool is_ours_ = false;    // to finalize
  bool is_broken_ = false;  // an exchange was given up
  std::string name_;
  std::array<MPI_Request, kSlots> requests_{};
  std::array<int, kSlots> sizes_{};  // of receives; -1: a send
};

}  // namespace
}  // namespace neap::dist

extern "C" __attribute__((visibility("default")))
const neap::dist::EnginePlugin*
neap_dist_engine() {
  static const neap::dist::EnginePlugin plugin{
      .version = NEAP_VERSION,
      .create = []() -> neap::dist::Engine* { return new neap::dist::Mpi(); },
      .destroy = [](neap::dist::Engine* engine) noexcept { delete engine; }};
  return &plugin;
}
