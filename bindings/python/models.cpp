// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Pretrained models and their tokenizers, adapters, and texts that go on.
#include <memory>

#include <nanobind/stl/function.h>

#include "binding.hpp"
#include "failures.hpp"
#include "modules.hpp"
#include "neap/models/adapter.hpp"
#include "neap/models/generate.hpp"
#include "neap/models/pretrained.hpp"
#include "neap/text/tokenizer.hpp"
#include "values.hpp"

namespace neap::python {
namespace {

using Ids = std::vector<std::int64_t>;

template <class R>
auto taken(R result) {
  check(result);
  return std::move(*result);
}

// A model as a Python object, which owns it.
nb::object own(memory::Owned<nn::Layer> model) {
  auto held = std::make_unique<memory::Owned<nn::Layer>>(std::move(model));
  nn::Layer* layer = held->get();
  const nb::capsule owner(held.release(), [](void* pointer) noexcept {
    delete static_cast<memory::Owned<nn::Layer>*>(pointer);
  });
  nb::object object = nb::cast(layer, nb::rv_policy::reference);
  object.attr("_owner") = owner;
  return object;
}

nb::object from_pretrained(const std::string& folder, DType dtype,
                           std::optional<double> dropout, std::int64_t block,
                           std::int64_t classes, bool keep_layers,
                           const std::vector<std::string>& passed_over) {
  const CallSite site = here();
  memory::Owned<nn::Layer> model = [&] {
    const Unlocked unlocked;
    return taken(models::from_pretrained(folder,
                                         {.dtype = dtype,
                                          .dropout = dropout,
                                          .block = block,
                                          .classes = classes,
                                          .keep_layers = keep_layers,
                                          .pass = passed_over},
                                         site));
  }();
  return own(std::move(model));
}

std::vector<Ids> generate(const nn::Layer& model,
                          const std::vector<Ids>& prompts, std::int64_t tokens,
                          double temperature, std::int64_t top_k, double top_p,
                          std::uint64_t seed, const Ids& stop_tokens,
                          std::int64_t length) {
  const Unlocked unlocked;
  models::Decoder decoder(
      model,
      {.samples = static_cast<std::int64_t>(prompts.size()), .length = length});
  return models::generate(
      decoder, prompts,
      {.sampling = {.temperature = temperature, .top_k = top_k, .top_p = top_p},
       .tokens = tokens,
       .seed = seed,
       .stop_tokens = stop_tokens});
}

void bind_pretrained(nb::module_& m) {
  m.def("from_pretrained", &from_pretrained, nb::arg("folder"), nb::kw_only(),
        nb::arg("dtype") = f32, nb::arg("dropout").none() = nb::none(),
        nb::arg("block") = 0, nb::arg("classes") = 0,
        nb::arg("keep_layers") = true, nb::arg("pass_over") = nb::tuple(),
        "The model of a Hugging Face folder, with its weights, in evaluation "
        "mode: Llama, Mistral, Qwen2, GPT-2, BERT, ViT or a ResNet.");
  m.def(
      "read_stop_tokens",
      [](const std::string& folder) {
        return taken(models::read_stop_tokens(folder));
      },
      nb::arg("folder"), "The ids that end a text of the folder's model.");
  m.def("generate", &generate, nb::arg("model"), nb::arg("prompts"),
        nb::kw_only(), nb::arg("max_tokens") = 100,
        nb::arg("temperature") = 1.0, nb::arg("top_k") = 0,
        nb::arg("top_p") = 1.0, nb::arg("seed") = 0,
        nb::arg("stop_tokens") = nb::tuple(), nb::arg("length") = 0,
        "The ids that a language model goes on with after each prompt, which "
        "is a list of ids. A temperature of 0 takes the likeliest; `length` "
        "(0: the model's) bounds a text with its prompt, and so the cache.");
}

void bind_adapters(nb::module_& m) {
  using models::AdapterOptions;
  nb::class_<AdapterOptions>(m, "Adapter",
                             "What a low-rank adapter (LoRA) is like.")
      .def(
          "__init__",
          [](AdapterOptions* self, std::int64_t rank, double alpha,
             double dropout, std::vector<std::string> targets) {
            new (self) AdapterOptions{
                .lora = {.rank = rank, .alpha = alpha, .dropout = dropout},
                .targets = std::move(targets)};
          },
          nb::arg("rank") = 8, nb::kw_only(), nb::arg("alpha") = 16.0,
          nb::arg("dropout") = 0.0, nb::arg("targets") = nb::tuple())
      .def_prop_ro("rank", [](const AdapterOptions& a) { return a.lora.rank; })
      .def_prop_ro("alpha",
                   [](const AdapterOptions& a) { return a.lora.alpha; })
      .def_prop_ro("targets",
                   [](const AdapterOptions& a) { return a.targets; });
  m.def(
      "add_adapter",
      [](nn::Layer& model, const AdapterOptions& adapter) {
        return models::add_adapter(model, adapter, here());
      },
      nb::arg("model"), nb::arg("adapter"),
      "Freezes a language model and adds an adapter to its linear layers; says "
      "to how many.");
  m.def(
      "trainable",
      [](const nn::Module& model) {
        return Parameters{models::trainable(model)};
      },
      nb::arg("model"), "The parameters that get gradients.");
  m.def(
      "save_adapter",
      [](const nn::Layer& model, const AdapterOptions& adapter,
         const std::string& folder, const std::string& base) {
        check(models::save_adapter(model, adapter, folder, base));
      },
      nb::arg("model"), nb::arg("adapter"), nb::arg("folder"),
      nb::arg("base") = "", "Writes it in the files of the peft package.");
  m.def(
      "load_adapter",
      [](nn::Layer& model, const std::string& folder) {
        return taken(
            models::load_adapter(model, folder, files::system_door(), here()));
      },
      nb::arg("model"), nb::arg("folder"),
      "Adds the folder's adapter to a model without one.");
  m.def(
      "merge_adapter",
      [](nn::Layer& model, const std::string& folder) {
        check(
            models::merge_adapter(model, folder, files::system_door(), here()));
      },
      nb::arg("model"), nb::arg("folder"),
      "Adds the folder's adapter to the weights of a model without one.");
}

Ids encode(const text::Tokenizer& self, std::string_view words, bool special,
           bool truncate, bool pad) {
  const Unlocked unlocked;
  const auto ids = self.encode(
      words, {.add_special_tokens = special, .truncate = truncate, .pad = pad});
  return {ids.begin(), ids.end()};
}

void bind_tokenizer(nb::module_& m) {
  using text::Tokenizer;
  nb::class_<Tokenizer>(m, "Tokenizer",
                        "Texts to ids and back, as a tokenizer.json says.")
      .def(
          "__init__",
          [](Tokenizer* self, const std::string& path) {
            const Unlocked unlocked;
            new (self) Tokenizer(taken(Tokenizer::open(path)));
          },
          nb::arg("path"))
      .def("encode", &encode, nb::arg("text"), nb::kw_only(),
           nb::arg("add_special_tokens") = true, nb::arg("truncate") = false,
           nb::arg("pad") = false,
           "The ids of a text; truncate and pad: as the file says.")
      .def(
          "decode",
          [](const Tokenizer& self, const Ids& ids, bool skip) {
            const memory::String text =
                self.decode(ids, {.skip_special_tokens = skip});
            return nb::str(text.data(), text.size());
          },
          nb::arg("ids"), nb::kw_only(), nb::arg("skip_special_tokens") = true)
      .def("__len__", &Tokenizer::vocab_size)
      .def_prop_ro("id_limit", &Tokenizer::id_limit)
      .def(
          "id_of",
          [](const Tokenizer& self,
             std::string_view token) -> std::optional<std::int64_t> {
            const std::int64_t id = self.id_of(token);
            return id < 0 ? std::nullopt : std::optional(id);
          },
          nb::arg("token"), "The id of a token; None: there is none.")
      .def(
          "token_of",
          [](const Tokenizer& self, std::int64_t id) {
            const std::string_view token = self.token_of(id);
            return nb::str(token.data(), token.size());
          },
          nb::arg("id"));
}

}  // namespace

void bind_models(nb::module_& m) {
  bind_pretrained(m);
  bind_adapters(m);
  bind_tokenizer(m);
}

}  // namespace neap::python
