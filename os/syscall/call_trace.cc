#include "os/syscall/call_trace.h"

#include "os/boot/kernel.h"
#include "os/process/user_thread.h"

namespace ingot::os {

namespace {

// Long texts end in dots: the answer must fit behind them.
constexpr std::size_t shown_letters = 32;

void describe_text(UserText text, Log::Line& line) {
  char letters[shown_letters + 1];
  const Answer<std::size_t> length = text.read(letters);
  if (!length.ok() && length.error() != Errno::enametoolong) return describe(text.address, line);
  line.append('"');
  for (std::size_t i = 0; i < (length.ok() ? length.value() : shown_letters); ++i) {
    const bool printable = letters[i] >= ' ' && letters[i] <= '~';
    line.append(printable ? letters[i] : '?');
  }
  line.append(length.ok() ? "\"" : "\"...");
}

void describe_argument(ArgumentKind kind, std::uint64_t value, Log::Line& line) {
  constexpr std::uint64_t readable = 1'000'000;  // above, a number is more likely bits
  switch (kind) {
    case ArgumentKind::number: line.append(static_cast<std::int32_t>(value)); return;
    case ArgumentKind::unsigned_number:
      if (value < readable) {
        line.append(value);
        return;
      }
      [[fallthrough]];
    case ArgumentKind::address: line.append(Hexadecimal{value}); return;
    case ArgumentKind::text: describe_text({VirtualAddress(value)}, line); return;
  }
}

bool comes_back(const SystemCall& row) { return row.name != "exit"; }

}  // namespace

Log::Line describe_call(std::uint32_t thread, const SystemCall& row, const arch::TrapFrame& registers) {
  Log::Line line;
  line.append_all('[', thread, "] ", row.name, '(');
  for (std::size_t i = 0; i < row.argument_count; ++i) {
    if (i != 0) line.append(", ");
    describe_argument(row.kinds[i], arch::system_call_argument(registers, i), line);
  }
  line.append(')');
  return line;
}

void describe_answer(const SystemCall& row, const Answer<std::uint64_t>& answer, Nanoseconds duration,
                     Log::Line& line) {
  line.append(" = ");
  if (!answer.ok()) {
    line.append_all("-1 ", name_of(answer.error()));
  } else if (row.answers_address) {
    line.append(Hexadecimal{answer.value()});
  } else {
    line.append(static_cast<std::int64_t>(answer.value()));
  }
  line.append_all(" <", duration.count() / 1000, " us>");
}

Answer<std::uint64_t> call_traced(Caller& caller, const SystemCall& row) {
  Log::Line line = describe_call(caller.thread.number(), row, caller.registers);
  if (!comes_back(row)) caller.kernel.log.debug(line.view(), " = ?");
  const Nanoseconds begin = caller.kernel.now();
  Answer<std::uint64_t> answer = row.call(caller);
  describe_answer(row, answer, caller.kernel.now() - begin, line);
  caller.kernel.log.debug(line.view());
  return answer;
}

}  // namespace ingot::os
