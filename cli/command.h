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

// Adds the subcommand; when it is parsed, its result becomes `exit_code`.
void add_kernels_command(const Command& application, int& exit_code);
void add_verify_command(const Command& application, int& exit_code);
void add_bench_command(const Command& application, int& exit_code);
void add_machine_command(const Command& application, int& exit_code);
void add_run_command(const Command& application, int& exit_code);
void add_chat_command(const Command& application, int& exit_code);
void add_tokenize_command(const Command& application, int& exit_code);
void add_tokenizer_command(const Command& application, int& exit_code);
void add_quantize_command(const Command& application, int& exit_code);
void add_pack_command(const Command& application, int& exit_code);
void add_import_command(const Command& application, int& exit_code);
void add_explain_command(const Command& application, int& exit_code);
void add_perplexity_command(const Command& application, int& exit_code);
void add_compare_command(const Command& application, int& exit_code);
void add_embed_command(const Command& application, int& exit_code);
void add_train_command(const Command& application, int& exit_code);
void add_tales_command(const Command& application, int& exit_code);
void add_cast_command(const Command& application, int& exit_code);
// `program_arguments`: the words behind --, which are for the booted program.
void add_boot_command(const Command& application, const std::vector<std::string>& program_arguments, int& exit_code);
// `ingot bench model`.
void add_model_bench_command(const Command& bench, int& exit_code);

}  // namespace ingot
