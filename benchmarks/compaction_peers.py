"""The peers of the compaction benchmark, each with its own SQLite store: 8,000 tokens trigger, 20 messages stay.

Each is set up as its documentation shows, with its own prompts and its own counting of tokens. They are imported when they are
opened, since each runs in a process of its own.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, ClassVar

from benchmarks.compaction_models import KEEP_MESSAGES, TRIGGER_TOKENS, Models, tokens_of

# An application would start the background where its documentation does.
BACKGROUND_START = 0.85


class Peer:
    """What the peers share: two parts to their context, and nothing behind the user's back unless they say so."""

    def __init__(self, models: Models) -> None:
        self.models = models
        self.stack = AsyncExitStack()

    async def settle(self) -> None:
        pass

    async def close(self) -> None:
        await self.stack.aclose()

    def parts(self) -> dict[str, int]:
        summaries = [text for text in self.models.context if "summary-" in text]
        return {"summary": tokens_of(*summaries), "tail": tokens_of(*self.models.context) - tokens_of(*summaries)}


class LangChain(Peer):
    """`SummarizationMiddleware` as it comes: of what it folds, the summariser is shown the last 4,000 tokens."""

    name: ClassVar[str] = "LangChain"
    packages: ClassVar[tuple[str, ...]] = ("langchain", "langgraph", "langgraph-checkpoint-sqlite")
    options: ClassVar[dict[str, Any]] = {}

    async def open(self, folder: Path) -> None:
        from langchain.agents import create_agent
        from langchain.agents.middleware import SummarizationMiddleware
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

        chat, summariser = langchain_models(self.models)
        saver = await self.stack.enter_async_context(AsyncSqliteSaver.from_conn_string(str(folder / "peer.db")))
        middleware = SummarizationMiddleware(
            summariser, trigger=("tokens", TRIGGER_TOKENS), keep=("messages", KEEP_MESSAGES), **self.options
        )
        self.agent = create_agent(chat, tools=[], middleware=[middleware], checkpointer=saver)

    async def exchange(self, user_text: str) -> str:
        said = {"messages": [{"role": "user", "content": user_text}]}
        state = await self.agent.ainvoke(said, {"configurable": {"thread_id": "one"}})
        return state["messages"][-1].text


class LangChainUntrimmed(LangChain):
    """The same, showing the summariser all that it folds."""

    name: ClassVar[str] = "LangChain, untrimmed"
    options: ClassVar[dict[str, Any]] = {"trim_tokens_to_summarize": None}


class PydanticAI(Peer):
    """`SummarizingCompaction` of the harness, before the model call; the messages go to its SQLite store after every run."""

    name: ClassVar[str] = "Pydantic AI"
    packages: ClassVar[tuple[str, ...]] = ("pydantic-ai-slim", "pydantic-ai-harness")
    background: ClassVar[bool] = False

    async def open(self, folder: Path) -> None:
        from pydantic_ai import Agent
        from pydantic_ai.messages import ModelMessage
        from pydantic_ai_harness.compaction import FallbackCompaction, SummarizingCompaction
        from pydantic_ai_harness.step_persistence.conversations import ConversationSummary, SqliteConversationStore

        chat, summariser = pydantic_models(self.models)
        summarising = SummarizingCompaction[None](
            model=summariser, max_tokens=TRIGGER_TOKENS, keep_messages=KEEP_MESSAGES
        )
        self.ahead = FallbackCompaction[None](
            [summarising], max_tokens=TRIGGER_TOKENS, background_start=BACKGROUND_START
        )
        self.agent = Agent(chat, capabilities=[self.ahead if self.background else summarising])
        self.store, self.saved = SqliteConversationStore(database=folder / "peer.db"), ConversationSummary(workspace="")
        self.history: list[ModelMessage] = []
        self.stack.push_async_callback(self.ahead.aclose)

    async def exchange(self, user_text: str) -> str:
        run = await self.agent.run(user_text, message_history=self.history, conversation_id="one")
        self.history = run.all_messages()
        self.saved = await self.store.save(summary=self.saved, messages=self.history)
        return run.output

    async def settle(self) -> None:
        for job in self.ahead._background.values():
            await job.result()


class PydanticAIBackground(PydanticAI):
    """The same, started in the background at 85 % of the trigger and held until the trigger."""

    name: ClassVar[str] = "Pydantic AI, background"
    background: ClassVar[bool] = True


class GoogleADK(Peer):
    """`EventsCompactionConfig` by tokens. Its run ends when the compaction behind the answer has ended."""

    name: ClassVar[str] = "Google ADK"
    packages: ClassVar[tuple[str, ...]] = ("google-adk",)

    async def open(self, folder: Path) -> None:
        from google.adk.agents import LlmAgent
        from google.adk.apps.app import App, EventsCompactionConfig
        from google.adk.apps.llm_event_summarizer import LlmEventSummarizer
        from google.adk.runners import Runner
        from google.adk.sessions.sqlite_session_service import SqliteSessionService

        chat, summariser = adk_models(self.models)
        compaction = EventsCompactionConfig(
            summarizer=LlmEventSummarizer(llm=summariser),
            token_threshold=TRIGGER_TOKENS,
            event_retention_size=KEEP_MESSAGES,
        )
        app = App(name="bench", root_agent=LlmAgent(name="agent", model=chat), events_compaction_config=compaction)
        sessions = SqliteSessionService(str(folder / "peer.db"))
        self.runner = Runner(app=app, session_service=sessions)
        await sessions.create_session(app_name="bench", user_id="ana", session_id="one")
        self.stack.push_async_callback(self.runner.close)

    async def exchange(self, user_text: str) -> str:
        from google.genai import types

        said = types.Content(role="user", parts=[types.Part(text=user_text)])
        answer = ""
        async for event in self.runner.run_async(user_id="ana", session_id="one", new_message=said):
            if event.is_final_response():
                answer = adk_text(event.content)
        return answer


PEERS = (LangChain, LangChainUntrimmed, PydanticAI, PydanticAIBackground, GoogleADK)


def langchain_models(models: Models) -> tuple[Any, Any]:
    from langchain_core.language_models.chat_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage
    from langchain_core.outputs import ChatGeneration, ChatResult

    class Fake(BaseChatModel):
        def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
            raise NotImplementedError("the benchmark asks asynchronously")

        async def _agenerate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
            answer = await self.answer([message.text for message in messages])
            return ChatResult(generations=[ChatGeneration(message=AIMessage(content=answer))])

        async def answer(self, shown: list[str]) -> str:
            return await models.reply(shown)

        @property
        def _llm_type(self) -> str:
            return "fake"

    class FakeSummariser(Fake):
        async def answer(self, shown: list[str]) -> str:
            return await models.summarise("".join(shown))

    return Fake(), FakeSummariser()


def pydantic_models(models: Models) -> tuple[Any, Any]:
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel
    from pydantic_ai.usage import RequestUsage

    def texts_of(messages: Iterable[ModelMessage], info: AgentInfo) -> list[str]:
        shown = [part.content for message in messages for part in message.parts if isinstance(part.content, str)]
        return [info.instructions, *shown] if info.instructions else shown

    def response(shown: list[str], answer: str) -> ModelResponse:
        usage = RequestUsage(input_tokens=tokens_of(*shown), output_tokens=tokens_of(answer))
        return ModelResponse(parts=[TextPart(answer)], usage=usage)

    async def chat(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        shown = texts_of(messages, info)
        return response(shown, await models.reply(shown))

    async def summariser(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        shown = texts_of(messages, info)
        return response(shown, await models.summarise("".join(shown)))

    return FunctionModel(chat), FunctionModel(summariser)


def adk_models(models: Models) -> tuple[Any, Any]:
    from google.adk.models.base_llm import BaseLlm
    from google.adk.models.llm_request import LlmRequest
    from google.adk.models.llm_response import LlmResponse
    from google.genai import types

    class Fake(BaseLlm):
        async def generate_content_async(
            self, llm_request: LlmRequest, stream: bool = False
        ) -> AsyncGenerator[LlmResponse, None]:
            shown = [adk_text(content) for content in llm_request.contents]
            content = types.Content(role="model", parts=[types.Part(text=await self.answer(shown))])
            usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=tokens_of(*shown))
            yield LlmResponse(content=content, usage_metadata=usage)

        async def answer(self, shown: list[str]) -> str:
            return await models.reply(shown)

    class FakeSummariser(Fake):
        async def answer(self, shown: list[str]) -> str:
            return await models.summarise("".join(shown))

    return Fake(model="fake"), FakeSummariser(model="fake")


def adk_text(content: Any) -> str:
    return "".join(part.text or "" for part in content.parts or ()) if content else ""
