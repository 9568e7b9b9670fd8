// The inputs of a pass and its output, by name. Templates read tokens, positions and wanted; a circuit has the others
// where its attention was lowered to a cache that needs them (model/plan/cache_lowering.h). A session fills what is
// there.
#pragma once

#include <string_view>

namespace ingot::pass_inputs {

inline constexpr std::string_view tokens = "tokens";            // i32 [tokens]: vocabulary indices
inline constexpr std::string_view positions = "positions";      // i32 [tokens]: place within its sequence, from 0
inline constexpr std::string_view sequences = "sequences";      // i32 [tokens]: row of `pages` that it belongs to
inline constexpr std::string_view lengths = "lengths";          // i32 [tokens]: positions up to it, itself included
inline constexpr std::string_view pages = "pages";              // i32 [sequences, pages a sequence]
inline constexpr std::string_view token_pages = "token_pages";  // i32 [tokens, pages a sequence]: a row of `pages` each
// Where attention takes tokens run by run:
inline constexpr std::string_view run_begins = "run_begins";    // i32 [runs + 1]: first token of each, and their number
inline constexpr std::string_view run_lengths = "run_lengths";  // i32 [runs]: tokens of its sequence, the run included
inline constexpr std::string_view run_pages = "run_pages";      // i32 [runs, pages a sequence]: a row of `pages` each
// The same for layers that keep their last positions in a ring: rows that repeat.
inline constexpr std::string_view ring_pages = "ring_pages";
inline constexpr std::string_view token_ring_pages = "token_ring_pages";
inline constexpr std::string_view run_ring_pages = "run_ring_pages";
inline constexpr std::string_view wanted = "wanted";  // i32 [outputs]: tokens whose output is wanted
inline constexpr std::string_view result = "result";  // the output: f32 [outputs, vocabulary or width]

}  // namespace ingot::pass_inputs
