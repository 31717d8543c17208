"""JSON Schemas of the files that cross a process boundary, for clients and interfaces in other languages.

Lives here: name -> schema. Pure. Each schema is made from the model that reads or writes the file, so it cannot differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from fwdperm.wire.heartbeat import Heartbeat
from fwdperm.wire.prompt import Prompt, Reply
from fwdperm.wire.request_file import AccessIntent, RequestFile
from fwdperm.wire.response import Response

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import BaseModel


def _schema(model: type[BaseModel]) -> Callable[[], dict[str, Any]]:
    return lambda: {"$id": f"fwdperm.{model.__name__.lower()}/1", **model.model_json_schema(by_alias=True)}


def _request() -> dict[str, Any]:
    """Give the request's schema with that of its facts, which the reader only checks to be an object at first."""
    made = RequestFile.model_json_schema(by_alias=True)
    intent = AccessIntent.model_json_schema(by_alias=True)
    definitions = {**made.pop("$defs", {}), **intent.pop("$defs", {}), "AccessIntent": intent}
    made["properties"]["accessIntent"] = {"anyOf": [{"$ref": "#/$defs/AccessIntent"}, {"type": "null"}]}
    return {"$id": "fwdperm.request/1", **made, "$defs": definitions}


SCHEMAS: Final[dict[str, Callable[[], dict[str, Any]]]] = {
    "request": _request,
    "response": _schema(Response),
    "prompt": _schema(Prompt),
    "reply": _schema(Reply),
    "heartbeat": _schema(Heartbeat),
}
