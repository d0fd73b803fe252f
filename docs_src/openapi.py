"""Tools from an OpenAPI document: a snapshot that a person reviews, and what it allows as long as nothing changes."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from interlock import Gate, Host, Imported, PolicySource, Principal, Settings, Status, ToolCall, import_openapi
from interlock.importers.openapi import read_openapi, take_snapshot, write_snapshot

PETS = {
    "openapi": "3.1.0",
    "info": {"title": "Pets", "version": "1"},
    "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    "security": [{"token": []}],
    "paths": {
        "/pets": {
            "get": {
                "operationId": "find_pets",
                "summary": "Find pets by kind.",
                "parameters": [
                    {"name": "kind", "in": "query", "required": True, "schema": {"type": "string"}},
                    {"name": "limit", "in": "query", "schema": {"type": "integer", "maximum": 100}},
                ],
                "responses": {"200": {"content": {"application/json": {"schema": {"type": "array"}}}}},
            }
        },
        "/pets/{id}": {
            "delete": {
                "operationId": "give_pet_away",
                "summary": "Give a pet away for good.",
                "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
                "responses": {"204": {"description": "It has a new home."}},
            }
        },
    },
}
POLICY = PolicySource("all", '@id("all") permit(principal, action, resource);')


class Pets(BaseHTTPRequestHandler):
    """Somebody's service, for this program."""

    def do_GET(self) -> None:
        """Find pets."""
        assert self.path == "/v1/pets?kind=cat&limit=10"
        assert self.headers["Authorization"] == "Bearer secret-of-acme"
        body = json.dumps(["Tom"]).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the standard library names it
        """Say nothing."""


class Vault:
    """Where credentials come from, by the names that the snapshot says."""

    async def fetch(self, names: tuple[str, ...], principal: Principal) -> Mapping[str, str]:
        """Those of this principal's tenant."""
        return dict.fromkeys(names, f"secret-of-{principal.tenant}")


def write_snapshot_at(server: str) -> None:
    """What `interlock import openapi pets.json --server ... --owner pets -o pets.snapshot.yaml` does, and a review."""
    snapshot = take_snapshot(read_openapi(Path("pets.json").read_bytes()), server=server, owner="pets")
    text = write_snapshot(replace(snapshot, file="pets.json"))
    reviewed = text.replace("allow: false", "allow: true\n    fix: {limit: 10}", 1)  # the first one, find_pets
    Path("pets.snapshot.yaml").write_text(reviewed, encoding="utf-8")


def read_tools() -> Imported:
    """What a program does with the two files."""
    return import_openapi("pets.snapshot.yaml")  # which says where the document lies


async def run(tools: Imported) -> None:
    """What a model would do."""
    assert [tool.spec().name for tool in tools] == ["find_pets"]
    settings, host = Settings(egress_allow=("127.0.0.1",)), Host(secrets=Vault())
    async with Gate.open(tools=tools, policies=[POLICY], settings=settings, host=host) as gate:
        seen = await gate.call(ToolCall("c1", "find_pets", {"kind": "cat"}), principal=Principal("acme", "alice"))
        assert (seen.status, seen.data) == (Status.OK, ["Tom"])


def read_changed() -> None:
    """What becomes of them once the document says something else."""
    changed = Path("pets.json").read_text(encoding="utf-8").replace("Find pets by kind.", "Send me everything.")
    Path("pets.json").write_text(changed, encoding="utf-8")
    found = import_openapi("pets.snapshot.yaml")
    assert found.tools == ()
    for refused in found.refused:
        print(f"{refused.key}: {refused.reason}")  # GET /pets: it has changed since it was reviewed: title, description


def main() -> None:
    """Serve on loopback, import and call."""
    Path("pets.json").write_text(json.dumps(PETS), encoding="utf-8")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pets)
    Thread(target=server.serve_forever, daemon=True).start()
    write_snapshot_at(f"http://127.0.0.1:{server.server_port}/v1")
    asyncio.run(run(read_tools()))
    read_changed()
    server.shutdown()
    server.server_close()


if __name__ == "__main__":
    main()
