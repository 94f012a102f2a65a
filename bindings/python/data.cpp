// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Data sets: those of C++.
#include "binding.hpp"
#include "failures.hpp"
#include "neap/data/augmented.hpp"
#include "neap/data/cifar.hpp"
#include "neap/data/csv_set.hpp"
#include "neap/data/tensor_set.hpp"
#include "neap/data/text_set.hpp"
#include "neap/files/door.hpp"
#include "values.hpp"

namespace nanobind::detail {

NEAP_PYTHON_CHOICE(neap::data::Symbols, "'characters', 'bytes'",
                   {"characters", neap::data::Symbols::kCharacters},
                   {"bytes", neap::data::Symbols::kBytes})
NEAP_PYTHON_CHOICE(neap::data::CsvTarget, "'label', 'value'",
                   {"label", neap::data::CsvTarget::kLabel},
                   {"value", neap::data::CsvTarget::kValue})
NEAP_PYTHON_CHOICE(neap::data::Cifar100Labels, "'fine', 'coarse'",
                   {"fine", neap::data::Cifar100Labels::kFine},
                   {"coarse", neap::data::Cifar100Labels::kCoarse})

}  // namespace nanobind::detail

namespace neap::python {
namespace {

/// The value of a result. THROWS: IoError for a failure.
template <class R>
auto taken(R result) {
  check(result);
  return std::move(*result);
}

template <class Set>
nb::class_<Set> set_class(nb::module_& m, const char* name, const char* doc) {
  return nb::class_<Set>(m, name, doc)
      .def("__len__", [](const Set& self) { return self.size(); })
      .def_prop_ro("input",
                   [](const Set& self) {
                     const auto& spec = self.spec();
                     return tensor::Spec{spec.input_dtype, spec.input};
                   })
      .def_prop_ro("target", [](const Set& self) {
        const auto& spec = self.spec();
        return tensor::Spec{spec.target_dtype, spec.target};
      });
}

void bind_tensor_sets(nb::module_& m) {
  set_class<data::TensorSet>(m, "TensorSet",
                             "Samples that are rows of two tensors.")
      .def(
          "__init__",
          [](data::TensorSet* self, const Tensor& inputs,
             const Tensor& targets) {
            new (self) data::TensorSet(inputs, targets, here());
          },
          nb::arg("inputs"), nb::arg("targets"))
      .def_prop_ro("inputs",
                   [](const data::TensorSet& s) { return s.inputs(); })
      .def_prop_ro("targets",
                   [](const data::TensorSet& s) { return s.targets(); });
  set_class<data::CsvSet>(m, "CsvSet", "A table of numbers with a target.")
      .def_prop_ro("features",
                   [](const data::CsvSet& s) { return s.features(); })
      .def_prop_ro("targets", [](const data::CsvSet& s) { return s.targets(); })
      .def_prop_ro("classes", &data::CsvSet::classes)
      .def_prop_ro("names",
                   [](const data::CsvSet& self) {
                     nb::typed<nb::list, nb::str> out;
                     for (const memory::String& name : self.names()) {
                       out.append(nb::str(name.data(), name.size()));
                     }
                     return out;
                   })
      .def(
          "standardise",
          [](data::CsvSet& self, const data::CsvSet* like) {
            self.standardise((like != nullptr ? *like : self).statistics());
          },
          nb::arg("like").none() = nb::none(),
          "Features get mean 0 and deviation 1, by their own statistics or by "
          "those of `like`, as it is now.");
  m.def(
      "read_csv",
      [](const std::string& path, const std::string& target,
         std::int64_t target_column, data::CsvTarget kind, char separator,
         bool header) {
        const Unlocked unlocked;
        return taken(data::read_csv(files::system_door(), path,
                                    {.separator = separator,
                                     .header = header,
                                     .target = target,
                                     .target_column = target_column,
                                     .kind = kind}));
      },
      nb::arg("path"), nb::kw_only(), nb::arg("target") = "",
      nb::arg("target_column") = -1, nb::arg("kind") = "label",
      nb::arg("separator") = ",", nb::arg("header") = true,
      "A table of numbers, plain or gzipped. The target's column is named, or "
      "numbered (from -1 backwards).");
}

using ImageSets = TupleOf<data::ImageSet, data::ImageSet>;

// The two parts that `read` gives, which runs without the GIL.
template <class Read>
ImageSets image_sets(const Read& read) {
  data::TrainAndTest sets = [&] {
    const Unlocked unlocked;
    return taken(read(files::system_door()));
  }();
  return tuple_of(std::move(sets.train), std::move(sets.test));
}

void bind_image_sets(nb::module_& m) {
  set_class<data::ImageSet>(m, "ImageSet", "Labelled images of 8 bits.")
      .def(
          "__init__",
          [](data::ImageSet* self, const Tensor& images, const Tensor& labels,
             int classes) {
            new (self) data::ImageSet(images, labels, classes);
          },
          nb::arg("images"), nb::arg("labels"), nb::arg("classes"))
      .def_prop_ro("classes", &data::ImageSet::classes)
      .def_prop_ro("images", [](const data::ImageSet& s) { return s.images(); })
      .def_prop_ro("labels", [](const data::ImageSet& s) { return s.labels(); })
      .def(
          "standardise",
          [](data::ImageSet& self, const data::ImageSet* like) {
            self.standardise_channels(
                (like != nullptr ? *like : self).channel_statistics());
          },
          nb::arg("like").none() = nb::none(),
          "Pixels get mean 0 and deviation 1 in each channel, by their own "
          "statistics or by those of `like`.");
  set_class<data::Augmented>(m, "Augmented",
                             "Images padded, cropped and mirrored at random, "
                             "otherwise in each epoch.")
      .def(
          "__init__",
          [](data::Augmented* self, const data::ImageSet& images,
             std::int64_t padding, std::int64_t height, std::int64_t width,
             bool random_crop, double flip, std::uint64_t seed) {
            new (self) data::Augmented(images, {.padding = padding,
                                                .height = height,
                                                .width = width,
                                                .random_crop = random_crop,
                                                .flip = flip,
                                                .seed = seed});
          },
          nb::keep_alive<1, 2>(), nb::arg("images"), nb::kw_only(),
          nb::arg("padding") = 0, nb::arg("height") = 0, nb::arg("width") = 0,
          nb::arg("random_crop") = false, nb::arg("flip") = 0.0,
          nb::arg("seed") = 0);
}

void bind_image_files(nb::module_& m) {
  m.def(
      "read_mnist",
      [](const std::string& folder) {
        return image_sets(
            [&](files::Door& door) { return data::read_mnist(door, folder); });
      },
      nb::arg("folder"),
      "The training and the test part of MNIST or Fashion-MNIST: its four "
      "files, plain or gzipped, standardised by the training part.");
  m.def(
      "read_cifar10",
      [](const std::string& folder) {
        return image_sets([&](files::Door& door) {
          return data::read_cifar10(door, folder);
        });
      },
      nb::arg("folder"), "The training and the test part, binary version.");
  m.def(
      "read_cifar100",
      [](const std::string& folder, data::Cifar100Labels labels) {
        return image_sets([&](files::Door& door) {
          return data::read_cifar100(door, folder, labels);
        });
      },
      nb::arg("folder"), nb::arg("labels") = "fine",
      "The training and the test part, binary version.");
}

void bind_text_sets(nb::module_& m) {
  nb::class_<data::Vocabulary>(m, "Vocabulary", "The tokens of characters.")
      .def("__len__", &data::Vocabulary::size)
      .def(
          "encode",
          [](const data::Vocabulary& self, std::string_view text) {
            nb::typed<nb::list, int> out;
            for (const std::int64_t token : taken(self.encode(text))) {
              out.append(token);
            }
            return out;
          },
          nb::arg("text"))
      .def(
          "decode",
          [](const data::Vocabulary& self,
             const std::vector<std::int64_t>& tokens) {
            const memory::String text = self.decode(tokens);
            return nb::bytes(text.data(), text.size());
          },
          nb::arg("tokens"), "The text as bytes of UTF-8.");
  set_class<data::TextSet>(m, "TextSet",
                           "Blocks of tokens, and the blocks one token on.")
      .def_prop_ro("vocabulary",
                   [](const data::TextSet& s) { return s.vocabulary(); })
      .def_prop_ro("tokens", &data::TextSet::tokens);
  m.def(
      "read_text",
      [](const std::string& path, std::int64_t block, data::Symbols symbols,
         double validation, std::uint64_t seed, std::int64_t samples) {
        data::TextParts parts = [&] {
          const Unlocked unlocked;
          return taken(data::read_text(files::system_door(), path,
                                       {.symbols = symbols,
                                        .block = block,
                                        .validation = validation,
                                        .seed = seed,
                                        .samples = samples}));
        }();
        return tuple_of(std::move(parts.train), std::move(parts.validation));
      },
      nb::arg("path"), nb::kw_only(), nb::arg("block") = 256,
      nb::arg("symbols") = "characters", nb::arg("validation") = 0.1,
      nb::arg("seed") = 0, nb::arg("samples") = 0,
      "The training part of a text in random blocks, and its end, of the share "
      "`validation`, block after block.");
}

}  // namespace

void bind_data(nb::module_& m) {
  bind_tensor_sets(m);
  bind_image_sets(m);
  bind_image_files(m);
  bind_text_sets(m);
}

}  // namespace neap::python
