// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/tensor/creator.hpp"

#include "neap/base/raise.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::tensor {

using base::raise;

void refuse_elements(const Storage& storage, std::string_view what,
                     base::SiteId site) {
  switch (storage.absence()) {
    case Absence::kTraced:
      if (tensor::thread_execution().trace == nullptr) {
        raise<TraceError>(
            "{}: at {} the tensor stands for a value of a step that was traced "
            "(or is, in another thread) and has no elements outside of it; let "
            "the step return what is needed",
            what, base::format_site(site));
      }
      raise<TraceError>(
          "{}: at {} the step being traced reads elements that are not known "
          "before it runs; return the tensor and read it after the call, or "
          "choose between values with where()",
          what, base::format_site(site));
    case Absence::kRehearsed:
      raise<TraceError>(
          "{}: at {} the tensor has a shape and no elements, since its domain "
          "is a dry run (rehearsal)",
          what, base::format_site(site));
    case Absence::kRevoked:
      raise<UseAfterRelease>(
          "{}: at {} a result of the compiled step called at {}, which is "
          "valid until the step's next call, reset or end; name it in .keep, "
          "or copy() it before",
          what, base::format_site(site),
          base::format_site(storage.written_at()));
    case Absence::kAway:  // fetch_elements() was not asked
    case Absence::kNone:
      break;
  }
  raise<InternalError>("{}: elements refused that are there", what);
}

}  // namespace neap::tensor
