// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Questions of a traced step that no guard covers, and what it does to
// generators.
#include <algorithm>
#include <utility>

#include "neap/base/raise.hpp"
#include "neap/compile/tracer.hpp"

namespace neap::compiler {

using base::raise;

namespace {

constexpr std::string_view kAboutState = "for the state of a generator";

void refuse_generator(std::string_view function, base::SiteId site) {
  raise<TraceError>(
      "{}: at {} the step uses a generator of its own, which a program cannot "
      "advance; draw from the one that is current outside the step",
      function, base::format_site(site));
}

}  // namespace

void refuse_question(std::string_view function, std::string_view about,
                     base::SiteId site) {
  raise<TraceError>(
      "{}: at {} the step that is traced asks {}, which its program would take "
      "to be the same in every run; ask outside of the step, and call another "
      "step for another answer",
      function, base::format_site(site), about);
}

void Tracer::note_refusal(std::string_view function, std::string_view about,
                          const CallSite& site) noexcept {
  if (inside_ == 0 && !is_restored_) {
    note_quietly([&] {
      refuse_question(function, about,
                      site.line != 0 ? base::intern(site) : site_);
    });
  }
}

// The step may catch the error, and must not go on as if nothing had been
// asked.
void Tracer::on_refusal(std::string_view message) noexcept {
  if (!failure_ && !is_restored_) {
    failure_ = std::make_exception_ptr(TraceError(message));
  }
}

void Tracer::on_outside_asked(const base::OutsideQuestion& question) noexcept {
  note_refusal(question.function, question.about, question.site);
}

// The holders of what the step itself creates are the same in every run.
void Tracer::on_holders_asked(const Tensor& handle, const char* function,
                              const CallSite& site) noexcept {
  const base::Ref<tensor::Body>& body = handle.shared();
  const bool is_there = body && body->array();
  if (!is_there) {
    return;
  }
  const bool is_argument =
      std::ranges::find(arguments_, body->array().get()) != arguments_.end();
  if (!body->is_of_trace() || is_argument) {
    note_refusal(function, "who holds a tensor from outside it", site);
  } else if (std::string_view(function) == "is_sole_owner" &&
             values_.is_made(handle)) {
    note_refusal(function, "who holds a tensor that the trace itself holds",
                 site);
  }
}

// A rematerialised segment draws again, by the trace's seed, from a generator
// of the library's.
bool Tracer::on_generator_used(const Generator& generator, const char* function,
                               const CallSite& site) noexcept {
  if (inside_ != 0 || is_restored_) {
    return true;
  }
  const std::string_view name = function;
  const bool is_of_trace =
      &generator == &generator_ ||
      (&generator == tensor::thread_execution().generator &&
       generator.key().seed == kTraceSeed);
  if (name == "state") {
    note_refusal(name, kAboutState, site);
  } else if (!is_of_trace) {
    note_quietly([&] {
      refuse_generator(name, site.line != 0 ? base::intern(site) : site_);
    });
  } else if (name == "next") {
    refuse_asked_key();
    is_key_asked_ = true;
    key_asked_at_ = site;
  } else {
    is_key_asked_ = false;
  }
  return is_of_trace;
}

// A key that no draw took was asked for to look at it.
void Tracer::refuse_asked_key() noexcept {
  if (std::exchange(is_key_asked_, false)) {
    note_refusal("next", kAboutState, key_asked_at_);
  }
}

}  // namespace neap::compiler
