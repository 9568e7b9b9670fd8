// system_fingerprint of answers: equal where a request with a seed may expect the same answer again, since nothing has
// changed that it follows from: the program, its machine's instructions, the model, its template, how it is computed.
#pragma once

#include <string>
#include <string_view>

#include "engine/session.h"

namespace ingot {

// "ingot-" and eight hexadecimal digits. How many threads there are changes no answer.
std::string fingerprint_of(const Model& model, const SessionOptions& session, std::string_view chat_template,
                           std::string_view program);

}  // namespace ingot
