// Standard descriptors that whoever started the program had closed. What is opened first would get their numbers, and
// what is printed would go there: into a client's socket, or a file that is written.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <initializer_list>

namespace ingot {

// Takes their numbers. They refuse to be read, or written to, as closed ones do. Before anything is opened.
inline void hold_standard_descriptors() {
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(standard, F_GETFD) >= 0) continue;
    // The lowest number that is free: those below are taken.
    [[maybe_unused]] const int held = ::open("/dev/null", standard == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace ingot
