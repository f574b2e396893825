"""Pairs of facts, labelled by what a careful reader says of the second when the first is known already.

`same`: it says nothing new; other words, another order, or a little more or less detail. `replaces`: both cannot hold
at once, and the second is the newer. `different`: both can hold. Every other pair is held out: limits are tuned on the
rest and measured on those.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, cast

Label = Literal["same", "replaces", "different"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """Two facts of one owner, the older one first."""

    first: str
    second: str
    label: Label
    held_out: bool


SAME = """
Anna prefers aisle seats on flights.
~ On flights, Anna prefers to sit on the aisle.
The user does not eat meat.
~ The user is a vegetarian and eats no meat.
The user is allergic to peanuts.
~ The user has a peanut allergy.
The team decided to use PostgreSQL.
~ It was decided that the team uses PostgreSQL.
The launch was moved to 20 April 2026.
~ The launch is now on 20 April 2026.
The dentist appointment is on 12 March 2026 at 9:30.
~ There is a dentist appointment on 12 March 2026 at 9:30.
The user wants answers in German.
~ The user wants to be answered in German.
Ben is the user's brother.
~ The user has a brother called Ben.
The user's sister Lena has her birthday on 14 March.
~ Lena, the user's sister, was born on 14 March.
The build passed on 3 March 2026.
~ On 3 March 2026 the build was successful.
The user wants tabs instead of spaces in code.
~ Code should be indented with tabs and not with spaces, the user says.
The user never wants flights booked before 9:00.
~ The user does not want to fly before 9 in the morning.
Jonas Weber leads the data team.
~ The data team is led by Jonas Weber.
The contract with the cleaning firm is not renewed.
~ It was decided not to renew the contract with the cleaning firm.
The landlord has not answered about the heating yet.
~ The user is still waiting for the landlord's answer about the heating.
The user lives in Zürich.
~ Zürich is where the user lives.
The user lives in Zürich with two cats.
~ The user has two cats and lives in Zürich.
The user works as a nurse at the children's hospital.
~ The user is a nurse at the children's hospital.
The grant proposal was finished on 1 March 2026.
~ On 1 March 2026 the user completed the grant proposal.
Pull request 118 was merged on 2 March 2026.
~ PR 118 was merged on 2 March 2026.
The user prefers the train to the plane.
~ The user would rather take the train than fly.
The user dislikes phone calls and prefers text messages.
~ The user prefers text messages to phone calls.
Mia and Tom are coming to dinner on 7 March 2026.
~ On 7 March 2026 there is a dinner with Mia and Tom.
The user's daughter Ida was born on 11 February 2026.
~ Ida, the user's daughter, was born on 11 February 2026.
The workshop of 24 March 2026 takes place in room 12.
~ Room 12 is where the workshop of 24 March 2026 takes place.
The user likes coffee black, without sugar.
~ The user drinks coffee without milk and sugar.
The user wants no emojis in work mails.
~ Work mails should hold no emojis, as the user wishes.
The user wants the digest in the evening, after seven.
~ The user wants to get the digest after 19:00.
Support for Python 3.10 ends with the next release.
~ The next release drops support for Python 3.10.
The user has to renew the passport before the summer of 2026.
~ Before summer 2026 the user must get the passport renewed.
Priya took over from Marek as product lead.
~ Priya is the new product lead, following Marek.
The tax return for 2025 is filed.
~ The user has filed the 2025 tax return.
The user's boss is Ingrid Falk.
~ Ingrid Falk is the user's manager.
The car failed its inspection on 26 February 2026.
~ On 26 February 2026 the car did not pass the inspection.
The wedding of the user's sister is on 6 June 2026 in Graz.
~ The user's sister gets married in Graz on 6 June 2026.
The user wants to be called Ana.
~ The user's preferred name is Ana.
The last service was migrated to the new cluster on 27 February 2026.
~ On 27 February 2026 the migration of the last service to the new cluster was done.
The user prefers pytest to unittest.
~ Of pytest and unittest, the user prefers pytest.
The user's son Emil plays the cello.
~ Emil, the user's nine-year-old son, plays the cello.
The user reviews no pull requests over 400 lines.
~ Pull requests of more than 400 lines are not reviewed by the user.
The meeting with the architects was cancelled.
~ The architects' office cancelled the meeting.
The user finds bullet points easier to read than paragraphs.
~ The user reads bullet points more easily than paragraphs.
The user wants to be asked before anything is deleted.
~ Nothing may be deleted without asking the user first.
Dr. Okafor is the family's paediatrician.
~ The children's doctor of the family is Dr. Okafor.
The summer holidays will be in Lisbon.
~ The user goes to Lisbon for the summer holidays.
The parcel was delivered on 28 February 2026 at 10:42.
~ The parcel arrived on 28 February 2026.
Marek is on parental leave from 9 March 2026.
~ Marek's parental leave starts on 9 March 2026.
The user does not drink alcohol.
~ The user drinks no alcohol.
The user wants British spelling in publications.
~ Everything the user publishes should be in British English spelling.
The flaky test in test_export is not understood yet.
~ Nobody knows yet why test_export is flaky.
Flight LH 456 lands at 14:05 on 6 March 2026.
~ On 6 March 2026, LH 456 arrives at 2:05 pm.
The password policy asks for 14 characters.
~ Passwords must have at least 14 characters under the policy.
The user thinks best in the mornings.
~ Mornings are the time when the user can think best.
The user starts a new job on 1 April 2026.
~ The user's new job begins on 1 April 2026.
The old parser is kept and mended instead of rewritten.
~ There will be no rewrite; the old parser is kept and repaired.
The committee will repeat the survey in autumn 2026.
~ The committee decided to repeat the survey in the autumn of 2026.
The user wants quiet hotel rooms, the view does not matter.
~ In hotels, a quiet room matters more to the user than the view.
The server room was flooded on 1 March 2026.
~ There was a flood in the server room on 1 March 2026.
The user keeps Fridays free of appointments.
~ The user wants no appointments on Fridays.
The talk about memory poisoning is on 9 April 2026 in Brno.
~ On 9 April 2026 the user gives a talk on memory poisoning in Brno.
The user uses metric units.
~ The user wants measurements in metric units.
Nadia is the new security officer.
~ The position of security officer is now held by Nadia.
The gym membership was cancelled.
~ The user cancelled the membership at the gym.
The user is learning Portuguese in 2026.
~ In 2026 the user is taking up Portuguese.
The marathon takes place on 19 April 2026, and the user runs it as number 2214.
~ The user runs the marathon on 19 April 2026.
The user wants commit messages in the imperative.
~ Commit messages should be written in the imperative mood for the user.
The data team chose DuckDB for the reports.
~ DuckDB was chosen by the data team for reporting.
The user's limit for hotels is 150 euros a night.
~ The user does not want to pay more than 150 euros per night for a hotel.
Oskar is Mia's dog.
~ Mia has a dog named Oskar.
The certificate of the test server expires on 30 April 2026.
~ The test server's certificate is valid until 30 April 2026.
"""

REPLACES = """
The user lives in Zürich.
~ The user moved to Bern on 1 March 2026.
The user's boss is Ingrid Falk.
~ The user's boss is Henrik Dahl since 1 April 2026.
The launch is on 20 April 2026.
~ The launch was moved to 4 May 2026.
The dentist appointment is on 12 March 2026 at 9:30.
~ The dentist appointment was moved to 19 March 2026 at 11:00.
The user does not eat meat.
~ The user eats meat again.
The user wants answers in German.
~ The user wants answers in English from now on.
The team uses PostgreSQL.
~ The team switched from PostgreSQL to SQLite.
The user prefers aisle seats.
~ The user now prefers window seats.
The landlord has not answered about the heating yet.
~ The landlord answered about the heating on 3 March 2026.
Jonas leads the data team.
~ Jonas no longer leads the data team.
The user works as a nurse at the children's hospital.
~ The user left the children's hospital and works for a school.
The workshop takes place in room 12.
~ The workshop takes place in room 4.
The user likes coffee black.
~ The user has stopped drinking coffee.
The meeting with the architects is on 10 March 2026.
~ The meeting with the architects on 10 March 2026 was cancelled.
The user has two cats.
~ The user has three cats.
The tax return for 2025 is not filed yet.
~ The tax return for 2025 was filed on 2 March 2026.
The digest is wanted in the evening.
~ The digest is wanted in the morning, at seven.
The user's favourite editor is Helix.
~ The user went back to Vim and no longer uses Helix.
The summer holidays will be in Lisbon.
~ The summer holidays will be in Gdańsk instead of Lisbon.
The password policy asks for 12 characters.
~ The password policy asks for 14 characters since January 2026.
Priya is the product lead.
~ Marek is the product lead again.
The user wants tabs in code.
~ The user wants four spaces instead of tabs in code.
Emil is eight years old.
~ Emil turned nine on 2 March 2026.
The beta has 40 testers.
~ The beta has 65 testers.
The kitchen will be painted yellow.
~ The kitchen will be painted white after all.
The user is single.
~ The user got married on 28 February 2026.
The hotel limit is 150 euros a night.
~ The hotel limit is 180 euros a night.
The user's phone is a Pixel 7.
~ The user replaced the Pixel 7 with a Fairphone.
The contract with the cleaning firm is not renewed.
~ The contract with the cleaning firm was renewed for a year.
The team works five days a week.
~ The team works four days a week from May 2026 on.
The user is waiting for the lab results.
~ The lab results arrived on 3 March 2026 and are fine.
The concert of 21 March 2026 has tickets left.
~ The concert of 21 March 2026 is sold out.
The user never drinks alcohol.
~ The user drinks a glass of wine now and then.
Flight LH 456 lands at 14:05 on 6 March 2026.
~ Flight LH 456 lands at 15:20 on 6 March 2026.
Mia lives with Tom.
~ Mia moved out of Tom's flat.
The user wants newsletters ignored in the inbox.
~ The user wants newsletters summarised too.
The current release is 2.4.
~ The current release is 2.5.
The user studies law in Vienna.
~ The user dropped out of law school in Vienna.
The choir rehearses on Wednesdays.
~ The choir rehearses on Thursdays since March 2026.
The old parser will be rewritten.
~ The rewrite of the old parser is off.
The user's car is a Škoda.
~ The user sold the Škoda and has no car.
The museum is closed on Mondays.
~ The museum is open on Mondays since March 2026.
Grandma is coming on 7 March 2026.
~ Grandma cannot come on 7 March 2026.
The user runs three times a week.
~ The user has not been running since the knee operation.
Bug 77 is fixed.
~ Bug 77 was reopened.
The user allows reminders at night.
~ The user wants no reminders at night.
Carlos is in the accounting team.
~ Carlos moved from accounting to sales.
The stand-up is at 9:00.
~ The stand-up is at 9:30.
The user prefers long answers with examples.
~ The user prefers short answers.
It is open who takes the dog in August 2026.
~ Frau Lindner takes the dog in August 2026.
"""

DIFFERENT = """
Anna prefers aisle seats on flights.
~ Anna prefers vegetarian meals on flights.
Anna prefers aisle seats on flights.
~ Ben prefers aisle seats on flights.
The user does not eat meat.
~ The user does not drink alcohol.
The user is allergic to peanuts.
~ The user's daughter is allergic to peanuts.
The dentist appointment is on 12 March 2026 at 9:30.
~ The eye doctor's appointment is on 12 March 2026 at 11:00.
The build passed on 3 March 2026.
~ The build passed on 5 March 2026.
The build passed on 3 March 2026.
~ The build failed on 2 March 2026.
Pull request 118 was merged on 2 March 2026.
~ Pull request 119 was merged on 2 March 2026.
The user lives in Zürich.
~ The user works in Zürich.
The user lives in Zürich.
~ The user's brother lives in Bern.
The user's boss is Ingrid Falk.
~ Ben's boss is Henrik Dahl.
Jonas leads the data team.
~ Jonas plays in the company's football team.
The workshop of 24 March 2026 is in room 12.
~ The workshop of 31 March 2026 is in room 4.
The launch of the website is on 20 April 2026.
~ The launch of the mobile app is on 4 May 2026.
The user wants answers in German.
~ The user wants mails to the ministry written in French.
The user wants tabs in Go code.
~ The user wants four spaces in Python code.
Ida was born on 11 February 2026.
~ Emil was born on 11 February 2017.
The user does not want flights booked before 9:00.
~ The user does not want meetings before 10:00.
The team decided to use PostgreSQL.
~ The team decided to use Redis for the queue.
The team decided to use PostgreSQL for orders.
~ The data team decided to use DuckDB for reports.
Support for Python 3.10 ends with release 2.4.
~ Support for Python 3.11 ends with release 3.0.
Flight LH 456 lands at 14:05 on 6 March 2026.
~ Flight LH 457 lands at 18:40 on 15 March 2026.
Flight LH 456 lands at 14:05 on 6 March 2026.
~ Flight LH 456 landed at 14:31 on 27 February 2026.
The landlord has not answered about the heating yet.
~ The landlord has not answered about the balcony yet.
The landlord has not answered about the heating yet.
~ The heating was last serviced in October 2025.
The user has two cats.
~ The user has two children.
The user dislikes phone calls.
~ The user dislikes surprises in production.
Mia and Tom are coming to dinner on 7 March 2026.
~ Mia and Tom are coming to the hike on 8 March 2026.
Mia finished the poster.
~ Mia finished the invitation cards.
The tax return for 2024 is filed.
~ The tax return for 2025 is not filed yet.
The full backup of 1 March 2026 completed.
~ The full backup of 22 February 2026 completed.
The password policy asks for 14 characters.
~ The password policy was written by Nadia.
Nadia is the security officer.
~ Nadia is on holiday from 9 to 13 March 2026.
The user likes black coffee.
~ The user likes dark chocolate.
The user prefers the train to the plane.
~ The user's wife prefers the plane to the train.
The user wants no emojis in work mails.
~ The user wants no attachments in work mails.
The meeting with the architects was cancelled.
~ The meeting with the lawyers was cancelled.
The museum is closed on Mondays.
~ The library is closed on Mondays.
The museum is closed on Mondays.
~ The museum is open on Saturdays from 10:00 to 18:00.
The parcel from Leipzig arrived on 28 February 2026.
~ The parcel to Leipzig was sent on 28 February 2026.
Priya took over from Marek as product lead.
~ Marek took over from Carlos as head of support.
The summer holidays will be in Lisbon.
~ The Easter holidays will be in Graz.
The user's sister gets married on 6 June 2026.
~ The user's cousin gets married on 20 June 2026.
The marathon is on 19 April 2026.
~ The half marathon is on 11 October 2026.
The user is not renewing the gym membership.
~ The user is not renewing the newspaper subscription.
The certificate of the test server expires on 30 April 2026.
~ The certificate of the mail server expires on 30 June 2026.
Bug 77 is fixed.
~ Bug 78 is not fixed yet.
The beta has 40 testers.
~ The beta has 12 known bugs.
The survey was answered by 62 % of the people.
~ The survey will be repeated in autumn 2026.
Emil plays the cello.
~ Emil is nine years old.
Emil plays the cello.
~ Ben plays the cello.
The choir rehearses on Wednesdays.
~ The football team trains on Thursdays.
The car failed its inspection on 26 February 2026.
~ The car was repaired on 2 March 2026.
The user wants to be asked before anything is deleted.
~ The user wants to be asked before an invitation is accepted.
The user wants the digest after seven in the evening.
~ The user wants no deploys after 16:00.
The disk /srv is 81 % full.
~ The disk /home is 44 % full.
Release 2.4.1 was rolled out on 2 March 2026.
~ Release 2.4.0 was rolled out on 16 February 2026.
The user is learning Portuguese.
~ The user speaks Polish and German.
The user prefers pytest to unittest.
~ The user prefers Firefox to Chrome.
Dr. Okafor is the family's paediatrician.
~ Dr. Weber is the family's dentist.
The water is shut off on 10 March 2026 from 8 to 12.
~ The electricity is shut off on 11 March 2026 from 8 to 12.
Carlos speaks Catalan and French.
~ Carlos works in accounting.
The user does not like crime novels.
~ The user does not like crime series on television, but watches documentaries.
Frau Lindner waters the plants when the user is away.
~ Frau Lindner has a key to the cellar.
The stand-up is at 9:00 on weekdays.
~ The planning meeting is at 10:00 on Thursdays.
The user paid the deposit for the flat.
~ The user signed the contract for the flat.
The grant proposal was finished on 1 March 2026.
~ The grant proposal needs two more reviewers.
The rewrite of the parser is off.
~ The rewrite of the exporter begins in April 2026.
Tom's boiler was repaired on 26 February 2026.
~ Tom's bicycle was repaired on 26 February 2026.
The user never works on Sundays.
~ The user's shop never opens on Mondays.
Lena's team won 3:1 on 1 March 2026.
~ Lena's team won 2:0 on 22 February 2026.
The hut is closed until 15 May 2026.
~ The mountain pass is closed until 15 May 2026.
The user wants quiet hotel rooms.
~ The user wants hotels with breakfast.
The phishing training is on 17 March 2026.
~ The first aid training is on 18 March 2026.
The user's limit for hotels is 150 euros a night.
~ The user's limit for colleagues' gifts is 40 dollars.
The projector in room 4 is broken.
~ The projector in room 12 is new.
The user lost the keys to the office.
~ The user lost the keys to the bicycle.
Version 3.2 of the schema went live on 1 March 2026.
~ Version 3.2 of the handbook was printed on 1 March 2026.
The user is not allergic to cats.
~ The user does not want a dog.
The client signed on 27 February 2026.
~ The client asked for a second workshop.
"""


def pairs(text: str, label: Label) -> Iterator[Pair]:
    """The pairs of a written list; every other one is held out."""
    lines = text.strip().splitlines()
    for number, (first, second) in enumerate(zip(lines[::2], lines[1::2], strict=True)):
        yield Pair(first=first, second=second.removeprefix("~ "), label=label, held_out=number % 2 == 1)


_LISTS = {"same": SAME, "replaces": REPLACES, "different": DIFFERENT}
PAIRS = tuple(pair for label, text in _LISTS.items() for pair in pairs(text, cast(Label, label)))
