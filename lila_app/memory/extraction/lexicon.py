"""Words the rules know: kin, callings, animals, medicines, things one owns.

Closed lists where a wrong guess would be kept as a fact about somebody; a word that is missing
costs a fact, a word too many makes a false one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lila_app.memory.extraction.words import listed


@dataclass(frozen=True, slots=True)
class Role:
    """What somebody is to somebody: the predicate, and which of the two it has as its subject."""

    predicate: str
    subject: Literal["holder", "owner"]


def _roles() -> dict[str, Role]:
    found: dict[str, Role] = {}
    for words, predicate in (
        ("mother mum mom mama mummy mommy", "mother_of"),
        ("father dad papa daddy", "father_of"),
        ("parent", "parent_of"),
        ("sister", "sister_of"),
        ("brother", "brother_of"),
        ("sibling", "sibling_of"),
        ("son", "son_of"),
        ("daughter", "daughter_of"),
        ("child kid baby", "child_of"),
        ("friend bestie buddy pal", "friend_of"),
        ("colleague coworker co-worker teammate workmate", "colleague_of"),
    ):
        found |= {word: Role(predicate, "holder") for word in words.split()}
    for words, predicate in (
        ("wife husband spouse", "married_to"),
        ("partner", "partner_of"),
        ("fiancé fiancée fiance fiancee", "engaged_to"),
        ("manager boss supervisor", "reports_to"),
    ):
        found |= {word: Role(predicate, "owner") for word in words.split()}
    for word in [
        "aunt",
        "uncle",
        "cousin",
        "nephew",
        "niece",
        "grandmother",
        "grandfather",
        "grandma",
        "grandpa",
        "granny",
        "gran",
        "nan",
        "granddaughter",
        "grandson",
        "stepmother",
        "stepfather",
        "stepson",
        "stepdaughter",
        "stepsister",
        "stepbrother",
        "godmother",
        "godfather",
        "neighbour",
        "neighbor",
        "flatmate",
        "roommate",
        "housemate",
        "boyfriend",
        "girlfriend",
        "ex",
        "classmate",
        "twin",
        "pupil",
        "student",
        "mentor",
    ]:
        name = {"neighbor": "neighbour", "grandma": "grandmother", "granny": "grandmother"}
        found[word] = Role(f"kin_{name.get(word, word)}", "holder")
    for word in [
        "doctor",
        "dentist",
        "therapist",
        "lawyer",
        "landlord",
        "landlady",
        "accountant",
        "hairdresser",
        "vet",
        "physio",
        "physiotherapist",
        "gp",
        "optician",
        "psychiatrist",
        "cardiologist",
        "gynaecologist",
        "tutor",
        "trainer",
        "coach",
        "cleaner",
        "plumber",
        "electrician",
        "gardener",
        "nanny",
        "babysitter",
        "teacher",
    ]:
        found[word] = Role(f"has_{word}", "owner")
    for word in ("family", "grandparent", "folk", "in-law"):
        found[word] = Role(f"kin_{word}", "holder")
    for one in ("mother", "father", "sister", "brother", "son", "daughter"):
        found[f"{one}-in-law"] = Role(f"kin_{one}_in_law", "holder")
    return found


ROLES = _roles()

CANONICAL = {
    "mum": "mother",
    "mom": "mother",
    "mama": "mother",
    "mummy": "mother",
    "mommy": "mother",
    "dad": "father",
    "papa": "father",
    "daddy": "father",
    "kid": "child",
    "grandma": "grandmother",
    "granny": "grandmother",
    "neighbor": "neighbour",
}
"""One word for each, so that "my mum" and "my mother" are one."""

PETS = listed(
    "cat dog puppy kitten parrot hamster rabbit bunny horse pony tortoise turtle goldfish snake "
    "budgie canary lizard gecko ferret chicken goat labrador poodle spaniel terrier beagle "
    "dachshund corgi retriever pup cockatiel"
)

JOBS = listed(
    "accountant actor actress analyst architect artist astronomer baker banker barber barista "
    "bartender biologist bookkeeper bricklayer builder butcher carpenter cashier chef chemist "
    "cleaner consultant cook dancer dentist designer developer director doctor driver economist "
    "editor electrician engineer farmer filmmaker firefighter fisherman florist gardener geologist "
    "hairdresser illustrator journalist judge lawyer lecturer librarian manager mathematician "
    "mechanic midwife musician nurse optician painter paramedic pharmacist photographer physicist "
    "physiotherapist pilot plumber policeman policewoman postman producer programmer psychiatrist "
    "psychologist receptionist researcher sailor salesman scientist secretary singer soldier "
    "statistician student surgeon surveyor tailor teacher technician therapist translator tutor "
    "veterinarian vet waiter waitress welder writer professor plasterer roofer joiner nanny coach "
    "cardiologist entrepreneur freelancer interpreter radiologist cellist pianist violinist"
)

DIETS = listed(
    "vegetarian vegan pescatarian coeliac celiac halal kosher lactose-intolerant "
    "gluten-free keto flexitarian"
)

ILLNESSES = listed(
    "asthma diabetes epilepsy migraine migraines arthritis anxiety depression adhd autism cancer "
    "eczema psoriasis hypertension anaemia anemia gout insomnia glaucoma osteoporosis dyslexia "
    "endometriosis hypothyroidism tinnitus ibs ptsd scoliosis sciatica lupus"
)

MEDICINES = listed(
    "aspirin ibuprofen paracetamol acetaminophen insulin metformin warfarin lithium prednisone "
    "levothyroxine omeprazole melatonin naproxen salbutamol ventolin xanax prozac zoloft ritalin "
    "adderall tylenol advil antihistamines antibiotics antidepressants statins painkillers "
    "amlodipine gabapentin cetirizine"
)
MEDICINE_ENDINGS = (
    "olol", "pril", "sartan", "statin", "cillin", "mycin", "azole", "idine", "pam", "zepam",
    "oxetine", "traline", "formin", "gliptin", "parin", "xaban", "lukast", "terol", "sone",
)  # fmt: skip

OWNABLE = listed(
    "car bike bicycle motorbike motorcycle boat yacht dinghy van truck house flat apartment "
    "cottage "
    "cabin garden allotment laptop computer camera phone tablet guitar piano violin cello drum "
    "drums printer telescope kayak canoe surfboard caravan campervan scooter tent shop store "
    "studio "
    "bakery restaurant cafe café company business farm workshop shed motorhome drone keyboard "
    "sewing-machine synth synthesizer record-player greenhouse"
)

ATTRIBUTES = listed(
    "size number code password passphrase plate pin height weight username handle nickname model "
    "phone laptop car email address iban registration serial combination blood colour color "
    "budget goal salary rent deadline size"
)

MEETINGS = listed(
    "appointment exam interview meeting flight test deadline concert wedding party surgery "
    "operation class lesson rehearsal presentation checkup check-up call dinner lunch reunion race "
    "marathon viewing hearing trip match game conference workshop recital"
)

LANGUAGES = listed(
    "english french german spanish portuguese italian dutch danish swedish norwegian finnish "
    "polish "
    "czech russian ukrainian greek turkish arabic hebrew persian farsi hindi urdu bengali tamil "
    "mandarin cantonese chinese japanese korean vietnamese thai swahili catalan basque galician "
    "irish welsh gaelic romanian hungarian bulgarian croatian serbian latin esperanto icelandic "
    "afrikaans"
)

VAGUE = listed(
    "it that this these those them him her you me us everything something anything nothing thing "
    "things stuff one ones lot bit way idea part kind sort time times everyone someone people here "
    "there what which who all both some any none others other same more much many few moment "
    "ton bunch rest while question help look break problem point reason fact case job day"
)

VALUES = listed(
    "must mess joke problem pain shame pity treat dream nightmare blast lot bit disaster way thing "
    "lie fact miracle question matter idea good start piece person man woman guy girl boy human "
    "fool "
    "genius hero liar angel saint friend"
)


def is_medicine(word: str) -> bool:
    """A medicine by its name, or by the ending its group has (WHO's stems for generic names)."""
    word = word.lower()
    return word in MEDICINES or (len(word) > 6 and word.endswith(MEDICINE_ENDINGS))


def is_event(word: str) -> bool:
    """An appointment, an exam: something with a day."""
    return word in MEETINGS


def is_illness(word: str) -> bool:
    """An illness by its name."""
    return word in ILLNESSES


def is_pet(word: str) -> bool:
    """An animal one keeps."""
    return word in PETS
