// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Loaders, of C++'s data sets and of any Python object with a length and
// samples by index. What asks a loader for something may be another thread, the
// data set while it loads a sample, the collector, or the end of Python.
#include "neap/data/loader.hpp"

#include <cstring>
#include <thread>

#include <fmt/format.h>
#include <nanobind/stl/pair.h>

#include "binding.hpp"
#include "neap/data/augmented.hpp"
#include "neap/data/csv_set.hpp"
#include "neap/data/tensor_set.hpp"
#include "neap/data/text_set.hpp"
#include "values.hpp"

namespace neap::python {
namespace {

// Samples of a Python object, by a function (index) -> (input, target) of dense
// tensors. Called in whatever thread fills a batch.
class PythonSet {
 public:
  PythonSet(nb::object load, std::int64_t size)
      : load_(std::move(load)), size_(size) {
    if (size > 0) {
      const auto [input, target] = sample(0);
      spec_ = {input.shape(), input.dtype(), target.shape(), target.dtype()};
    }
  }

  std::int64_t size() const noexcept { return size_; }
  const data::SampleSpec& spec() const noexcept { return spec_; }
  Result<void> load(std::int64_t index, std::span<std::byte> input,
                    std::span<std::byte> target) const {
    const Locked locked;
    const OwnSites sites;
    const Loading loading(*this);
    const auto [x, y] = sample(index);
    if (data::SampleSpec{x.shape(), x.dtype(), y.shape(), y.dtype()} != spec_) {
      return failure(
          FailureKind::kMismatch,
          fmt::format(
              "data set: sample {} is {} {} and {} {}, where sample 0 is {} {} "
              "and {} {}",
              index, name_of(x.dtype()), format_shape(x.shape()),
              name_of(y.dtype()), format_shape(y.shape()),
              name_of(spec_.input_dtype), format_shape(spec_.input),
              name_of(spec_.target_dtype), format_shape(spec_.target)));
    }
    put(x, input);
    put(y, target);
    return {};
  }
  /// In this thread a sample is being loaded. Needs the GIL.
  bool is_loading() const noexcept {
    return loading_ == std::this_thread::get_id();
  }
  const nb::object& function() const noexcept { return load_.get(); }

 private:
  struct Loading {
    explicit Loading(const PythonSet& of) : set(of) {
      set.loading_ = std::this_thread::get_id();
    }
    ~Loading() { set.loading_ = {}; }
    Loading(const Loading&) = delete;
    Loading& operator=(const Loading&) = delete;
    const PythonSet& set;
  };
  std::pair<Tensor, Tensor> sample(std::int64_t index) const {
    const nb::object load = load_.get();  // the collector sees that it runs
    return nb::cast<std::pair<Tensor, Tensor>>(
        in_python([&] { return nb::object(load(index)); }));
  }
  static void put(const Tensor& from, std::span<std::byte> to) {
    const std::byte* data = from.array()->strided().data;
    if (data != nullptr) {  // else it has no elements
      std::memcpy(to.data(), data, to.size());
    }
  }

  Held load_;
  std::int64_t size_;
  data::SampleSpec spec_;
  mutable std::thread::id loading_;  // one loader's, so one thread at a time
};

// A loader, and which of its loops is the latest. One call at a time goes into
// it. Every function needs the GIL.
class Batches {
 public:
  template <class Set>
  Batches(const Set& set, nb::object holder, const data::LoaderOptions& options,
          bool reuse, const CallSite& site)
      : holder_(std::move(holder)), reuse_(reuse) {
    if constexpr (std::is_same_v<Set, PythonSet>) {
      python_ = &set;
    }
    const Unlocked unlocked;
    loader_ = memory::make_owned<data::Loader>(
        memory::Category::kData, data::AnyDataset(set), options, site);
  }
  ~Batches();
  Batches(const Batches&) = delete;
  Batches& operator=(const Batches&) = delete;

  /// Ends the reader's thread; what asks for a batch afterwards is refused.
  /// While a call is under way, or a sample is loaded, after that.
  void close() {
    is_closed_ = true;
    if (!is_busy_ && !is_loading()) {
      memory::Owned<data::Loader> last = std::move(loader_);
      const Unlocked unlocked;  // the reader may be waiting for the GIL
      last.reset();
    }
  }
  std::int64_t start(std::int64_t epoch, std::int64_t first);
  nb::object next(std::int64_t loop);
  std::int64_t batches_per_epoch() const { return given().batches_per_epoch(); }
  std::pair<std::int64_t, std::int64_t> position() const {
    const data::Loader& loader = given();
    return {loader.epoch(), loader.next_batch()};
  }
  const nb::object& holder() const noexcept { return holder_; }

 private:
  // A call into the loader, part of which runs without the GIL.
  class Call {
   public:
    explicit Call(Batches& of) : of_(of) { of_.is_busy_ = true; }
    ~Call() {
      of_.is_busy_ = false;
      if (of_.is_closed_) {
        of_.close();
      }
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    Batches& of_;
  };
  bool is_loading() const noexcept {
    return python_ != nullptr && python_->is_loading();
  }
  data::Loader& given() const;

  nb::object holder_;                  // of the data set
  const PythonSet* python_ = nullptr;  // that, where it is one of Python's
  memory::Owned<data::Loader> loader_;
  bool reuse_;
  bool is_busy_ = false;
  bool is_closed_ = false;
  std::int64_t loop_ = 0;
};

// A thread cannot wait for its own end: where the reader's drops the last
// reference (a collection that begins there), another thread ends the loader.
Batches::~Batches() {
  if (!is_loading()) {
    close();
    return;
  }
  std::thread([loader = std::move(loader_),
               holder = Held(std::move(holder_))]() mutable {
    loader.reset();
  }).detach();
}

data::Loader& Batches::given() const {
  if (is_loading()) {
    throw ValueError(
        "loader: its own data set uses it while a sample is loaded; give the "
        "data set another loader");
  }
  if (is_busy_) {
    throw ValueError(
        "loader: another thread waits for a batch of it; a loader is for one "
        "thread at a time");
  }
  if (is_closed_) {
    throw ValueError("loader: it is closed");
  }
  return *loader_;
}

std::int64_t Batches::start(std::int64_t epoch, std::int64_t first) {
  data::Loader& loader = given();
  const Call call(*this);
  const Unlocked unlocked;
  loader.start(epoch, first, {});
  return ++loop_;
}

nb::object Batches::next(std::int64_t loop) {
  data::Loader& loader = given();
  if (loop != loop_) {
    throw ValueError(
        "loader: a loop over the batches of an epoch continues after another "
        "was begun");
  }
  const CallSite site = here();
  const Call call(*this);
  Tensor input;
  Tensor target;
  {
    const Unlocked unlocked;
    const data::Batch* batch = loader.next();
    if (batch != nullptr) {
      input = reuse_ ? batch->input : copy({batch->input, site});
      target = reuse_ ? batch->target : copy({batch->target, site});
    }
  }
  if (!input.is_given()) {
    return nb::none();
  }
  return nb::make_tuple(std::move(input), std::move(target));
}

// Cycles lead through a data set that holds its loader. What breaks them is the
// data set's own.
int traverse_set(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) {
    Py_VISIT(nb::inst_ptr<PythonSet>(self)->function().ptr());
  }
  return 0;
}

int traverse_batches(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) {
    Py_VISIT(nb::inst_ptr<Batches>(self)->holder().ptr());
  }
  return 0;
}

PyType_Slot set_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(&traverse_set)}, {0, nullptr}};
PyType_Slot batches_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(&traverse_batches)}, {0, nullptr}};

template <class Set>
void add_set(nb::class_<Batches>& batches) {
  batches.def("__init__",
              [](Batches* self, nb::pointer_and_handle<Set> set,
                 std::int64_t batch, bool shuffle, std::uint64_t seed,
                 bool drop_last, int prefetch, bool reuse) {
                new (self) Batches(*set.p, nb::borrow(set.h),
                                   {.batch = batch,
                                    .shuffle = shuffle,
                                    .seed = seed,
                                    .drop_last = drop_last,
                                    .prefetch = prefetch},
                                   reuse, here());
              });
}

}  // namespace

void bind_loaders(nb::module_& m) {
  nb::class_<PythonSet>(m, "_PythonSet", nb::type_slots(set_slots))
      .def(nb::init<nb::object, std::int64_t>());
  nb::class_<Batches> batches(m, "_Batches", nb::type_slots(batches_slots));
  add_set<data::TensorSet>(batches);
  add_set<data::CsvSet>(batches);
  add_set<data::ImageSet>(batches);
  add_set<data::Augmented>(batches);
  add_set<data::TextSet>(batches);
  add_set<PythonSet>(batches);
  batches.def("start", &Batches::start)
      .def("next", &Batches::next)
      .def("close", &Batches::close)
      .def("batches_per_epoch", &Batches::batches_per_epoch)
      .def("position", &Batches::position);
}

}  // namespace neap::python
