"""Models, tokenizers and sessions."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Union, overload

import numpy as np

from ingot import _ingot
from ingot.arguments import (
    chat_arguments,
    generation_arguments,
    path_or_none,
    require_options,
    scales_of,
    text_of,
    texts_of,
    tokens_of,
    whole,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

Tokens = Iterable[int]
Message = Mapping[str, Any]
Adapters = Union[str, Iterable[str], Mapping[str, float], None]  # read when it runs, by 3.9 too
_TOKENS = _SIZES = (-(2**31), 2**31 - 1)  # numbers that the module can look at


def _token(token: int) -> int:
    return whole("a token", token, *_TOKENS)


class Tokenizer:
    """Text to tokens and back. It never changes, and any thread may use it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Of a model file, a folder or a tokenizer.json; weights are not looked at. `Model.tokenizer` has the model's."""
        self._tokenizer = _ingot.open_tokenizer(os.fspath(path))

    @classmethod
    def _of(cls, tokenizer: _ingot.Tokenizer) -> Tokenizer:
        made = cls.__new__(cls)
        made._tokenizer = tokenizer
        return made

    def encode(self, text: str, *, add_special: bool = True, parse_special: bool = False) -> list[int]:
        """The tokens of a text.

        `add_special`: with what the model wants around a text. `parse_special`: "<|im_end|>" is the token of this name.
        """
        return self._tokenizer.encode(text_of("text", text), add_special, parse_special)

    def decode(self, tokens: Tokens, *, keep_special: bool = False) -> str:
        """Their text, with U+FFFD for bytes that are no UTF-8."""
        return self.decode_bytes(tokens, keep_special=keep_special).decode(errors="replace")

    def decode_bytes(self, tokens: Tokens, *, keep_special: bool = False) -> bytes:
        """The bytes of the tokens as they are."""
        return self._tokenizer.decode_bytes(tokens_of("tokens", tokens), keep_special)

    def piece(self, token: int) -> bytes:
        """The bytes that a token stands for; special tokens as they are spelled."""
        return self._tokenizer.piece(_token(token))

    def find(self, text: str) -> int | None:
        """The token that is spelled like this."""
        return self._tokenizer.find(text_of("text", text))

    def is_special(self, token: int) -> bool:
        """Whether it is no text: <s>, <|im_end|>."""
        return self._tokenizer.is_special(_token(token))

    def is_end_of_generation(self, token: int) -> bool:
        """Whether a model ends its answer by it."""
        return self._tokenizer.is_end_of_generation(_token(token))

    @property
    def vocabulary_size(self) -> int:
        """How many tokens there are, from 0 on."""
        return self._tokenizer.vocabulary_size

    def __len__(self) -> int:
        return self.vocabulary_size

    @property
    def special_tokens(self) -> dict[str, int | None]:
        """Those with a part to play: bos, eos, unknown, padding. None: there is none."""
        names = ("bos", "eos", "unknown", "padding")
        return {name: getattr(self._tokenizer, name) for name in names}


class Session:
    """Sequences in progress on a model, with memory and threads of its own. `Model.session()` makes one.

    One thread at a time: a second that comes while the first computes gets an Error and changes nothing. A process that was
    forked gets one, too.
    """

    def __init__(self, session: _ingot.Session, adapters: Sequence[str] = ()) -> None:
        """See Model.session()."""
        self._session = session
        self._adapters = adapters
        self._first = session.add()

    @property
    def context(self) -> int:
        """Tokens that a sequence may have."""
        return self._session.context

    @property
    def threads(self) -> int:
        """Threads that compute."""
        return self._session.threads

    def forward(
        self,
        tokens: Tokens,
        *,
        sequence: int | None = None,
        outputs: Literal["last", "all", "none"] = "last",
    ) -> NDArray[np.float32]:
        """Append tokens to a sequence, and return the logits of what may follow: float32 [outputs, vocabulary].

        The array is the memory that the session wrote, without a copy, and from then on the array's alone: a later call
        writes to other memory. It can be kept as long as one likes, after the session too, and changed.
        Of a model that makes embeddings: vectors [outputs, width].
        Ctrl-C ends it between two passes; the sequence then holds the tokens of those that are done, as length() says.
        """
        return np.asarray(self._session.forward(tokens_of("tokens", tokens), self._number(sequence), outputs))

    def length(self, sequence: int | None = None) -> int:
        """Tokens that a sequence holds."""
        return self._session.length(self._number(sequence))

    def truncate(self, length: int, *, sequence: int | None = None) -> None:
        """Forget what lies behind the first `length` tokens. Models with states only forget all (0)."""
        self._session.truncate(self._number(sequence), whole("a length", length))

    def add(self) -> int:
        """The number of a new, empty sequence. There is one from the beginning, which is meant where none is named."""
        return self._session.add()

    def fork(self, sequence: int | None = None) -> int:
        """The number of a new sequence that holds the same tokens; what they have in common is kept once."""
        return self._session.fork(self._number(sequence))

    def remove(self, sequence: int) -> None:
        """Forget a sequence; its number is used again."""
        self._session.remove(self._number(sequence))

    def use_adapters(self, adapters: Adapters, *, sequence: int | None = None) -> None:
        """Which of the model's adapters count in a sequence from now on, as of generate(); None: none.

        Another set than it has empties the sequence. A new one has none, a fork those of its origin.
        """
        self._session.use_adapters(self._number(sequence), scales_of(self._adapters, adapters))

    def save(self, path: str | os.PathLike[str], tokens: Tokens, *, sequence: int | None = None) -> None:
        """Write a sequence to a file, from which any session of the same model and cache goes on without computing it again.

        `tokens`: those that it holds, in their order; behind them may stand such as were chosen and not computed yet.
        The file has a checksum. It appears whole or not at all, in the place of one that is there.
        """
        self._session.save(self._number(sequence), tokens_of("tokens", tokens), os.fspath(path))

    def load(self, path: str | os.PathLike[str], *, sequence: int | None = None) -> list[int]:
        """Read what save() wrote into an empty sequence, and return its tokens.

        The sequence holds the first length() of them. Any others are not computed: they come first in the next forward().
        A file that has changed, or is of another model or cache, raises an Error; then the sequence is empty as before.
        """
        return self._session.load(self._number(sequence), os.fspath(path))

    def _number(self, sequence: int | None) -> int:
        return self._first if sequence is None else whole("a sequence", sequence, *_TOKENS)


class Model:
    """A model, and what generates text with it.

    Opened once and never changed: any thread may use it. What generate(), chat() and embed() compute on is one session that
    they share, made at the first of them: one thread at a time. session() makes others.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        threads: int | None = None,
        context: int | None = None,
        sequences: int = 1,
        cache: Literal["f16", "f32", "q8_0"] = "f16",
        deterministic: bool = False,
        adapters: Mapping[str, str | os.PathLike[str]] | None = None,
        embeddings: bool = False,
        pooling: Literal["mean", "first", "last", "none"] | None = None,
    ) -> None:
        """Open a .gguf file, a folder with one, or one with config.json and model.safetensors; None: the built-in model.

        threads: None: as many as this process may use. context: most tokens of a sequence; None: the model's, at most 4096.
        sequences: how many texts may be under way at once. cache: how keys and values are kept. deterministic: what a text
        yields is the same to the bit whatever else is computed with it. adapters: LoRA adapters of the model by names of your
        own, .gguf files or folders of peft's; they count where generate() or use_adapters() names them. embeddings: it is for embed() alone, which a model
        that predicts tokens does then, too. pooling: how vectors of tokens become a text's then; None: as the file says.
        """
        if pooling is not None and not embeddings:
            raise TypeError(f"expected embeddings=True beside pooling, found pooling={pooling!r} alone")
        if adapters and embeddings:
            raise TypeError("expected adapters or embeddings=True, found both")
        self._model = _ingot.Model(path_or_none(path), embeddings, pooling)
        self._adapters = {name: self._model.adapter(os.fspath(file)) for name, file in dict(adapters or {}).items()}
        self._options: dict[str, Any] = {
            "threads": threads or 0,
            "context": context or 0,
            "sequences": sequences,
            "cache": cache,
            "deterministic": deterministic,
        }
        self._session: _ingot.Session | None = None
        self._session_lock = threading.Lock()

    @property
    def facts(self) -> dict[str, Any]:
        """name, architecture, vocabulary, layers, width, context, makes_embeddings, pools, chat_template."""
        return self._model.facts()

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's own."""
        return Tokenizer._of(self._model.tokenizer())

    def session(
        self,
        *,
        threads: int | None = None,
        context: int | None = None,
        sequences: int = 1,
        cache: Literal["f16", "f32", "q8_0"] | None = None,
        deterministic: bool | None = None,
    ) -> Session:
        """A session of its own, for logits and for other threads. What is left out is as the model was opened with."""
        given = {"threads": threads, "context": context, "cache": cache, "deterministic": deterministic}
        options = {**self._options, **{name: value for name, value in given.items() if value is not None}}
        return Session(self._open_session({**options, "sequences": sequences}), tuple(self._adapters))

    def _open_session(self, options: dict[str, Any]) -> _ingot.Session:
        numbers = {name: whole(name, options[name], *_SIZES) for name in ("threads", "context", "sequences")}
        return self._model.session(**{**options, **numbers}, adapters=list(self._adapters.values()))

    def _shared(self) -> _ingot.Session:
        with self._session_lock:
            if self._session is None:
                self._session = self._open_session(self._options)
            return self._session

    @overload
    def generate(self, prompt: str | Tokens, *, stream: Literal[False] = False, **options: Any) -> str: ...
    @overload
    def generate(self, prompt: str | Tokens, *, stream: Literal[True], **options: Any) -> _ingot.TextStream: ...
    def generate(
        self,
        prompt: str | Tokens,
        *,
        stream: bool = False,
        parse_special: bool = False,
        adapters: Adapters = None,
        load_session: str | os.PathLike[str] | None = None,
        save_session: str | os.PathLike[str] | None = None,
        **options: Any,
    ) -> str | _ingot.TextStream:
        """Continue a text, or tokens. Returns the continuation; with `stream` an iterator of its pieces, as they come.

        max_tokens (256): at most so many. stop ([]): texts that end it, and are no part of it.
        temperature, top_k, top_p, min_p, repetition_penalty (None): as the model's file advises, else greedy, off.
        presence_penalty, frequency_penalty (0). seed (0): the same seed gives the same text.
        schema, grammar, regex, choice (None): at most one. The text satisfies a JSON Schema (a dict, or JSON), a GBNF grammar,
        a regular expression, or is one of a list of texts; one that is cut before it does raises an Error.
        parse_special (False): "<|im_end|>" in the prompt is the token of this name.
        adapters (None): those of the model that count: a name, names, or a dict of names and scales.
        save_session (None): a file for the text's tokens and what was computed of them, written when the text has ended.
        load_session (None): such a file, of this model and cache; the prompt, which may be empty, goes on from there.

        Ctrl-C ends it between two passes, with KeyboardInterrupt. A stream that is not read to its end keeps its sequence
        until it is closed or forgotten.
        """
        require_options("generate", options)
        if isinstance(prompt, str):
            tokenizer = self._model.tokenizer()
            is_new = load_session is None
            tokens = tokenizer.encode(text_of("prompt", prompt), is_new, parse_special)
            # Without a text, the token that begins one is all there is to continue.
            if is_new and not tokens and tokenizer.bos is not None:
                tokens = [tokenizer.bos]
        else:
            tokens = tokens_of("prompt", prompt)
        return self._start(tokens, stream, adapters, (load_session, save_session), **options)

    @overload
    def chat(self, messages: Sequence[Message], *, stream: Literal[False] = False, **options: Any) -> str: ...
    @overload
    def chat(self, messages: Sequence[Message], *, stream: Literal[True], **options: Any) -> _ingot.TextStream: ...
    def chat(
        self,
        messages: Sequence[Message],
        *,
        stream: bool = False,
        tools: Sequence[Mapping[str, Any]] | None = None,
        template_options: Mapping[str, Any] | None = None,
        adapters: Adapters = None,
        **options: Any,
    ) -> str | _ingot.TextStream:
        """Answer the last of some messages, such as {"role": "user", "content": "Hello"}, by the model's chat template.

        Options are those of generate(). What messages spell is text, and never a special token.
        """
        require_options("chat", options)
        tokens = self._model.chat_tokens(*chat_arguments(messages, tools, template_options), True)
        return self._start(tokens, stream, adapters, (None, None), **options)

    @overload
    def apply_chat_template(
        self,
        messages: Sequence[Message],
        *,
        tokenize: Literal[True] = True,
        add_generation_prompt: bool = True,
        tools: Sequence[Mapping[str, Any]] | None = None,
        **variables: Any,
    ) -> list[int]: ...
    @overload
    def apply_chat_template(
        self,
        messages: Sequence[Message],
        *,
        tokenize: Literal[False],
        add_generation_prompt: bool = True,
        tools: Sequence[Mapping[str, Any]] | None = None,
        **variables: Any,
    ) -> str: ...
    def apply_chat_template(
        self,
        messages: Sequence[Message],
        *,
        tokenize: bool = True,
        add_generation_prompt: bool = True,
        tools: Sequence[Mapping[str, Any]] | None = None,
        **variables: Any,
    ) -> list[int] | str:
        """The prompt that the model's chat template makes of messages: tokens, or text to look at.

        Tokens that are made of the text let messages spell special ones; those returned here do not. Further keywords are
        variables of the template.
        """
        arguments = chat_arguments(messages, tools, variables)
        if tokenize:
            return self._model.chat_tokens(*arguments, add_generation_prompt)
        return self._model.chat_text(*arguments, add_generation_prompt)

    @overload
    def embed(self, texts: str) -> NDArray[np.float32]: ...
    @overload
    def embed(self, texts: Sequence[str]) -> NDArray[np.float32] | list[NDArray[np.float32]]: ...
    def embed(self, texts: str | Sequence[str]) -> NDArray[np.float32] | list[NDArray[np.float32]]:
        """The vector of a text, or of several as rows, of length one each; of a model that makes embeddings.

        A vector is the memory that was computed, without a copy; rows of several texts are put into one array. A model that does
        not pool gives a matrix for each text, a row a token.
        """
        session, tokenizer = self._shared(), self._model.tokenizer()
        listed = texts_of("texts", texts)
        found = [np.asarray(session.embed(tokenizer.encode(text, True, False))) for text in listed]
        if not self._model.facts()["pools"]:
            return found[0] if isinstance(texts, str) else found
        if isinstance(texts, str):
            vector: NDArray[np.float32] = found[0][0]
            return vector
        width = self._model.facts()["width"]
        return np.concatenate(found) if found else np.empty((0, width), np.float32)

    def _start(
        self,
        tokens: list[int],
        stream: bool,
        adapters: Adapters,
        files: tuple[str | os.PathLike[str] | None, str | os.PathLike[str] | None],
        **options: Any,
    ) -> str | _ingot.TextStream:
        arguments = generation_arguments(**options)
        load, save = (path_or_none(file) for file in files)
        scales = scales_of(tuple(self._adapters), adapters)
        made = self._shared().generate(
            prompt=tokens, load_session=load, save_session=save, adapter_scales=scales, **arguments
        )
        return made if stream else made.rest()
