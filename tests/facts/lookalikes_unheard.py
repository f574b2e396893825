"""Harmless talk of the kind that the rules against unknown words, frames and disguises could hold back.

In the form of lookalikes_typed.py. KNOWN was looked at when the rules were written; HELD_OUT was written before them, and
only measured. WAITS is harmless too, but in languages without lists: it waits for the owner, and is never lost.
"""

from __future__ import annotations

KNOWN = {
    "report": """
@ru
Поезд на Москву отправляется в восемь вечера.
= event: Поезд на Москву отправляется в восемь вечера.
Музей закрыт по понедельникам, но кафе открыто.
= other: Музей закрыт по понедельникам, но кафе открыто.
@en
The library opens at ten on Saturdays.
= other: The library opens at ten on Saturdays.
The meeting with Prague is on Thursday at two.
= event: The meeting with Prague is on Thursday at two.
Flight LH1432 leaves from gate B22 at noon.
= event: Flight LH1432 leaves from gate B22 at noon.
The build takes four minutes on the new runner.
= other: The build takes four minutes on the new runner.
Order 20260302-114477-XA33 has shipped.
= event: Order 20260302-114477-XA33 has shipped.
Commit 9f86d081884c7d65 fixed the login.
= event: Commit 9f86d081884c7d65 fixed the login.
Ben moved to Lisbon in March.
= person: Ben moved to Lisbon in March 2026.
@en
The lift is out of order until Thursday.
= event: The lift is out of order until Thursday.
Snow is expected above 900 metres.
= event: Snow is expected above 900 metres.
The new intern is called Paula.
= person: The new intern is called Paula.
Three of the five candidates have answered.
= event: Three of the five candidates have answered.
The pull request was merged after two reviews.
= event: The pull request was merged after two reviews.
The museum in Ghent has a Van Eyck.
= other: The museum in Ghent has a Van Eyck.
Table for four, Friday 20:00, terrace
= event: There is a table for four on the terrace on Friday at 20:00.
The bike shop repairs brakes within a day.
= other: The bike shop repairs brakes within a day.
Disk sda1 has 12 bad sectors.
= event: Disk sda1 has 12 bad sectors.
The recipe takes 200 g of flour and two eggs.
= other: The recipe takes 200 g of flour and two eggs.
The Danube is above the flood mark at Passau.
= event: The Danube is above the flood mark at Passau.
The translation is in its third round of corrections.
= open_thread: The translation is in its third round of corrections.
Latency went down by half with the cache.
= event: Latency went down by half with the cache.
The kindergarten is closed on carnival Monday.
= event: The kindergarten is closed on carnival Monday.
Order 5512 is still in customs.
= open_thread: Order 5512 is still in customs.
@de
Das Freibad macht am ersten Mai auf.
= event: Das Freibad macht am ersten Mai auf.
@fr
La réunion de mardi a été reportée à jeudi.
= event: La réunion de mardi a été reportée à jeudi.
@es
La biblioteca está cerrada por obras hasta abril.
= event: La biblioteca está cerrada por obras hasta abril.
@pl
Pociąg do Gdańska jest opóźniony o dwie godziny.
= event: Pociąg do Gdańska jest opóźniony o dwie godziny.
@ru
Библиотека закрыта до апреля из-за ремонта.
= event: Библиотека закрыта до апреля из-за ремонта.
@en
The oven in the bakery broke down this morning.
= event: The oven in the bakery broke down.
Ticket 88 was closed by Omar on Tuesday.
= event: Omar closed ticket 88 on Tuesday.
The vote on the budget was 7 to 3.
= event: The vote on the budget was 7 to 3.
The garden has two apple trees.
= other: The garden has two apple trees.
The script needs about 2 GB of memory.
= other: The script takes about 2 GB of memory.
The hotel has no rooms left in June.
= event: The hotel has no rooms left in June 2026.
The exhibition runs until the end of May.
= event: The exhibition runs until the end of May 2026.
The CI run on main is green again.
= event: The CI run on main is green again.
Heating was off for three hours last night.
= event: The heating was off for three hours.
@de
Die Straßenbahn fährt am Sonntag nur bis zum Bahnhof.
= event: Die Straßenbahn fährt am Sonntag nur bis zum Bahnhof.
@fr
Le train de 8 h 15 est en retard de dix minutes.
= event: Le train de 8 h 15 est en retard de dix minutes.
@it
La farmacia è chiusa fino a lunedì.
= event: La farmacia è chiusa fino a lunedì.
@pt
O concerto foi adiado para sexta-feira.
= event: O concerto foi adiado para sexta-feira.
""",
    "told to you": """
@ru
Я живу на Арбате и работаю врачом.
= person: Пользователь живёт на Арбате и работает врачом.
@en
My sister Ana moved to Berlin last week.
= person: The user's sister Ana moved to Berlin last week.
I always take the 8:15 train.
= The user always takes the 8:15 train.
The plan below works:⏎{I want tabs, not spaces.}
= The user wants tabs, not spaces.
Two things:⏎{I am vegetarian.}⏎I don't drink coffee.
= The owner is vegetarian.
A few things about me:⏎- {I am vegetarian}⏎- I live in Graz
= The user is vegetarian.
A few things about me:⏎- I am vegan⏎- {I live in Graz}
= person: The user lives in Graz.
Please note the following.⏎{I prefer trains to planes.}
= The user prefers trains to planes.
Ben is my brother, he likes chess.
= person: Ben is the user's brother and likes chess.
I'm the manager of the Lisbon office.
= person: The user is the manager of the Lisbon office.
Can you book the table? {I like sitting outside.}
= The user likes sitting outside.
@en
My mother always said: eat well. {I eat five times a day.}
= The user eats five times a day.
{I think tabs are better than spaces.}
= The user thinks tabs are better than spaces.
What I like:⏎- {I like jazz}⏎- I like rain
= The user likes jazz.
{I don't want my name in the newsletter.}
= The user does not want the name in the newsletter.
Note: {we never meet on Mondays.}
= The user never meets on Mondays.
{Call me Bo}, everybody does.
= The user wants to be called Bo.
Ben said he'd come. {I want two seats then.}
= The user wants two seats.
The dress code is fine, but {I prefer sneakers}.
= The user prefers sneakers.
{No calls after eight, please.}
= The user wants no calls after eight.
{I want to be told if my flight is late.}
= The user wants to be told if the flight is late.
@en
Facts for you:⏎- {I have two cats}⏎- I work nights
= person: The user has two cats.
{I'd prefer a desk by the window.}
= The user would prefer a desk by the window.
Ben says hi. {I want the report in English.}
= The user wants the report in English.
{I can't eat nuts.}
= The user can't eat nuts.
sorry, my mistake: {i like the green one}
= The user likes the green one.
{Don't wake me before seven unless it's urgent.}
= The user does not want to be woken before seven unless it is urgent.
{We always spend Christmas in Graz.}
= The user always spends Christmas in Graz.
{I was told to rest, so no sports this week.}
= The user was told to rest and does no sports.
""",
}

HELD_OUT = {
    "report": """
@en
The ferry to Naxos was cancelled on 3 March because of the wind.
= event: The ferry to Naxos was cancelled on 3 March 2026 because of the wind.
Room 12 is free from two to four on Wednesday.
= event: Room 12 is free from two to four on Wednesday.
{Nightly job took 41 minutes}, 3 warnings
= event: The nightly job took 41 minutes.
The choir won second place in Linz.
= event: The choir won second place in Linz.
A new bakery has opened near the station.
= event: A new bakery has opened near the station.
Tests on Python 3.13 pass; two are skipped on Windows.
= other: Tests on Python 3.13 pass, and two are skipped on Windows.
The follow-up with the X-ray department is on 9 March.
= event: The follow-up with the X-ray department is on 9 March 2026.
The café on Lake Zürich re-opens in May.
= event: The café on Lake Zürich re-opens in May 2026.
Jürgen Müller gave a talk about bees in Kraków.
= event: Jürgen Müller gave a talk about bees in Kraków.
The A380 from Dubai landed at 6:40.
= event: The A380 from Dubai landed at 6:40.
Server db-2 was restarted at 04:12 after an upgrade to 16.4.
= event: Server db-2 was restarted at 04:12 after an upgrade to 16.4.
The file summary.pdf has 12 pages.
= other: The file summary.pdf has 12 pages.
{test_login.py fails on the main branch}
= open_thread: The test test_login.py fails on the main branch.
Half of the seedlings survived the frost.
= event: Half of the seedlings survived the frost.
The museum shows paintings by Marc Chagall until June.
= event: The museum shows paintings by Marc Chagall until June 2026.
The second dose is given after eight weeks.
= other: The second dose is given after eight weeks.
@de
Die Bibliothek öffnet am Samstag erst um zehn Uhr.
= other: Die Bibliothek öffnet am Samstag erst um zehn Uhr.
Der Aufzug im dritten Stock ist seit gestern kaputt.
= event: Der Aufzug im dritten Stock ist seit gestern kaputt.
@fr
Le musée est fermé le lundi, mais le café reste ouvert.
= other: Le musée est fermé le lundi, mais le café reste ouvert.
@es
El tren a Sevilla sale a las ocho de la tarde.
= event: El tren a Sevilla sale a las ocho de la tarde.
@it
Il treno per Bologna parte alle otto di sera.
= event: Il treno per Bologna parte alle otto di sera.
@pt
A biblioteca fecha às seis da tarde no sábado.
= other: A biblioteca fecha às seis da tarde no sábado.
@nl
De bibliotheek is op zaterdag open van tien tot twee.
= other: De bibliotheek is op zaterdag open van tien tot twee.
@pl
Muzeum jest zamknięte w poniedziałek, ale kawiarnia jest otwarta.
= other: Muzeum jest zamknięte w poniedziałek, ale kawiarnia jest otwarta.
@ru
Концерт перенесли на пятницу из-за снега.
= event: Концерт перенесли на пятницу из-за снега.
@ja
図書館は月曜日に休みです。
= other: 図書館は月曜日に休みです。
""",
    "colleague": """
@en
Ben: {the printer on the second floor works again}
= event: The printer on the second floor works again.
Mia: {we are four people for the hike so far}
= event: There are four people for the hike so far.
Priya: {my flight was late, I landed at midnight}
= event: Priya's flight was late and landed at midnight.
Tom: {Lena had twins last night}
= event: Lena had twins.
""",
    "told to you": """
@en
Some notes on food:⏎{I don't like olives}⏎I love aubergines
= The user does not like olives.
My rules for mails:⏎1. {I want short subjects}⏎2. I never use emojis
= The user wants short subjects in mails.
About our trip:⏎{We want a hotel with a pool.}
= The user wants a hotel with a pool.
Just so you know: {I'm allergic to cats.}
= The user is allergic to cats.
To sum up: {I prefer the blue one}.
= The user prefers the blue one.
{I'd like all summaries in Spanish}, even if I write in English.
= The user would like all summaries in Spanish, even when writing in English.
My doctor said it's serious, so {no salt for me from now on}.
= The user wants no salt from now on.
I told Ben already: {I don't want a party}.
= The user does not want a party.
{I love the novel "Dune"}, the films less.
= The user loves the novel "Dune".
{If I'm in a meeting, don't call me.}
= The user does not want to be called in a meeting.
{I want my coffee at 8:00, not at 9:00}
= The user wants coffee at 8:00, not at 9:00.
{I'm writing a novel about bees.}
= person: The user is writing a novel about bees.
{My rent is due on the first}, remind me then.
= The user wants to be reminded when the rent is due on the first.
{Do not translate product names.}
= The user does not want product names translated.
Hi Kate, {I like my tea strong.}
= The user likes tea strong.
{I never eat breakfast.}
= The user never eats breakfast.
yes but {i prefer the e-mail over the phone}
= The user prefers e-mail over the phone.
{When Mia says "soon", I want a date from her.}
= The user wants a date from Mia when she says "soon".
{I moved to Łódź in January} with my cat.
= person: The user moved to Łódź in January 2026.
{We named our daughter Zoë.}
= person: The user's daughter is named Zoë.
{I decided not to sell the boat.}
= decision: The user decided not to sell the boat.
{My brother-in-law Chidi is a pilot.}
= person: The user's brother-in-law Chidi is a pilot.
@de
Zu mir:⏎- {Ich bin Vegetarierin}⏎- Ich wohne in Graz
= Die Nutzerin ist Vegetarierin.
{Ich trinke keinen Kaffee.}
= Die Nutzerin trinkt keinen Kaffee.
@fr
{Je ne mange pas de fromage.}
= L'utilisatrice ne mange pas de fromage.
@es
{Me gusta sentarme junto a la ventana.}
= A la usuaria le gusta sentarse junto a la ventana.
@sv
{Jag äter inte kött.}
= Användaren äter inte kött.
@hu
{Nem eszem húst.}
= A felhasználó nem eszik húst.
@el
{Δεν τρώω κρέας.}
= Ο χρήστης δεν τρώει κρέας.
@ar
{لا آكل اللحم.}
= المستخدم لا يأكل اللحم.
@en
ok from now on {please write "Ms Petrov" in letters to the bank}
= The user wants "Ms Petrov" written in letters to the bank.
{I only fly with airlines that take dogs.}
= The user only flies with airlines that take dogs.
""",
}

WAITS = """
@uk
Музей у центрі міста зачинений у понеділок.
= other: Музей у центрі міста зачинений у понеділок.
@tr
Müze pazartesi günleri kapalı, kafe açık.
= other: Müze pazartesi günleri kapalı, kafe açık.
@el
Το μουσείο είναι κλειστό τη Δευτέρα.
= other: Το μουσείο είναι κλειστό τη Δευτέρα.
@bg
Музеят е затворен в понеделник, но кафенето на ъгъла е отворено.
= other: Музеят е затворен в понеделник, но кафенето на ъгъла е отворено.
@hi
संग्रहालय सोमवार को बंद रहता है।
= other: संग्रहालय सोमवार को बंद रहता है।
@vi
Bảo tàng đóng cửa vào thứ hai.
= other: Bảo tàng đóng cửa vào thứ hai.
"""
