"""What callers give, looked at before it goes to the module, so that what is wrong is told by its name.

A TypeError says that something is no such thing at all; an Error, that it is one that cannot be.
"""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from operator import index
from typing import Any

import numpy as np

from ingot import _ingot

SHAPES = ("schema", "grammar", "regex", "choice")
MOST_WHOLE = 2**63 - 1


def text_of(what: str, text: str) -> str:
    """A text; one with half a character of UTF-16 raises Python's own UnicodeEncodeError."""
    if not isinstance(text, str):
        raise TypeError(f"expected {what} as a text, found {type(text).__name__}")
    text.encode()
    return text


def whole(what: str, value: Any, least: int = -MOST_WHOLE, most: int = MOST_WHOLE) -> int:
    """A whole number that the module can hold."""
    try:
        number = index(value)
    except TypeError:
        raise TypeError(f"expected {what} as a whole number, found {value!r}") from None
    if not least <= number <= most:
        raise _refused(f"expected {what} from {least} to {most}, found {number}")
    return number


def number_or_none(what: str, value: Any) -> float | None:
    """A number; None stands for what the model's file advises."""
    if value is None:
        return None
    if not isinstance(value, Real):
        raise TypeError(f"expected {what} as a number, found {value!r}")
    return float(value)


def tokens_of(what: str, tokens: Iterable[int]) -> list[int]:
    """Tokens as the module takes them; which of them there are is for the model to say."""
    if isinstance(tokens, np.ndarray) and tokens.ndim == 1 and tokens.dtype.kind in "iu":
        tokens = tokens.tolist()
    if isinstance(tokens, (str, bytes, bytearray)) or not isinstance(tokens, Iterable):
        raise TypeError(f"expected {what} as whole numbers, found {type(tokens).__name__}")
    return [whole("tokens", token, -(2**31), 2**31 - 1) for token in tokens]


def texts_of(what: str, texts: str | Sequence[str] | None) -> list[str]:
    """One text, several, or none."""
    if texts is None:
        return []
    if isinstance(texts, str):
        return [text_of(what, texts)]
    if not isinstance(texts, Iterable):
        raise TypeError(f"expected {what} as texts, found {type(texts).__name__}")
    return [text_of(what, text) for text in texts]


def scales_of(names: Sequence[str], adapters: str | Iterable[str] | Mapping[str, float] | None) -> list[float]:
    """How much each of the named adapters counts: one, several, or some by their scales; the others count nothing."""
    if adapters is None:
        return []
    if not isinstance(adapters, Mapping):
        adapters = dict.fromkeys(texts_of("adapters", adapters), 1.0)  # type: ignore[arg-type]
    for name in adapters:
        if name not in names:
            among = f"among {', '.join(names)}" if names else "that the model was opened with, which are none"
            raise _refused(f"expected adapters {among}, found {name!r}", "not found")
    return [number_or_none("an adapter's scale", adapters.get(name, 0)) or 0 for name in names]


def chat_arguments(
    messages: Sequence[Mapping[str, Any]],
    tools: Sequence[Mapping[str, Any]] | None,
    variables: Mapping[str, Any] | None,
) -> tuple[str, str | None, str]:
    """Messages, tools and variables of a template, as JSON."""
    tools_text = None if tools is None else json.dumps(_dicts_of("tools", tools))
    return json.dumps(_dicts_of("messages", messages)), tools_text, json.dumps(dict(variables or {}))


def generation_arguments(
    *,
    max_tokens: int = 256,
    temperature: float | None = None,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
    repetition_penalty: float | None = None,
    presence_penalty: float = 0,
    frequency_penalty: float = 0,
    seed: int = 0,
    stop: str | Sequence[str] | None = None,
    schema: Mapping[str, Any] | bool | str | None = None,
    grammar: str | None = None,
    regex: str | None = None,
    choice: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Options of generate() and chat(), as the module takes them."""
    shapes = dict(zip(SHAPES, (schema, grammar, regex, choice)))
    given = [name for name, shape in shapes.items() if shape is not None]
    if len(given) > 1:
        raise TypeError(f"expected at most one of schema, grammar, regex and choice, found {' and '.join(given)}")
    kind = given[0] if given else None
    shape = ""
    if kind == "schema":
        shape = schema if isinstance(schema, str) else json.dumps(schema)
    elif kind == "choice" and isinstance(choice, str):
        raise TypeError("expected choice as a list of texts, found one text")
    elif grammar is not None:
        shape = text_of("grammar", grammar)
    elif regex is not None:
        shape = text_of("regex", regex)
    return {
        "max_tokens": whole("max_tokens", max_tokens),
        "temperature": number_or_none("temperature", temperature),
        "top_k": None if top_k is None else whole("top_k", top_k),
        "top_p": number_or_none("top_p", top_p),
        "min_p": number_or_none("min_p", min_p),
        "repetition_penalty": number_or_none("repetition_penalty", repetition_penalty),
        "presence_penalty": number_or_none("presence_penalty", presence_penalty) or 0,
        "frequency_penalty": number_or_none("frequency_penalty", frequency_penalty) or 0,
        "seed": whole("seed", seed, 0, 2**64 - 1),
        "stop": texts_of("stop", stop),
        "shape_kind": kind,
        "shape": shape,
        "choices": texts_of("choice", choice),
    }


def path_or_none(path: str | os.PathLike[str] | None) -> str | None:
    """The name of a file."""
    return None if path is None else os.fspath(path)


def _dicts_of(what: str, given: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    is_list = isinstance(given, Iterable) and not isinstance(given, (str, Mapping))
    dicts = list(given) if is_list else []
    if not is_list or not all(isinstance(each, Mapping) for each in dicts):
        raise TypeError(f"expected {what} as a list of dicts, found {given!r:.100}")
    return dicts


def _refused(text: str, code: str = "out of range") -> _ingot.Error:
    error = _ingot.Error(text)
    error.code = code
    return error


GENERATION_OPTIONS = tuple(inspect.signature(generation_arguments).parameters)


def require_options(caller: str, options: Mapping[str, Any]) -> None:
    """Says which options there are where one is none of them."""
    for name in options:
        if name not in GENERATION_OPTIONS:
            raise TypeError(f"expected options of {caller}() among {', '.join(GENERATION_OPTIONS)}, found {name!r}")
