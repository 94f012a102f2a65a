// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/text/pattern.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <utility>

#include "neap/base/shown.hpp"
#include "neap/base/utf8.hpp"
#include "neap/memory/out_of_memory.hpp"
#include "neap/text/refused.hpp"
#include "neap/text/regex_syntax.hpp"

namespace neap::text {
namespace {

constexpr std::uint32_t kSteps = 10'000'000;  // of one match, on a short text
constexpr std::uint32_t kStepsPerByte = 64;
constexpr std::uint32_t kMostSteps = 2'000'000'000;
constexpr std::uint32_t kHeapKib = 256 * 1024;  // PCRE2's unit
constexpr std::uint32_t kNestedGroups = 100;
constexpr std::size_t kLongestPattern = 16 * 1024;

// A block of PCRE2's, which does not say its size when it frees one.
struct alignas(std::max_align_t) Head {
  memory::Domain* domain;
  Bytes bytes;
  memory::Tag tag;
};

// PCRE2 is C: no exception may pass it. It is told that there is no memory, and
// whoever called it throws the exception that was kept.
void* take(std::size_t size, void* refused) noexcept {
  try {
    memory::Domain& domain = memory::domain();
    const memory::Tag tag = memory::current_tag(memory::Category::kData);
    const Bytes bytes = static_cast<Bytes>(size + sizeof(Head));
    void* block = domain.allocate_raw(bytes, tag, alignof(Head));
    return ::new (block) Head{&domain, bytes, tag} + 1;
  } catch (const OutOfMemory&) {
    *static_cast<std::exception_ptr*>(refused) = std::current_exception();
    return nullptr;
  }
}

void give_back(void* block, void*) noexcept {
  if (block != nullptr) {
    Head* head = static_cast<Head*>(block) - 1;
    const Head kept = *head;
    kept.domain->release_raw(head, kept.bytes, kept.tag, alignof(Head));
  }
}

[[noreturn]] void throw_out_of_memory(const std::exception_ptr& refused) {
  if (refused != nullptr) {
    std::rethrow_exception(refused);
  }
  throw InternalError("text: a pattern takes more memory than known");
}

// The place where PCRE2 takes blocks. Why it got none is kept in
// `refused`, which outlives what is made by this.
class General {
 public:
  explicit General(std::exception_ptr& refused)
      : refused_(refused),
        context_(pcre2_general_context_create(take, give_back, &refused)) {
    if (context_ == nullptr) {
      throw_out_of_memory(refused_);
    }
  }
  General(const General&) = delete;
  General& operator=(const General&) = delete;
  ~General() { pcre2_general_context_free(context_); }

  pcre2_general_context* get() const noexcept { return context_; }

 private:
  std::exception_ptr& refused_;
  pcre2_general_context* context_;
};

memory::String message_of(int error) {
  std::array<PCRE2_UCHAR, 160> text{};
  pcre2_get_error_message(error, text.data(), text.size());
  return memory::String(reinterpret_cast<const char*>(text.data()));
}

}  // namespace

Pattern Pattern::of_regex(std::string_view regex) {
  if (regex.empty() || regex.size() > kLongestPattern) {
    refuse(FailureKind::kUnsupported,
           "a pattern of {} bytes, 1 to {} are taken", regex.size(),
           kLongestPattern);
  }
  return compile(pcre_pattern(regex), regex);
}

Pattern Pattern::of_literal(std::string_view text) {
  if (text.empty() || text.size() > kLongestPattern) {
    refuse(FailureKind::kUnsupported,
           "a pattern of {} bytes, 1 to {} are taken", text.size(),
           kLongestPattern);
  }
  return compile(literal_pattern(text), text);
}

Pattern Pattern::compile(const memory::String& pattern,
                         std::string_view shown) {
  std::exception_ptr refused;
  const General general(refused);
  pcre2_compile_context* context = pcre2_compile_context_create(general.get());
  if (context == nullptr) {
    throw_out_of_memory(refused);
  }
  pcre2_set_newline(context, PCRE2_NEWLINE_LF);
  pcre2_set_parens_nest_limit(context, kNestedGroups);
  int error = 0;
  PCRE2_SIZE at = 0;
  Pattern made;
  made.code_ = pcre2_compile(
      reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
      PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &error,
      &at, context);
  pcre2_compile_context_free(context);
  if (made.code_ == nullptr) {
    if (error == PCRE2_ERROR_HEAP_FAILED) {
      throw_out_of_memory(refused);
    }
    refuse(FailureKind::kUnsupported, "pattern '{}': {}", base::shown(shown),
           message_of(error));
  }
  return made;
}

Pattern::Pattern(Pattern&& other) noexcept
    : code_(std::exchange(other.code_, nullptr)) {}

Pattern& Pattern::operator=(Pattern&& other) noexcept {
  std::swap(code_, other.code_);
  return *this;
}

Pattern::~Pattern() {
  pcre2_code_free(static_cast<pcre2_code*>(code_));
}

Search::Search(const Pattern& pattern) : pattern_(pattern) {
  const General general(refused_);
  match_ = pcre2_match_data_create(1, general.get());
  limits_ = pcre2_match_context_create(general.get());
  if (match_ == nullptr || limits_ == nullptr) {
    pcre2_match_data_free(static_cast<pcre2_match_data*>(match_));
    pcre2_match_context_free(static_cast<pcre2_match_context*>(limits_));
    throw_out_of_memory(refused_);
  }
  pcre2_set_heap_limit(static_cast<pcre2_match_context*>(limits_), kHeapKib);
}

void Search::start(std::string_view text) noexcept {
  text_ = text;
  from_ = 0;
  has_last_ = false;
  const std::uint64_t steps =
      kSteps + std::uint64_t{kStepsPerByte} * text.size();
  pcre2_set_match_limit(
      static_cast<pcre2_match_context*>(limits_),
      static_cast<std::uint32_t>(std::min(steps, std::uint64_t{kMostSteps})));
}

Search::~Search() {
  pcre2_match_data_free(static_cast<pcre2_match_data*>(match_));
  pcre2_match_context_free(static_cast<pcre2_match_context*>(limits_));
}

bool Search::next(Match& out) {
  auto* match = static_cast<pcre2_match_data*>(match_);
  while (from_ <= text_.size()) {
    const int found = pcre2_match(
        static_cast<const pcre2_code*>(pattern_.code_),
        reinterpret_cast<PCRE2_SPTR>(text_.data()), text_.size(), from_,
        PCRE2_NO_UTF_CHECK, match, static_cast<pcre2_match_context*>(limits_));
    if (found == PCRE2_ERROR_NOMATCH) {
      from_ = text_.size() + 1;
      return false;
    }
    if (found == PCRE2_ERROR_NOMEMORY) {
      throw_out_of_memory(refused_);
    }
    if (found < 0) {
      base::raise<ValueError>(
          "text: a pattern of the tokenizer is given up on this text, {}",
          std::string_view(message_of(found)));
    }
    const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(match);
    out = {ends[0], ends[1]};
    const bool is_repeated =
        out.begin == out.end && has_last_ && last_end_ == out.end;
    if (!is_repeated) {
      has_last_ = true;
      last_end_ = from_ = out.end;
      return true;
    }
    do {
      ++from_;
    } while (from_ < text_.size() && base::is_utf8_tail(text_[from_]));
  }
  return false;
}

}  // namespace neap::text
