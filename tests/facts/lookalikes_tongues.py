"""What owners type in other languages, in the form of lookalikes_typed.py; `@` names the language of what follows.

Mostly the fact is in the language of the message. The last four are in English, as some models write all facts.
"""

from __future__ import annotations

FOREIGN = """
@de
Antworte mir ab jetzt bitte immer auf Deutsch.
= Die Nutzerin möchte ab jetzt immer Antworten auf Deutsch.
{Ich esse kein Fleisch}, Fisch geht aber.
= Die Nutzerin isst kein Fleisch, aber Fisch.
{Buch mir nie wieder einen Flug vor 9 Uhr.}
= Die Nutzerin möchte keinen Flug vor 9 Uhr gebucht bekommen.
Ich sitze lieber am Gang.
= Die Nutzerin sitzt lieber am Gang.
{Termine am Freitagnachmittag bitte grundsätzlich ablehnen}, da bin ich beim Chor.
= Die Nutzerin möchte Termine am Freitagnachmittag grundsätzlich ablehnen.
wir haben uns {gegen das Haus in Potsdam entschieden}
= decision: Die Nutzerin hat sich gegen das Haus in Potsdam entschieden.
{Meine Schwester Lena hat am 14. März Geburtstag.}
= person: Lena, die Schwester der Nutzerin, hat am 14. März Geburtstag.
Kurze Sätze bitte. {Keine Schachtelsätze.}
= The user wants short sentences, no nested ones.
@fr
{Je suis végétarienne}, merci d'en tenir compte.
= L'utilisatrice est végétarienne.
Réponds-moi toujours en français.
= L'utilisatrice veut toujours une réponse en français.
{Je préfère le train à l'avion}, même si c'est plus long.
= L'utilisatrice préfère le train à l'avion.
{Ne programme rien le mercredi après-midi.}
= L'utilisatrice ne veut rien le mercredi après-midi.
{On a décidé de reporter le lancement au 20 avril.}
= decision: Il a été décidé de reporter le lancement au 20 avril 2026.
{Mon chef s'appelle Luc Moreau}, il est à Nantes.
= person: Le chef de l'utilisatrice s'appelle Luc Moreau.
@es
No como carne ni pescado.
= La usuaria no come carne ni pescado.
{Prefiero el asiento de ventanilla} si hay.
= La usuaria prefiere el asiento de ventanilla.
A partir de ahora {escríbeme de tú}, por favor.
= La usuaria quiere que le escriban de tú.
{Nunca reserves hoteles sin desayuno.}
= La usuaria no quiere hoteles sin desayuno.
{Ayer terminé la traducción del contrato.}
= task_completed: La usuaria terminó la traducción del contrato el 1 de marzo de 2026.
{Todavía falta la firma de Marta.}
= open_thread: Todavía falta la firma de Marta.
@pl
Nie jem mięsa.
= Użytkowniczka nie je mięsa.
{Wolę pociąg niż samolot.}
= Użytkowniczka woli pociąg niż samolot.
{Zawsze pisz do mnie po polsku}, nawet jak pytam po angielsku.
= Użytkowniczka chce, żeby zawsze pisać do niej po polsku.
{Nie umawiaj mi spotkań przed dziewiątą.}
= Użytkowniczka nie chce spotkań przed dziewiątą.
{Zdecydowaliśmy, że zostajemy przy Postgresie.}
= decision: Zdecydowano, że zostajemy przy Postgresie.
{Mój brat Tomek przyjeżdża 8 marca.}
= event: Brat Tomek przyjeżdża 8 marca 2026.
@it
{Il caffè lo prendo senza zucchero.}
= L'utente prende il caffè senza zucchero.
D'ora in poi {rispondimi in italiano}.
= L'utente vuole risposte in italiano.
{Preferisco gli alberghi piccoli}, quelli grandi mi mettono tristezza.
= L'utente preferisce gli alberghi piccoli.
{Ho consegnato la tesi il 27 febbraio!}
= task_completed: L'utente ha consegnato la tesi il 27 febbraio 2026.
@pt
{Não como glúten}, sou celíaca.
= A usuária não come glúten.
{Sempre me chame de Bia.}
= A usuária quer ser chamada de Bia.
{Prefiro reuniões à tarde.}
= A usuária prefere reuniões à tarde.
@nl
{Ik drink geen alcohol.}
= De gebruiker drinkt geen alcohol.
{Geen vergaderingen op vrijdag, alsjeblieft.}
= De gebruiker wil geen vergaderingen op vrijdag.
{We hebben besloten om de oude server uit te zetten.}
= decision: Er is besloten om de oude server uit te zetten.
@ru
{Я не ем мясо.}
= Пользователь не ест мясо.
{Отвечай мне всегда по-русски.}
= Пользователь хочет, чтобы ему всегда отвечали по-русски.
{Предпочитаю место у окна.}
= Пользователь предпочитает место у окна.
@uk
{Я не люблю дзвінки, краще пишіть.}
= Користувач не любить дзвінки, краще писати.
{Ми вирішили перенести реліз на 15 квітня.}
= decision: Вирішено перенести реліз на 15 квітня 2026 року.
@tr
{Et yemiyorum}, balık da yemiyorum.
= Kullanıcı et yemiyor.
{Toplantıları sabaha koyma.}
= Kullanıcı toplantıları sabaha koymak istemiyor.
@zh
我不吃辣。
= 用户不吃辣。
{以后请用中文回答我}，谢谢。
= 用户希望以后用中文回答。
{我喜欢靠窗的座位。}
= 用户喜欢靠窗的座位。
{我们决定五月再上线。}
= decision: 已决定五月再上线。
@ja
肉は食べません。
= ユーザーは肉を食べません。
{会議は午後にしてください。}
= ユーザーは会議を午後にしてほしい。
@sv
{Jag dricker inte kaffe}, bara te.
= Användaren dricker inte kaffe, bara te.
@cs
{Piš mi prosím vždycky česky.}
= Uživatel chce, aby se mu psalo vždycky česky.
@de
{Ich bin Vegetarierin}, aber das weißt du ja.
= The user is a vegetarian.
@es
{Contéstame siempre en español.}
= The user always wants answers in Spanish.
@fr
{Je déteste les réunions le lundi.}
= The user hates meetings on Mondays.
@pl
{Nie lubię niespodzianek w pracy.}
= The user does not like surprises at work.
"""
