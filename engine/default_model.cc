#include "engine/default_model.h"

// The assembler puts the file among the constants, on a page of its own, where it is mapped with the program and read
// in when it is used.
asm(".section .rodata\n"
    // Global names: an assembler may turn local ones into offsets, which some linkers cannot look up in their tables.
    ".global ingot_default_model_begin\n"
    ".global ingot_default_model_end\n"
    ".balign 4096\n"
    "ingot_default_model_begin:\n"
    ".incbin \"" INGOT_DEFAULT_MODEL
    "\"\n"
    "ingot_default_model_end:\n"
    ".byte 0\n"
    ".previous\n");

extern "C" {
extern const std::byte ingot_default_model_begin[];
extern const std::byte ingot_default_model_end[];
}

namespace ingot {

std::span<const std::byte> default_model_file() { return {ingot_default_model_begin, ingot_default_model_end}; }

}  // namespace ingot
