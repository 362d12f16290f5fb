"""`@tool`: a function of this program that can also run isolated in an engine."""
from __future__ import annotations

import functools
import inspect
from typing import (TYPE_CHECKING, Any, Callable, Coroutine, Dict, Generic,
                    Iterable, Iterator, Mapping, Optional, Sequence, TypeVar,
                    Union, cast, overload)

from ._options import Network, Seconds, given
from ._source import source_of
from ._sync.client import Troupe, value_of
from ._sync.runs import Run
from .types import RunResult, StoredTool

R = TypeVar("R")
X = TypeVar("X")
if TYPE_CHECKING:
    from typing_extensions import ParamSpec
    P = ParamSpec("P")
else:
    P = TypeVar("P")

_default: Dict[str, Any] = {}


class Tool(Generic[P, R]):
    """Calling it calls the function, here. Everything else is the engine's:

        weather("Oslo")             # here
        weather.remote("Oslo")      # isolated in the engine
        weather.spawn("Oslo")       # as a run that goes on by itself
        weather.map([{"city": c}])  # many
    """

    def __init__(self, function: Callable[P, R], options: Mapping[str, Any],
                 tags: Sequence[str], include: Iterable[Any],
                 client: Optional[Troupe] = None) -> None:
        functools.update_wrapper(cast(Any, self), function)
        self.function = function
        self.source: str = source_of(function, include)
        """What the engine gets."""
        self._options = options
        self._tags = tags
        self._client = client
        self._signature = inspect.signature(function)

    def __repr__(self) -> str:
        return f"<tool {self.name}>"

    @property
    def name(self) -> str:
        name: str = cast(Any, self.function).__name__
        return name

    def __call__(self, *args: "P.args", **kwargs: "P.kwargs") -> R:
        return self.function(*args, **kwargs)

    # What an `async def` returns is awaited by the engine.
    @overload
    def remote(self: "Tool[P, Coroutine[Any, Any, X]]", *args: "P.args",
               **kwargs: "P.kwargs") -> X: ...

    @overload
    def remote(self, *args: "P.args", **kwargs: "P.kwargs") -> R: ...

    def remote(self, *args: Any, **kwargs: Any) -> Any:
        """The value, from the engine; ToolFailed if there is none."""
        return value_of(self.run(*args, **kwargs))

    @overload
    async def remote_async(self: "Tool[P, Coroutine[Any, Any, X]]",
                           *args: "P.args", **kwargs: "P.kwargs") -> X: ...

    @overload
    async def remote_async(self, *args: "P.args",
                           **kwargs: "P.kwargs") -> R: ...

    async def remote_async(self, *args: Any, **kwargs: Any) -> Any:
        """As `remote`, for asyncio."""
        from ._async.client import AsyncTroupe
        client = AsyncTroupe(self._engine()._http.server)
        try:
            result = await client.run(**self._request(args, kwargs))
        finally:
            client.close()
        return value_of(result)

    def run(self, *args: "P.args", **kwargs: "P.kwargs") -> RunResult:
        """The whole result, also that of a failure."""
        return self._engine().run(**self._request(args, kwargs))

    def spawn(self, *args: "P.args", **kwargs: "P.kwargs") -> Run:
        """A run that goes on by itself."""
        return self._engine().start(**self._request(args, kwargs))

    def map(self, arguments: Iterable[Mapping[str, Any]], *,
            concurrency: Optional[int] = None,
            on_error: str = "raise") -> "Iterator[Union[R, Exception]]":
        """The values in order. With on_error="return" an error stands in the
        place of its value."""
        runs = (self._request((), given) for given in arguments)
        for item in self._engine().batch(runs, concurrency=concurrency,
                                         ordered=True):
            try:
                if item.error is not None:
                    raise item.error
                assert item.result is not None
                yield cast(R, value_of(item.result))
            except Exception as error:
                if on_error == "raise":
                    raise
                yield error

    def put(self, client: Optional[Troupe] = None) -> StoredTool:
        """Keeps it in the engine, for everyone to call by its name."""
        tool: Dict[str, Any] = given(
            source_code=self.source, name=self.name,
            tags=list(self._tags) or None,
            pip_requirements=self._options.get("packages"))
        return (client or self._engine()).tools.put(**tool)

    @property
    def schema(self) -> Mapping[str, Any]:
        """Name, description and parameters, as models call it by: derived by
        the engine."""
        return self._engine().tools.derive_schema(
            self.source, function=self.name).schema

    def bind(self, client: Troupe) -> "Tool[P, R]":
        """The same for another client; the default is Troupe()."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._client = client
        return other

    def _engine(self) -> Troupe:
        if self._client is not None:
            return self._client
        if "client" not in _default:
            _default["client"] = Troupe()
        return cast(Troupe, _default["client"])

    def _request(self, args: Any, kwargs: Any) -> Any:
        bound = self._signature.bind(*args, **kwargs)
        arguments: Dict[str, Any] = {}
        for name, value in bound.arguments.items():
            kind = self._signature.parameters[name].kind
            if kind is inspect.Parameter.VAR_KEYWORD:
                arguments.update(value)
            else:
                arguments[name] = value
        return {**self._options, "source": self.source, "function": self.name,
                "args": arguments}


@overload
def tool(function: Callable[P, R]) -> "Tool[P, R]": ...


@overload
def tool(*, packages: Optional[Sequence[str]] = None,
         network: Optional[Network] = None, timeout: Optional[Seconds] = None,
         memory: Union[int, str, None] = None,
         isolation: Optional[str] = None, backend: Optional[str] = None,
         env: Optional[Mapping[str, str]] = None, tags: Sequence[str] = (),
         include: Iterable[Any] = ()
         ) -> "Callable[[Callable[P, R]], Tool[P, R]]": ...


def tool(function: Any = None, *, packages: Optional[Sequence[str]] = None,
         network: Optional[Network] = None, timeout: Optional[Seconds] = None,
         memory: Union[int, str, None] = None, isolation: Optional[str] = None,
         backend: Optional[str] = None,
         env: Optional[Mapping[str, str]] = None, tags: Sequence[str] = (),
         include: Iterable[Any] = ()) -> Any:
    """Makes a tool of a function. It travels alone: what it uses it imports
    itself, or names in `include` (functions, classes, modules)."""
    options = given(packages=packages, network=network, timeout=timeout,
                    memory=memory, isolation=isolation, backend=backend, env=env)

    def decorate(one: Any) -> Any:
        return Tool(one, options, tags, include)
    return decorate if function is None else decorate(function)
