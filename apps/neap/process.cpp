// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <exception>
#include <new>

#include "exit_code.hpp"
#include "neap/memory/out_of_memory.hpp"
#include "support/counting_malloc.hpp"

namespace neap::app {
namespace {

// Nothing here takes memory, nor runs what the process registered for its end.
[[noreturn]] void end(ExitCode code, const char* message) noexcept {
  write_failure(message);
  ::_exit(static_cast<int>(code));
}

[[noreturn]] void end_without_handler() noexcept {
  // Asked first: where the exception could not be allocated there is none, and
  // one that leaves a noexcept function may be unknown here.
  if (is_memory_short()) {
    end(ExitCode::kMemory, kNoMemory);
  }
  if (std::current_exception() == nullptr) {
    end(ExitCode::kInternal, "ended by std::terminate");
  }
  try {
    throw;
  } catch (const OutOfMemory& error) {
    end(ExitCode::kMemory, error.what());
  } catch (const std::bad_alloc&) {
    end(ExitCode::kMemory, kNoMemory);
  } catch (const std::exception& error) {
    end(ExitCode::kInternal, error.what());
  } catch (...) {
    end(ExitCode::kInternal, "ended by an exception of an unknown type");
  }
}

void install(int, char**, char**) noexcept {
  std::set_terminate(&end_without_handler);
}

// The loader calls what stands in this section before the initialisers of the
// shared libraries, of which one (libhwy's) takes memory.
using Initialiser = void (*)(int, char**, char**) noexcept;
[[gnu::section(".preinit_array"), gnu::used]] constexpr Initialiser kInstall =
    &install;

}  // namespace

bool is_memory_short() noexcept {
  return support::outside_stats().failed_calls != 0;
}

void hold_standard_streams() noexcept {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) < 0 && errno == EBADF) {
      // The lowest free number is this one. It is opened the wrong way round.
      static_cast<void>(
          ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
    }
  }
  for (const int signal : {SIGPIPE, SIGXFSZ}) {
    // Fails for signals alone that there are not.
    static_cast<void>(::signal(signal, SIG_IGN));
  }
}

}  // namespace neap::app
