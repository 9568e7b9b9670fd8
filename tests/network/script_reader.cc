#include "tests/network/script_reader.h"

#include "tests/network/packet_reader.h"
#include "tests/network/token_stream.h"

namespace ingot::network_scripts {
namespace {

constexpr int deepest_expression = 32;

class Reader {
 public:
  explicit Reader(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  Result<Script> read();

 private:
  Result<Microseconds> seconds();
  Result<EventTime> event_time();
  Result<Event> event();
  Result<CallLine> call(Microseconds begin);
  Result<void> outcome(CallLine& line);
  Result<std::vector<Expression>> expressions(char end, int depth);
  Result<Expression> expression(int depth);
  Result<Expression> term(int depth);
  Result<Expression> word_term(int depth);

  TokenStream tokens_;
};

Result<Microseconds> Reader::seconds() {
  if (tokens_.peek().kind != Token::Kind::number) return tokens_.failure("a time in seconds");
  return tokens_.take().time;
}

// 1.5, +.1, *, 1~2, +1~+2; and nothing at all before a command, which runs at once.
Result<EventTime> Reader::event_time() {
  EventTime time;
  if (tokens_.peek().kind == Token::Kind::command) return time;
  if (tokens_.takes('*')) return time.kind = EventTime::Kind::any, time;
  const bool is_relative = tokens_.takes('+');
  time.kind = is_relative ? EventTime::Kind::relative : EventTime::Kind::absolute;
  time.begin = TRY(seconds());
  if (!tokens_.takes('~')) return time;
  if (is_relative) TRY(tokens_.expect('+'));
  time.kind = is_relative ? EventTime::Kind::relative_range : EventTime::Kind::absolute_range;
  time.end = TRY(seconds());
  if (time.end < time.begin) return tokens_.failure("a range's end behind its begin");
  return time;
}

Result<std::vector<Expression>> Reader::expressions(char end, int depth) {
  std::vector<Expression> list;
  if (tokens_.takes(end)) return list;
  do {
    list.push_back(TRY(expression(depth)));
  } while (tokens_.takes(','));
  TRY(tokens_.expect(end));
  return list;
}

// O_RDWR, htons(8080), inet_addr("192.0.2.1"), msg_iov(1)
Result<Expression> Reader::word_term(int depth) {
  Expression found;
  found.text = tokens_.take().text;
  found.kind = Expression::Kind::word;
  if (tokens_.peek().is('(')) {
    tokens_.take();
    found.kind = Expression::Kind::application;
    found.items = TRY(expressions(')', depth));
  }
  return found;
}

Result<Expression> Reader::term(int depth) {
  if (depth > deepest_expression) return tokens_.failure("fewer brackets within brackets");
  Expression found;
  const Token& token = tokens_.peek();
  switch (token.kind) {
    case Token::Kind::ellipsis: return tokens_.take(), std::move(found);
    case Token::Kind::number:
      if (token.is_fraction) return tokens_.failure("a whole number");
      found.kind = Expression::Kind::number;
      found.number = tokens_.take().number;
      return found;
    case Token::Kind::text:
      found.kind = Expression::Kind::text;
      found.text = tokens_.take().text;
      (void)tokens_.takes(Token::Kind::ellipsis);
      return found;
    case Token::Kind::word: return word_term(depth);
    default: break;
  }
  if (!token.is('[') && !token.is('{')) return tokens_.failure("an expression");
  found.kind = token.is('[') ? Expression::Kind::list : Expression::Kind::structure;
  tokens_.take();
  found.items = TRY(expressions(found.kind == Expression::Kind::list ? ']' : '}', depth));
  return found;
}

// A term, `a | b | c`, or `name = value`.
Result<Expression> Reader::expression(int depth) {
  Expression first = TRY(term(depth + 1));
  if (tokens_.takes('=')) {
    Expression field;
    field.kind = Expression::Kind::field;
    Expression value = TRY(expression(depth + 1));
    field.items.push_back(std::move(first));
    field.items.push_back(std::move(value));
    return field;
  }
  if (!tokens_.peek().is('|')) return first;
  Expression all;
  all.kind = Expression::Kind::any_of;
  all.items.push_back(std::move(first));
  while (tokens_.takes('|')) all.items.push_back(TRY(term(depth + 1)));
  return all;
}

// = 3, = -1 EAGAIN (Resource temporarily unavailable), = 0x2 (flags O_RDWR)
Result<void> Reader::outcome(CallLine& line) {
  line.result = TRY(expression(0));
  if (tokens_.peek().kind == Token::Kind::word && tokens_.peek().text[0] == 'E') line.error = tokens_.take().text;
  if (!tokens_.takes('(')) return {};
  while (!tokens_.peek().is(')')) {
    if (tokens_.peek().kind == Token::Kind::end) return tokens_.failure("')' behind the note");
    tokens_.take();
  }
  tokens_.take();
  return {};
}

Result<CallLine> Reader::call(Microseconds begin) {
  CallLine line;
  if (tokens_.takes(Token::Kind::ellipsis)) {
    line.end = TRY(seconds());
    if (*line.end < begin) return tokens_.failure("an end behind the begin");
  }
  line.name = TRY(tokens_.word("a packet, a system call, a command or code"));
  TRY(tokens_.expect('('));
  line.arguments = TRY(expressions(')', 0));
  TRY(tokens_.expect('='));
  TRY(outcome(line));
  return line;
}

Result<Event> Reader::event() {
  Event event;
  event.at = tokens_.peek().at;
  event.time = TRY(event_time());
  const Token& token = tokens_.peek();
  if (token.is('<') || token.is('>')) {
    event.action = TRY(read_packet(tokens_));
  } else if (token.kind == Token::Kind::command) {
    event.action = CommandLine{tokens_.take().text};
  } else if (token.kind == Token::Kind::code) {
    event.action = CodeLine{tokens_.take().text};
  } else {
    event.action = TRY(call(event.time.begin));
  }
  return event;
}

Result<Script> Reader::read() {
  Script script;
  while (tokens_.peek().kind == Token::Kind::option) {
    const std::string text = tokens_.take().text;
    const std::size_t name = std::min(text.find('='), text.size());
    script.options.emplace_back(text.substr(0, name), name < text.size() ? text.substr(name + 1) : std::string());
  }
  while (tokens_.peek().kind != Token::Kind::end) script.events.push_back(TRY(event()));
  return script;
}

}  // namespace

Result<Script> read_script(std::string_view text, const std::set<std::string>& defined) {
  return Reader(TRY(cut_tokens(text, defined))).read();
}

}  // namespace ingot::network_scripts
