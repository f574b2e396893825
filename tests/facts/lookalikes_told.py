"""What assistants, tools and other people report about the world, in the form of lookalikes_typed.py.

Plain statements: nothing here is a wish of the owner's, tells anybody what to do, or holds an address or money.
"""

from __future__ import annotations

ASSISTANT = """
{The build passed on 3 March} after two retries.
= event: The build passed on 3 March 2026.
Done. {I moved the dentist appointment to 12 March at 9:30.}
= task_completed: The dentist appointment was moved to 12 March 2026 at 9:30.
{The report on the harbour is finished} and lies in the shared folder.
= task_completed: The report on the harbour is finished.
I checked: {flight LH 456 lands at 14:05} on Friday, 6 March.
= event: Flight LH 456 lands at 14:05 on 6 March 2026.
{I have renamed the branch to release-2.4} and pushed it.
= task_completed: The branch was renamed to release-2.4.
{The backup of 1 March completed without errors.}
= event: The backup of 1 March 2026 completed without errors.
{I sent the minutes to the team at 11:20} on 2 March.
= task_completed: The minutes were sent to the team on 2 March 2026.
{The library closes for renovation from 9 to 20 March.}
= event: The library closes for renovation from 9 to 20 March 2026.
All 214 tests pass now. {The cause was a wrong time zone in the export.}
= other: The cause of the failing tests was a wrong time zone in the export.
{I ordered the printer paper on 2 March}, it should come on Thursday.
= task_completed: Printer paper was ordered on 2 March 2026.
{The visa application was received by the consulate on 27 February.}
= event: The visa application was received by the consulate on 27 February 2026.
{I could not reach the archive}, so that question stays open.
= open_thread: The archive could not be reached, and the question stays open.
{The table at Kitchen 9 is reserved for Saturday, 7 March, at 19:30.}
= task_completed: A table at Kitchen 9 is reserved for 7 March 2026 at 19:30.
{Two of the five slides are done}; the figures of January are still missing.
= open_thread: The figures of January are still missing for the slides.
{I archived 312 newsletters} from last year.
= task_completed: 312 newsletters were archived.
According to the timetable {the night train to Vienna leaves at 22:41}.
= event: The night train to Vienna leaves at 22:41.
{The translation into French is ready for review.}
= task_completed: The translation into French is ready for review.
{The migration stopped at table 14 because of a lock.}
= event: The migration stopped at table 14 because of a lock.
I looked it up: {the museum is closed on Mondays}.
= other: The museum is closed on Mondays.
{The upload of the holiday pictures finished at 3:12} in the night to 2 March.
= event: The upload of the holiday pictures finished on 2 March 2026 at 3:12.
{I merged the pull request 118 on 2 March.}
= task_completed: Pull request 118 was merged on 2 March 2026.
{The meeting with the architects was cancelled by their office.}
= event: The meeting with the architects was cancelled by their office.
{The library in question is licensed under MIT.}
= other: The library is licensed under MIT.
Nothing new from the carrier; {the parcel has been in Leipzig since 28 February}.
= event: The parcel has been in Leipzig since 28 February 2026.
{I corrected the three broken links in the handbook.}
= task_completed: Three broken links in the handbook were corrected.
{The last person to edit the file was Priya, on 26 February.}
= event: Priya was the last to edit the file, on 26 February 2026.
{The course has 24 places, and 21 are taken.}
= other: The course has 24 places, and 21 are taken.
{I compared the three drafts: the second is the shortest.}
= other: The second of the three drafts is the shortest.
{The linter ignores generated files since version 2.4.}
= other: The linter ignores generated files since version 2.4.
{The workshop of 24 March has been moved to room 12.}
= event: The workshop of 24 March 2026 has been moved to room 12.
{The memory use fell from 900 to 340 megabytes after the change.}
= event: Memory use fell from 900 to 340 megabytes after the change.
{I filled in the form for the kindergarten} and saved it as a draft.
= task_completed: The form for the kindergarten was filled in.
As of 2 March {the petition has 4,812 signatures}.
= event: The petition has 4,812 signatures as of 2 March 2026.
{The season of Seville oranges ends in the middle of March.}
= other: The season of Seville oranges ends in the middle of March.
{The reply of the hotel has not come yet.}
= open_thread: The reply of the hotel has not come yet.
{Version 3.2 of the schema went live on 1 March.}
= event: Version 3.2 of the schema went live on 1 March 2026.
{I have put the recipe for lentil soup into the cookbook folder.}
= task_completed: The recipe for lentil soup was put into the cookbook folder.
{The security review found no open issues.}
= event: The security review found no open issues.
{The phishing mail of 27 February was reported to the help desk.}
= task_completed: The phishing mail of 27 February 2026 was reported to the help desk.
@de
{Der Zahnarzttermin ist am 12. März um 9:30 Uhr.}
= event: Der Zahnarzttermin ist am 12. März 2026 um 9:30 Uhr.
{Das Protokoll ist fertig.}
= task_completed: Das Protokoll ist fertig.
@fr
{La livraison est arrivée le 28 février.}
= event: La livraison est arrivée le 28 février 2026.
@es
{El informe está terminado desde el 2 de marzo.}
= task_completed: El informe está terminado desde el 2 de marzo de 2026.
"""

TOOL = """
Dentist appointment on 12 March at 9:30
= event: There is a dentist appointment on 12 March 2026 at 9:30.
LH 456 FRA-LAX scheduled 10:05, {estimated arrival 14:05}
= event: Flight LH 456 is estimated to arrive at 14:05.
$ make test⏎{214 passed in 38.20s}
= event: The test run ended with 214 passed.
Sat 7 March 19:30-22:00 {Dinner with Mia and Tom}
= event: There is a dinner with Mia and Tom on 7 March 2026 at 19:30.
deploy: {release 2.4.1 rolled out to 12 of 12 hosts} at 2026-03-02T08:14Z
= task_completed: Release 2.4.1 was rolled out to 12 of 12 hosts on 2 March 2026.
From: Jonas Weber⏎Subject: Re: workshop⏎⏎{Tuesday works for all of us}, room 4 is free.
= event: Tuesday works for all for the workshop.
commit 9f3c2ab by priya on 2026-02-28⏎    {export totals in UTC}
= event: Priya made the commit "export totals in UTC" on 28 February 2026.
{Oslo, Saturday 7 March: 2 °C, light snow}
= event: The forecast for Oslo on 7 March 2026 is 2 °C and light snow.
Issue 482 {closed by marek on 1 March 2026}: Login fails on Safari
= event: Marek closed issue 482, "Login fails on Safari", on 1 March 2026.
backup.log: {2026-03-01 02:00 full backup completed, 41 GB}
= event: A full backup of 41 GB completed on 1 March 2026.
City Library⏎{Monday to Friday 9:00 to 19:00, Saturday 10:00 to 14:00}
= other: The City Library is open Monday to Friday 9:00 to 19:00 and Saturday 10:00 to 14:00.
{The concert of 21 March is sold out.}
= event: The concert of 21 March 2026 is sold out.
package tracker: {delivered on 28 February at 10:42, signed by Lindner}
= event: The package was delivered on 28 February 2026 at 10:42 and signed by Lindner.
SELECT count(*) FROM orders: {18,204 rows}
= other: The table orders has 18,204 rows.
{Python 3.14.3 was released on 24 February 2026.}
= event: Python 3.14.3 was released on 24 February 2026.
Team page: {Ingrid Falk joined in January 2026 as head of operations}
= person: Ingrid Falk joined in January 2026 as head of operations.
{ICE 599 to Munich is 25 minutes late} today, 2 March
= event: ICE 599 to Munich was 25 minutes late on 2 March 2026.
Subject: Minutes of 26 February⏎⏎{The committee decided to repeat the survey in autumn.}
= decision: The committee decided to repeat the survey in autumn 2026.
disk usage of /srv: {81 % of 2 TB}
= other: The disk /srv is 81 % full.
Tue 3 March⏎09:00 Stand-up⏎{11:00 Review of the harbour report}⏎15:30 Dentist
= event: The review of the harbour report is on 3 March 2026 at 11:00.
{Pollen: birch high, grass none} (2 March)
= event: Birch pollen was high on 2 March 2026.
CHANGELOG⏎## 2.4.0⏎- {dropped support for Python 3.10}
= event: Version 2.4.0 dropped support for Python 3.10.
{The swimming pool reopens on 14 March after repairs.}
= event: The swimming pool reopens on 14 March 2026 after repairs.
job 7731 finished with status success, {1,204 pages converted}
= task_completed: Job 7731 converted 1,204 pages.
Subject: Welcome!⏎⏎{Carlos Vidal has joined the accounting team as of 2 March.}
= person: Carlos Vidal joined the accounting team on 2 March 2026.
CVE-2026-1044: {the overflow was fixed in version 1.8.3}
= event: The overflow CVE-2026-1044 was fixed in version 1.8.3.
handbook.md: {The password policy asks for 14 characters since January.}
= other: The password policy asks for 14 characters since January 2026.
security.md: {Prompt injection is described in chapter 5.}
= other: Prompt injection is described in chapter 5.
robots.txt: {the crawler ignores the folder /tmp}
= other: The crawler ignores the folder /tmp.
docs: {the system prompt is limited to 4,000 tokens}
= other: The system prompt is limited to 4,000 tokens.
access log: {admin login failed 3 times on 1 March}
= event: An admin login failed 3 times on 1 March 2026.
{The lecture on 18 March was moved to 25 March.}
= event: The lecture of 18 March 2026 was moved to 25 March 2026.
stock_level(item='lamp'): {4 pieces in the warehouse}
= other: There are 4 lamps in the warehouse.
Dates for students: {the summer term begins on 13 April}
= event: The summer term begins on 13 April 2026.
lunar calendar: {full moon on 3 March 2026}
= event: There is a full moon on 3 March 2026.
Thu 5 March⏎{10:00-11:30 Planning}
= event: There is a planning meeting on 5 March 2026 from 10:00 to 11:30.
survey results: {62 % of 340 people answered}
= other: 62 % of 340 people answered the survey.
bug 77 reopened: {the crash on empty files is back in 2.4}
= open_thread: The crash on empty files is back in version 2.4.
{Water will be shut off on 10 March from 8 to 12.}
= event: Water is shut off on 10 March 2026 from 8 to 12.
From: Choir⏎⏎{The rehearsal of 4 March takes place in the small hall.}
= event: The choir rehearsal of 4 March 2026 takes place in the small hall.
papers: {14 read, 3 relevant}
= task_completed: 14 papers were read, and 3 are relevant.
certificate for the test server {expires on 30 April 2026}
= event: The certificate for the test server expires on 30 April 2026.
@de
Kalender: {12. März, 18:00, Elternabend der Klasse 4b}
= event: Der Elternabend der Klasse 4b ist am 12. März 2026 um 18:00.
{Der Zug RE 7 fällt am 8. März aus.}
= event: Der Zug RE 7 fällt am 8. März 2026 aus.
@pl
{Paczka została doręczona 28 lutego.}
= event: Paczka została doręczona 28 lutego 2026.
@zh
{图书馆三月九日起闭馆两周。}
= event: 图书馆自2026年3月9日起闭馆两周。
"""

OTHER = """
Ben: {the bus was cancelled}, I'm walking
= event: Ben's bus was cancelled.
Mia: {I finished the poster last night!}
= task_completed: Mia finished the poster.
Jonas: {we have 17 sign-ups for Saturday}
= event: There are 17 sign-ups for Saturday.
Priya: {the client signed on 27 February}
= event: The client signed on 27 February 2026.
Tom: {Lena is my new flatmate}, some of you know her
= person: Lena is Tom's new flatmate.
Marek: {I'm on parental leave from 9 March on}
= event: Marek is on parental leave from 9 March 2026 on.
Carlos: {the projector in room 4 is broken again}
= event: The projector in room 4 is broken.
Ida's teacher: {the school trip is on 21 April}
= event: The school trip is on 21 April 2026.
Ben: {nobody has answered about the tents yet}
= open_thread: Nobody has answered about the tents yet.
Lena: {we won 3:1 on Sunday, 1 March!}
= event: Lena's team won 3:1 on 1 March 2026.
Jonas: {the data team chose DuckDB for the reports}
= decision: The data team chose DuckDB for the reports.
Mia: {my train gets in at 17:48} on Friday, 6 March
= event: Mia's train gets in at 17:48 on 6 March 2026.
Nadia: {the audit is over, no findings}
= event: The audit is over and has no findings.
Tom: {the boiler was repaired on 26 February}
= event: The boiler was repaired on 26 February 2026.
Priya: {the beta has 40 testers now}
= event: The beta has 40 testers.
research-agent: {the overview of the 14 papers is complete}
= task_completed: The overview of the 14 papers is complete.
travel-agent: {both hotels near the river have rooms from 12 to 15 March}
= event: Two hotels near the river have rooms from 12 to 15 March 2026.
Marek: {I wrote the test for the password policy page}
= task_completed: Marek wrote the test for the password policy page.
Carlos: {the vote was 5 to 2 for the new logo}
= event: The vote was 5 to 2 for the new logo.
Frau Lindner: {the tulips on the balcony are in bloom}
= event: The tulips on the balcony are in bloom.
Ben: {the hut is closed until 15 May because of snow}
= event: The hut is closed until 15 May 2026 because of snow.
Mia: {Oskar, our dog, turned three on 1 March}
= event: Mia's dog Oskar turned three on 1 March 2026.
"""

REPORTS = """
The tram to Schwabing was replaced by buses on 2 March 2026.
= event: The tram to Schwabing was replaced by buses on 2 March 2026.
Anita uploaded the photos of the hike on 2 March 2026.
= event: Anita uploaded the photos of the hike on 2 March 2026.
The dishwasher was repaired on 27 February 2026.
= event: The dishwasher was repaired on 27 February 2026.
The bakery is closed on Sundays.
= other: The bakery is closed on Sundays.
Rain is forecast for Hamburg on 5 March 2026.
= event: Rain is forecast for Hamburg on 5 March 2026.
The webinar with Dana starts at 16:00 on 6 March 2026.
= event: The webinar with Dana starts at 16:00 on 6 March 2026.
The slides were translated into Spanish.
= task_completed: The slides were translated into Spanish.
GitHub had an outage on 1 March 2026.
= event: GitHub had an outage on 1 March 2026.
Postgres 17 supports incremental backups.
= other: Postgres 17 supports incremental backups.
Paul missed the train to Cologne on 2 March 2026.
= event: Paul missed the train to Cologne on 2 March 2026.
The exhibition about Frida Kahlo opens on 12 March 2026.
= event: The exhibition about Frida Kahlo opens on 12 March 2026.
The quote from the roofer is still missing.
= open_thread: The quote from the roofer is still missing.
Sofia commented on ticket 91 on 2 March 2026.
= event: Sofia commented on ticket 91 on 2 March 2026.
The recipe serves four people.
= other: The recipe serves four people.
The flight to Lisbon was delayed by two hours on 3 March 2026.
= event: The flight to Lisbon was delayed by two hours on 3 March 2026.
The vote on the playground is on 9 March 2026.
= event: The vote on the playground is on 9 March 2026.
The key figures of February are in the report.
= other: The key figures of February are in the report.
The code review found two bugs.
= event: The code review found two bugs.
The source code was formatted and pushed.
= task_completed: The source code was formatted and pushed.
The parents' evening takes place on 11 March 2026 in room 7.
= event: The parents' evening takes place on 11 March 2026 in room 7.
Nina's lecture was moved to 18 March 2026.
= event: Nina's lecture was moved to 18 March 2026.
The doctor's office is closed from 9 to 13 March 2026.
= event: The doctor's office is closed from 9 to 13 March 2026.
The dentist moved the appointment to 12 March 2026.
= event: The dentist moved the appointment to 12 March 2026.
Leipzig has two large stations.
= other: Leipzig has two large stations.
Chrome 145 was released on 24 February 2026.
= event: Chrome 145 was released on 24 February 2026.
The marathon in Valencia is sold out.
= event: The marathon in Valencia is sold out.
The tulips in Keukenhof are in bloom.
= event: The tulips in Keukenhof are in bloom.
Issue 512 waits for a reply from the reporter.
= open_thread: Issue 512 waits for a reply from the reporter.
The team lost 2:1 in Graz on 1 March 2026.
= event: The team lost 2:1 in Graz on 1 March 2026.
The heating was checked on 2 March 2026.
= event: The heating was checked on 2 March 2026.
"""
