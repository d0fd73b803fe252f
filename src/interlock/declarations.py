"""The catalogue with what it offers a model: declarations of a session's tools in the dialect of any provider."""

from __future__ import annotations

import json

from interlock.core.call import Caller
from interlock.core.errors import SettingsInvalid
from interlock.core.model_text import model_text
from interlock.models.dialects import Declarations, Dialect, declare
from interlock.runtime.catalogue import Registry


class Offered(Registry):
    """What is published, and how it is told to models."""

    def declarations(self, caller: Caller, *, dialect: Dialect | str) -> Declarations:
        """The tools that this caller may see and that work at present, as a provider takes them.

        `tools` go into the request as they are, `names` lead back from the wire, `projections[name].losses` say what
        the provider's schemas cannot express (the gate checks the original schema all the same), and
        `projections[name].back(arguments)` undoes what the dialect changed. `set_aside` are tools that cannot be
        declared there, with the reason. Raises `SettingsInvalid` for a dialect that there is not.
        """
        if dialect not in list(Dialect):
            raise SettingsInvalid(f"a dialect is one of {', '.join(Dialect)}, not {dialect!r}")
        seen = self.visible(caller)
        specs = [(tool.spec.name, model_text(tool.spec), json.loads(tool.model_schema)) for tool in seen]
        return declare(specs, dialect=Dialect(dialect))
