// What a program under test expects of its system: the first thing that is not so ends it, with its line.
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      std::printf("%s:%d: expected %s (errno %d, %s)\n", __FILE__, __LINE__, #condition, errno, std::strerror(errno)); \
      std::fflush(stdout);                                                                                             \
      std::_Exit(99);                                                                                                  \
    }                                                                                                                  \
  } while (false)
