"""Every error that sgam raises on purpose.

    SgamError
    ├── InvalidInput            what the caller gave cannot be used; nothing was written
    │   ├── InvalidEpisode      an episode is malformed (names the field)
    │   ├── UnknownAttribute    no such attribute, or an ambiguous one
    │   ├── UnknownHold         no such pending hold
    │   ├── UnknownRecord       no such episode, fact or assertion
    │   └── InvalidUrl          a store URL or model name that we cannot read
    ├── SchemaError             a memory schema is malformed
    │   └── SchemaConflict      the stored schema of the same version differs (names the difference)
    ├── EpisodeConflict         the episode id is taken by an episode with other content
    ├── EpisodeDecided          the episode was decided before, with other candidates
    ├── EpisodeForgotten        the episode was erased and may not come back
    ├── StoreError              the store failed
    │   ├── StoreBusy           another writer held the lock too long (retryable)
    │   ├── StoreFull           no space left (retryable)
    │   ├── StoreReadOnly       the file or its folder cannot be written
    │   ├── NotAStore           the file is no sgam store, or a damaged one
    │   ├── StoreTooNew         the store was written by a newer sgam
    │   └── ErasureIncomplete   forgotten text could still be found in the store's bytes (retryable)
    └── BackendError            a model could not be asked or gave nothing usable
        ├── BackendUnavailable  a package, a model file or a server is missing, or will not serve us
        │   ├── AuthenticationFailed  the server does not accept the key
        │   └── NotEnforced     the server was seen to ignore the response schema
        ├── GrammarError        the response schema cannot be enforced by this backend
        ├── RequestRejected     the server will not take the request as it is
        ├── PromptCut           the server read only a part of the prompt
        ├── RateLimited         the server wants us to wait (retryable)
        ├── ServerFailed        the server answered with an error or with nonsense (retryable)
        ├── BackendTimeout      no answer within the seconds of the budget (retryable)
        └── ConnectionLost      the server cannot be reached or hung up (retryable)

`retryable` says whether the same call may succeed later, unchanged; `hint` says what to do about it.
"""

from __future__ import annotations


class SgamError(Exception):
    """Base of the tree.  `str(error)` is one line that names what was wrong."""

    retryable = False
    default_hint = ""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = self.default_hint if hint is None else hint


class InvalidInput(SgamError):
    """What the caller gave cannot be used; nothing was written."""


class InvalidEpisode(InvalidInput):
    """An episode is malformed."""

    def __init__(self, message: str, *, field: str, hint: str | None = None) -> None:
        super().__init__(f"{field}: {message}", hint=hint)
        self.field = field


class UnknownAttribute(InvalidInput):
    """No such attribute in the schema, or one whose name alone is ambiguous."""


class UnknownHold(InvalidInput):
    """No such pending hold."""

    default_hint = "list the pending ones with `holds`"


class UnknownRecord(InvalidInput):
    """No such episode, fact or assertion."""


class InvalidUrl(InvalidInput):
    """A store URL or model name that cannot be read."""


class SchemaError(SgamError):
    """A memory schema is malformed."""


class SchemaConflict(SchemaError):
    """The store holds another schema under the same name and version."""

    default_hint = "give the changed schema a new version"


class EpisodeConflict(SgamError):
    """The episode id is taken by an episode with other content."""

    default_hint = "episodes are immutable: give the changed text an id of its own"


class EpisodeDecided(SgamError):
    """The episode was decided before, with other candidates."""

    default_hint = "retract the episode and commit a new one"


class EpisodeForgotten(SgamError):
    """The episode was erased and may not come back."""


class StoreError(SgamError):
    """The store failed; what was committed before stays."""


class StoreBusy(StoreError):
    """Another writer held the lock for longer than the time-out."""

    retryable = True
    default_hint = "try again; a writer may hold the lock for long during `forget`"


class StoreFull(StoreError):
    """There is no space left to write to."""

    retryable = True
    default_hint = "free some space and run the same command again"


class StoreReadOnly(StoreError):
    """The database cannot be written."""

    default_hint = "check the permissions of the file and of its folder"


class NotAStore(StoreError):
    """The file is not an sgam database, or a damaged one."""

    default_hint = "name another file; this one was left as it is"


class StoreTooNew(StoreError):
    """The database was written by a newer sgam."""

    default_hint = "upgrade sgam"


class ErasureIncomplete(StoreError):
    """Forgotten text can still be found in the bytes of the store."""

    retryable = True
    default_hint = "close other readers of the database and forget again"


class BackendError(SgamError):
    """A model could not be asked or gave nothing usable; `retry_after` are the seconds that a server wants."""

    retryable = True

    def __init__(self, message: str, *, hint: str | None = None, retry_after: float | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after


class BackendUnavailable(BackendError):
    """A package, a model file or a server is missing, or will not serve us."""

    retryable = False


class AuthenticationFailed(BackendUnavailable):
    """The server does not accept the key."""

    default_hint = "check the API key, and that it belongs to this server"


class NotEnforced(BackendUnavailable):
    """The server was seen to ignore the response schema."""


class GrammarError(BackendError):
    """The response schema cannot be enforced by this backend."""

    retryable = False


class RequestRejected(BackendError):
    """The server will not take the request as it is."""

    retryable = False


class PromptCut(BackendError):
    """The server read only a part of the prompt, so its answer is worth nothing."""

    retryable = False
    default_hint = "let the server take longer prompts (its context size), or give the extractor a smaller `chunk`"


class RateLimited(BackendError):
    """The server wants us to wait."""

    default_hint = "run the same command again later"


class ServerFailed(BackendError):
    """The server answered with an error or with nonsense."""

    default_hint = "look at the log of the server, then run the same command again"


class BackendTimeout(BackendError):
    """No answer within the seconds of the budget."""

    default_hint = "run the same command again, or give the budget more seconds"


class ConnectionLost(BackendError):
    """The server cannot be reached or hung up."""

    default_hint = "check that the server runs at that address, then run the same command again"
