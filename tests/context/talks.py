"""Three conversations as they leave a window, to see what a summary keeps of them."""

from __future__ import annotations

from lila_app.context.fold import Exchange

_TALKS = """
Morning! I finally sat down with the moving list. The van is booked for Saturday the 12th at 8:30.
> Good morning! That leaves you ten days, which is comfortable. What is still open?

Well, boxes. I think we need about 40, and Petra said she could bring 15.
> Then 25 are missing. Hardware shops sell packs of ten, so three packs will do. I can remind you.

Yes please, remind me on Thursday. The new flat is at Lindenweg 7, third floor, no lift.
> I will remind you on Thursday about the boxes. Third floor without a lift is a long day.

My brother Karim helps, and two of his friends. I promised them pizza.
> Pizza is the right currency. With four people and a van it should take five hours or so.

The washing machine worries me. It is a Bosch and I do not know whether it fits through the door.
> The usual width is 60 cm. Old doors are often 68, so it should, but measure before the day.

It is 64 at the narrowest. OK. The landlady, Ms. Aydin, hands over the keys on Friday at 17:00.
> Then you could bring the plants over on Friday evening already. They do not like vans.

Ha, true. Are you good with contracts? The power contract runs out on the 30th.
> Somewhat. You should cancel it at least two weeks before, and tell them both meter readings.

I must not forget the meter. It is in the cellar, number 4471902.
> Take a photo of it on the day. A photo settles most quarrels.

Good idea. By the way, we decided to sell the sofa. Somebody called Renske offers 120 for it.
> Nice. Will she fetch it herself?

She comes on Tuesday evening with her father. I feel a bit sad about it, to be honest.
> That is how it is with sofas. There are many evenings in them.

So there are. All right, I am going to bed now. Thanks for listening to all this.
> Sleep well. I am glad that you told me.

---

The build is red again and I have no idea why.
> Let us look at it together. What does the log say in its last lines?

Something about a timeout in test_checkout, after 300 seconds. It passes on my laptop.
> Then it is likely the database. In CI it starts cold and the fixtures take a while to load.

Right, we moved to Postgres 17 last week. Ravi did that on Monday.
> Postgres 17 changed how parallel workers are planned. The image has 64 MB of shared memory.

That could be it. How would I raise it?
> In the job add --shm-size=256m to the options of the service. Then run it again.

OK let me try. By the way the ticket is PAY-2291, and Lena needs it merged by Friday.
> I will keep that in mind: PAY-2291, by Friday.

It is green! 212 tests in 94 seconds.
> Very good. You should still pin the image, so that it does not move under you again.

Will do. We agreed with the platform team to pin everything to digests from May on anyway.
> That is a sound rule. It also makes bisecting possible.

Next: the retries. We retry 5 times with 2 seconds between, and the bank finds it too much.
> Wait exponentially, with jitter: 1, 2, 4 seconds, then give up. Idempotency keys matter more.

We do not have those yet. I'll ask Tomasz, he wrote the adapter for Nordbank.
> Do. Without a key a retry can charge somebody twice, and that is the worst bug there is.

It happened once, in 2024, to a customer in Malmö. Nobody wants that again.
> Then this is worth a day. Shall I draft the message to Tomasz?

Please. Keep it short, he hates long mails.
> Here: "Tomasz, can the Nordbank adapter send an idempotency key? We retry and may charge twice."

Perfect, thank you so much.
> You are welcome. Good luck with it.

---

I had such a long day. Nothing special, just long.
> I am sorry to hear it. Would you like to talk about it, or about something else?

Something else. Mum turns 70 on 3 August, and I want to do something for her.
> That is a lovely thought. What does she like?

Gardens, opera, and her friend Dorothea. They went to school together in Graz.
> Perhaps Bregenz, then? The lake stage plays until the middle of August.

Oh. That is actually brilliant. What do they play this year?
> I cannot look it up here, but the programme is usually out in autumn. Tickets go fast.

How far is it from Graz?
> About 600 km, six and a half hours by train with one change.

She has a bad hip since 2022, so sitting that long is not great.
> Then break the journey in Innsbruck. A night there makes two easy days of it.

Good. I would pay up to 900 euros for all of it. My sister Hanna pays half.
> So 1,800 in total. For two nights and two tickets in the second category that is enough.

Hanna must not tell her, she cannot keep secrets!
> Then tell Hanna the date only. I will not mention it either when your mother is in the room.

Haha. OK. I'll call Dorothea on Sunday and ask whether she comes along.
> Good. If she does, a room for two is cheaper.

And I need to find somebody for the cat. Whiskers gets insulin at 7 and at 19.
> That is not something every neighbour can do. Does your vet have a list?

Dr. Brandl does, I think. I want to ask her on Monday.
> Then we have two calls: Dorothea on Sunday and Dr. Brandl on Monday.

Exactly. You know, I feel better already.
> That is good to hear.
"""

TALKS: tuple[tuple[Exchange, ...], ...] = tuple(
    tuple(
        Exchange(*(side.strip() for side in pair.strip().split("\n> ")))
        for pair in talk.strip().split("\n\n")
    )
    for talk in _TALKS.split("\n---\n")
)
