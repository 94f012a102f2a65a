// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The one thread pool. A Pool of n threads owns n-1 workers; the caller of
// run() is the n-th and does its share. Part p is of share p % n (0 is the
// caller's). A share runs on its own worker; one that its worker has not begun
// when the caller is done with its own, the caller takes, so that a worker that
// waits for a processor (taken by another process) delays nothing. Nothing is
// allocated after construction.
//
// Any thread may call run(). While one job runs, a second caller, or a call
// from inside a part, runs its job serially in its own thread. After fork() the
// child's first run() starts the workers afresh.
//
// A worker waits like this: it spins for at most Options::spin, then sleeps in
// std::atomic::wait. All hand-overs are plain atomics, which ThreadSanitizer
// understands.
//
//   caller   |write job|mailbox 1, 2 .. |own parts|claim|wait unfinished == 0|
//   worker 1           |  claim|parts 1, n+1, ..|unfinished -= 1|wait ..
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "neap/base/api.hpp"
#include "neap/base/bytes.hpp"
#include "neap/base/call_site.hpp"
#include "neap/threads/executor.hpp"

namespace neap::threads {

/// The largest thread count of a pool.
inline constexpr int kMaxThreads = 256;

struct Options {
  /// The stack of a worker; its guard page and the program's thread-locals
  /// come on top.
  Bytes stack_bytes = 256 * kKiB;
  /// The nanoseconds for which a waiting thread spins before it sleeps. Taken
  /// as 0 where the process may use fewer processors than the pool has threads.
  std::int64_t spin_ns = 20'000;
};

/// The processors that this process may use (its affinity mask); >= 1.
NEAP_API int usable_processors() noexcept;

class NEAP_API Pool final : public Executor {
 public:
  /// THROWS: ValueError for threads outside [1, kMaxThreads] or a stack below
  /// the system's minimum; ThreadError where the system starts no more
  /// threads; std::bad_alloc.
  explicit Pool(int threads, Options options = {});
  /// Joins the workers. REQUIRES: no run() in progress.
  ~Pool() override;

  int threads() const noexcept override {
    return threads_.load(std::memory_order_relaxed);
  }
  /// REQUIRES: `function` does not fork.
  void run(int parts, PartFunction function, void* context) noexcept override;

  /// Stops the workers and starts as many as asked for; references to the pool
  /// stay good. THROWS: as the constructor; ValueError while a job runs. After
  /// a throw the pool is unchanged, or has one thread if that too was refused.
  void resize(int threads);

 private:
  struct Job {
    PartFunction function = nullptr;
    void* context = nullptr;
    int parts = 0;
    int stride = 1;
  };
  // A cache line each: a worker polls its own mailbox only.
  struct alignas(64) Worker {
    std::atomic<std::int32_t> mailbox{0};  // +1: a job, or the word to stop
    /// True: somebody has its share of the job.
    std::atomic<bool> is_claimed{true};
    std::int32_t seen = 0;  // mailbox value dealt with
    int number = 0;         // 1 .. threads-1
    Pool* pool = nullptr;
    void* stack = nullptr;  // mapping that begins with the guard page
    pthread_t thread{};
  };

  static void* worker_main(void* worker) noexcept;
  void work(Worker& worker) noexcept;
  void start(int threads);
  void stop() noexcept;
  int start_workers(int wanted) noexcept;
  bool start_worker(int number) noexcept;
  bool renew_after_fork() noexcept;
  void run_shared(const Job& job) noexcept;
  bool run_share(Worker& worker) noexcept;
  void await_workers() noexcept;
  bool is_stale() const noexcept;

  Options options_;
  Bytes stack_bytes_;            // stack of each worker, without its guard page
  std::atomic<int> threads_{1};  // asked for
  int running_ = 0;              // workers that exist, numbers 1 .. running_
  std::int64_t spin_ns_ = 0;     // nanoseconds in effect
  std::atomic<bool> stopping_{false};
  // Number of forks when workers started.
  std::atomic<std::uint32_t> generation_;
  std::atomic<bool> busy_{false};
  Job job_;  // published by is_claimed; fixed while shares are unfinished
  alignas(64) std::atomic<std::int32_t> unfinished_{0};  // shares
  std::array<Worker, kMaxThreads> workers_;  // [0] stands for the caller
};

/// The pool of the process: created at the first call, joined at exit.
/// THROWS: as Pool's constructor. In a step that is compiled it is refused
/// (TraceError): the answer for one call need not be that for the next;
/// tensor::executor() is a guard.
NEAP_API Pool& default_pool(
    const base::CallSite& site = base::CallSite::here());
/// The same for the library's own code.
NEAP_API Pool& process_pool();

/// Sets the thread count of default_pool(); 0 means usable_processors().
/// THROWS: as Pool::resize().
NEAP_API void set_default_threads(int threads);

}  // namespace neap::threads
