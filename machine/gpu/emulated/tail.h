// The few bytes between the end of what was asked for and the guard behind it, which begins at an aligned address: the
// address sanitizer forbids them, and without it they hold a pattern that is looked at afterwards.
#pragma once

#include <cstddef>
#include <span>

namespace ingot::emulated {

void close_tail(std::span<std::byte> tail);
void open_tail(std::span<std::byte> tail);
bool is_tail_whole(std::span<const std::byte> tail);

}  // namespace ingot::emulated
