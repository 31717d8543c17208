"""LangChain: interrupts of its human-in-the-loop middleware ask fwdperm; the graph is resumed with what it said.

    pip install fwdperm langchain
    fwdperm serve &                    # with rules, or a person at its terminal
    python examples/langchain_tools.py

The model here plays a script, so that the example runs without an account; use your own in its place.
"""

from __future__ import annotations

import asyncio
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from fwdperm.agents.permit import permit


async def decide(request: dict[str, Any], *, session: str, agent: str) -> dict[str, Any]:
    """Ask fwdperm about every action of one interrupt; give what the graph is resumed with."""
    decisions = []
    for action in request["action_requests"]:
        said = await permit(action["name"], action["args"], session=session, agent=agent)
        if said.approved:
            print(f"approved {action['args']} {said.note}".rstrip())
        decisions.append({"type": "approve"} if said.approved else {"type": "reject", "message": said.reason})
    return {"decisions": decisions}


async def run_with_permissions(graph: Any, question: str, *, session: str, agent: str) -> list[Any]:
    """Run a graph to its end, asking fwdperm about everything that interrupts it."""
    config = {"configurable": {"thread_id": session}}
    result = await graph.ainvoke({"messages": [{"role": "user", "content": question}]}, config)
    while result.get("__interrupt__"):
        asked = result["__interrupt__"]
        answers = {one.id: await decide(one.value, session=session, agent=agent) for one in asked}
        resumed = next(iter(answers.values())) if len(answers) == 1 else answers
        result = await graph.ainvoke(Command(resume=resumed), config)
    return list(result["messages"])


def bash(command: str) -> str:
    """Run a command (this example only says so)."""
    return f"ran {command}"


class Script(GenericFakeChatModel):
    """A model that makes two calls and then stops."""

    def bind_tools(self, tools: Any, **kwargs: Any) -> Script:  # noqa: ARG002 - the tools are known
        """Know the tools already."""
        return self


if __name__ == "__main__":
    calls = [{"name": "bash", "args": {"command": line}, "id": line} for line in ("git status", "make deploy")]
    turns = [AIMessage(content="", tool_calls=[call]) for call in calls]
    builder = create_agent(
        Script(messages=iter([*turns, AIMessage(content="done")])),
        tools=[bash],
        middleware=[HumanInTheLoopMiddleware(interrupt_on={"bash": True})],
        checkpointer=InMemorySaver(),
    )
    said = asyncio.run(run_with_permissions(builder, "build it", session="langchain-example", agent="builder"))
    print(" / ".join(str(one.content) for one in said if isinstance(one, ToolMessage)))
