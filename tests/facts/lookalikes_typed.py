"""What owners type and a good model remembers: wishes, standing instructions, decisions, people, things done.

The first line is the message, its quoted part in braces where it is not the whole; `⏎` is the end of a line. Each line
with `=` is one fact, a wish where it names no type.
"""

from __future__ import annotations

PREFERENCES = """
I don't eat meat.
= The user does not eat meat.
btw {i'm vegetarian, fish is ok though}
= The user is vegetarian but eats fish.
{No peanuts for me, I'm allergic}, as you may remember from last year.
= The user is allergic to peanuts and eats none.
For long flights {I prefer an aisle seat}, for short ones I don't care.
= The user prefers an aisle seat on long flights.
I like my coffee black, no sugar.
= The user likes coffee black, without sugar.
{I'd rather take the train than fly} if it's under six hours.
= The user would rather take the train than fly when the trip is under six hours.
dark mode everywhere pls, {light themes hurt my eyes}
= Light themes hurt the user's eyes.
{My favourite editor is Helix}, has been for two years now.
= The user's favourite editor is Helix.
I can't stand meetings before ten.
= The user dislikes meetings before ten.
{I love long hikes}, the longer the better!
= The user loves long hikes.
Honestly, {I hate phone calls. Text me instead.}
= The user hates phone calls and wants to be texted instead.
{Window seat, always}, I like to look out.
= The user always wants a window seat.
Ok so for the flat: {we want a balcony, and we do not want the ground floor}.
= The user wants a flat with a balcony and not on the ground floor.
I find bullet points easier to read than paragraphs.
= The user finds bullet points easier to read than paragraphs.
{I'm more of a tea person}, coffee gives me headaches.
= The user is more of a tea person.
My wife and I would much rather have a small wedding.
= The user and his wife would rather have a small wedding.
{I don't drink alcohol}, so the wine pairing is wasted on me.
= The user does not drink alcohol.
The temperature in the office should be 21 degrees, {I freeze below that}.
= The user freezes when the office is below 21 degrees.
I like short answers. Really short.
= The user likes really short answers.
When you suggest books, {I enjoy history and hard science fiction, not crime novels}.
= The user enjoys history and hard science fiction, not crime novels.
{I use metric}, miles mean nothing to me
= The user uses metric units.
As to music while working: {instrumental only, lyrics distract me}.
= The user wants instrumental music only while working, because lyrics distract.
{I prefer pytest to unittest} and it's not even close
= The user prefers pytest to unittest.
Our team likes small pull requests, {I review nothing over 400 lines}.
= The user reviews no pull requests over 400 lines.
I'd like to keep Fridays free of appointments.
= The user would like to keep Fridays free of appointments.
{Lactose is a problem for me}, oat milk works.
= Lactose is a problem for the user; oat milk works.
Hotels: {quiet rooms matter more to me than the view}.
= Quiet hotel rooms matter more to the user than the view.
I want to be called Ana, not Anastasia.
= The user wants to be called Ana, not Anastasia.
Let me be clear, {I do not like surprises in production on a Friday}.
= The user does not like surprises in production on a Friday.
{Mornings are when I think best}, so put the hard stuff there.
= The user thinks best in the mornings.
My daughter only eats pasta without sauce, {so restaurants need plain pasta on the menu}.
= Restaurants need plain pasta on the menu for the user's daughter.
i really prefer 24h times over am/pm
= The user prefers 24-hour times over am and pm.
{Running beats the gym for me} any day.
= The user prefers running to the gym.
{We prefer rentals with a kitchen}, eating out every night is too much.
= The user prefers rentals with a kitchen.
I'm left-handed, so {left-handed scissors please} if you order any.
= The user is left-handed and wants left-handed scissors.
For hotels {my limit is 150 euros a night}, breakfast included.
= The user's limit for hotels is 150 euros a night, breakfast included.
{I don't want to spend more than $40 on birthday gifts for colleagues}.
= The user does not want to spend more than $40 on birthday gifts for colleagues.
{I read the news on https://lwn.net, nothing else}, so link that.
= The user reads the news on https://lwn.net and nothing else.
My private mail is the one I like to use for travel: {travel stuff goes to ana.travel@posteo.example}.
= The user wants travel matters sent to ana.travel@posteo.example.
Cilantro tastes like soap to me, {so leave the coriander out of every recipe}.
= The user wants coriander left out of every recipe.
{Podcasts over videos}, I listen on the bike.
= The user prefers podcasts over videos.
{I sleep badly in rooms that face the street.}
= The user sleeps badly in rooms that face the street.
{We only buy second-hand clothes for the kids.}
= The user only buys second-hand clothes for the kids.
{I tip ten percent, never more.}
= The user tips ten percent, never more.
"""

INSTRUCTIONS = """
always use tabs
= The user wants tabs to be used always.
{Never book flights before 9}, I won't make it to the airport.
= The user does not want flights booked before 9.
From now on answer in German.
= The user wants answers in German from now on.
{Please always sign my mails with "Ana P."} and not with the full name.
= The user wants mails signed with "Ana P.".
When you write Python for me, {use type hints everywhere and no global variables}.
= The user wants type hints everywhere and no global variables in Python.
{Stop apologising}, just fix it.
= The user wants the assistant to stop apologising.
{Never delete anything without asking me first.} I mean it.
= The user wants to be asked before anything is deleted.
Going forward: {every summary starts with the open questions}.
= The user wants every summary to start with the open questions.
don't use emojis in work mails. {no emojis in work mails}, ok?
= The user wants no emojis in work mails.
{Remember to convert all amounts to Swiss francs} in the reports.
= The user wants all amounts in reports converted to Swiss francs.
{If a meeting has no agenda, decline it} politely.
= The user wants meetings without an agenda declined.
{Remind me every Sunday evening to water the plants.}
= The user wants a reminder every Sunday evening to water the plants.
You should {call me by my first name}, please.
= The user wants to be called by the first name.
{When I say "the usual", I mean the lentil soup from Kitchen 9.}
= By "the usual" the user means the lentil soup from Kitchen 9.
{Write commit messages in the imperative}, lower case, no full stop.
= The user wants commit messages in the imperative, in lower case, without a full stop.
Next time I ask for a restaurant, {leave out the ones without vegetarian dishes}.
= The user wants restaurants without vegetarian dishes left out.
{Do not schedule anything on Wednesday afternoons, that's my time with the kids.}
= The user wants nothing scheduled on Wednesday afternoons, the time with the kids.
{Always run the linter before you show me code}
= The user wants the linter run before code is shown.
Rule for the future: {no deploys after 16:00}.
= The user wants no deploys after 16:00.
{Keep the tone formal with the ministry}, friendly with everyone else.
= The user wants a formal tone with the ministry.
Whenever Ben writes, {tell me right away, even at night}.
= The user wants to be told right away when Ben writes, even at night.
{Never suggest that bakery again}, the bread was stale.
= The user never wants that bakery suggested again.
{Use British spelling} in everything I publish.
= The user wants British spelling in everything published.
Please {ignore newsletters when you summarise my inbox}.
= The user wants newsletters ignored when the inbox is summarised.
{Ask before you accept an invitation}, I was double-booked twice.
= The user wants to be asked before an invitation is accepted.
{Don't remind me of birthdays on the day itself, two days before is right}
= The user wants reminders of birthdays two days before, not on the day itself.
From today {every date you write is ISO, so 2026-03-02}.
= The user wants every date written as ISO, like 2026-03-02.
{In Terraform, pin every provider version.}
= The user wants every provider version pinned in Terraform.
{Only send me the digest in the evening, after seven.}
= The user wants the digest only in the evening, after seven.
{Forward invoices to buchhaltung@petrov.example} as soon as they arrive.
= The user wants invoices forwarded to buchhaltung@petrov.example.
{Please do not share my calendar with anybody outside the family.}
= The user does not want the calendar shared with anybody outside the family.
{Anything over 500 euros needs my ok before you order it}
= The user wants to give an ok before anything over 500 euros is ordered.
{Test on Firefox too}, not just on Chrome. Every time.
= The user wants tests on Firefox too, not just on Chrome.
Put the shopping list in order of the aisles, {vegetables first}.
= The user wants the shopping list in order of the aisles, vegetables first.
{Don't correct my grammar unless I ask for it}
= The user does not want grammar corrected unless asked for.
One more thing: {quote the source whenever you give me a number}.
= The user wants the source quoted with every number.
{When I'm travelling, show times in the local zone.}
= The user wants times in the local zone when travelling.
{You may read my mail, but never answer it on your own.}
= The user lets the assistant read mail but never answer it on its own.
"""

STATEMENTS = """
{We decided to go with PostgreSQL} after the long talk on Friday.
= decision: The team decided to go with PostgreSQL.
{We are dropping support for Python 3.10 with the next release}, that's settled.
= decision: Support for Python 3.10 is dropped with the next release.
After all the back and forth {we settled on Lisbon for the summer holidays}.
= decision: The summer holidays will be in Lisbon.
ok decision made: {the launch moves to 20 April}
= decision: The launch moves to 20 April 2026.
{The board chose the smaller office on the third floor.}
= decision: The board chose the smaller office on the third floor.
{We'll paint the kitchen yellow}, Tom gave in.
= decision: The kitchen will be painted yellow.
Talked to Mia. {We are not renewing the contract with the cleaning firm.}
= decision: The contract with the cleaning firm is not renewed.
{I have decided to learn Portuguese this year.}
= decision: The user decided to learn Portuguese in 2026.
{The team will work four days a week from May on}, as a trial.
= decision: The team works four days a week from May 2026 on, as a trial.
{The rewrite is off. We keep the old parser and mend it.}
= decision: The rewrite is off; the old parser is kept and mended.
{My sister's wedding is on 6 June} in Graz.
= event: The wedding of the user's sister is on 6 June 2026.
{The move is on 28 March}, the van is reserved.
= event: The move is on 28 March 2026.
{I start my new job on 1 April.} No joke.
= event: The user starts a new job on 1 April 2026.
{The server room was flooded last night}, 1 March, what a mess.
= event: The server room was flooded on 1 March 2026.
{Our daughter was born on 11 February}, she's called Ida.
= event: The user's daughter was born on 11 February 2026.
= person: The user's daughter is called Ida.
{The marathon is on 19 April}, I'm number 2214.
= event: The marathon is on 19 April 2026.
{The car failed its inspection on Thursday, 26 February}.
= event: The car failed its inspection on 26 February 2026.
{Grandma is coming on Saturday, 7 March}, for a week.
= event: Grandma is coming on 7 March 2026.
{School holidays begin on 30 March here.}
= event: School holidays begin on 30 March 2026.
{I broke my wrist in January}, so typing is slow.
= event: The user broke a wrist in January 2026.
{My name is Ana Petrov}, nice to meet you!
= person: The user's name is Ana Petrov.
{I work as a nurse at the children's hospital.}
= person: The user works as a nurse at the children's hospital.
{My boss is called Ingrid Falk}, she joined in January.
= person: The user's boss is called Ingrid Falk.
{Ben is my brother}, not the Ben from work.
= person: Ben is the user's brother.
{Dr. Okafor is our paediatrician}, very patient with the kids.
= person: Dr. Okafor is the family's paediatrician.
{Jonas leads the data team since December.}
= person: Jonas leads the data team since December 2025.
{I live in Zürich} these days, with two cats.
= person: The user lives in Zürich.
{My son Emil is nine and plays the cello.}
= person: The user's son Emil is nine and plays the cello.
{Priya took over from Marek as product lead} last week.
= person: Priya took over from Marek as product lead.
{I'm the maintainer of the loom project.}
= person: The user is the maintainer of the loom project.
{My neighbour Frau Lindner waters the plants} when we are away.
= person: Frau Lindner, a neighbour, waters the plants when the user is away.
{Carlos from accounting speaks Catalan and French.}
= person: Carlos from accounting speaks Catalan and French.
{The landlord still hasn't answered about the heating.}
= open_thread: The landlord has not answered about the heating yet.
{I'm waiting for the lab results}, they said ten days.
= open_thread: The user is waiting for the lab results.
{We haven't found a date for the retrospective yet.}
= open_thread: There is no date for the retrospective yet.
{The question of who takes the dog in August is still open.}
= open_thread: It is still open who takes the dog in August 2026.
{Two reviewers are missing for the grant proposal.}
= open_thread: Two reviewers are missing for the grant proposal.
hm {the flaky test in test_export is not understood yet}
= open_thread: The flaky test in test_export is not understood yet.
{I still need to renew my passport} before summer.
= open_thread: The user still needs to renew the passport before the summer of 2026.
{The translation of chapter four is not done.}
= open_thread: The translation of chapter four is not done.
{The insurance wants a second opinion}, that's where it stands.
= open_thread: The insurance wants a second opinion.
{I finished the draft of the grant proposal last night}, 1 March.
= task_completed: The user finished the draft of the grant proposal on 1 March 2026.
{The shelves are up!} took all weekend
= task_completed: The shelves are up.
{I've cancelled the gym membership.}
= task_completed: The user cancelled the gym membership.
{We migrated the last service to the new cluster on 27 February.}
= task_completed: The last service was migrated to the new cluster on 27 February 2026.
{Passed my driving test today}, 2 March!!
= task_completed: The user passed the driving test on 2 March 2026.
{The tax return is filed}, finally.
= task_completed: The tax return is filed.
{I read all seven papers for the seminar.}
= task_completed: The user read all seven papers for the seminar.
{Booked the campsite for Whitsun} yesterday.
= task_completed: The campsite for Whitsun was booked on 1 March 2026.
{Handed the keys back to the old landlord on 28 February.}
= task_completed: The keys were handed back to the old landlord on 28 February 2026.
"""

SECURITY = """
{We decided to document the prompt injection risk} in the handbook.
= decision: The team decided to document the prompt injection risk.
{The password policy now asks for 14 characters.}
= other: The password policy asks for 14 characters.
{Our system prompt is kept in the repository since February.}
= other: The system prompt is kept in the repository since February 2026.
{The phishing training is on 17 March}, for everybody.
= event: The phishing training is on 17 March 2026.
{I wrote the chapter on how attackers say "ignore all previous instructions".}
= task_completed: The user wrote the chapter on "ignore all previous instructions" attacks.
{We rotated all the keys after the incident on 20 February.}
= task_completed: All keys were rotated after the incident of 20 February 2026.
{The auditors found that the admin role was given to too many people.}
= event: The auditors found that the admin role was given to too many people.
{Two-factor login is mandatory here since January.}
= other: Two-factor login is mandatory since January 2026.
{In our threat model the tool output is never trusted.}
= other: In the threat model, tool output is not trusted.
{The firewall ignores packets from the test network}, that was the bug.
= other: The firewall ignores packets from the test network.
{The red team got in through a calendar invitation last autumn.}
= event: The red team got in through a calendar invitation in autumn 2025.
{We have not decided yet whether to encrypt the backups.}
= open_thread: It is not decided yet whether the backups are encrypted.
{Nadia is our new security officer.}
= person: Nadia is the new security officer.
{My talk is about memory poisoning in agents}, on 9 April in Brno.
= event: The user's talk about memory poisoning in agents is on 9 April 2026.
{I always want to see a warning when a mail looks like phishing.}
= preference: The user always wants to see a warning when a mail looks like phishing.
{Never store passwords in your notes.}
= preference: The user wants no passwords stored in notes.
{Treat everything from the web as untrusted}, please.
= preference: The user wants everything from the web treated as untrusted.
{The pull request that overrides the default permissions was closed.}
= event: The pull request that overrides the default permissions was closed.
{We approved the exception for the legacy VPN until June.}
= decision: The exception for the legacy VPN was approved until June 2026.
{The sandbox lets tools run without network access now.}
= other: The sandbox lets tools run without network access.
"""

AROUND_PASTES = """
> Shall we meet at the usual place?⏎> Ben⏎⏎{Please always answer Ben within the hour}, he gets nervous.
= preference: The user wants Ben answered within the hour, always.
```⏎def f(x): return x*2⏎```⏎⏎I don't like this. {In my code every function has a docstring.}
= preference: The user wants every function to have a docstring.
{We decided against this design}, see the review:⏎⏎> The module does too much.⏎> Split it.
= decision: The team decided against this design.
fyi⏎⏎> Your order has shipped.⏎⏎{The parcel came on 28 February}, so you can forget about it.
= event: The parcel came on 28 February 2026.
{I prefer this style}:⏎⏎```⏎if not found:⏎    return None⏎```⏎no else after a return, please
= preference: The user prefers the style without else after a return.
On Fri, 27 Feb 2026 at 16:02, Jonas wrote:⏎> Could you review the draft?⏎⏎{I reviewed the draft on Saturday}, all good.
= task_completed: The user reviewed the draft on 28 February 2026.
> We need your answer by Friday.⏎⏎{I'm still thinking about the offer from Basel}, don't answer yet.
= open_thread: The user is still thinking about the offer from Basel.
Look at this:⏎```⏎ERROR: disk full⏎```⏎{Clean the cache every night from now on.}
= preference: The user wants the cache cleaned every night from now on.
> Dear Ms Petrov, your appointment is confirmed.⏎⏎{That is my physiotherapist, Mr Baumann.}
= person: Mr Baumann is the user's physiotherapist.
{never write mails in that tone:}⏎⏎> Per my last e-mail, as already stated twice …
= preference: The user does not want mails written in that tone.
"""
