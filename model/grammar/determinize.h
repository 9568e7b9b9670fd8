// A grammar of a regular language as a finite automaton.
#pragma once

#include "model/grammar/finite_automaton.h"
#include "model/grammar/grammar.h"

namespace ingot::grammar {

// The budget ends what has no end: a grammar whose rules nest. Counters are written out as states.
Result<FiniteAutomaton> determinize(std::shared_ptr<const Grammar> grammar, Budget& budget);

}  // namespace ingot::grammar
