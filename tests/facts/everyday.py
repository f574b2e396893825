"""What owners say of themselves any day, with what is true of it, and with what a careless model makes of it.

In the form of lookalikes_typed.py. What is true becomes active; what is false is dropped or waits, though nearly all its words
were said: it is somebody else's, a plan, a wish, the past, the opposite, or the wrong way round.
"""

from __future__ import annotations

TRUE = """
My brother Jonas studies law in Vienna.
= person: The user's brother Jonas studies law in Vienna.
I drive a grey Skoda.
= other: The user drives a grey Skoda.
I take two sugars in my tea.
= preference: The user takes 2 sugars in tea.
Our cat Miso has diabetes.
= other: The user's cat Miso has diabetes.
I quit my job at the bank, I start at Lumen in May.
= event: The user starts at Lumen in May 2026.
My daughter turned six on Sunday.
= event: The user's daughter turned 6 on 1 March 2026.
I don't eat pork, but I love lamb.
= preference: The user loves lamb.
We moved the launch from Tuesday to Thursday.
= decision: The launch was moved from Tuesday to Thursday.
I used to smoke.
= other: The user used to smoke.
I might take the train to Graz.
= open_thread: The user might take the train to Graz.
I'd love to see Iceland one day.
= preference: The user would love to see Iceland one day.
I used to live in Oslo, now I live in Bergen.
= person: The user lives in Bergen.
I'm planning to learn Finnish this year.
= open_thread: The user plans to learn Finnish in 2026.
If it rains we'll stay at home, but the tickets are booked.
= task_completed: The tickets are booked.
I want to become a midwife.
= open_thread: The user wants to become a midwife.
I finally finished the tax return.
= task_completed: The user finished the tax return.
My yoga class is at quarter past six.
= event: The user's yoga class is at 6:15.
The plumber comes at 2.30pm tomorrow.
= event: The plumber comes on 3 March 2026 at 14:30.
I prefer emails to phone calls.
= preference: The user prefers emails to phone calls.
I'd rather walk than drive.
= preference: The user would rather walk than drive.
We picked the blue tiles instead of the green ones.
= decision: The user picked the blue tiles instead of the green ones.
My grandma lives with us.
= person: The user's grandmother lives with the user.
Every Friday I go to the sauna.
= preference: The user goes to the sauna every Friday.
Every night remind me of tomorrow's first appointment.
= preference: The user wants to be reminded of tomorrow's first appointment every night.
Me gusta correr por la mañana.
= preference: Al usuario le gusta correr por la mañana.
Ich arbeite am liebsten am frühen Morgen.
= preference: Der Nutzer arbeitet am liebsten am frühen Morgen.
My wife Lena is a vet and my son Ole is eleven.
= person: The user's wife Lena is a vet.
My ex Tom still has my keys.
= person: The user's ex Tom still has the user's keys.
My flatmate is allergic to cats, so I can't get one.
= person: The user's flatmate is allergic to cats.
My knee hurts since the marathon.
= other: The user's knee hurts since the marathon.
My team and I decided to drop Jira.
= decision: The user and their team decided to drop Jira.
My sister and I inherited a house in Crete.
= event: The user and their sister inherited a house in Crete.
I left Siemens for Bosch.
= event: The user left Siemens for Bosch.
I'm not moving to Rome after all, I'm staying in Turin.
= decision: The user is staying in Turin.
The exam wasn't on Monday, it was on Tuesday.
= event: The exam was on Tuesday.
I haven't spoken to Carla since June, she moved to Malta.
= event: Carla moved to Malta.
Our anniversary is on the 9th of July.
= event: The user's anniversary is on 9 July 2026.
I never drink coffee after noon.
= preference: The user does not drink coffee after noon.
I own fifteen bonsai trees.
= other: The user owns 15 bonsai trees.
We're on holiday from 3 to 17 August.
= event: The user is on holiday from 3 August 2026 to 17 August 2026.
My boss wants the slides by Friday.
= open_thread: The user's boss wants the slides by Friday.
My mum's birthday is on 2 April.
= person: The user's mother's birthday is on 2 April 2026.
I hate flying and love trains.
= preference: The user loves trains.
I no longer work at Google, I'm at Stripe now.
= person: The user works at Stripe.
I no longer live in Rome, I live in Milan.
= person: The user lives in Milan.
I don't work there anymore, I work at Bosch.
= person: The user works at Bosch.
The meeting is not on Friday, it's on Monday.
= event: The meeting is on Monday.
I don't want to live in Berlin anymore, so I'm moving to Porto.
= event: The user is moving to Porto.
I haven't seen my sister since Christmas, she lives in Oslo.
= person: The user's sister lives in Oslo.
Call me Sam, not Samuel.
= preference: The user wants to be called Sam.
My mum lives in Porto.
= person: The user's mother lives in Porto.
My son is five.
= person: The user's son is 5 years old.
I bought twenty apples.
= other: The user bought 20 apples.
My flight to Tokyo leaves tomorrow at 7.30pm.
= event: The user's flight to Tokyo leaves on 3 March 2026 at 19:30.
My appointment is at half past nine.
= event: The user's appointment is at 9:30.
I'm out of office from 10 to 14 March.
= event: The user is out of office from 10 March 2026 to 14 March 2026.
Prefiero volar por la mañana.
= preference: El usuario prefiere volar por la mañana.
My boss told me I'm getting a raise.
= event: The user is getting a raise.
My favourite song is Yesterday.
= preference: The user's favourite song is Yesterday.
I'd rather have tea than coffee.
= preference: The user prefers tea to coffee.
I have to take insulin every day.
= other: The user takes insulin every day.
My grandmother is half Dutch, and I speak a little Dutch.
= person: The user speaks a little Dutch.
I need to call the insurance.
= open_thread: The user needs to call the insurance.
I work part-time at a bookshop in Leeds.
= person: The user works part-time at a bookshop in Leeds.
My twins start kindergarten in September.
= event: The user's twins start kindergarten in September 2026.
I usually take the stairs.
= preference: The user usually takes the stairs.
We got a new sofa on Saturday.
= event: The user got a new sofa on 28 February 2026.
I can't come on Thursday, but Friday is fine.
= event: Friday is fine for the user.
My landlord raised the rent.
= event: The user's landlord raised the rent.
I should drink less coffee.
= preference: The user thinks they should drink less coffee.
My laptop is three years old.
= other: The user's laptop is 3 years old.
I've lived in Ghent since 2015.
= person: The user has lived in Ghent since 2015.
Don't put onions in anything for me.
= preference: The user does not want onions in anything.
I was in Kyoto in April last year.
= event: The user was in Kyoto in April 2025.
My brother-in-law lent me his drill.
= event: The user's brother-in-law lent the user his drill.
I'd like the summary at the top.
= preference: The user wants the summary at the top.
We decided against a second car.
= decision: The user decided against a second car.
I switched from Spotify to Tidal.
= decision: The user switched from Spotify to Tidal.
My wife is Italian, so we cook a lot of pasta.
= person: The user's wife is Italian.
When I travel I always take my own pillow.
= preference: The user always takes their own pillow when travelling.
My doctor told me to eat less salt.
= event: The user's doctor told the user to eat less salt.
I'm thinking of selling the car.
= open_thread: The user is thinking of selling the car.
Our son Emil plays chess on Wednesdays.
= person: The user's son Emil plays chess on Wednesdays.
I only use metric units.
= preference: The user only uses metric units.
The kids have swimming at quarter to five.
= event: The kids have swimming at 4:45.
I haven't read it yet, but the report arrived.
= event: The report arrived.
Ich wohne nicht mehr in Köln, ich wohne jetzt in Bonn.
= person: Der Nutzer wohnt in Bonn.
J'adore le jazz mais je déteste la techno.
= preference: L'utilisateur adore le jazz.
Mi hermana vive en Sevilla.
= person: La hermana del usuario vive en Sevilla.
I'm seeing the dentist on the 12th of March at 4pm.
= event: The user sees the dentist on 12 March 2026 at 16:00.
My old bike was stolen, so I bought a new one.
= event: The user's old bike was stolen.
"""

FALSE = """
My brother Jonas studies law in Vienna.
= person: The user studies law in Vienna.
My flatmate is allergic to cats.
= other: The user is allergic to cats.
Our neighbours own a boat.
= other: The user owns a boat.
My boss is moving to Madrid.
= event: The user is moving to Madrid.
My colleague plays the cello.
= preference: The user plays the cello.
My late husband was a sailor.
= person: The user's husband is a sailor.
My former boss Ines lives in Faro.
= person: The user's boss Ines lives in Faro.
My best friend has two kids.
= person: The user has two kids.
Her cousin broke a leg.
= event: The user broke a leg.
My cousin's wife is a dentist.
= person: The user's wife is a dentist.
I might take the train to Graz.
= event: The user took the train to Graz.
I nearly sold the flat.
= event: The user sold the flat.
I used to smoke.
= other: The user smokes.
I'd love to see Iceland one day.
= event: The user saw Iceland.
I'm planning to learn Finnish.
= task_completed: The user learned Finnish.
I hope to get the job at Lumen.
= event: The user got the job at Lumen.
If I pass the exam, I'll buy a motorbike.
= event: The user bought a motorbike.
I'm trying to finish my thesis.
= task_completed: The user finished their thesis.
I was going to marry Paul.
= event: The user married Paul.
I dream of owning a vineyard.
= other: The user owns a vineyard.
We considered a house in Crete.
= other: The user has a house in Crete.
I'm supposed to call the bank.
= task_completed: The user called the bank.
I prefer emails to phone calls.
= preference: The user prefers phone calls to emails.
I'd rather walk than drive.
= preference: The user would rather drive than walk.
We picked blue tiles instead of green tiles.
= decision: The user picked green tiles instead of blue tiles.
Lena is older than Ole.
= person: Ole is older than Lena.
I like Porto more than Lisbon.
= preference: The user likes Lisbon more than Porto.
I no longer work at Siemens, I'm at Bosch now.
= person: The user works at Siemens.
The exam wasn't on Monday, it was on Tuesday.
= event: The exam was on Monday.
I hate flying and love trains.
= preference: The user loves flying.
I hate flying and love trains.
= preference: The user hates trains.
I left Siemens for Bosch.
= person: The user works at Siemens.
I turned down the offer from Lumen.
= decision: The user accepted the offer from Lumen.
My son is lactose intolerant.
= other: The user is lactose intolerant.
I skip breakfast.
= preference: The user eats breakfast.
I'm far from done with the garden.
= task_completed: The user is done with the garden.
My husband would like a dog.
= preference: The user would like a dog.
I have fifteen bonsai trees.
= other: The user has 50 bonsai trees.
I forgot to lock the shed.
= task_completed: The user locked the shed.
My dentist Dr. Kern moved to Linz.
= event: The user moved to Linz.
I almost never eat fish.
= preference: The user eats fish.
My sister is allergic to nuts.
= other: The user is allergic to nuts.
My neighbour has a dog called Rex.
= person: The user has a dog called Rex.
My ex-wife Julia lives in Rome.
= person: The user's wife Julia lives in Rome.
Tom plays the cello.
= other: The user plays the cello.
Meine Schwester ist allergisch gegen Nüsse.
= other: Der Nutzer ist allergisch gegen Nüsse.
I might move to Lisbon next year.
= event: The user moved to Lisbon.
I almost bought a Tesla.
= event: The user bought a Tesla.
I used to live in Rome.
= person: The user lives in Rome.
I wish I had a dog.
= other: The user has a dog.
I wanted to become a pilot.
= person: The user is a pilot.
I'm about to finish the report.
= task_completed: The user finished the report.
The report is far from finished.
= task_completed: The user finished the report.
I left Google for Stripe.
= person: The user works at Google.
I prefer window seats to aisle seats.
= preference: The user prefers aisle seats to window seats.
I prefer tea over coffee.
= preference: The user prefers coffee over tea.
I'd rather have tea than coffee.
= preference: The user prefers coffee.
We chose Postgres over MySQL.
= decision: The user chose MySQL over Postgres.
I no longer work at Google, I'm at Stripe now.
= person: The user works at Google.
The meeting is not on Friday, it's on Monday.
= event: The meeting is on Friday.
Call me Sam, not Samuel.
= preference: The user wants to be called Samuel.
I need to call the insurance.
= task_completed: The user called the insurance.
My grandmother is half Dutch.
= person: The user is half Dutch.
My landlord is moving to Spain.
= event: The user is moving to Spain.
Our au pair speaks Thai.
= person: The user speaks Thai.
My mother's doctor is Dr. Lang.
= person: The user's doctor is Dr. Lang.
My wife is Italian.
= person: The user is Italian.
I hope to run a marathon in autumn.
= event: The user ran a marathon.
I'm thinking of selling the car.
= event: The user sold the car.
I should drink less coffee.
= event: The user drank less coffee.
I would never eat snails.
= preference: The user eats snails.
I haven't read the report yet.
= task_completed: The user read the report.
I switched from Spotify to Tidal.
= other: The user uses Spotify.
I like hiking more than swimming.
= preference: The user likes swimming more than hiking.
When I was young I played handball.
= preference: The user plays handball.
Jens got a promotion.
= event: The user got a promotion.
We nearly missed the ferry.
= event: The user missed the ferry.
I refused the settlement.
= decision: The user accepted the settlement.
Ich wohne nicht mehr in Köln, ich wohne jetzt in Bonn.
= person: Der Nutzer wohnt in Köln.
J'adore le jazz mais je déteste la techno.
= preference: L'utilisateur adore la techno.
Mi hermana es vegetariana.
= person: El usuario es vegetariano.
Unsere Nachbarin hat einen Hund.
= other: Die Nutzerin hat einen Hund.
I could have bought the flat in 2015.
= event: The user bought the flat in 2015.
My twin brother is left-handed.
= person: The user is left-handed.
The kids love broccoli.
= preference: The user loves broccoli.
I'd move to Norway if I could ski.
= event: The user moved to Norway.
I cancelled the gym.
= other: The user goes to the gym.
The wedding was postponed from May to July.
= event: The wedding is in May.
My best friend's dog died.
= event: The user's dog died.
I dropped out of law school.
= person: The user studies at law school.
Ana asked me whether I smoke.
= other: The user smokes.
I failed the exam.
= event: The user passed the exam.
"""
