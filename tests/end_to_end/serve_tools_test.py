#!/usr/bin/env python3
"""Asks `ingot serve` for calls of tools, in OpenAI's two forms and in Anthropic's.

usage: serve_tools_test.py PATH_OF_INGOT PATH_OF_GOLDENS [unittest arguments]
"""

import json

from served import OPENING, Served, run_served_tests

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 12}, "unit": {"enum": ["celsius", "fahrenheit"]}},
    "required": ["city", "unit"],
    "additionalProperties": False,
}
MESSAGES = [{"role": "user", "content": OPENING[1:]}]
CHAT = {
    "messages": MESSAGES,
    "max_tokens": 200,
    "tools": [{"type": "function", "function": {"name": "weather", "description": "", "parameters": SCHEMA}}],
    "tool_choice": "required",
    "parallel_tool_calls": False,
}


class Calls(Served):
    # What the model is told of tools takes more than it was trained for; a grammar asks for no sense.
    arguments = ("--context", "1024")

    def choice(self, **fields):
        answer = self.server.post("/v1/chat/completions", {**CHAT, **fields})
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json()["choices"][0]

    def assert_weather(self, arguments):
        self.assertEqual(list(arguments), ["city", "unit"])
        self.assertLessEqual(len(arguments["city"]), 12)
        self.assertIn(arguments["unit"], ("celsius", "fahrenheit"))

    def test_a_call_that_must_come_comes_however_it_is_drawn(self):
        for seed in range(4):
            choice = self.choice(seed=seed, temperature=1.5)
            self.assertEqual(choice["finish_reason"], "tool_calls", choice)
            self.assertIsNone(choice["message"]["content"])
            [call] = choice["message"]["tool_calls"]
            self.assertEqual((call["type"], call["function"]["name"]), ("function", "weather"))
            self.assert_weather(json.loads(call["function"]["arguments"]))

    def test_a_stream_tells_the_name_first_and_then_the_arguments(self):
        for seed in range(4):
            fields = {**CHAT, "seed": seed, "temperature": 1.5}
            events = self.server.events("/v1/chat/completions", fields)
            choices = [json.loads(event)["choices"][0] for event in events[:-1]]
            calls = [choice["delta"]["tool_calls"][0] for choice in choices if "tool_calls" in choice["delta"]]
            self.assertEqual(calls[0]["function"], {"name": "weather", "arguments": ""})
            self.assertTrue(all(call["index"] == 0 and "id" not in call for call in calls[1:]))
            arguments = "".join(call["function"]["arguments"] for call in calls)
            self.assert_weather(json.loads(arguments))
            self.assertEqual(choices[-1]["finish_reason"], "tool_calls")
            whole = self.choice(seed=seed, temperature=1.5)["message"]["tool_calls"][0]["function"]["arguments"]
            self.assertEqual(arguments, whole)

    def test_calls_are_the_same_in_all_forms(self):
        drawn = {"temperature": 0}
        expected = json.loads(self.choice(**drawn)["message"]["tool_calls"][0]["function"]["arguments"])
        fields = {**drawn, "messages": MESSAGES, "max_tokens": 200}
        tools = [{"name": "weather", "description": "", "input_schema": SCHEMA}]
        choice = {"type": "any", "disable_parallel_tool_use": True}
        message = self.server.post("/v1/messages", {**fields, "tools": tools, "tool_choice": choice}).json()
        self.assertEqual([block["input"] for block in message["content"]], [expected])
        self.assertEqual(message["stop_reason"], "tool_use")
        fields = {**drawn, "input": OPENING[1:], "max_output_tokens": 200, "parallel_tool_calls": False}
        tools = [{"type": "function", "name": "weather", "description": "", "parameters": SCHEMA}]
        response = self.server.post("/v1/responses", {**fields, "tools": tools, "tool_choice": "required"}).json()
        self.assertEqual([json.loads(item["arguments"]) for item in response["output"]], [expected])
        self.assertEqual(response["status"], "completed")

    def test_a_template_shows_what_a_chat_shows_the_model(self):
        shown = self.server.post("/v1/chat/completions", {**CHAT, "verbose": True}).json()["__verbose"]["prompt"]
        self.assertIn("weather", shown)
        asked = {key: CHAT[key] for key in ("messages", "tools", "tool_choice", "parallel_tool_calls")}
        self.assertEqual(self.server.post("/apply-template", asked).json()["prompt"], shown)
        hidden = self.server.post("/apply-template", {**asked, "tool_choice": "none"}).json()["prompt"]
        self.assertNotIn("weather", hidden)
        odd = [{"type": "search"}]
        self.assert_refused(self.server.post("/apply-template", {"messages": MESSAGES, "tools": odd}), 400, "tools[0].type")

    def test_a_call_of_that_name_is_made_where_one_is_named(self):
        tools = [*CHAT["tools"], {"type": "function", "function": {"name": "clock"}}]
        for name in ("weather", "clock"):
            named = {"type": "function", "function": {"name": name}}
            [call] = self.choice(tools=tools, tool_choice=named)["message"]["tool_calls"]
            self.assertEqual(call["function"]["name"], name)

    def test_a_cut_call_says_so(self):
        self.assertEqual(self.choice(max_tokens=20)["finish_reason"], "length")

    def test_a_conversation_goes_on_behind_a_result(self):
        message = self.choice()["message"]
        result = {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "7 degrees"}
        asked = {"messages": [*MESSAGES, message, result], "tool_choice": "none", "max_tokens": 8, "verbose": True}
        answer = self.server.post("/v1/chat/completions", {**CHAT, **asked}).json()
        self.assertIn("7 degrees", answer["__verbose"]["prompt"])
        self.assertIn("celsius" if "celsius" in json.dumps(message) else "fahrenheit", answer["__verbose"]["prompt"])
        self.assertNotIn("tool_calls", answer["choices"][0]["message"])

    def test_words_stay_words_where_no_call_is_made(self):
        free = self.choice(tool_choice="none", temperature=0, max_tokens=24)["message"]
        self.assertTrue(free["content"])
        answer = self.choice(tool_choice="auto", temperature=0, max_tokens=24)
        self.assertTrue(answer["message"]["content"] or answer["message"].get("tool_calls"))

    def test_what_cannot_be_enforced_is_refused(self):
        odd = {"type": "object", "properties": {"a": {"type": "string", "unheardOf": 1}}}
        tools = [{"type": "function", "function": {"name": "f", "parameters": odd}}]
        for choice in ("auto", "required"):
            answer = self.server.post("/v1/chat/completions", {**CHAT, "tools": tools, "tool_choice": choice})
            self.assert_refused(answer, 400, "unheardOf")
        shape = {"response_format": {"type": "json_object"}}
        self.assert_refused(self.server.post("/v1/chat/completions", {**CHAT, **shape}), 400, "response_format")


if __name__ == "__main__":
    run_served_tests()
