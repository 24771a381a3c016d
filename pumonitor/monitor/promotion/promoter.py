"""Promote a version of a registered model, undo it, and settle what a dead process left.

The registry cannot move an alias on condition that nobody else has, and keeps no history. So a
promotion is written to the ledger before the registry is touched, and the alias is read before and
after.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from datetime import timedelta
from functools import partial
from typing import Final

from pumonitor.errors import InputError, PumonitorError
from pumonitor.monitor.config.sections.destinations import Destination
from pumonitor.monitor.ledger.claims.renewal import surely_held
from pumonitor.monitor.ledger.database.errors import StaleClaimError, StateError
from pumonitor.monitor.ledger.promotions import StoredPromotions
from pumonitor.monitor.ledger.records.promotions import (
    Evidence,
    NewPromotion,
    Promotion,
    Settled,
)
from pumonitor.monitor.page_addresses import PageAddresses
from pumonitor.monitor.promotion.announcing import messages_about
from pumonitor.monitor.promotion.registry import Registry, RegistryError
from pumonitor.monitor.promotion.tags import note_undone, tag_evidence, take_back_tags
from pumonitor.text import moment_text

CHAMPION: Final = "champion"
PREVIOUS: Final = "previous"
_LEASE: Final = timedelta(minutes=2)


class PromotionRefusedError(PumonitorError):
    """The registry is not as it was when models were compared, so the alias was not moved."""


class Promoter:
    """Moves aliases of registered models, with the ledger's history and lock.

    Parameters
    ----------
    stored : StoredPromotions
    registry : Registry
    destinations : mapping of str to Destination, optional
        Who is notified.
    pages : PageAddresses, optional
        For links in notifications.
    lease : timedelta, optional
        Time after which another process settles a promotion that is neither ended nor renewed.
        Of a process known to be dead it does so at once.
    on_step : callable, optional
        Called with the name of each step before it is made.

    Notes
    -----
    A promotion has these steps: *begin* it in the ledger; *read* the alias, which must point to the
    version that was compared; *tag* the new version with the evidence; read the alias again and
    *move* it; *keep* the version before under the alias ``previous``; *check* both; *settle* it in
    the ledger, with messages. An undo is the same the other way.

    Between reading and moving the alias somebody else may move it in the registry itself, which
    nothing prevents; reading it once more before it is moved makes that time one request long.
    """

    def __init__(
        self,
        stored: StoredPromotions,
        registry: Registry,
        *,
        destinations: Mapping[str, Destination] | None = None,
        pages: PageAddresses | None = None,
        lease: timedelta = _LEASE,
        on_step: Callable[[str], None] = lambda step: None,
    ) -> None:
        self._stored = stored
        self._registry = registry
        self._messages_about = partial(
            messages_about, destinations=dict(destinations or {}), pages=pages
        )
        self._lease = lease
        self._on_step = on_step

    def promote(
        self,
        monitor: str,
        model: str,
        *,
        compared_with: str | None,
        version: str,
        evidence: Evidence,
        actor: str,
        alias: str = CHAMPION,
    ) -> Promotion:
        """Deploy a version: the alias is moved to it.

        Parameters
        ----------
        monitor : str
        model : str
            Name of the registered model.
        compared_with : str or None
            Version that had the alias when models were compared; None without the alias.
        version : str
        evidence : Evidence
        actor : str
            Whoever does it.
        alias : str

        Raises
        ------
        InputError
            If it is the version that has the alias already.
        PromotionUnderWayError
            If another promotion of the model is under way.
        PromotionRefusedError
            If the alias points to another version than was compared, or there is no such version.
        RegistryError
            If the registry cannot be used. If that was after the alias may have been moved, the
            next promotion, undo or round finds out and settles it.
        StaleClaimError
            If another process has settled it, as this one was stopped for longer than the lease.
        """
        if version == compared_with:
            msg = f"version {version} of model {model} is {alias} already"
            raise InputError(msg)
        self.heal(model)
        wanted = NewPromotion(
            monitor=monitor,
            model=model,
            alias=alias,
            action="promote",
            from_version=compared_with,
            to_version=version,
            actor=actor,
            evidence=evidence,
        )
        return self._make(wanted)

    def undo(self, monitor: str, model: str, *, actor: str, alias: str = CHAMPION) -> Promotion:
        """Move the alias back to the version before the last promotion.

        Raises
        ------
        InputError
            If there is no promotion, it is undone already, or there was no version before it.
        PromotionUnderWayError, PromotionRefusedError, RegistryError, StaleClaimError
            As `promote`.
        """
        self.heal(model)
        last = self._stored.last_done(model, alias=alias)
        if last is None:
            msg = f"there is no promotion of model {model} to undo: none is in this state database"
            raise InputError(msg)
        if last.action == "undo":
            msg = (
                f"the last promotion of model {model} was undone already, on "
                f"{moment_text(last.ended_at)} by {last.actor}: only the last one can be "
                f"undone. To deploy another version, move alias {alias} in the registry"
            )
            raise InputError(msg)
        if last.from_version is None:
            msg = (
                f"before the promotion of version {last.to_version} no version of model {model} "
                f"was {alias}, so there is none to go back to: delete the alias in the registry if "
                "none is to be deployed"
            )
            raise InputError(msg)
        wanted = NewPromotion(
            monitor=monitor,
            model=model,
            alias=alias,
            action="undo",
            from_version=last.to_version,
            to_version=last.from_version,
            actor=actor,
            undoes=last.id,
        )
        return self._make(wanted)

    def heal(self, model: str | None = None) -> tuple[Promotion, ...]:
        """Settle what processes left behind that ended, or were stopped, in the middle.

        What the alias points to decides: to the new version, and the promotion is done; to the old
        one, and it is abandoned; to another, and it is refused. Returns what was settled.

        Parameters
        ----------
        model : str, optional
            By default all models.

        Raises
        ------
        RegistryError
            If the registry cannot be used; it stays to be settled.
        """
        settled = []
        while (left := self._stored.take_over(model, lease=self._lease)) is not None:
            try:
                with self._holding(left) as holds:
                    settled.append(self._healed(left, holds))
            except BaseException:
                self._free(left)
                raise
        return tuple(settled)

    def _make(self, wanted: NewPromotion) -> Promotion:
        self._on_step("begin")
        begun = self._stored.begin(wanted, lease=self._lease)
        moved = False
        try:
            with self._holding(begun) as holds:
                self._on_step("read")
                self._prepare(begun)
                self._on_step("move")
                self._refuse_other_version(begun)
                self._refuse_lost(begun, holds)
                moved = True
                self._registry.move(begun.model, begun.alias, begun.to_version)
                return self._finished(begun, holds)
        except PromotionRefusedError as error:
            self._settle_not_done(begun, "refused", error)
            raise
        except RegistryError as error:
            if not moved:
                self._settle_not_done(begun, "abandoned", error)
                raise
            self._free(begun)
            msg = (
                f"{error}. Alias {begun.alias} of model {begun.model} may have been moved to "
                f"version {begun.to_version}: the next promotion, undo or round finds out"
            )
            raise RegistryError(msg) from None
        except BaseException:
            self._free(begun)
            raise

    def _prepare(self, begun: Promotion) -> None:
        """Refuse what is not as it was compared, then write the evidence to the new version."""
        self._refuse_other_version(begun)
        if self._registry.tags(begun.model, begun.to_version) is None:
            msg = (
                f"model {begun.model} has no version {begun.to_version} in the registry: alias "
                f"{begun.alias} was not moved"
            )
            raise PromotionRefusedError(msg)
        self._on_step("tag")
        tag_evidence(self._registry, begun)

    def _refuse_other_version(self, begun: Promotion) -> None:
        now_at = self._registry.version_at(begun.model, begun.alias)
        if now_at == begun.from_version:
            return
        there = "does not exist" if now_at is None else f"points to version {now_at}"
        if begun.action == "promote" and now_at == begun.to_version:
            msg = (
                f"version {begun.to_version} of model {begun.model} is {begun.alias} already: "
                "somebody else has moved the alias since models were compared"
            )
        elif begun.action == "undo":
            msg = (
                f"alias {begun.alias} of model {begun.model} {there}, and the last promotion set "
                f"it to version {begun.from_version}: somebody else has moved it since, and it was "
                "left as it is"
            )
        else:
            before = begun.from_version
            compared = "no version, as there was no such alias" if before is None else before
            msg = (
                f"alias {begun.alias} of model {begun.model} {there}, and version "
                f"{begun.to_version} was compared with {compared}: it was left as it is; compare "
                "again"
            )
        raise PromotionRefusedError(msg)

    def _refuse_lost(self, held: Promotion, holds: Callable[[], bool]) -> None:
        if not holds():
            self._stored.renew(held, lease=self._lease)

    def _finished(
        self, held: Promotion, holds: Callable[[], bool], *, reason: str = ""
    ) -> Promotion:
        """Do what follows once the alias is moved; doing it again changes nothing."""
        model, before = held.model, held.from_version
        self._on_step("keep")
        if before is not None:
            self._refuse_lost(held, holds)
            self._registry.move(model, PREVIOUS, before)
        self._on_step("check")
        now_at = self._registry.version_at(model, held.alias)
        if now_at != held.to_version:
            there = "was deleted" if now_at is None else f"points to version {now_at}"
            msg = (
                f"alias {held.alias} of model {model} was moved to version {held.to_version} and "
                f"now {there}: somebody else moves it at the same time, and it was left as it is"
            )
            raise PromotionRefusedError(msg)
        if before is not None and self._registry.version_at(model, PREVIOUS) != before:
            reason = f"{reason}; somebody else moves alias {PREVIOUS}".removeprefix("; ")
        if held.action == "undo":
            note_undone(self._registry, held)
        self._on_step("settle")
        return self._stored.settle(held, "done", reason=reason, messages_of=self._messages_about)

    def _healed(self, left: Promotion, holds: Callable[[], bool]) -> Promotion:
        self._on_step("heal")
        now_at = self._registry.version_at(left.model, left.alias)
        if now_at == left.to_version:
            try:
                return self._finished(
                    left, holds, reason=f"the process of {left.actor} ended early"
                )
            except PromotionRefusedError as error:
                return self._stored.settle(left, "refused", reason=str(error))
        take_back_tags(self._registry, left)
        if now_at == left.from_version:
            why = f"the process of {left.actor} ended before alias {left.alias} was moved"
            return self._stored.settle(left, "abandoned", reason=why)
        there = "does not exist" if now_at is None else f"points to version {now_at}"
        why = (
            f"the process of {left.actor} ended early, and alias {left.alias} {there}, which is "
            "neither the version before nor the new one: somebody else has moved it"
        )
        return self._stored.settle(left, "refused", reason=why)

    def _settle_not_done(self, begun: Promotion, state: Settled, error: PumonitorError) -> None:
        # The error that is raised says why; what is not settled here, the next one settles.
        with suppress(RegistryError):
            take_back_tags(self._registry, begun)
        with suppress(StateError, StaleClaimError):
            self._stored.settle(begun, state, reason=str(error))

    def _holding(self, held: Promotion) -> AbstractContextManager[Callable[[], bool]]:
        return surely_held(partial(self._stored.renew, held, lease=self._lease), lease=self._lease)

    def _free(self, held: Promotion) -> None:
        """Let others settle it; if the state database does not answer, the lease runs out."""
        with suppress(StateError, StaleClaimError):
            self._stored.free(held)
