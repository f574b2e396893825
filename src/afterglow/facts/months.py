"""The names of months and weekdays, in the languages that dates are read in."""

from __future__ import annotations

_MONTH_NAMES = [
    "january jan januar janvier enero styczeń stycznia",
    "february feb februar février febrero luty lutego",
    "march mar märz mars marzo marzec marca",
    "april apr avril abril kwiecień kwietnia",
    "may mai mayo maj maja",
    "june jun juni juin junio czerwiec czerwca",
    "july jul juli juillet julio lipiec lipca",
    "august aug août agosto sierpień sierpnia",
    "september sep sept septembre septiembre wrzesień września",
    "october oct oktober okt octobre octubre październik października",
    "november nov novembre noviembre listopad listopada",
    "december dec dezember dez décembre diciembre grudzień grudnia",
]
_DAY_NAMES = [
    "monday montag lundi lunes poniedziałek",
    "tuesday dienstag mardi martes wtorek",
    "wednesday mittwoch mercredi miércoles środa środę",
    "thursday donnerstag jeudi jueves czwartek",
    "friday freitag vendredi viernes piątek",
    "saturday samstag samedi sábado sobota sobotę",
    "sunday sonntag dimanche domingo niedziela niedzielę",
]
MONTHS = {name: number for number, names in enumerate(_MONTH_NAMES, 1) for name in names.split()}
DAYS = {name: number for number, names in enumerate(_DAY_NAMES) for name in names.split()}
MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
DAY = "|".join(sorted(DAYS, key=len, reverse=True))
