// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/threads/pool.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <new>
#include <utility>

#include "neap/base/raise.hpp"
#include "neap/threads/thread_error.hpp"
#include "neap/threads/worker_stack.hpp"

namespace neap::threads {
namespace {

using Clock = std::chrono::steady_clock;

// Counts the forks that this process descends from, in steps of two; a pool
// whose generation is another has lost its workers. Odd values mean that a pool
// is being renewed.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
constinit std::atomic<std::uint32_t> fork_generation{0};

void count_fork() noexcept {
  fork_generation.fetch_add(2, std::memory_order_relaxed);
}

std::uint32_t current_generation() noexcept {
  return fork_generation.load(std::memory_order_relaxed);
}

// Without it a forked child would wait for workers that it does not have.
void watch_forks() {
  static const bool is_watching = [] {
    if (::pthread_atfork(nullptr, nullptr, count_fork) != 0) {
      throw std::bad_alloc();
    }
    return true;
  }();
  static_cast<void>(is_watching);
}

void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Returns the first value other than `old`: spins for a while, then sleeps.
std::int32_t await_change(const std::atomic<std::int32_t>& word,
                          std::int32_t old, std::int64_t spin_ns) noexcept {
  constexpr int kPausesPerLookAtTheClock = 32;
  std::int32_t value = word.load(std::memory_order_acquire);
  if (spin_ns > 0 && value == old) {
    const auto end = Clock::now() + std::chrono::nanoseconds(spin_ns);
    do {
      for (int i = 0; i < kPausesPerLookAtTheClock && value == old; ++i) {
        relax();
        value = word.load(std::memory_order_acquire);
      }
    } while (value == old && Clock::now() < end);
  }
  while (value == old) {
    word.wait(old, std::memory_order_acquire);
    value = word.load(std::memory_order_acquire);
  }
  return value;
}

void check_threads(int threads) {
  if (threads < 1 || threads > kMaxThreads) {
    base::raise<ValueError>(
        "threads: {} asked for, a pool has between 1 and {}", threads,
        kMaxThreads);
  }
}

Options checked(Options options) {
  const Bytes smallest = ::sysconf(_SC_THREAD_STACK_MIN);
  if (options.stack_bytes < smallest) {
    base::raise<ValueError>(
        "threads: a stack of {} bytes asked for, the system's minimum is {}",
        options.stack_bytes, smallest);
  }
  return options;
}

// Holds the flag that lets one caller at a time use the workers.
class Turn {
 public:
  explicit Turn(std::atomic<bool>& busy) noexcept
      : busy_(busy), taken_(!busy.exchange(true, std::memory_order_acquire)) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    if (taken_) {
      busy_.store(false, std::memory_order_release);
    }
  }
  bool taken() const noexcept { return taken_; }

 private:
  std::atomic<bool>& busy_;
  bool taken_;
};

}  // namespace

Pool::Pool(int threads, Options options)
    : options_(checked(options)),
      stack_bytes_(stack_bytes_for(options_.stack_bytes)),
      generation_(current_generation()) {
  check_threads(threads);
  watch_forks();
  start(threads);
}

Pool::~Pool() {
  stop();
}

void Pool::run(int parts, PartFunction function, void* context) noexcept {
  if (parts > 1 && threads() > 1 && (!is_stale() || renew_after_fork())) {
    const Turn turn(busy_);
    if (turn.taken() && running_ > 0) {
      run_shared({function, context, parts, running_ + 1});
      return;
    }
  }
  for (int part = 0; part < parts; ++part) {
    function(context, part);
  }
}

void Pool::run_shared(const Job& job) noexcept {
  job_ = job;
  const int helpers = std::min(job.parts, job.stride) - 1;
  unfinished_.store(helpers, std::memory_order_relaxed);
  for (int number = 1; number <= helpers; ++number) {
    Worker& worker = workers_[static_cast<std::size_t>(number)];
    worker.is_claimed.store(false, std::memory_order_release);
    // A full fence: the look for sleepers inside notify must come after it.
    worker.mailbox.fetch_add(1, std::memory_order_seq_cst);
    worker.mailbox.notify_one();
  }
  for (int part = 0; part < job.parts; part += job.stride) {
    job.function(job.context, part);
  }
  for (int number = helpers; number >= 1; --number) {
    Worker& worker = workers_[static_cast<std::size_t>(number)];
    if (run_share(worker)) {
      unfinished_.fetch_sub(1, std::memory_order_relaxed);
    }
  }
  await_workers();
}

// False when another thread has the share already, or there is none: a worker
// may wake after its job is long done, and must not look at job_ then.
bool Pool::run_share(Worker& worker) noexcept {
  if (worker.is_claimed.exchange(true, std::memory_order_acquire)) {
    return false;
  }
  const Job job = job_;
  for (int part = worker.number; part < job.parts; part += job.stride) {
    job.function(job.context, part);
  }
  return true;
}

void Pool::await_workers() noexcept {
  std::int32_t left = unfinished_.load(std::memory_order_acquire);
  while (left != 0) {
    left = await_change(unfinished_, left, spin_ns_);
  }
}

void* Pool::worker_main(void* worker) noexcept {
  Worker& self = *static_cast<Worker*>(worker);
  self.pool->work(self);
  return nullptr;
}

void Pool::work(Worker& worker) noexcept {
  while (true) {
    worker.seen = await_change(worker.mailbox, worker.seen, spin_ns_);
    if (stopping_) {
      return;
    }
    if (run_share(worker) &&
        unfinished_.fetch_sub(1, std::memory_order_seq_cst) == 1) {
      unfinished_.notify_one();
    }
  }
}

bool Pool::start_worker(int number) noexcept {
  Worker& worker = workers_[static_cast<std::size_t>(number)];
  worker.seen = worker.mailbox.load(std::memory_order_relaxed);
  worker.number = number;
  worker.is_claimed.store(true, std::memory_order_relaxed);
  worker.pool = this;
  // In a forked child the stack is there, and nobody's.
  if (worker.stack == nullptr) {
    worker.stack = map_stack(stack_bytes_);
  }
  return worker.stack != nullptr &&
         start_on_stack(worker.thread, worker.stack, stack_bytes_, &worker_main,
                        &worker, "neap-worker");
}

int Pool::start_workers(int wanted) noexcept {
  running_ = 0;
  while (running_ < wanted && start_worker(running_ + 1)) {
    ++running_;
  }
  return running_;
}

void Pool::start(int threads) {
  stopping_ = false;
  spin_ns_ = threads <= usable_processors() ? options_.spin_ns : 0;
  const int started = start_workers(threads - 1);
  if (started < threads - 1) {
    stop();
    base::raise<ThreadError>(
        "threads: the system started {} of {} worker threads, ask for fewer",
        started, threads - 1);
  }
  threads_.store(threads, std::memory_order_relaxed);
}

void Pool::stop() noexcept {
  // A forked child has no workers to tell and to join, only their stacks.
  const int living = is_stale() ? 0 : running_;
  stopping_ = true;
  for (int number = 1; number <= living; ++number) {
    Worker& worker = workers_[static_cast<std::size_t>(number)];
    worker.mailbox.fetch_add(1, std::memory_order_seq_cst);
    worker.mailbox.notify_one();
  }
  for (int number = 1; number <= living; ++number) {
    ::pthread_join(workers_[static_cast<std::size_t>(number)].thread, nullptr);
  }
  for (Worker& worker : workers_) {
    if (worker.stack != nullptr) {
      unmap_stack(std::exchange(worker.stack, nullptr), stack_bytes_);
    }
  }
  running_ = 0;
  threads_.store(1, std::memory_order_relaxed);
}

void Pool::resize(int threads) {
  check_threads(threads);
  const bool is_current = !is_stale() || renew_after_fork();
  const Turn turn(busy_);
  if (!is_current || !turn.taken()) {
    base::raise<ValueError>(
        "threads: the count cannot change to {} while a job runs", threads);
  }
  const int before = this->threads();
  if (threads == before && running_ == threads - 1) {
    return;
  }
  stop();
  try {
    start(threads);
  } catch (const Error&) {
    start(before);
    throw;
  }
}

bool Pool::is_stale() const noexcept {
  return generation_.load(std::memory_order_acquire) != current_generation();
}

// In a forked child: the workers are gone, and whatever was going on in the
// parent's other threads goes on there. One thread starts the workers afresh;
// the others get false and work serially meanwhile.
bool Pool::renew_after_fork() noexcept {
  const std::uint32_t now = current_generation();
  std::uint32_t seen = generation_.load(std::memory_order_acquire);
  if (seen == now) {
    return true;
  }
  const std::uint32_t renewing = now + 1;
  if (seen == renewing ||
      !generation_.compare_exchange_strong(seen, renewing)) {
    return false;
  }
  stopping_ = false;
  unfinished_.store(0, std::memory_order_relaxed);
  busy_.store(false, std::memory_order_relaxed);
  // Fewer than before will do: what is missing, the others do.
  start_workers(threads() - 1);
  generation_.store(now, std::memory_order_release);
  return true;
}

}  // namespace neap::threads
