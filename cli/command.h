// A subcommand: one file each, which declares its options and calls the floors below. No logic of its own.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "base/result.h"

namespace ingot {

// Exit codes: 0 only for success, 1 for a failure of what was asked, 2 for bad usage.
inline constexpr int exit_success = 0;
inline constexpr int exit_failure = 1;
inline constexpr int exit_usage = 2;

// Prints what went wrong, if anything did, and says which exit code that is.
int finish_command(const Result<void>& result);

// Adds the subcommand; when it is parsed, its result becomes `exit_code`.
void add_kernels_command(CLI::App& application, int& exit_code);
void add_verify_command(CLI::App& application, int& exit_code);
void add_bench_command(CLI::App& application, int& exit_code);
void add_machine_command(CLI::App& application, int& exit_code);
void add_run_command(CLI::App& application, int& exit_code);
void add_chat_command(CLI::App& application, int& exit_code);
void add_tokenize_command(CLI::App& application, int& exit_code);
void add_tokenizer_command(CLI::App& application, int& exit_code);
void add_quantize_command(CLI::App& application, int& exit_code);
void add_pack_command(CLI::App& application, int& exit_code);
void add_import_command(CLI::App& application, int& exit_code);
void add_explain_command(CLI::App& application, int& exit_code);
void add_perplexity_command(CLI::App& application, int& exit_code);
void add_compare_command(CLI::App& application, int& exit_code);
void add_embed_command(CLI::App& application, int& exit_code);
void add_train_command(CLI::App& application, int& exit_code);
void add_tales_command(CLI::App& application, int& exit_code);
void add_cast_command(CLI::App& application, int& exit_code);
// `program_arguments`: the words behind --, which are for the booted program.
void add_boot_command(CLI::App& application, const std::vector<std::string>& program_arguments, int& exit_code);
// `ingot bench model`.
void add_model_bench_command(CLI::App& bench, int& exit_code);

}  // namespace ingot
