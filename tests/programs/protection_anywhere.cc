// The same for a program that can lie anywhere, and relocates itself.
// program-test: build -fPIE -static-pie
// program-test: expect constants, code and relocated tables are read-only
// program-test: expect stack, heap and data are not executed
// program-test: expect pages are writable or executable, never both
// program-test: expect code that was written runs once it is protected
#include "tests/programs/protection.cc"  // NOLINT(bugprone-suspicious-include): built otherwise
