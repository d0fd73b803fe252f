"""The tree of faults: raised when something is wrong with the program around Interlock, never for a refused call.

    InterlockError
    ├── SettingsInvalid        a setting that cannot be used
    │   └── KeyInvalid         the key of a store is missing, broken or another
    ├── SpecInvalid            a tool that cannot be registered
    │   ├── SchemaInvalid      its JSON Schema is unusable, unbounded or reaches outside itself
    │   ├── MoveRefused        a move or default that cannot be, or that says too little
    │   └── VersionExists      its (name, version) is published already with another digest
    ├── ToolUnknown            a lookup by name or version that finds nothing
    ├── ActRefused             an act of control by somebody who may not do it
    ├── ApprovalUnknown        an approval id that this tenant does not have
    ├── PolicyInvalid          a policy that does not parse or does not fit the catalogue
    ├── ToolFault              raised by a tool's own code to report a declared error code
    ├── AgentInvalid           an agent that says what cannot be meant, or a change of one that leads nowhere
    ├── AgentUnknown           an agent that this tenant does not have
    ├── DocumentInvalid        a document of the control plane that cannot be kept
    ├── DocumentChanged        a change of a document that somebody else has changed meanwhile
    ├── RedactionInvalid       a secret or pattern that cannot be redacted safely
    └── StoreError             the store cannot answer
        ├── StoreClosed        it was closed, or stopped after an I/O error
        │   └── StoreFull      its disk is full
        ├── StoreNewer         it was written by a newer Interlock
        ├── StoreMoved         everything in it has been moved elsewhere
        ├── BackupInvalid      a backup or dump is damaged, or is none
        └── NotWritten         a backup, dump or store could not be put in its place; nothing was left there

A refusal of a call is a value (`Observation` with an error code), not an exception.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from interlock.core.move_gates import Halt
    from interlock.core.spec_changes import SpecChange


class InterlockError(Exception):
    """The root of every exception that Interlock raises."""


class SettingsInvalid(InterlockError):
    """A setting has a value that cannot be used; the message names it and says what to do."""


class KeyInvalid(SettingsInvalid):
    """The key at hand is not the one that the store was written with, or there is none; nothing takes its place."""


class SpecInvalid(InterlockError):
    """A tool cannot be registered; the message says which part and why."""


class SchemaInvalid(SpecInvalid):
    """A JSON Schema is malformed, over a limit, or refers outside itself."""


class VersionExists(SpecInvalid):
    """A (name, version) is published already; published versions never change.

    `changes` are the fields in which it is another now, with what nobody sees spelled out; they stand as notes below a
    traceback too.
    """

    def __init__(self, message: str, changes: tuple[SpecChange, ...] = ()) -> None:
        super().__init__(message)
        self.changes = changes
        for each in changes:
            self.add_note(each.line)


class MoveRefused(SpecInvalid):
    """A move of a version, or of the default of a name, that leads nowhere from where it stands, whose gate lacks
    something, or that does not say what it has to say.

    `halt` is what stands in the way, where it is the version itself.
    """

    def __init__(self, message: str, halt: Halt | None = None) -> None:
        super().__init__(message)
        self.halt = halt


class ToolUnknown(InterlockError):
    """No such tool or version (`TOOL_NOT_FOUND`)."""


class ActRefused(InterlockError):
    """An act of the control plane that this principal may not do; nothing was changed."""


class ApprovalUnknown(InterlockError):
    """This tenant has no approval of that id."""


class PolicyInvalid(InterlockError):
    """A policy does not parse, or names what the catalogue does not have."""


class AgentInvalid(InterlockError):
    """An agent of the control plane says what cannot be meant, or there is no way to what is asked of it."""


class AgentUnknown(InterlockError):
    """This tenant has no agent of that name."""


class DocumentInvalid(InterlockError):
    """A document of the control plane cannot be kept: its name, or how long it is."""


class DocumentChanged(InterlockError):
    """Somebody else has changed a document meanwhile; nothing was written."""


class RedactionInvalid(InterlockError):
    """A secret or pattern that redaction cannot hold to, such as a secret of three characters."""


class StoreError(InterlockError):
    """The store cannot answer."""


class StoreClosed(StoreError):
    """The store was closed, or stopped itself after an I/O error."""


class StoreFull(StoreClosed):
    """The disk of the store is full: it has stopped, and goes on once there is room and it is opened anew."""


class StoreNewer(StoreError):
    """The store's schema is newer than this Interlock knows."""


class StoreMoved(StoreError):
    """Everything in the store has been moved; the message says where to."""


class BackupInvalid(StoreError):
    """A backup or a dump that cannot be relied on; the message says what does not hold."""


class NotWritten(StoreError):
    """A backup, a dump or a restored store could not be put in its place, and nothing was left there."""


class ToolFault(InterlockError):
    """Raised by a tool's code to report one of the error codes that its contract declares.

    `code` is the tool's own code; it travels in `error.details.tool_code`. Whether it may be retried, and whether it
    proves that nothing happened, is read from the tool's declaration, never from the exception.
    """

    def __init__(self, code: str, message: str = "", *, retry_after_s: float | None = None) -> None:
        super().__init__(message or code)
        self.code = code
        self.message = message or code
        self.retry_after_s = retry_after_s
