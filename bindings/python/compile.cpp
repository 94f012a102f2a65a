// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Compiled steps: a function of Python's over lists of tensors, traced once and
// run without Python.
#include <fmt/format.h>

#include <vector>

#include "binding.hpp"
#include "failures.hpp"
#include "neap/compile/compiled_step.hpp"
#include "neap/compile/fit.hpp"
#include "neap/files/door.hpp"
#include "neap/report/page.hpp"
#include "neap/report/picture.hpp"
#include "neap/report/profile_table.hpp"
#include "neap/report/snapshot_file.hpp"
#include "neap/report/snapshot_profile.hpp"
#include "neap/report/snapshot_step.hpp"
#include "neap/report/trace.hpp"
#include "values.hpp"

namespace neap::python {
namespace {

// The lists of what the steps that are traced in this thread keep alive.
std::vector<nb::list*>& traced_keeps() {
  static thread_local std::vector<nb::list*> lists;
  return lists;
}

// A step adds to `list` what it depends on, while this lives.
class Keeping {
 public:
  explicit Keeping(nb::list& list) { traced_keeps().push_back(&list); }
  ~Keeping() { traced_keeps().pop_back(); }
  Keeping(const Keeping&) = delete;
  Keeping& operator=(const Keeping&) = delete;
};

// Python 3.12 begins with some objects in the frozen generation.
std::int64_t frozen_at_import = 0;

// The collector while a step is traced. A trace refuses tensors that the step
// leaves behind, and that it destroys. Cycles that nobody refers to are not
// meant by that: those from before stay until after the trace, and those that
// the step made go at its end.
class CollectedApart {
 public:
  static std::int64_t frozen(const nb::object& gc) {
    return nb::cast<std::int64_t>(gc.attr("get_freeze_count")());
  }

  CollectedApart()
      : gc_(nb::module_::import_("gc")),
        was_enabled_(nb::cast<bool>(gc_.attr("isenabled")())),
        is_frozen_(frozen(gc_) > frozen_at_import) {
    gc_.attr("disable")();
    if (!is_frozen_) {  // else it is the user's to thaw
      gc_.attr("freeze")();
    }
  }
  ~CollectedApart() {
    try {
      if (!is_frozen_) {
        gc_.attr("collect")();
        gc_.attr("unfreeze")();
      }
      if (was_enabled_) {
        gc_.attr("enable")();
      }
    } catch (nb::python_error& error) {
      error.discard_as_unraisable("neap: the collector after a trace");
    }
  }
  CollectedApart(const CollectedApart&) = delete;
  CollectedApart& operator=(const CollectedApart&) = delete;

 private:
  nb::object gc_;
  bool was_enabled_;
  bool is_frozen_;
};

struct Settings {
  std::int64_t max_batch = 0;
  Bytes arena_limit = kUnlimited;
  Bytes budget = kUnlimited;
  bool paged = false;
  bool recompute = true;
  bool keep_all = false;
  std::vector<int> keep;
  int shards = 1;
  int programs = 8;
  int verify = 0;
  std::string plan_file;
  std::string spill;
  Bytes most_written = kUnlimited;
  base::Ref<compiler::CostBook> costs;  // of all programs of the step

  void set_costs(const std::string& way) {
    if (way == "table") {
      costs = {};
    } else {
      costs = way == "measure" ? compiler::CostBook::make()
                               : compiler::CostBook::open(way);
    }
  }
  CompileOptions options() const {
    CompileOptions options;
    options.max_batch = max_batch;
    options.arena_limit = arena_limit;
    options.budget = budget;
    options.paged = paged;
    options.recompute = recompute;
    options.keep_all = keep_all;
    options.keep.assign(keep.begin(), keep.end());
    options.shards = shards;
    options.programs = programs;
    options.verify = verify;
    options.plan.file = plan_file;
    options.spill.folder = spill;
    options.spill.most_written = most_written;
    options.costs = costs;
    return options;
  }
};

// The core goes first, so that what its programs refer to is there until then.
class Step {
 public:
  Step(nb::object function, const Settings& settings)
      : function_(std::move(function)),
        options_(settings.options()),
        core_(options_, here()) {}

  /// THROWS: what a signal's handler raises (Ctrl-C), before anything runs.
  nb::list call(nb::list arguments) {
    if (PyErr_CheckSignals() != 0) {
      throw nb::python_error();
    }
    std::vector<compiler::Argument> given;
    given.reserve(nb::len(arguments));
    for (const nb::handle each : arguments) {
      given.push_back(argument_of(each));
    }
    std::vector<Tensor> results;
    {
      const Unlocked release;
      core_.call(
          step(), given, [&](std::size_t count) { results.reserve(count); },
          [&](std::span<Tensor> taken) {
            for (Tensor& t : taken) {
              results.push_back(std::move(t));
            }
          });
    }
    nb::list out;
    for (Tensor& t : results) {
      out.append(nb::cast(std::move(t)));
    }
    return out;
  }

  void prepare(const std::vector<tensor::Spec>& specs) {
    const Unlocked release;
    core_.prepare(step(), specs);
  }

  /// Every arena that the step can be made to fit, and what it costs.
  compiler::FitCurve fit(const std::vector<tensor::Spec>& specs) {
    const CallSite site = here();
    const Unlocked release;
    return compiler::fit_step(step(), specs, options_, site);
  }

  /// Writes the step as `kind` says: "page", "snapshot", "svg" or "trace".
  void write(const std::string& path, std::string_view kind,
             const compiler::Profile* profile) const {
    const Unlocked release;
    report::Snapshot snapshot = report::snapshot(core_);
    if (profile != nullptr) {
      report::add_times(snapshot, *profile);
    }
    files::Door& door = files::system_door();
    check(kind == "page"    ? report::write_page(door, path, snapshot)
          : kind == "svg"   ? report::write_svg(door, path, snapshot)
          : kind == "trace" ? report::write_trace(door, path, snapshot)
                            : report::write_snapshot(door, path, snapshot));
  }

  /// The calls of the next runs are timed into `profile`; nullptr: no more.
  void set_profile(compiler::Profile* profile) { core_.set_profile(profile); }

  /// Tables of where the time of a profile went.
  std::string profile_table(const compiler::Profile& profile) const {
    report::Snapshot snapshot = report::snapshot(core_);
    report::add_times(snapshot, profile);
    const memory::String text = report::profile_table(snapshot);
    return {text.data(), text.size()};
  }

  compiler::CompiledStep& core() noexcept { return core_; }
  nb::object& function() noexcept { return function_; }
  nb::list& keeps() noexcept { return keeps_; }

 private:
  static compiler::Argument argument_of(nb::handle value) {
    if (nb::isinstance<Tensor>(value)) {
      return {&nb::cast<const Tensor&>(value), 0.0};
    }
    if (PyFloat_Check(value.ptr())) {
      return {nullptr, nb::cast<double>(value)};
    }
    const auto number = nb::cast<std::int64_t>(value);
    return {nullptr, static_cast<double>(number), tensor::is_double(number)};
  }

  // Called without the GIL, while the step is traced.
  void trace(std::span<const Tensor> in, memory::Vector<Tensor>& out) {
    const Locked locked;
    const OwnSites sites;
    const Keeping keeping(keeps_);
    const CollectedApart collected;
    {
      nb::list leaves;
      for (const Tensor& t : in) {
        leaves.append(nb::cast(Tensor(t)));
      }
      const nb::object results =
          in_python([&] { return nb::object(function_(leaves)); });
      for (const nb::handle each : results) {
        out.push_back(nb::cast<const Tensor&>(each));
      }
    }
  }

  // A FunctionRef refers to it.
  struct Tracer {
    Step* step;
    void operator()(std::span<const Tensor> in,
                    memory::Vector<Tensor>& out) const {
      step->trace(in, out);
    }
  };
  compiler::Step step() noexcept { return tracer_; }

  nb::object function_;
  nb::list keeps_;
  Tracer tracer_{this};
  CompileOptions options_;
  compiler::CompiledStep core_;
};

int traverse_step(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) {
    Step* step = nb::inst_ptr<Step>(self);
    Py_VISIT(step->function().ptr());
    Py_VISIT(step->keeps().ptr());
  }
  return 0;
}

// Programs end before the objects that they refer to.
int clear_step(PyObject* self) {
  Step* step = nb::inst_ptr<Step>(self);
  step->core().reset();
  step->function() = nb::none();
  step->keeps() = nb::list();
  return 0;
}

PyType_Slot step_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(&traverse_step)},
    {Py_tp_clear, reinterpret_cast<void*>(&clear_step)},
    {0, nullptr}};

void bind_prediction(nb::module_& m) {
  using compiler::Prediction;
  nb::class_<Prediction>(m, "Prediction", nb::dynamic_attr(),
                         "The memory that a step will need, before it runs.")
      .def_prop_ro("peak", &Prediction::peak)
      .def_prop_ro("gap", &Prediction::gap)
      .def_ro("arena", &Prediction::arena)
      .def_ro("persistent", &Prediction::persistent)
      .def_ro("program", &Prediction::program)
      .def_ro("arguments", &Prediction::arguments)
      .def_ro("external", &Prediction::external)
      .def_ro("lower_bound", &Prediction::lower_bound)
      .def_ro("workspace", &Prediction::workspace)
      .def_prop_ro("peak_site",
                   [](const Prediction& self) {
                     return base::format_site(self.peak_site);
                   })
      .def("to_json",
           [](const Prediction& self) {
             const memory::String text = compiler::to_json(self);
             return std::string(text.data(), text.size());
           })
      .def("__str__", [](const Prediction& self) {
        const memory::String text = compiler::format(self);
        return std::string(text.data(), text.size());
      });
}

void bind_profile(nb::module_& m) {
  using compiler::Profile;
  nb::class_<Profile>(m, "_Profile")
      .def(nb::init<>())
      .def("measure_limits",
           [](Profile& self) {
             const Unlocked unlocked;
             self.limits = report::measure_limits();
           })
      .def("check",
           [](const Profile& self, int runs) {
             compiler::check_whole(self, {.runs = runs});
           })
      .def_ro("whole", &Profile::whole)
      .def_ro("runs", &Profile::runs)
      .def_prop_ro("ns", [](const Profile& self) {
        return nb::typed<nb::list, int>(nb::cast(
            std::vector<std::int64_t>(self.ns.begin(), self.ns.end())));
      });
  m.def("_check_runs", [](int runs) { compiler::check_runs({.runs = runs}); });
}

void bind_fit(nb::module_& m) {
  using compiler::FitPoint;
  nb::class_<FitPoint>(
      m, "FitPoint", "An arena that a step can be made to fit, and its price.")
      .def_ro("arena", &FitPoint::arena)
      .def_prop_ro(
          "extra_percent",
          [](const FitPoint& self) {
            return self.fitting.percent(self.fitting.extra);
          },
          "Predicted extra time, in percent of a run without a limit.")
      .def_prop_ro("calls_again",
                   [](const FitPoint& self) { return self.fitting.again; })
      .def_prop_ro("pieces",
                   [](const FitPoint& self) { return self.fitting.pieces; })
      .def_prop_ro(
          "micro_batches",
          [](const FitPoint& self) { return self.fitting.micro_batches; })
      .def_prop_ro(
          "time_pieces",
          [](const FitPoint& self) { return self.fitting.time_pieces; })
      .def_prop_ro("values_spilled",
                   [](const FitPoint& self) { return self.fitting.spilled; })
      .def("__repr__", [](const FitPoint& self) {
        return fmt::format("FitPoint(arena={}, extra_percent={:.1f})",
                           std::string(format_bytes(self.arena)),
                           self.fitting.percent(self.fitting.extra));
      });
}

void bind_settings(nb::module_& m) {
  nb::class_<Settings>(m, "_Settings")
      .def(nb::init<>())
      .def_rw("max_batch", &Settings::max_batch)
      .def_rw("arena_limit", &Settings::arena_limit)
      .def_rw("budget", &Settings::budget)
      .def_rw("paged", &Settings::paged)
      .def_rw("recompute", &Settings::recompute)
      .def_rw("keep_all", &Settings::keep_all)
      .def_rw("keep", &Settings::keep)
      .def_rw("shards", &Settings::shards)
      .def_rw("programs", &Settings::programs)
      .def_rw("verify", &Settings::verify)
      .def_rw("plan_file", &Settings::plan_file)
      .def_rw("spill", &Settings::spill)
      .def_rw("most_written", &Settings::most_written)
      .def("set_costs", &Settings::set_costs);
  nb::class_<tensor::Spec>(m, "Spec", "Shape and dtype of a tensor.")
      .def(
          "__init__",
          [](tensor::Spec* self, const Shape& shape, DType dtype) {
            new (self) tensor::Spec{dtype, shape};
          },
          nb::arg("shape"), nb::arg("dtype") = f32)
      .def_prop_ro("shape", [](const tensor::Spec& s) { return s.shape; })
      .def_prop_ro("dtype", [](const tensor::Spec& s) { return s.dtype; });
}

}  // namespace

void keep_for_traces(nb::handle object) {
  for (nb::list* list : traced_keeps()) {
    if (PySequence_Contains(list->ptr(), object.ptr()) == 0) {
      list->append(object);
    }
  }
}

void bind_compile(nb::module_& m) {
  frozen_at_import = CollectedApart::frozen(nb::module_::import_("gc"));
  bind_settings(m);
  bind_prediction(m);
  bind_profile(m);
  bind_fit(m);
  m.def("is_tracing",
        [] { return tensor::thread_execution().trace != nullptr; });
  m.def("_keep_for_traces", &keep_for_traces);
  nb::class_<Step>(m, "_Step", nb::is_weak_referenceable(),
                   nb::type_slots(step_slots))
      .def(nb::init<nb::object, const Settings&>())
      .def("call", &Step::call)
      .def("prepare", &Step::prepare)
      .def("fit",
           [](Step& self, const std::vector<tensor::Spec>& specs) {
             const compiler::FitCurve curve = self.fit(specs);
             return std::vector<compiler::FitPoint>(curve.begin(), curve.end());
           })
      .def("write", &Step::write, nb::arg("path"), nb::arg("kind"),
           nb::arg("profile").none() = nb::none())
      .def("set_profile", &Step::set_profile, nb::arg("profile").none())
      .def("profile_table", &Step::profile_table)
      .def("prediction", [](Step& self) { return self.core().prediction(); })
      .def("programs", [](Step& self) { return self.core().programs(); })
      .def("traces", [](Step& self) { return self.core().traces(); })
      .def("arena_bytes", [](Step& self) { return self.core().arena_bytes(); })
      .def("why", [](Step& self) { return self.core().why(); })
      .def("reset", [](Step& self) { self.core().reset(); })
      .def("kept", [](Step& self) { return self.keeps().size(); });
}

}  // namespace neap::python
