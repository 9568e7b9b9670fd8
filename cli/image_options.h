// Options that casting and booting share: processors, and where the build's products are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/command.h"
#include "cli/served_models.h"
#include "image/cast.h"

namespace ingot {

// As many processors as the kernel uses.
Check as_cpus();

// Kernel, engine and, of disks, the loader; empty: found beside the program.
struct ProductOptions {
  std::string kernel, engine, loader;
};
// Kernel and engine; returns the option that names the engine, which not every image has.
Option add_product_options(const Command& command, ProductOptions& options);

// Those that were asked for, or those beside the program: cast takes the smallest that can grant what is granted.
Result<std::vector<std::string>> kernels_of(const ProductOptions& options);

// The model file `model` at `place` in the root; of one in several files, all of them in a folder of that name, which
// opens like the file would. What no engine could read is refused.
inline constexpr const char* model_path = "/model.gguf";
Result<void> add_model(const std::string& model, const std::string& place, image::FileTree& root);

// The engine as the program of an image, with the model file `model` at /model.gguf, or the built-in model where that
// is empty. Sets root, program, arguments and what the engine needs beside its files.
Result<void> add_engine(const ProductOptions& products, const std::string& model, image::CastRequest& request);

// The same for an engine that serves, with further words for it. It may use a network, and is given memory for what it
// remembers of requests.
Result<void> add_server(const ProductOptions& products, const ServedModels& served,
                        const std::vector<std::string>& arguments, image::CastRequest& request);

// Variables that are given take the place of those that an image has by itself, and of earlier ones of their name.
std::vector<std::string> with_variables(std::vector<std::string> environment, const std::vector<std::string>& given);

// A bar while a cast takes longer than a second, on a terminal.
std::function<void(std::uint64_t, std::uint64_t)> cast_progress();

}  // namespace ingot
