"""Forty passages of the kinds LILA shortens, each with the sentences somebody would ask about.

Written for this; the sentences that answer begin with a star. Half (the odd ones) were looked at
while the scorer was written, the other half only measured.
"""

from __future__ import annotations

_PASSAGES = """
The boiler makes a noise again, and it is not the pump this time.
I went down twice during the night to listen.
*The man from Halloran Heating said the expansion vessel needs 1.2 bar.
It was cold in the hall and the dog came along.
Anyway, it is the usual story with old houses.
---
We had a long talk about the trip, as one does in November.
*The ferry to Naxos leaves Piraeus at 7:25 on 14 May.
Everybody was in a good mood, which helped.
It is so nice when nobody is in a hurry.
*Tickets are collected at gate E6 and not at the counter.
There was some discussion about snacks as well.
---
Thanks for asking, it went better than expected.
The waiting room was full and the chairs were hard.
*She takes 50 mg of metoprolol in the morning and 25 in the evening.
The nurse was friendly and remembered us from last time.
*The next appointment is with Dr. Okafor on 3 February.
I am tired now and would rather talk about something else.
---
This recipe has been in the family for a while.
*Use 320 g of rye flour, 80 g of spelt and 9 g of salt.
Everyone has an opinion about how long it should rest.
*Bake it at 230 degrees for the first quarter of an hour.
It smells wonderful and the kitchen gets warm.
You will know when it is done.
---
The meeting began late because the room was taken.
There was coffee, and somebody had brought biscuits.
*We agreed that Priya leads the migration and that it starts after Easter.
Some people would have liked more time for questions.
*The old cluster stays readable until the end of June.
In general the mood was good.
---
The house was built by people who liked doors.
There are many of them and most of them stick.
*The spare key hangs behind the water meter in the cellar.
In winter the wind finds its way through everything.
We like it here all the same.
---
I have been thinking about what you said about sleep.
It is true that I look at the screen too long.
*I am allergic to valerian, so those drops are out of the question.
Maybe a walk in the evening would do.
My sister swears by it, but she swears by many things.
---
Setting it up is easier than the manual makes it look.
First of all read everything once, then begin.
*The router answers at 192.168.4.1 with the name admin.
Take your time with the cables and do not force anything.
*Its reset button must be held for twelve seconds.
If nothing helps, start again from the beginning.
---
School was school, as the children say.
*Maja changed from violin to cello and has lessons on Thursdays with Mr. Lindqvist.
The weather was grey the whole week.
There was a lot of laughing at dinner, nobody knows why.
*Her recital is in the Lutheran church.
We should do that more often.
---
The lease is long and most of it is about things nobody does.
*The notice period is three months to the end of a quarter.
A good part of it is about bicycles.
*The deposit of 2,340 euros lies with Volksbank Altona.
One wonders who writes such texts.
Still, better to have read it.
---
It was one of those afternoons in which everything takes time.
I stood in a queue, then in another one.
*In the end the clerk said that the passport is ready on the 19th.
The man in front of me told the whole story of his moped.
*They only take cards there, no cash.
At least it did not rain.
---
About the garden I could talk for hours, as you know.
*The quince by the shed is a Vranja and was planted in 2011.
Most of what grows here grew here before us.
*It must not be cut before the leaves have fallen.
The birds are the ones who really live here.
It is a good place to think.
---
The project has changed its name twice, which tells you something.
*The database moved from Oracle to Postgres 16 in the spring.
There were the usual quarrels about who pays.
People were tired but also a little proud.
*Backups go to the Zurich site every night at 2:40.
Nobody misses the old system.
---
I like the new place more than I thought.
It is light, and one hears the trains only at night.
*The landlord is called Teodor Bălan and lives on the ground floor.
The neighbours said hello, all of them.
*Rent is due on the third working day.
There is still a lot to unpack.
---
Well, the car.
It made that sound again on the hill, and I turned the music up.
*The garage says the left wheel bearing is gone and wants 410 for it.
They were nice about it, as one is about such sums.
*Until it is done I must not go faster than eighty.
I shall cycle for a while, which is healthy.
---
The museum is larger inside than outside, as they say.
We lost each other in the first hall already.
*On Mondays it is closed, and on the first Sunday entry is free.
There were a great many school classes.
*The Vermeer hangs on the second floor, room 27.
Afterwards we had cake.
---
You asked how the choir is going.
It goes on, as choirs do.
*We sing the Fauré Requiem in St. Olaf's on 21 November.
The altos are always right and the tenors are always late.
*Greta will drive, since I have no licence.
It is the best evening of the week.
---
This is mostly a note to myself.
I keep forgetting it and then I look for an hour.
*The certificate of the mail server runs out on 2027-01-09.
*It is renewed with certbot on the machine called heron.
Writing things down helps, or so I am told.
Next time I shall look here first.
---
The walk itself is easy and the view is worth it.
Take the path by the mill and keep the water on your left.
*After the second bridge there is no signal for nine kilometres.
Good shoes are a good idea in any season.
*The hut at the Grauer Sattel is open from June to September.
The soup there is very good.
---
I had a strange dream and then a strange day.
*My brother called from Tromsø to say that he is getting married.
I laughed, then I cried, then I made tea.
*Her name is Ingrid, and she is a vet.
It has been a long time since we had a feast.
I do not know what to wear.
---
The instructions came without pictures, which was a challenge.
Two of us needed the whole evening.
*The shelf carries 35 kilos a board if it is screwed to the wall.
It looks fine as long as one does not look closely.
*Two of the brackets are still missing; the shop sends them.
We celebrated with noodles.
---
Nothing much happened, to be honest.
There was some post, mostly advertisements.
*The insurance raised the premium to 61.80 a month from January.
I put it on the pile with the others.
*One can cancel until 30 November because of that.
The pile is getting tall.
---
Let me tell you about the dog, since you ask.
He is fine, and he is hungry, as always.
*He gets half a tablet of Apoquel on even days.
The vet was pleased with his teeth.
*He must not have chicken.
He sends his regards, in his way.
---
There are things one only learns by doing them.
*Press the brake before the start button, otherwise only the radio comes on.
It took us a week to find out.
People behind us were patient, mostly.
*The petrol cap opens from inside, with the lever under the seat.
Otherwise it is a pleasant car.
---
The team is spread over many places, and that works.
Everyone is used to it by now.
*Stand-up is at 9:45 Lisbon time, except on Fridays.
There is much joking in the chat.
*Whoever is on call carries the grey phone.
New people find it strange for a day or two.
---
It rained on and off, and nobody minded.
We had the big table under the tree.
*Grandfather was born in Czernowitz, not in Vienna, it turns out.
There was a long silence after that.
*His papers are in the tin box at Aunt Vera's.
Then somebody asked for more potatoes.
---
I tried the new running plan, more or less.
It is a matter of habit, they say.
*My knee hurts after six kilometres, always the right one.
The park is full of people who do the same.
*The half marathon in Bruges is on 7 March.
I am not sure that I am looking forward to it.
---
As to the printer, I have made my peace with it.
It prints when it wants to.
*It takes the toner TN-2420 and nothing else.
I have learned to wait.
*Scans end up in the folder called Eingang on the server.
There is something noble about such a machine.
---
The book is good, though one has to get into it.
The first hundred pages are about fog.
*The murderer is the verger, which one sees only at the very end.
I shall not say more than that.
*I promised to lend it to Samir.
It would make a good film.
---
We talked about money, which we seldom do.
It was less bad than I had feared.
*We put 350 a month aside for the roof from now on.
She had made a table, of course.
*The loan with Sparda ends in August 2029.
Then we went for a walk.
---
The conference was loud and warm.
I met people whose names I knew from mails.
*My talk was moved to Wednesday, hall C, right after lunch.
There was a robot that served drinks, badly.
*The slides must be uploaded by midnight on Monday.
I slept like a stone.
---
This is how it has always been done here.
Someone knows, and the others ask.
*The alarm is switched off with 7-1-1-4 and then the hash key.
It beeps for a while, that is normal.
*The cleaner comes on Tuesdays before seven.
One gets used to it.
---
The flight was as flights are.
I had a window and looked at clouds.
*My suitcase stayed in Doha and comes with the evening plane.
The lady at the desk had a kind voice.
*The claim number is KQ-88213.
At the hotel they lent me a shirt.
---
About the neighbours there is always something to tell.
They mean well, all of them.
*The Petersens are away until Whitsun and we water the tomatoes.
The cat has already moved in with us.
*The water is turned on behind the blue door.
It is a quiet summer.
---
The form asks for things that nobody can know.
I filled in what I could.
*My tax number changed when we moved to Bremen.
The hotline plays the same song over and over.
*It has to be sent by post, with a signature.
One day all of this will be simple.
---
You wanted to know about the paint.
We went through many samples and quarrelled a little.
*The hall is done in Setting Plaster, eggshell, two coats.
In the evening it looks like the inside of a shell.
*There is half a tin left in the shed.
I would do it again.
---
It is a small school and everybody knows everybody.
There is a pond, and a rule about the pond.
*Nut butters are forbidden in class because of Elin.
The parents are nice, on the whole.
*Pick-up is at the side gate since the building work began.
The children could not care less.
---
I finally went through the old disk.
Most of it is nothing, as expected.
*The wedding pictures are in a folder named misc2.
There were letters, too, which I did not read.
*The password for the archive is the name of our first boat, backwards.
It was a strange evening.
---
The plan is simple, and that is what I like about it.
Everyone does what they do best.
*Jonas brings the projector and Aylin the extension cords.
If it rains we go inside and that is that.
*Doors open at half past seven.
It will be fine.
---
I keep thinking that it must be autumn soon.
The light is different in the mornings.
*We decided against the stove and for a heat pump.
There was a lot of paper to read.
*The grant has to be asked for before the order is signed.
After that it is only waiting.
"""

PASSAGES: tuple[tuple[str, ...], ...] = tuple(
    tuple(line.strip() for line in passage.strip().split("\n"))
    for passage in _PASSAGES.strip().split("\n---\n")
)
