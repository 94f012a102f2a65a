// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Neap's errors become the exceptions of neap/_errors.py.
#include <nanobind/stl/string.h>

#include <exception>
#include <string>
#include <typeinfo>

#include "binding.hpp"
#include "neap/base/error.hpp"
#include "neap/compile/plan_file_error.hpp"
#include "neap/data/read_error.hpp"
#include "neap/files/io_error.hpp"
#include "neap/memory/out_of_memory.hpp"
#include "neap/threads/thread_error.hpp"
#include "sites.hpp"

namespace neap::python {
namespace {

// The module neap._errors; never given back, since errors come until the end.
PyObject* errors = nullptr;

void raise(const char* type, const Error& error) {
  const nb::object cls = nb::handle(errors).attr(type);
  PyErr_SetString(cls.ptr(), error.what());
}

nb::object bytes_or_none(Bytes bytes) {
  return bytes == kUnlimited ? nb::none() : nb::cast(bytes);
}

const char* reason_of(OutOfMemory::Reason reason) {
  switch (reason) {
    case OutOfMemory::Reason::kBudget:
      return "budget";
    case OutOfMemory::Reason::kSystem:
      return "system";
    case OutOfMemory::Reason::kInjected:
      return "injected";
    case OutOfMemory::Reason::kArena:
      return "arena";
  }
  return "";
}

// The line that asked; of bookkeeping without one, the Python line that runs.
std::string site_of(const memory::Tag& tag) {
  return base::format_site(tag.site.value != 0 ? tag.site
                                               : base::intern(here()));
}

void raise_out_of_memory(const OutOfMemory& error) {
  const OutOfMemory::Details& d = error.details();
  nb::list holders;
  for (const OutOfMemory::Holder& holder : d.holders) {
    if (holder.bytes > 0) {
      holders.append(nb::make_tuple(
          std::string(holder.owner.data()),
          std::string(memory::name_of(holder.category)), holder.bytes));
    }
  }
  const nb::object value =
      nb::handle(errors).attr("OutOfMemory")(std::string(error.what()));
  nb::setattr(value, "reason", nb::cast(reason_of(d.reason)));
  nb::setattr(value, "owner", nb::cast(std::string(d.owner.data())));
  nb::setattr(value, "site", nb::cast(site_of(d.tag)));
  nb::setattr(value, "requested", nb::cast(d.requested));
  nb::setattr(value, "live", nb::cast(d.live));
  nb::setattr(value, "held", nb::cast(d.held));
  nb::setattr(value, "external", nb::cast(d.external));
  nb::setattr(value, "peak", nb::cast(d.peak));
  nb::setattr(value, "budget", bytes_or_none(d.budget));
  nb::setattr(value, "holders", holders);
  PyErr_SetObject(value.type().ptr(), value.ptr());
}

void translate(const std::exception_ptr& pointer, void* /*payload*/) {
  try {
    std::rethrow_exception(pointer);
  } catch (const OutOfMemory& error) {
    raise_out_of_memory(error);
  } catch (const ShapeError& error) {
    raise("ShapeError", error);
  } catch (const DTypeError& error) {
    raise("DTypeError", error);
  } catch (const ValueError& error) {
    raise("InvalidValue", error);
  } catch (const DeviceError& error) {
    raise("DeviceError", error);
  } catch (const GraphError& error) {
    raise("GraphError", error);
  } catch (const UseAfterRelease& error) {
    raise("UseAfterRelease", error);
  } catch (const NameError& error) {
    raise("NameNotFound", error);
  } catch (const TraceError& error) {
    raise("TraceError", error);
  } catch (const PlanFileError& error) {
    raise("PlanFileError", error);
  } catch (const PlanError& error) {
    raise("PlanError", error);
  } catch (const TornStep& error) {
    raise("TornStep", error);
  } catch (const IoError& error) {
    raise("IoError", error);
  } catch (const data::ReadError& error) {
    raise("ReadError", error);
  } catch (const ThreadError& error) {
    raise("ThreadError", error);
  } catch (const InternalError& error) {
    raise("InternalError", error);
  } catch (const Error& error) {
    raise("Error", error);
  } catch (const std::bad_cast&) {
    PyErr_SetString(PyExc_TypeError,
                    "neap: a value has another type than is expected here");
  }
}

}  // namespace

void bind_errors() {
  errors = nb::module_::import_("neap._errors").release().ptr();
  nb::register_exception_translator(&translate, nullptr);
}

}  // namespace neap::python
