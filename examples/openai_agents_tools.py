"""OpenAI Agents: every tool that needs an approval asks fwdperm; the loop goes on with what it said.

    pip install fwdperm openai-agents
    fwdperm serve &                    # with rules, or a person at its terminal
    python examples/openai_agents_tools.py

The model here plays a script, so that the example runs without an account; use your own in its place. Approved or not,
the model hears it: a rejection with its reason, an approval's note as the next message.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from agents import Agent, ModelResponse, RunConfig, Runner, Usage, function_tool
from agents.models.interface import Model
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from fwdperm.agents.permit import permit


@function_tool(needs_approval=True)
def bash(command: str) -> str:
    """Run a command (this example only says so)."""
    return f"ran {command}"


async def run_with_permissions(agent: Agent[Any], question: str, *, session: str) -> str:
    """Run an agent to its end, asking fwdperm about everything that interrupts it."""
    config = RunConfig(tracing_disabled=True)
    result = await Runner.run(agent, question, run_config=config)
    while result.interruptions:
        state = result.to_state()
        for item in result.interruptions:
            said = await permit(item.name or "", json.loads(item.arguments or "{}"), session=session, agent=agent.name)
            if said.approved:
                state.approve(item)
                print(f"approved {item.arguments} {said.note}".rstrip())
            else:
                state.reject(item, rejection_message=said.reason)
        result = await Runner.run(agent, state, run_config=config)
    return str(result.final_output)


class Script(Model):
    """A model that makes two calls and then repeats what it was told."""

    async def get_response(self, *args: Any, **kwargs: Any) -> ModelResponse:
        """Give the next turn."""
        items = args[1] if len(args) > 1 else kwargs["input"]
        told = [] if isinstance(items, str) else [one for one in items if one.get("type") == "function_call_output"]
        lines = ["git status", "make deploy"]
        if len(told) < len(lines):
            arguments = json.dumps({"command": lines[len(told)]})
            call = ResponseFunctionToolCall(
                type="function_call", name="bash", call_id=f"call-{len(told)}", arguments=arguments
            )
            return ModelResponse(output=[call], usage=Usage(), response_id=None)
        text = " / ".join(str(one["output"]) for one in told)
        part = ResponseOutputText(type="output_text", text=text, annotations=[])
        said = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[part])
        return ModelResponse(output=[said], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse: this example does not stream."""
        raise NotImplementedError


if __name__ == "__main__":
    builder = Agent(name="builder", model=Script(), tools=[bash])
    print(asyncio.run(run_with_permissions(builder, "build it", session="openai-agents-example")))
