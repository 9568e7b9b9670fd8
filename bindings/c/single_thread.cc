// What stands in libingot.so for the C library's __libc_single_threaded, by which counters of shared pointers do
// without atomic steps while there is one thread. Objects that were compiled for programs reach that variable directly,
// which a shared library cannot; and that there may be more threads is always a right answer.
extern "C" const char never_single_threaded = 0;
