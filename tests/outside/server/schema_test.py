#!/usr/bin/env python3
"""schemathesis on OpenAI's schema, cut to the paths that are served, against `ingot serve`.

usage: schema_test.py PATH_OF_INGOT [--model MODEL] [unittest arguments]; needs the package schemathesis, and the folder
openapi in INGOT_OUTSIDE_DATA

Whatever is asked, the answer is no server error, has a type that the schema names, and a body that fits it. Errors have
OpenAI's form, which the schema does not attach to any status: it is attached here to all that are no success. Nor does
it say that texts can be streamed, and embeddings sent as base64: chunks of texts are held against the schema of whole ones.
"""

import json
import os
import unittest
from pathlib import Path

from peers import KEY, Peer, main

SERVED = {"/chat/completions": ["post"], "/completions": ["post"], "/embeddings": ["post"], "/models": ["get"]}
SMALL = {"type": "integer", "minimum": 1, "maximum": 6}
TOKENS = {"enum": [5, 6, 7, 8]}
TEXTS = {"type": "string", "minLength": 1, "maxLength": 40}
DRAWN = {"max_tokens": SMALL, "n": {"type": "integer", "minimum": 1, "maximum": 3}, "stream": {"type": "boolean"},
         "temperature": {"type": "number", "minimum": 0, "maximum": 2}, "seed": {"type": "integer", "minimum": 0, "maximum": 9},
         "top_p": {"type": "number", "minimum": 0, "maximum": 1}, "stop": {"anyOf": [TEXTS, {"type": "array", "items": TEXTS,
         "maxItems": 4}, {"type": "null"}]}, "user": {"type": "string"},
         "frequency_penalty": {"type": "number", "minimum": -2, "maximum": 2}}  # fmt: skip
MESSAGE = {"type": "object", "properties": {"role": {"enum": ["system", "developer", "user", "assistant"]}, "content": TEXTS},
           "required": ["role", "content"], "additionalProperties": False}  # fmt: skip
# What every server of texts can do, so that nearly every request is answered: fields, and which must be there.
ANSWERABLE = {
    "/chat/completions": (
        {**DRAWN, "messages": {"type": "array", "items": MESSAGE, "minItems": 1, "maxItems": 3},
         "logprobs": {"const": True}, "top_logprobs": {"type": "integer", "minimum": 0, "maximum": 20}},
        ["messages", "max_tokens", "logprobs"],
    ),
    "/completions": (
        {**DRAWN, "prompt": {"anyOf": [TEXTS, {"type": "array", "items": TEXTS, "minItems": 1, "maxItems": 3},
                                       {"type": "array", "items": TOKENS, "minItems": 1, "maxItems": 9}]},
         "echo": {"type": "boolean"}, "logprobs": {"type": "integer", "minimum": 0, "maximum": 5}},
        ["prompt", "max_tokens"],
    ),
    "/embeddings": (
        {"input": {"anyOf": [TEXTS, {"type": "array", "items": TOKENS, "minItems": 1, "maxItems": 9}]},
         "encoding_format": {"enum": ["float"]}, "dimensions": SMALL},
        ["input"],
    ),
}  # fmt: skip
EXAMPLES = int(os.environ.get("INGOT_SCHEMA_EXAMPLES", "60"))  # of each kind, for each path


def cut_schema(whole):
    """The served paths, with an answer for every status."""
    error = {"description": "refused", "content": {"application/json": {"schema": {
        "$ref": "#/components/schemas/ErrorResponse"}}}}  # fmt: skip
    paths = {}
    for path, methods in SERVED.items():
        paths[path] = {method: dict(whole["paths"][path][method]) for method in methods}
        for operation in paths[path].values():
            operation["responses"] = {"200": operation["responses"]["200"], "default": error}
    # The first token of an echo follows nothing: OpenAI sends null for how likely it was.
    choice = whole["components"]["schemas"]["CreateCompletionResponse"]["properties"]["choices"]["items"]["properties"]
    lists = choice["logprobs"].get("anyOf", [choice["logprobs"]])[0]["properties"]
    for name in ("token_logprobs", "top_logprobs"):
        lists[name]["items"] = {"anyOf": [lists[name]["items"], {"type": "null"}]}
    vector = whole["components"]["schemas"]["Embedding"]["properties"]
    vector["embedding"] = {"anyOf": [vector["embedding"], {"type": "string", "contentEncoding": "base64"}]}
    content = paths["/completions"]["post"]["responses"]["200"]["content"]
    content["text/event-stream"] = content["application/json"]
    return {**whole, "paths": paths}


def null_where_it_is_meant(schema):
    """`nullable`, which is no keyword of 3.1, as a choice of null."""
    if isinstance(schema, list):
        return [null_where_it_is_meant(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: null_where_it_is_meant(value) for name, value in schema.items()}
    if made.pop("nullable", None) is True:
        made = {"anyOf": [made, {"type": "null"}]}
    return made


class Schema(Peer):
    """What has a stream, thousands of choices or a huge length takes time, not care: the model is small."""

    arguments = ("--deadline", "30")

    def setUp(self):
        data = os.environ.get("INGOT_OUTSIDE_DATA")
        path = Path(data or ".") / "openapi" / "openapi.json"
        if data is None or not path.is_file():
            raise unittest.SkipTest("SKIPPED: INGOT_OUTSIDE_DATA has no openapi/openapi.json")
        self.schema = cut_schema(null_where_it_is_meant(json.loads(path.read_text())))
        self.schema["servers"] = [{"url": self.url}]
        defined = self.schema["components"]["schemas"]
        if "ErrorResponse" not in defined:
            fields = {"message": {"type": "string"}, "type": {"type": "string"},
                      "param": {"type": ["string", "null"]}, "code": {"type": ["string", "null"]}}  # fmt: skip
            wrapped = {"type": "object", "properties": fields, "required": list(fields)}
            defined["ErrorResponse"] = {"type": "object", "properties": {"error": wrapped}, "required": ["error"]}

    def check_events(self, path, body):
        """Every event of a stream fits the schema of chunks. Schemathesis reads a stream's first events only."""
        import jsonschema_rs

        name = "CreateChatCompletionStreamResponse" if path == "/chat/completions" else "CreateCompletionResponse"
        fits = jsonschema_rs.validator_for({**self.schema["components"]["schemas"][name],
                                            "components": self.schema["components"]})  # fmt: skip
        for event in body.split("\n\n"):
            if not event.startswith("data: ") or event == "data: [DONE]":
                continue
            chunk = json.loads(event[len("data: ") :])
            if path == "/completions":  # whose schema knows whole answers only, which have ended
                for choice in chunk["choices"]:
                    choice["finish_reason"] = choice["finish_reason"] or "stop"
            fits.validate(chunk)

    def examine(self, path, model, modes=("positive", "negative"), schema=None):
        """How many answers of each status came."""
        import hypothesis
        import schemathesis
        from schemathesis.checks import not_a_server_error
        from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance

        loaded = schemathesis.openapi.from_dict(schema or self.schema)
        loaded.config.update(base_url=self.url)
        operation = loaded[path][SERVED[path][0].upper()]
        statuses = {}

        def ask(case):
            if model and isinstance(case.body, dict):
                case.body = {**case.body, "model": model}
            response = case.call(headers={"Authorization": f"Bearer {KEY}"}, timeout=60)
            statuses[response.status_code] = statuses.get(response.status_code, 0) + 1
            checks = [not_a_server_error, content_type_conformance, response_schema_conformance]
            if response.headers.get("content-type", [""])[0].startswith("text/event-stream"):
                self.check_events(path, response.content.decode())
                checks.pop()
            case.validate_response(response, checks=checks)

        settings = hypothesis.settings(max_examples=EXAMPLES, deadline=None, database=None, derandomize=True,
                                       suppress_health_check=list(hypothesis.HealthCheck))  # fmt: skip
        for mode in modes:
            drawn = operation.as_strategy(generation_mode=schemathesis.GenerationMode(mode))
            settings(hypothesis.given(case=drawn)(ask))()
        print(f"{path}: {dict(sorted(statuses.items()))}")
        return statuses

    def test_requests_that_can_be_answered(self):
        for path, (fields, required) in ANSWERABLE.items():
            schema = json.loads(json.dumps(self.schema))
            body = {"type": "object", "properties": fields, "required": required, "additionalProperties": False}
            schema["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"] = body
            model = "embedder" if path == "/embeddings" else "talker"
            with self.subTest(path=path):
                statuses = self.examine(path, model, ("positive",), schema)
                self.assertGreater(statuses.get(200, 0), EXAMPLES // 2)

    def test_chats(self):
        self.examine("/chat/completions", "talker")

    def test_texts(self):
        self.examine("/completions", "talker")

    def test_embeddings(self):
        self.examine("/embeddings", "embedder")

    def test_models(self):
        self.assertIn(200, self.examine("/models", None, ("positive",)))

    def test_models_of_any_name(self):
        for path in ("/chat/completions", "/completions", "/embeddings"):
            with self.subTest(path=path):
                self.examine(path, None)


if __name__ == "__main__":
    main(__doc__, "schemathesis")
