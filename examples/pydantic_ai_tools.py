"""pydantic-ai: deferred tool calls that need an approval ask fwdperm; the run goes on with what it said.

    pip install fwdperm pydantic-ai-slim
    fwdperm serve &                    # with rules, or a person at its terminal
    python examples/pydantic_ai_tools.py

The model here plays a script, so that the example runs without an account; use your own in its place.
"""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ToolDenied
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from fwdperm.agents.permit import permit


async def settle(asked: DeferredToolRequests, *, session: str, agent: str) -> DeferredToolResults:
    """Ask fwdperm about every call that waits for an approval."""
    results = DeferredToolResults()
    for call in asked.approvals:
        said = await permit(call.tool_name, call.args_as_dict(), session=session, agent=agent)
        results.approvals[call.tool_call_id] = True if said.approved else ToolDenied(said.reason)
        if said.approved:
            print(f"approved {call.args_as_dict()} {said.note}".rstrip())
    return results


async def run_with_permissions(agent: Agent[Any, Any], question: str, *, session: str) -> str:
    """Run an agent to its end, asking fwdperm about everything it defers."""
    result = await agent.run(question)
    while isinstance(result.output, DeferredToolRequests):
        results = await settle(result.output, session=session, agent=agent.name or "agent")
        result = await agent.run(message_history=result.all_messages(), deferred_tool_results=results)
    return str(result.output)


def script(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
    """Make two calls and then repeat what came of them."""
    told = [part for one in messages for part in one.parts if isinstance(part, ToolReturnPart)]
    lines = ["git status", "make deploy"]
    if len(told) < len(lines):
        return ModelResponse(parts=[ToolCallPart("bash", {"command": lines[len(told)]})])
    return ModelResponse(parts=[TextPart(" / ".join(str(part.content) for part in told))])


def bash(command: str) -> str:
    """Run a command (this example only says so)."""
    return f"ran {command}"


if __name__ == "__main__":
    builder: Agent[None, Any] = Agent(FunctionModel(script), name="builder", output_type=[str, DeferredToolRequests])
    builder.tool_plain(requires_approval=True)(bash)
    print(asyncio.run(run_with_permissions(builder, "build it", session="pydantic-ai-example")))
