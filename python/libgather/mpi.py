# SPDX-License-Identifier: MIT
"""Rows of a table that is spread over the ranks of an mpi4py communicator.

    from mpi4py import MPI
    import libgather.mpi

    rows = libgather.mpi.take(MPI.COMM_WORLD, mine, ids)     # mine: the rows of this rank

For many takes from one table, `Plan(comm, mine)` keeps its buffers: `plan.take(ids)`. Every function is collective. An error of one rank
is raised on every rank, with the lowest failing rank as `error.rank`. A rank with invalid arguments raises the error about them.
docs/embed/mpi.md describes layouts and limits, docs/measured/nodes.md has figures.

libgather_mpi must be built for the MPI that mpi4py uses: `python -m libgather.build mpi`.
"""

import ctypes as c
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from libgather import _mpi_library as native
from libgather import errors
from libgather._integers import integers_of
from libgather._mpi_agree import STATUSES, compare, failure_of, files_of, gather_facts, rebuilt, short
from libgather.table import Path, Table
from libgather.table import open as open_table

__all__ = ["Plan", "PlanStatistics", "take"]


@dataclass(frozen=True)
class PlanStatistics:
    """Statistics of this rank since its plan was made.

    Attributes
    ----------
    takes, takes_kept, exchanges : int
        Takes; takes that reused the plan of the previous one, since no rank's ids had changed; exchanges of rows.
    ids, unique, repaired : int
        Ids requested; distinct ids; ids out of range that were replaced.
    rows_own, rows_hot, rows_received, rows_sent : int
        Distinct rows: this rank's own; replicated ones; received from other ranks; sent to them.
    hot_rows, memory_bytes : int
        Rows that are replicated now; bytes of buffers.
    seconds_plan, seconds_ids, seconds_gather, seconds_wait, seconds_place : float
        Time of each step.
    """

    takes: int
    takes_kept: int
    exchanges: int
    ids: int
    unique: int
    repaired: int
    rows_own: int
    rows_hot: int
    rows_received: int
    rows_sent: int
    hot_rows: int
    memory_bytes: int
    seconds_plan: float
    seconds_ids: float
    seconds_gather: float
    seconds_wait: float
    seconds_place: float


def take(comm: Any, mine: Any, ids: npt.ArrayLike, **options: Any) -> np.ndarray:
    """rows[i...] = table[ids[i...]], with a part of the table on each rank: `Plan(comm, mine, **options).take(ids)`. Collective."""
    with Plan(comm, mine, **options) as plan:
        return plan.take(ids)


class Plan:
    """A table over the ranks of a communicator. Collective, as are take() and close().

    Parameters
    ----------
    comm
        An mpi4py communicator within one group.
    mine
        The rows of this rank: an array, of which the plan keeps a view that each take reads; a `libgather.Table` of files or URLs; or a
        path or list of paths, which the plan opens and closes. A file that cannot be opened is then an error on every rank. All ranks
        have the same dtype and the same row shape. A rank without rows gives an array of length 0.
    layout
        "blocks": the rows of rank 0, then those of rank 1 ... "stripes": row i is row i // ranks of rank i % ranks. "splits": as given by
        `splits`. "same": every rank has the whole table, and no row is exchanged. "auto": "same" if the tables of all ranks have the
        same files, else "blocks".
    splits
        For "splits": ranks + 1 ascending numbers; rank p has the rows from splits[p] up to splits[p + 1].
    mode
        Policy for ids out of range: "raise" (or "error"), "clip" ("clamp"), "wrap", "zero", or "fill" with fill_value.
    negative
        Whether negative ids count from the end.
    rounds, buffer, hot_rows, seconds
        As rounds, buffer_bytes, hot_rows and seconds of gather_mpi_options in gather/mpi.h.

    Attributes
    ----------
    rank : int
        Of this process in the communicator.
    shape, dtype
        Of the whole table.
    layout, why : str
        The layout in use, and the reason in one sentence.
    """

    def __init__(
        self,
        comm: Any,
        mine: Any,
        *,
        layout: str = "auto",
        splits: Sequence[int] | None = None,
        mode: str = "raise",
        fill_value: Any = None,
        negative: bool = True,
        rounds: int = 0,
        buffer: int = 0,
        hot_rows: int = 0,
        seconds: float = 0,
    ) -> None:
        from mpi4py import MPI

        self._plan = c.c_void_p()
        self._opened: Table | None = None
        self._raised: BaseException | None = None
        self._failed = c.c_int32(-1)
        self._options = native.Options(size=c.sizeof(native.Options))
        self.rank = comm.Get_rank()
        failure: Exception | None = None
        try:
            self._library = native.find(MPI.Get_library_version())
            self._set_layout(comm.Get_size(), layout, splits)
            self._set_numbers(rounds, buffer, hot_rows, seconds)
            tensor = self._describe(self._rows_of(mine))
            self._set_policy(mode, fill_value, negative)
        except Exception as error:  # the others must hear of it
            failure = error
        try:
            self._agree(comm, failure, layout, seconds)
            self._create(comm, tensor)
        except BaseException:
            self._close_file()
            raise

    def _create(self, comm: Any, tensor: native.Tensor) -> None:
        from mpi4py import MPI

        size = MPI._sizeof(comm)
        handle = (c.c_int if size == c.sizeof(c.c_int) else c.c_void_p).from_address(MPI._addressof(comm))
        create = native.create_function(self._library, size)
        error = native.Error()
        self._check(create(handle, c.byref(tensor), c.byref(self._options), c.byref(self._plan), c.byref(error)), error)
        info = self._library.gather_mpi_plan_describe(self._plan).contents
        self.shape = (info.rows, *self._row_shape)
        self.layout, self.why = native.LAYOUTS[info.layout], info.why.decode()

    # ---- what is given ----

    def _rows_of(self, mine: Any) -> Any:
        several = isinstance(mine, list | tuple) and len(mine) > 0 and all(isinstance(part, Path) for part in mine)
        if not several and not isinstance(mine, Path):
            return mine
        self._opened = open_table(mine)
        return self._opened

    def _set_layout(self, ranks: int, layout: str, splits: Sequence[int] | None) -> None:
        if layout not in native.LAYOUTS:
            raise ValueError(f"layout must be one of {', '.join(native.LAYOUTS)}, not {layout!r}")
        if (layout == "splits") != (splits is not None):
            raise ValueError("splits need layout='splits', and layout='splits' needs splits")
        self._options.layout = native.LAYOUTS.index(layout)  # of "auto", _agree() knows
        if splits is not None:
            if len(splits) != ranks + 1:
                raise ValueError(f"splits must be {ranks + 1} numbers, not {len(splits)}")
            self._options.splits = (c.c_int64 * len(splits))(*splits)

    def _set_numbers(self, rounds: int, buffer: int, hot_rows: int, seconds: float) -> None:
        self._options.rounds, self._options.buffer_bytes = rounds, buffer
        self._options.hot_rows, self._options.seconds = hot_rows, seconds
        self._options.failed_rank = c.pointer(self._failed)

    def _set_policy(self, mode: str, fill_value: Any, negative: bool) -> None:
        if mode not in native.ON_BAD:
            raise ValueError(f"mode must be one of raise, clip, wrap, zero, fill, not {mode!r}")
        if (mode == "fill") != (fill_value is not None):
            raise ValueError("fill_value needs mode='fill', and mode='fill' needs fill_value")
        self._options.on_bad = native.ON_BAD[mode]
        self._options.negative = 1 if negative else 2
        if mode == "fill":
            # A row is one element for the library, so the value is a row.
            self._fill = np.full(self._row_shape, fill_value, self.dtype)
            self._options.fill = self._fill.ctypes.data

    def _describe(self, mine: Any) -> native.Tensor:
        """The rows of this rank as opaque elements of a row's bytes."""
        if isinstance(mine, Table):
            self._mine: Any = mine
            self._options.read = self._reader = native.READ(self._read)
            data, step = None, None
        else:
            self._mine = array = mine if isinstance(mine, np.ndarray) else np.asarray(mine)
            if array.ndim < 1:
                raise ValueError("the rows of a rank need at least one dimension")
            if array.dtype.hasobject:
                raise TypeError("rows of Python objects cannot be sent to other ranks")
            if len(array) and not array[0].flags.c_contiguous:
                raise ValueError("each row must be contiguous in memory: numpy.ascontiguousarray(mine)")
            data, step = array.ctypes.data, array.strides[0]
        self.dtype, self._row_shape = np.dtype(self._mine.dtype), tuple(self._mine.shape[1:])
        self._row_bytes = self.dtype.itemsize * int(np.prod(self._row_shape, dtype=np.int64))
        self._shape = (c.c_int64 * 1)(self._mine.shape[0])
        tensor = native.Tensor(data=data, type=native.OPAQUE, rank=1, item_bytes=self._row_bytes, shape=self._shape)
        if step is not None:
            self._strides = (c.c_int64 * 1)(step)
            tensor.strides = self._strides
        return tensor

    def _agree(self, comm: Any, failure: Exception | None, layout: str, seconds: float) -> None:
        """Reports a rank that failed to every rank, and compares the dtypes of rows, which are bytes to the library. The result is the same
        on every rank."""
        fact: dict[str, Any] = {"layout": layout}
        if failure is None:
            fact |= {"dtype": short(self.dtype.str if self.dtype.names is None else str(self.dtype)), "shape": short(str(self._row_shape))}
            fact["files"] = files_of(self._mine)
        else:
            fact["failure"] = failure_of(failure)
        facts = gather_facts(comm, fact, seconds)
        if failure is not None:
            raise failure
        for rank, found in enumerate(facts):
            if "failure" in found:
                raise rebuilt(rank, found["failure"])
        compare(facts)
        if layout == "auto":
            files = facts[0]["files"]
            same = len(facts) > 1 and files is not None and all(found["files"] == files for found in facts)
            self._options.layout = native.LAYOUTS.index("same" if same else "blocks")

    def _read(self, _: Any, ids: Any, rows: Any, error: Any) -> int:
        """Rows of a Table, for the library."""
        try:
            count = ids[0].shape[0]
            numbers = np.ctypeslib.as_array(c.cast(ids[0].data, c.POINTER(c.c_int64)), (count,)) if ids[0].type == native.INT64 else None
            if numbers is None:
                numbers = np.ctypeslib.as_array(c.cast(ids[0].data, c.POINTER(c.c_uint32)), (count,))
            memory = (c.c_char * (count * self._row_bytes)).from_address(rows[0].data)
            self._mine.take(numbers, out=np.frombuffer(memory, self.dtype).reshape(count, *self._row_shape))
        except BaseException as raised:  # it is raised again when the library has returned
            self._raised = raised
            c.memset(error, 0, c.sizeof(native.Error))
            told = error[0]
            told.status = getattr(raised, "code", None) or STATUSES.index("io_error")
            told.message = str(raised).encode()[:500]
            told.file = (getattr(raised, "file", None) or "").encode()[-255:]
            told.file_offset = told.row = told.axis = told.position_rank = -1
            if getattr(raised, "row", None) is not None:
                told.row = raised.row
            return told.status
        return 0

    # ---- what it does ----

    def take(self, ids: npt.ArrayLike, *, out: np.ndarray | None = None) -> np.ndarray:
        """rows[i...] = table[ids[i...]]. Collective: a rank that wants no rows gives an empty array of integers.

        Parameters
        ----------
        ids
            Integers of any dtype and shape.
        out
            Where the rows go: C-contiguous, of the table's dtype, of the shape of the ids followed by that of a row.

        Raises
        ------
        GatherIndexError
            An id of some rank is out of range; no row has moved. `rank`, `position`, `value`, `low`, `high`, `bad_count`.
        GatherFileError
            Rows of some rank could not be read, a rank did not answer in time, or MPI failed.
        """
        self._open()
        error, failure, arguments = native.Error(), None, None
        # A rank whose arguments are wrong takes part with arguments that the library refuses, so that no other rank waits for it.
        try:
            arguments, out, failure = self._arguments(ids, out)
        except Exception as raised:
            failure = raised
        expected, rows = arguments if arguments is not None else (None, None)
        status = self._library.gather_mpi_take(
            self._plan, None if expected is None else c.byref(expected), None if rows is None else c.byref(rows), c.byref(error)
        )
        if failure is not None:
            self._raised = None
        try:
            self._check(status, error)
        except errors.GatherError as agreed:
            # Every rank has the error of the lowest rank that fails; that one says in Python's words what is wrong.
            if failure is not None and getattr(agreed, "rank", self.rank) == self.rank:
                raise failure from None
            raise
        assert out is not None
        return out

    def _arguments(self, ids: Any, out: Any) -> tuple[tuple[native.Tensor, native.Tensor | None], np.ndarray, Exception | None]:
        """Ids and rows for the library, and their error: the library refuses ids with an error, and calls without rows."""
        failure: Exception | None = None
        try:
            numbers = integers_of(ids)
        except errors.GatherError as error:
            error.rank = self.rank
            numbers, failure = np.zeros(0), error
        wrong = failure is not None
        if not wrong:
            numbers = np.ascontiguousarray(numbers, np.uint64 if numbers.dtype == np.uint64 else np.int64).reshape(numbers.shape)
        shape = (*numbers.shape, *self._row_shape)
        if out is None:
            out = np.empty(shape, self.dtype)
        if not isinstance(out, np.ndarray):
            raise TypeError(f"out must be an array, not {type(out).__name__}")
        if failure is None and not (out.shape == shape and out.dtype == self.dtype and out.flags.c_contiguous and out.flags.writeable):
            failure = errors.GatherValueError(
                f"out must be C-contiguous and writeable, {self.dtype} of shape {shape}, not {out.dtype} of shape {out.shape}",
                status="usage", code=STATUSES.index("usage"), input="output", rank=self.rank,
            )  # fmt: skip
        expected = self._tensor_of(numbers, wrong)
        if failure is not None and not wrong:
            return (expected, None), out, failure
        rows = native.Tensor(data=out.ctypes.data, type=native.OPAQUE, rank=numbers.ndim, item_bytes=self._row_bytes, shape=expected.shape)
        return (expected, rows), out, failure

    def _tensor_of(self, numbers: np.ndarray, wrong: bool) -> native.Tensor:
        """Ids for the library. wrong: ids that are not integers get a type that the library refuses."""
        shape = (c.c_int64 * max(numbers.ndim, 1))(*numbers.shape)
        kind = native.OPAQUE if wrong else native.UINT64 if numbers.dtype == np.uint64 else native.INT64
        self._ids = (numbers, shape)
        return native.Tensor(data=numbers.ctypes.data, type=kind, rank=numbers.ndim, item_bytes=numbers.itemsize, shape=shape)

    def statistics(self) -> PlanStatistics:
        """Statistics of this rank. Not collective."""
        self._open()
        found = native.Statistics()
        self._library.gather_mpi_plan_statistics(self._plan, c.byref(found))
        return PlanStatistics(**{name: getattr(found, name) for name in (*native.COUNTS, *native.SECONDS)})

    def close(self) -> None:
        """Frees the buffers and the duplicate of the communicator. Collective, before MPI ends. A second call does nothing."""
        plan, self._plan = self._plan, c.c_void_p()
        if plan:
            self._library.gather_mpi_plan_destroy(plan)
        self._close_file()

    def _close_file(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            opened.close()

    def __enter__(self) -> "Plan":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self) -> None:
        if not self._plan:
            raise ValueError("the plan is closed")

    def _check(self, status: int, error: native.Error) -> None:
        raised, self._raised = self._raised, None
        if status == 0:
            return
        index = None
        if STATUSES[status] == "index_out_of_range":
            value = error.value % 2**64 if error.value_is_unsigned else error.value
            index = (tuple(error.position[: error.position_rank]), value, error.low, error.high, error.axis, error.bad_count)
        text = [None if word is None else word.decode() for word in (error.op, error.rules, error.input)]
        made = errors.make(
            STATUSES[status], status, error.message.decode(errors="replace"), *text, index,
            error.file.decode(errors="replace") or None, error.file_offset, error.row, error.system_error,
        )  # fmt: skip
        made.rank = self._failed.value if self._failed.value >= 0 else None
        raise made from raised
