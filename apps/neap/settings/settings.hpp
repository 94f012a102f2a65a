// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Settings of a command: one table of named settings serves the command line,
// the TOML file and the help. A value is text until its setter takes it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "neap/base/bytes.hpp"
#include "neap/base/ref.hpp"
#include "neap/base/result.hpp"

namespace neap::files {
class Door;
}
namespace neap::compiler {
class CostBook;
class Ranks;
}  // namespace neap::compiler

namespace neap::app {

struct TrainSettings {
  std::string model = "mlp";
  std::string from;  // folder of a pretrained model; then model is kPretrained
  std::string data = "fashion-mnist";
  std::string path;                          // of the data's files
  std::string symbols = "characters";        // of a text
  double validation = 0.1;                   // share of a text or table
  std::string target;                        // column; empty: the last
  bool augment = false;                      // images, in training
  bool no_augment = false;                   // those of a folder
  std::set<std::string, std::less<>> given;  // keys that are not the defaults
  // Bytes that reading one image of the folder takes at most, found once for
  // all copies; 0: not yet. Not set by users.
  std::shared_ptr<Bytes> decoding = std::make_shared<Bytes>(0);
  std::vector<std::int64_t> hidden = {512, 256};  // mlp
  std::string adapter;          // of a pretrained model: lora:RANK, or a folder
  std::string save_adapter;     // folder of an adapter; empty: none
  std::string weights = "f32";  // of a pretrained model; or as its "file" has
  std::int64_t width = 64;      // vgg11, resnet, unet
  std::int64_t layers = 4;      // language models
  std::int64_t dim = 128;       // likewise
  std::int64_t heads = 4;       // gpt
  std::string keep = "products";  // gpt, for its backward
  std::int64_t vocab = 256;       // without a text
  std::int64_t block = 64;        // tokens
  double dropout = 0.0;
  std::int64_t epochs = 3;
  std::int64_t steps = 0;  // 0: by epochs
  double minutes = 0.0;    // > 0: no longer than that
  std::int64_t batch = 128;
  std::int64_t prefetch = 0;  // batches that a reader thread fills ahead
  std::uint64_t seed = 7;
  std::int64_t threads = 0;      // 0: every processor the process may use
  std::string kernels = "neap";  // or a plug-in in front of them
  std::string dtype = "f32";     // of the factors of products
  std::string optimizer = "adam";
  double learning_rate = 1e-3;
  double momentum = 0.9;                 // sgd only
  std::optional<double> weight_decay{};  // none: the optimizer's own
  std::string schedule = "cosine";
  std::int64_t warmup = 0;             // steps
  std::int64_t plateau_patience = 10;  // evaluations, of the schedule plateau
  double plateau_factor = 0.1;         // likewise
  std::optional<double> ema{};  // decay of averages; none: there are none
  std::int64_t eval_steps = 0;  // between two tests; 0: at the end alone
  double clip_norm = 0.0;       // 0: no clipping
  Bytes budget = kUnlimited;
  Bytes arena_limit = kUnlimited;     // found for the budget, not set by users
  Bytes step_budget = kUnlimited;     // likewise, where state may be in a file
  bool born_away = false;             // likewise: weights are made in the file
  std::string spill;                  // folder of the spill file; empty: none
  std::int64_t spill_write_rate = 0;  // bytes a second, measured there
  std::int64_t spill_fetch_rate = 0;  // likewise
  Bytes spill_a_day = kUnlimited;     // written there, at most
  std::string costs = "table";        // or "measure", or a path
  // The book of those, which copies share; not set by users. A run empties it
  // at its end.
  std::shared_ptr<base::Ref<compiler::CostBook>> book{};
  std::string plan;                 // path of a plan file; empty: none
  std::string plan_file;            // the one that the step uses, not set
                                    // by users
  Bytes plan_budget = kUnlimited;   // that it is for, likewise
  std::optional<Bytes> plan_limit;  // of the arena, by a file that was there
  Bytes plan_step = kUnlimited;     // the step's budget, likewise
  bool compile = true;              // the step runs as a plan
  bool verbose = false;             // tell when and why it is traced again
  bool paged = false;               // whose arena may be in pages
  std::int64_t shards = 1;          // that each batch is cut into
  std::int64_t ranks = 1;           // that share them out; of plan and fit, or
                                    // started by a launcher
  std::int64_t rank = 0;            // this one
  double rank_timeout = 60.0;       // seconds
  std::int64_t zero = 0;            // 1: they share out the optimizer's state
  std::string network;              // of plan: a name or a path; empty: none
  std::shared_ptr<compiler::Ranks> step_ranks{};  // not set by users
  std::string save;             // path of a checkpoint; empty: none
  std::int64_t save_steps = 0;  // between two of them; 0: at the end alone
  double save_seconds = 0.0;    // likewise
  std::string resume;           // path of a checkpoint; empty: none
  std::string load;             // path of a model or checkpoint
  bool averages = true;         // of a file that has them are loaded
  bool verify = true;           // the checksums of a file that is loaded
  std::string grow;             // of fit: "batch"; empty: nothing
  std::string svg;              // of fit: path; empty: none
  std::string page;             // path of an HTML page; empty: none
  std::string snapshot;         // path of what it shows; empty: none
  std::string trace;            // path of a Chrome trace; empty: none
  bool no_lines = false;        // lines of the program stay out of these
  bool profile = false;         // take times of calls, and tell them
  std::string json;             // path; "-": standard output
  std::string config;           // path of the TOML file with these; empty: none
  std::string metrics;          // path of JSON lines; empty: none
  std::string tensorboard;      // folder of event files; empty: none
  std::string progress = "auto";
};

/// An adapter that is added: "lora:RANK:ALPHA"; alpha is 2 RANK unless said.
struct NewAdapter {
  std::int64_t rank = 0;
  double alpha = 0.0;
};
/// Nothing for another text.
std::optional<NewAdapter> parse_lora(std::string_view text);

/// One setting: its key is "--key" on the command line and `key` in TOML. A
/// flag has no metavar: its text is "true" or "false".
struct Setting {
  std::string key;
  std::string metavar;
  std::string help;
  std::string shown;  // its default, as the help prints it
  /// Takes the text over, or says in a few words what was expected.
  std::function<std::string(TrainSettings&, const std::string&)> set;
  /// The key that stands for a flag's "false" on the command line, if any.
  std::string opposite{};
  std::string opposite_help{};
  std::string group{};                 // its title in the help
  std::vector<std::string> choices{};  // where it takes one of few words

  bool is_flag() const { return metavar.empty(); }
};

/// Data of one form, with a file or folder of --path, that a model of a folder
/// is trained on: a text, or images in sub-folders.
bool is_for_pretrained(const std::string& data);

/// The name of a model that a folder describes.
inline constexpr const char* kPretrained = "pretrained";

/// Whether the model tells the next piece of a text.
bool is_language_model(const std::string& model);
/// False for a language model without its data, which can be planned.
bool has_task(const TrainSettings& settings);

std::span<const Setting> train_settings();
/// The settings of train, and sizes that a run has from its data.
std::span<const Setting> plan_settings();
/// The settings of plan, and what else neap fit can do.
std::span<const Setting> fit_settings();
/// Settings of a model from a file, and of the data that it is tried on.
std::span<const Setting> eval_settings();

/// Texts by key, as given in one place.
using Texts = std::map<std::string, std::string, std::less<>>;

/// Reads a TOML file: the keys of a table [train], or of the top level.
/// Unknown keys, wrong types and broken syntax are failures that name the line.
Result<Texts> read_toml(files::Door& door, const std::string& path);
/// The same of a text; `path` is for messages.
Result<Texts> parse_toml(std::string_view text, const std::string& path);

/// Sets `texts` one by one; `where` ("--" or "FILE: ") begins a message.
Result<void> apply(std::span<const Setting> table, const Texts& texts,
                   const std::string& where, TrainSettings& settings);

/// Checks that the model works on the data, and that its files are named.
/// Failure kMismatch, as below.
Result<void> check_task(const TrainSettings& settings);
/// Checks what only all settings together can show, the task aside. `steps`: of
/// the whole run; 0 while that is not known.
Result<void> check(const TrainSettings& settings, std::int64_t steps);

}  // namespace neap::app
