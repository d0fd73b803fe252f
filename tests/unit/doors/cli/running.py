"""What tests of runs at the command line share: what a scripted model says, and the run that there is."""

from collections.abc import Callable

from tests.unit.doors.cli.conftest import Cli
from tests.walk.scripted_model import ScriptedModel

SAVE = [("save_note", '{"title": "hello", "text": "password=hunter2secret"}')]
READ = [("read_note", '{"title": "hello"}')]

Give = Callable[..., ScriptedModel]


def the_run(cli: Cli) -> str:
    (run,) = cli("runs", "list", "--all", "--json").document["runs"]
    return str(run["id"])
