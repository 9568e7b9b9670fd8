// Runs a script against a stack, in the stack's own time: nothing here waits.
#pragma once

#include <string>

#include "tests/network/comparison.h"
#include "tests/network/stack_under_test.h"

namespace ingot::network_scripts {

struct Verdict {
  enum class Kind { passed, failed, not_judged };
  Kind kind = Kind::passed;
  int line = 0;         // of the event that decided; 0: the script could not be read
  std::string reason;   // of one that did not pass
  std::string details;  // the packets that differ, several lines
};

Verdict run_script(const Script& script, const StackFactory& create, const ComparisonRules& rules = {});

}  // namespace ingot::network_scripts
