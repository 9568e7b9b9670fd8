// A subcommand: one file each, which declares its options and calls the floors below. No logic of its own.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/arguments.h"

namespace ingot {

// Exit codes: 0 only for success, 1 for a failure of what was asked, 2 for bad usage.
inline constexpr int exit_success = 0;
inline constexpr int exit_failure = 1;
inline constexpr int exit_usage = 2;

// Prints what went wrong, if anything did, and says which exit code that is.
int finish_command(const Result<void>& result);
// Prints an error that the command line itself is to blame for.
int refuse_usage(const Error& error);

// Adds the subcommand; when it is parsed, its result becomes `exit_code`. Each has a namespace of its own, so that many
// sources can be compiled as one.
using AddCommand = void(const Command& application, int& exit_code);
// clang-format off
namespace kernels_command { AddCommand add; }
namespace verify_command { AddCommand add; }
namespace bench_command { AddCommand add; }
namespace machine_command { AddCommand add; }
namespace accelerator_command { AddCommand add; }
namespace run_command { AddCommand add; }
namespace chat_command { AddCommand add; }
namespace serve_command { AddCommand add; }
namespace tokenize_command { AddCommand add; }
namespace tokenizer_command { AddCommand add; }
namespace quantize_command { AddCommand add; }
namespace pack_command { AddCommand add; }
namespace import_command { AddCommand add; }
namespace explain_command { AddCommand add; }
namespace perplexity_command { AddCommand add; }
namespace compare_command { AddCommand add; }
namespace embed_command { AddCommand add; }
namespace train_command { AddCommand add; }
namespace tales_command { AddCommand add; }
namespace cast_command { AddCommand add; }
// `program_arguments`: the words behind --, which are for the booted program.
namespace boot_command {
void add(const Command& application, const std::vector<std::string>& program_arguments, int& exit_code);
}
// Whether the engine of an image, which has all commands but these two, would understand the words behind its name: what
// its command itself would refuse of their meaning, it says when it runs.
Result<void> check_engine_words(const std::vector<std::string>& words);
// `ingot bench model`, `ingot verify model`.
namespace model_bench_command { AddCommand add; }
namespace model_verify_command { AddCommand add; }
// clang-format on

}  // namespace ingot
