// The same where a program cannot tell the time by itself: the functions ask the kernel.
//
// program-test: processors 2
// program-test: options no-vdso trace=syscalls
// program-test: expect clocks: 2000 turns in order on each of 2 CPUs
// program-test: expect clocks: date, resolution and CPU agree
// program-test: log gettimeofday(
#include "tests/programs/clocks.cc"
