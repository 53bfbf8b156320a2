"""What all judges do: put the question, read the answer, and say why there is no score when there is none."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any, ClassVar

from turngate.component import FAKE_SERVER, ComponentConfig
from turngate.errors import ConfigError, one_line, shortened
from turngate.evaluators.evaluator import EvalInput, Facts
from turngate.evaluators.judges.answer import answer_model, read_answer
from turngate.evaluators.judges.config import JudgeConfig
from turngate.evaluators.judges.prompt import Prompt
from turngate.evaluators.judges.question import Ask, ModelReply, Question, send
from turngate.evaluators.result import EvaluationUsage, Failed, Result, Unscored
from turngate.providers.calling import run_blocking

__all__ = ["Judge"]

_LONGEST_ANSWER = 200_000
"""Characters of an answer that are kept: a model that repeats itself must not fill a disk."""


class Judge(ABC):
    """Base of judges. A subclass says in `_asking` how a model is reached.

    `model:NAME` (as the provider reports it) and what was sent of each image are flags of every result. What the model
    said is kept as it came: whoever shows it makes it harmless for the place where it is shown.
    """

    Config: ClassVar[type[ComponentConfig]]
    requires: ClassVar[Mapping[str, str]]

    def __init__(
        self, config: JudgeConfig, model: str, parallel: int = 1, weights: str | None = None, **facts: Any
    ) -> None:
        """`weights` is their version where it is known, `facts` are those that depend on where the model runs.

        Raises `ConfigError` for a prompt that cannot be.
        """
        self.form = config.ask
        try:
            self.prompt = Prompt.of(config.prompt, self.form)
        except ConfigError as error:
            raise ConfigError(f"{config.type}.{error}") from None
        self.model = model
        self._max_side = config.max_side
        self._parallel = parallel
        self._answer = answer_model(self.form.fields())
        roles = {role for order in self.form.orders for role in order}
        self.facts = Facts(
            name=config.type,
            version="+".join(["1", self.prompt.sha256[:8], *([weights] if weights else [])]),
            direction=self.form.better,
            range=self.form.bounds,
            inputs=frozenset(roles | ({"instruction"} if self.prompt.takes_instruction else set())),
            weights=model,
            weights_licence="the model's own",
            judge=True,
            source=f"{self.form.preset or self.form.form}: {self.prompt.name}, sha256 {self.prompt.sha256[:12]}",
            size_scored=f"longest side at most {config.max_side} pixels" if config.max_side else "native",
            **facts,
        )

    @abstractmethod
    def _asking(self) -> AbstractAsyncContextManager[Ask]:
        """A connection to the model for one batch."""

    def evaluate(self, batch: Sequence[EvalInput]) -> list[Result]:
        """Judge each sample by itself. Raises what no later call can mend: a used-up quota, a wrong key or model."""
        return run_blocking(self._all(batch))

    async def _all(self, batch: Sequence[EvalInput]) -> list[Result]:
        free = asyncio.Semaphore(self._parallel)
        over: list[Exception] = []
        async with self._asking() as ask:

            async def judge(sample: EvalInput) -> Result | None:
                async with free:
                    if over:
                        return None
                    try:
                        return await self._one(ask, sample)
                    except Exception as error:  # raised below, when the calls in flight have ended
                        over.append(error)
                        return None

            results = await asyncio.gather(*map(judge, batch))
        if over:
            raise over[0]
        return [result for result in results if result is not None]

    async def _one(self, ask: Ask, sample: EvalInput) -> Result:
        given = {"candidate": sample.candidate, "origin": sample.origin, "first": sample.first,
                 "previous": sample.previous}  # fmt: skip
        shown = {role: picture for role, picture in given.items() if picture is not None}
        missing = sorted(self.facts.inputs & set(given) - set(shown))
        if missing:
            return Unscored("no_reference", f"{self.facts.name} needs the {' and the '.join(missing)}")
        answers: list[dict[str, Any]] = []
        said: list[str] = []
        flags: list[str] = []
        usage = EvaluationUsage()
        for order in self.form.orders:
            images = [send(shown[role], role, self._max_side) for role in order]
            text = self.prompt.fill(self.form.legend(order), sample.instruction)
            reply = await ask(Question(tuple(images), text, self._answer))
            flags += [image.flag for image in images]
            usage += reply.usage or EvaluationUsage()
            if isinstance(reply, ModelReply):
                said.append(shortened(reply.text, _LONGEST_ANSWER))
                flags += [FAKE_SERVER] if reply.fake else []
                flags.append(one_line(f"model:{reply.model or self.model}", 200))
                if reply.ending == "other":
                    flags.append(f"finish_reason:{reply.detail}")
            answer = self._read(reply) if isinstance(reply, ModelReply) else reply
            if isinstance(answer, Unscored | Failed):
                flags = [*answer.flags, *dict.fromkeys(flags)]
                return replace(answer, flags=tuple(flags), usage=usage, answers=tuple(said))
            answers.append(answer)
        result = self.form.conclude(answers)
        flags = [*result.flags, *dict.fromkeys(flags)]
        return replace(result, flags=tuple(flags), usage=usage, answers=tuple(said))

    def _read(self, reply: ModelReply) -> dict[str, Any] | Unscored | Failed:
        match reply.ending:
            case "complete":
                return read_answer(reply.text, self._answer)
            case "other":  # a whole answer is one, whatever the server says about its end
                answer = read_answer(reply.text, self._answer)
                return answer if isinstance(answer, dict) else Failed("provider", "finish_reason", reply.detail)
        return Unscored(reply.ending, one_line(reply.detail, 500))
