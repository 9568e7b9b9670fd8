#include "server/protocol/chat_request.h"

#include <algorithm>

#include "model/chat/chat_template.h"
#include "model/chat/value_json.h"
#include "server/protocol/test_requests.h"

namespace ingot::protocol {
namespace {

constexpr std::string_view one_message = R"("messages":[{"role":"user","content":"Hi"}])";

Outcome<ChatRequest> read_chat_json(const std::string& json, const ServedModel& model = test_model) {
  return read_chat_request(json_object(json), model);
}

// With one message and these fields.
Outcome<ChatRequest> read_with(std::string_view fields) {
  return read_chat_json("{" + std::string(one_message) + (fields.empty() ? "" : ",") + std::string(fields) + "}");
}

ChatRequest chat_with(std::string_view fields) {
  Outcome<ChatRequest> read = read_with(fields);
  EXPECT_TRUE(read.ok()) << fields << ": " << read.error().message;
  return read.ok() ? std::move(read).value() : ChatRequest();
}

// Its param, and the message.
std::pair<std::string, std::string> refusal_of(const Outcome<ChatRequest>& read) {
  if (read.ok()) return {"accepted", ""};
  EXPECT_EQ(read.error().status, 400);
  return {read.error().param, read.error().message};
}

std::pair<std::string, std::string> refusal_with(std::string_view fields) { return refusal_of(read_with(fields)); }

std::pair<std::string, std::string> message_refusal(std::string_view message) {
  return refusal_of(read_chat_json(R"({"messages":[{"role":"user","content":"Hi"},)" + std::string(message) + "]}"));
}

std::string message_read(std::string_view message, const ServedModel& model = test_model) {
  const Outcome<ChatRequest> read = read_chat_json(R"({"messages":[)" + std::string(message) + "]}", model);
  EXPECT_TRUE(read.ok()) << message << ": " << read.error().message;
  return read.ok() ? json_of(read.value().chat.messages[0]) : "";
}

TEST(ChatRequest, HasDefaults) {
  const ChatRequest request = chat_with("");
  EXPECT_EQ(request.generation.model, "");
  EXPECT_EQ(request.generation.most_tokens, std::nullopt);
  EXPECT_EQ(request.generation.seed, std::nullopt);
  EXPECT_EQ(request.generation.choices, 1);
  EXPECT_FALSE(request.generation.is_streamed);
  EXPECT_TRUE(request.generation.tells_usage);
  EXPECT_FALSE(request.generation.tells_probabilities);
  EXPECT_EQ(request.generation.text.most_likely, std::nullopt);
  EXPECT_EQ(request.generation.text.sampling.temperature, 1);
  EXPECT_TRUE(request.chat.add_generation_prompt);
  EXPECT_EQ(request.chat.messages.size(), 1u);
}

TEST(ChatRequest, FollowsTheModelsAdviceWhereItSaysNothing) {
  ServedModel model = test_model;
  model.sampling.temperature = 0.3;
  model.sampling.top_k = 20;
  const auto read = read_chat_json("{" + std::string(one_message) + R"(,"top_k":40})", model);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read.value().generation.text.sampling.temperature, 0.3);
  EXPECT_EQ(read.value().generation.text.sampling.top_k, 40);
}

TEST(ChatRequest, HonoursSampling) {
  const ChatRequest request = chat_with(
      R"("model":"m","temperature":0.5,"top_p":0.9,"top_k":5,"min_p":0.1,"frequency_penalty":-2,"presence_penalty":2,)"
      R"("repetition_penalty":1.1,"logit_bias":{"5":-100,"299":1.5},"seed":-1,"n":3,"max_tokens":9,"min_tokens":2,)"
      R"("ignore_eos":true,"stop_token_ids":[1,2],"cache_salt":"mine")");
  const TextRequest& text = request.generation.text;
  EXPECT_EQ(request.generation.model, "m");
  EXPECT_EQ(text.sampling.temperature, 0.5);
  EXPECT_EQ(text.sampling.top_p, 0.9);
  EXPECT_EQ(text.sampling.top_k, 5);
  EXPECT_EQ(text.sampling.min_p, 0.1);
  EXPECT_EQ(text.sampling.frequency, -2);
  EXPECT_EQ(text.sampling.presence, 2);
  EXPECT_EQ(text.sampling.repetition, 1.1);
  ASSERT_EQ(text.biases.size(), 2u);
  EXPECT_EQ(text.biases[1].token, 299);
  EXPECT_EQ(text.biases[1].added, 1.5f);
  EXPECT_EQ(request.generation.seed, ~std::uint64_t{0});
  EXPECT_EQ(request.generation.choices, 3);
  EXPECT_EQ(request.generation.most_tokens, 9);
  EXPECT_EQ(text.least_tokens, 2);
  EXPECT_TRUE(text.ignores_end);
  EXPECT_EQ(text.stop_tokens, (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(request.generation.cache_salt, "mine");
  EXPECT_TRUE(request.generation.shares_cache);
  EXPECT_FALSE(chat_with(R"("cache_prompt":false)").generation.shares_cache);
  EXPECT_EQ(chat_with(R"("repeat_penalty":1.3)").generation.text.sampling.repetition, 1.3);
  EXPECT_EQ(chat_with(R"("top_k":-1)").generation.text.sampling.top_k, 0);
  EXPECT_EQ(chat_with(R"("max_completion_tokens":4,"max_tokens":7)").generation.most_tokens, 4);
}

TEST(ChatRequest, RefusesWhatIsOutOfRange) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {R"("temperature":2.1)", "temperature"},
      {R"("temperature":"1")", "temperature"},
      {R"("top_p":1.01)", "top_p"},
      {R"("top_k":-2)", "top_k"},
      {R"("min_p":-0.1)", "min_p"},
      {R"("frequency_penalty":3)", "frequency_penalty"},
      {R"("presence_penalty":-3)", "presence_penalty"},
      {R"("repetition_penalty":0)", "repetition_penalty"},
      {R"("repeat_penalty":0)", "repeat_penalty"},
      {R"("logit_bias":[1])", "logit_bias"},
      {R"("logit_bias":{"300":1})", "logit_bias"},
      {R"("logit_bias":{"-1":1})", "logit_bias"},
      {R"("logit_bias":{"1x":1})", "logit_bias"},
      {R"("logit_bias":{"":1})", "logit_bias"},
      {R"("logit_bias":{"07":1})", "logit_bias"},
      {R"("logit_bias":{"-0":1})", "logit_bias"},
      {R"("logit_bias":{"+7":1})", "logit_bias"},
      {R"("logit_bias":{"7":101})", "logit_bias.7"},
      {R"("logit_bias":{"7":true})", "logit_bias.7"},
      {R"("seed":1.5)", "seed"},
      {R"("n":0)", "n"},
      {R"("n":129)", "n"},
      {R"("max_tokens":0)", "max_tokens"},
      {R"("max_completion_tokens":-1)", "max_completion_tokens"},
      {R"("max_tokens":3,"min_tokens":4)", "min_tokens"},
      {R"("stop":"")", "stop"},
      {R"("stop":["a",""])", "stop[1]"},
      {R"("stop":["1","2","3","4","5","6","7","8","9","10","11","12","13","14","15","16","17"])", "stop"},
      {R"("stop_token_ids":[300])", "stop_token_ids[0]"},
      {R"("stop_token_ids":5)", "stop_token_ids"},
      {R"("ignore_eos":1)", "ignore_eos"},
      {R"("stream":"yes")", "stream"},
      {R"("stream":true,"stream_options":{"include_usage":1})", "stream_options.include_usage"},
      {R"("stream":true,"stream_options":{"other":1})", "stream_options.other"},
      {R"("stream":true,"stream_options":{"include_obfuscation":true})", "stream_options.include_obfuscation"},
      {R"("stream_options":{"include_usage":true})", "stream_options"},
      {R"("logprobs":2)", "logprobs"},
      {R"("logprobs":true,"top_logprobs":21)", "top_logprobs"},
      {R"("top_logprobs":2)", "top_logprobs"},
      {R"("cache_salt":5)", "cache_salt"},
      {R"("model":5)", "model"},
      {R"("foo":5)", "foo"},
  };
  for (const auto& [fields, param] : cases) EXPECT_EQ(refusal_with(fields).first, param) << fields;
}

TEST(ChatRequest, FollowsTheServerWhereItSaysNothing) {
  ServedModel model = test_model;
  model.seed = 42;
  model.tells_prompts = true;
  const auto read = [&](std::string_view fields) {
    return read_chat_json("{" + std::string(one_message) + std::string(fields) + "}", model).value();
  };
  EXPECT_EQ(read("").generation.seed, 42u);
  EXPECT_EQ(read(R"(,"seed":7)").generation.seed, 7u);
  EXPECT_TRUE(read("").tells_prompt);
  EXPECT_FALSE(read(R"(,"verbose":false)").tells_prompt);
  EXPECT_TRUE(chat_with(R"("verbose":true,"timings_per_token":true)").generation.tells_timings);
}

TEST(ChatRequest, StopsAtTexts) {
  EXPECT_EQ(chat_with(R"("stop":"a")").generation.text.stops, std::vector<std::string>{"a"});
  EXPECT_EQ(chat_with(R"("stop":["a","b"])").generation.text.stops, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(chat_with(R"("stop":[])").generation.text.stops.empty());
  EXPECT_TRUE(chat_with(R"("stop":null)").generation.text.stops.empty());
}

TEST(ChatRequest, StreamsWithUsageWhereAskedFor) {
  EXPECT_FALSE(chat_with(R"("stream":true)").generation.tells_usage);
  const ChatRequest request = chat_with(R"("stream":true,"stream_options":{"include_usage":true})");
  EXPECT_TRUE(request.generation.is_streamed);
  EXPECT_TRUE(request.generation.tells_usage);
}

TEST(ChatRequest, TellsProbabilitiesWhereAskedFor) {
  EXPECT_EQ(chat_with(R"("logprobs":true)").generation.text.most_likely, 0);
  EXPECT_EQ(chat_with(R"("logprobs":true,"top_logprobs":20)").generation.text.most_likely, 20);
  EXPECT_EQ(chat_with(R"("logprobs":false,"top_logprobs":0)").generation.text.most_likely, std::nullopt);
}

TEST(ChatRequest, BoundsWhatIsLookedForAtEveryToken) {
  const auto stop_of = [](std::size_t bytes) { return R"("stop":["x",")" + std::string(bytes, 'x') + R"("])"; };
  EXPECT_EQ(refusal_with(stop_of(1024)).first, "accepted");
  EXPECT_EQ(refusal_with(stop_of(1025)).second, "stop[1]: expected at most 1024 bytes, found 1025");
  const auto numbers = [](int count, std::string_view each) {
    std::string list;
    for (int number = 0; number < count; ++number) {
      list += (list.empty() ? "" : ",") + (each.empty() ? "7" : "\"" + std::to_string(number) + std::string(each));
    }
    return list;
  };
  EXPECT_EQ(refusal_with("\"stop_token_ids\":[" + numbers(256, "") + "]").first, "accepted");
  EXPECT_EQ(refusal_with("\"stop_token_ids\":[" + numbers(257, "") + "]").second,
            "stop_token_ids: expected at most 256 tokens, found 257");
  ServedModel model = test_model;
  model.vocabulary = 2000;
  const auto biased = [&](int count) {
    return refusal_of(
        read_chat_json("{" + std::string(one_message) + ",\"logit_bias\":{" + numbers(count, "\":1") + "}}", model));
  };
  EXPECT_EQ(biased(1024).first, "accepted");
  EXPECT_EQ(biased(1025).second, "logit_bias: expected at most 1024 tokens, found 1025");
}

TEST(ChatRequest, TakesTwoNamesOfOnePenaltyWhereTheyAgree) {
  EXPECT_EQ(chat_with(R"("repetition_penalty":1.5,"repeat_penalty":1.5)").generation.text.sampling.repetition, 1.5);
  EXPECT_EQ(refusal_with(R"("repetition_penalty":1.5,"repeat_penalty":1.25)").second,
            "repeat_penalty: expected what repetition_penalty says, found 1.25");
}

TEST(ChatRequest, AcceptsWhatChangesNothing) {
  for (const std::string_view fields :
       {R"("user":"u","metadata":{"a":"b"},"store":false,"service_tier":"auto","safety_identifier":"s")",
        R"("prompt_cache_key":"k","prompt_cache_retention":"24h","prompt_cache_options":{},"prediction":{})",
        R"("parallel_tool_calls":true,"tools":[],"tool_choice":"none","functions":[],"function_call":"auto")",
        R"("response_format":{"type":"text"},"modalities":["text"],"verbosity":"medium","id_slot":0)",
        R"("tools":null,"response_format":null,"audio":null)"}) {
    EXPECT_EQ(refusal_with(fields).first, "accepted") << fields << refusal_with(fields).second;
  }
}

TEST(ChatRequest, RefusesByNameWhatIsNotServedYet) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {R"("functions":[{}])", "functions"},
      {R"("function_call":{"name":"f"})", "function_call"},
      {R"("response_format":{"type":"structural_tag"})", "response_format"},
      {R"("audio":{})", "audio"},
      {R"("modalities":["text","audio"])", "modalities"},
      {R"("verbosity":"low")", "verbosity"},
      {R"("store":true)", "store"},
      {R"("moderation":{"model":"m"})", "moderation"},
      {R"("web_search_options":{})", "web_search_options"},
  };
  for (const auto& [fields, param] : cases) {
    const auto [found, message] = refusal_with(fields);
    EXPECT_EQ(found, param) << fields;
    EXPECT_NE(message.find(std::string(param)), std::string::npos) << message;
    EXPECT_NE(message.find("not served yet"), std::string::npos) << message;
  }
}

TEST(ChatRequest, TellsThoughtsApartUnlessAskedNotTo) {
  EXPECT_TRUE(chat_with("").splits_thoughts);
  EXPECT_TRUE(chat_with(R"("reasoning_format":"auto")").splits_thoughts);
  EXPECT_FALSE(chat_with(R"("reasoning_format":"none")").splits_thoughts);
  EXPECT_EQ(refusal_with(R"("reasoning_format":"deepseek-legacy")").first, "reasoning_format");
  constexpr std::string_view tools = R"("tools":[{"type":"function","function":{"name":"f"}}])";
  EXPECT_EQ(chat_with(tools).tools.tools.size(), 1u);
  EXPECT_EQ(refusal_with(R"("reasoning_format":"none",)" + std::string(tools)).first, "reasoning_format");
}

TEST(ChatRequest, ChecksEveryFieldThatItHonours) {
  for (const KnownField& field : fields_of_chat_requests()) {
    if (field.use != FieldUse::honoured || field.name == "chat_template_kwargs") continue;
    // No field is a nested list with an object in it.
    const auto [param, message] =
        refusal_of(read_chat_json((field.name == "messages" ? "{" : "{" + std::string(one_message) + ",") + "\"" +
                                  std::string(field.name) + "\":[[{\"a\":1}]]}"));
    EXPECT_TRUE(param.starts_with(field.name)) << field.name << " was not looked at: " << param << " " << message;
  }
}

TEST(ChatRequest, WantsMessages) {
  EXPECT_EQ(refusal_of(read_chat_json("{}")).first, "messages");
  EXPECT_EQ(refusal_of(read_chat_json(R"({"messages":[]})")).first, "messages");
  EXPECT_EQ(refusal_of(read_chat_json(R"({"messages":"Hi"})")).first, "messages");
  EXPECT_EQ(refusal_of(read_chat_json(R"({"messages":["Hi"]})")).first, "messages[0]");
}

TEST(ChatMessages, KeepWhatTemplatesRead) {
  EXPECT_EQ(message_read(R"({"role":"user","content":"Hi","name":"Ann"})"),
            R"({"role":"user","content":"Hi","name":"Ann"})");
  EXPECT_EQ(message_read(R"({"role":"tool","content":"5","tool_call_id":"c1"})"),
            R"({"role":"tool","content":"5","tool_call_id":"c1"})");
  EXPECT_EQ(
      message_read(R"({"role":"assistant","content":"x","reasoning_content":"y","annotations":[],"refusal":null})"),
      R"({"role":"assistant","content":"x","reasoning_content":"y"})");
}

TEST(ChatMessages, JoinPartsByLineFeeds) {
  EXPECT_EQ(message_read(R"({"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]})"),
            R"({"role":"user","content":"a\nb"})");
}

TEST(ChatMessages, OfDevelopersAreTheSystemsUnlessTheTemplateKnowsThem) {
  EXPECT_EQ(message_read(R"({"role":"developer","content":"x"})"), R"({"role":"system","content":"x"})");
  ServedModel model = test_model;
  model.knows_developers = true;
  EXPECT_EQ(message_read(R"({"role":"developer","content":"x"})", model), R"({"role":"developer","content":"x"})");
}

TEST(ChatMessages, HaveToolCallsWithArgumentsAsObjects) {
  EXPECT_EQ(message_read(R"({"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function",)"
                         R"("function":{"name":"f","arguments":"{\"a\":[1,2]}"}}]})"),
            R"({"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function",)"
            R"("function":{"name":"f","arguments":{"a":[1,2]}}}]})");
  EXPECT_EQ(message_read(R"({"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{oops"}}]})"),
            R"({"role":"assistant","content":null,"tool_calls":[{"type":"function",)"
            R"("function":{"name":"f","arguments":"{oops"}}]})");
}

TEST(ChatMessages, HaveArgumentsOfAMillionValuesTogether) {
  std::string arguments = R"({\"a\":[0)";
  for (std::size_t value = 1; value < chat::most_json_values / 2; ++value) arguments += ",0";
  const std::string call = R"({"function":{"name":"f","arguments":")" + arguments + "]}\"}}";
  const Outcome<ChatRequest> read =
      read_chat_json(R"({"messages":[{"role":"assistant","tool_calls":[)" + call + "," + call + "]}]}");
  ASSERT_TRUE(read.ok()) << read.error().message;
  const auto kind_of = [&](std::size_t index) {
    const chat::Value& made = read.value().chat.messages[0].as_dictionary().find("tool_calls")->items()[index];
    return made.as_dictionary().find("function")->as_dictionary().find("arguments")->kind();
  };
  EXPECT_EQ(kind_of(0), chat::Kind::dictionary);
  EXPECT_EQ(kind_of(1), chat::Kind::text);
}

TEST(ChatMessages, AreRefusedWithTheirPlace) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {R"({"content":"x"})", "messages[1].role"},
      {R"({"role":"king","content":"x"})", "messages[1].role"},
      {R"({"role":"function","name":"f","content":"x"})", "messages[1].role"},
      {R"({"role":"user"})", "messages[1].content"},
      {R"({"role":"user","content":null})", "messages[1].content"},
      {R"({"role":"user","content":5})", "messages[1].content"},
      {R"({"role":"user","content":[]})", "messages[1].content"},
      {R"({"role":"user","content":["x"]})", "messages[1].content[0]"},
      {R"({"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"x"}}]})",
       "messages[1].content[1]"},
      {R"({"role":"user","content":[{"type":"input_audio","input_audio":{}}]})", "messages[1].content[0]"},
      {R"({"role":"user","content":[{"type":"text"}]})", "messages[1].content[0].text"},
      {R"({"role":"user","content":[{"text":"x"}]})", "messages[1].content[0].type"},
      {R"({"role":"user","content":[{"type":"text","text":"x","colour":1}]})", "messages[1].content[0].colour"},
      {R"({"role":"user","content":"x","colour":1})", "messages[1].colour"},
      {R"({"role":"user","content":"x","tool_calls":[]})", "messages[1].tool_calls"},
      {R"({"role":"assistant"})", "messages[1].content"},
      {R"({"role":"assistant","content":"x","function_call":{}})", "messages[1].function_call"},
      {R"({"role":"assistant","tool_calls":[1]})", "messages[1].tool_calls[0]"},
      {R"({"role":"assistant","tool_calls":[{"type":"custom"}]})", "messages[1].tool_calls[0].type"},
      {R"({"role":"assistant","tool_calls":[{"function":{"name":"f"}}]})",
       "messages[1].tool_calls[0].function.arguments"},
  };
  for (const auto& [message, param] : cases) EXPECT_EQ(message_refusal(message).first, param) << message;
  EXPECT_NE(message_refusal(R"({"role":"user","content":[{"type":"image_url"}]})").second.find("image_url"),
            std::string::npos);
  EXPECT_EQ(message_refusal(R"({"role":"king","content":"x"})").second,
            "messages[1].role: expected one of system, developer, user, assistant, tool, found the text 'king'");
}

TEST(ChatMessages, AreContinuedWhereTheLastIsAnAssistants) {
  const auto read = [](std::string_view last, std::string_view fields) {
    return read_chat_json(R"({"messages":[{"role":"user","content":"Hi"},{"role":)" + std::string(last) + "}]" +
                          std::string(fields) + "}");
  };
  constexpr std::string_view assistant = R"("assistant","content":"Wh")";
  const Outcome<ChatRequest> continued = read(assistant, R"(,"continue_final_message":true)");
  ASSERT_TRUE(continued.ok());
  EXPECT_EQ(continued.value().chat.messages.size(), 1u);
  EXPECT_EQ(continued.value().chat.answer_begin, "Wh");
  EXPECT_TRUE(continued.value().chat.add_generation_prompt);
  EXPECT_TRUE(read(assistant, R"(,"continue_final_message":true,"add_generation_prompt":false)").ok());
  EXPECT_EQ(read(assistant, "").value().chat.messages.size(), 2u);
  constexpr std::string_view field = "continue_final_message";
  EXPECT_EQ(refusal_of(read(assistant, R"(,"continue_final_message":true,"add_generation_prompt":true)")).first, field);
  EXPECT_EQ(refusal_of(read(R"("user","content":"Wh")", R"(,"continue_final_message":true)")).first, field);
  EXPECT_EQ(refusal_of(read(R"("assistant","tool_calls":[{"function":{"name":"f","arguments":"{}"}}])",
                            R"(,"continue_final_message":true)"))
                .first,
            field);
}

TEST(ChatMessages, ComeWithVariablesForTheTemplate) {
  const ChatRequest request =
      chat_with(R"("reasoning_effort":"low","chat_template_kwargs":{"enable_thinking":false,"note":"<|end|>"},)"
                R"("add_generation_prompt":false)");
  EXPECT_FALSE(request.chat.add_generation_prompt);
  const auto form = chat::ChatTemplate::parse(
      "{{ reasoning_effort }} {{ enable_thinking }} {{ note }}{% if reasoning_effort == 'low' %}!{% endif %}");
  ASSERT_TRUE(form.ok());
  const auto text = form.value().render_marked(chat::make_context(request.chat));
  ASSERT_TRUE(text.ok()) << text.error().text();
  EXPECT_EQ(text.value().bytes, "low False <|end|>!");
  // It came from outside, so it spells no special token.
  ASSERT_FALSE(text.value().marks.is_empty());
  EXPECT_EQ(text.value().marks.stretches().back(), (chat::Marks::Stretch{10, 17}));
}

TEST(ChatMessages, SetNoVariableThatTheServerSets) {
  EXPECT_EQ(refusal_with(R"("chat_template_kwargs":{"messages":[]})").first, "chat_template_kwargs.messages");
  EXPECT_EQ(refusal_with(R"("chat_template_kwargs":{"tools":[]})").first, "chat_template_kwargs.tools");
  EXPECT_EQ(refusal_with(R"("chat_template_kwargs":[])").first, "chat_template_kwargs");
  EXPECT_EQ(refusal_with(R"("reasoning_effort":"huge")").first, "reasoning_effort");
  EXPECT_EQ(refusal_with(R"("add_generation_prompt":1)").first, "add_generation_prompt");
}

}  // namespace
}  // namespace ingot::protocol
