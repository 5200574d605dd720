"""Pools of words for values: what a person says, and the value that it stands for.

A pool is a function of a random source and a scene (when and where something is said).  Names are put together from
syllables, so that no list of them can be learned by heart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import Any, Final


@dataclass(frozen=True, kw_only=True, slots=True)
class Scene:
    """When, and in which zone, something is said."""

    at: datetime
    zone: str


@dataclass(frozen=True, slots=True)
class Said:
    """The words for a value, and the value in its canonical JSON form."""

    words: str
    value: Any


Pool = Callable[[Random, Scene], Said]


def words(text: str) -> list[str]:
    """The entries of a text that separates them by `|` or by line ends."""
    return [entry.strip() for entry in text.replace("\n", "|").split("|") if entry.strip()]


def texts(make: Callable[[Random], str]) -> Pool:
    """A pool of texts, whose words are the value."""

    def pool(rng: Random, scene: Scene) -> Said:
        said = make(rng)
        return Said(said, said)

    return pool


def listed(*lists: str) -> Pool:
    """A pool of texts from one or more lists; the text of an entry is the value."""
    entries = [entry for text in lists for entry in words(text)]
    return texts(lambda rng: rng.choice(entries))


# Invented names ---------------------------------------------------------------------------------------------------

_STARTS: Final = words(
    "ka|mi|so|ra|el|jo|an|ti|no|be|lu|fa|ze|ha|wi|og|du|pe|shi|chi|bra|kle|sto|vi|ja|yu|ma|dri|ol|ae|qui|tha|gri|ne|ro"
    "|sa|ke|lo|ve|ni|do|ari|iri|umi|eze|osa|ibra|kwa|nga|xia|zhi|tro|fje|bjo|sky|mce"
)
_MIDDLES: Final = words("ra|li|no|ma|ve|ri|lo|sha|ki|na|de|to|ba|ru|la|mi|sa|go|vi|he|ndo|lle|rro|sti|kka|mbe|zza")
_ENDS: Final = words("n|s|ra|k|lia|ne|ko|ta|d|m|va|sh|ly|rt|na|ro|x|ski|sen|dottir|ez|ova|wa|ji|que|ton|ham|ville|berg")


def syllables(rng: Random) -> str:
    """An invented word with a capital letter."""
    middle = "".join(rng.choice(_MIDDLES) for _ in range(rng.choice((0, 1, 1, 2))))
    return (rng.choice(_STARTS) + middle + rng.choice(_ENDS)).capitalize()


_FIRST: Final = words(
    """Mira|Tom|Aiko|Kwame|Priya|Lars|Fatima|Diego|Chloe|Yusuf|Ingrid|Mateo|Zanele|Hiro|Olena|Rashid|Siobhan|Thabo
    Leila|Anders|Mei|Tunde|Noor|Pavel|Ximena|Bjarne|Amara|Giulia|Sanjay|Eun-ji|Farah|Nils|Rosa|Ivo|Wanjiru|Tariq
    Elif|Malik|Saoirse|Joaquin|Hana|Bogdan|Nneka|Oskar|Lucia|Dmitri|Aaliyah|Jens|Keiko|Omar|Petra|Ravi|Soledad|Yara
    Ben|Carla|Eve|Frank|Grace|Henry|Isla|Jack|Kate|Liam|Nora|Paul|Quinn|Ruth|Sam|Tess|Uma|Vera|Will|Zoe|Ada|Max"""
)
_LAST: Final = words(
    """Okafor|Nakamura|Petrov|Garcia|Haddad|Lindqvist|O'Brien|Mehta|Kowalski|Nguyen|Silva|Mbeki|Fischer|Rossi|Yilmaz
    Andersen|Park|Chen|Dubois|Karimi|Moreau|Santos|Weber|Ivanova|Achebe|Tanaka|Murphy|Kaur|Novak|Brandt|Ortiz"""
)


def first_name(rng: Random) -> str:
    """A given name, one in three invented."""
    return syllables(rng) if rng.random() < 0.33 else rng.choice(_FIRST)


def full_name(rng: Random) -> str:
    """A given name and a family name, either of which may be invented."""
    last = syllables(rng) if rng.random() < 0.4 else rng.choice(_LAST)
    return f"{first_name(rng)} {last}"


_CITIES: Final = words(
    """Oslo|Lima|Kyoto|Nairobi|Porto|Ghent|Cusco|Tbilisi|Hanoi|Leeds|Austin|Quito|Bergen|Izmir|Accra|Pune|Malmö|Graz
    Zürich|São Paulo|New York|San Diego|Cape Town|Buenos Aires|Ho Chi Minh City|Kuala Lumpur|St. Gallen
    Aix-en-Provence|Paris|London|Berlin|Rome|Madrid|Toronto|Chicago|Mumbai|Lagos|Cairo|Sydney|Seoul|Dublin|Vienna
    Warsaw|Lisbon|Tokyo|Reykjavik|Montevideo|Addis Ababa|Gothenburg|Kraków|Bilbao|Antwerp|Osaka|Boston|Denver|Perth
    Bristol|Lyon|Tartu"""
)
_PLACE_ENDS: Final = words("ville|burg|ton|stad|field|mouth|ford|haven|grad|polis|minster|-Bay|-Springs|-Falls")


def city_name(rng: Random) -> str:
    """A city, two in five invented."""
    if rng.random() < 0.6:
        return rng.choice(_CITIES)
    name = syllables(rng)
    return name if rng.random() < 0.5 else name + rng.choice(_PLACE_ENDS).replace("-", " ")


_COUNTRIES: Final = (
    "Norway|Peru|Kenya|Portugal|Georgia|Vietnam|Ghana|India|Chile|Japan|Brazil|Poland|Canada|Mexico|Turkey|Ireland"
    "|New Zealand|South Korea|Costa Rica|Sri Lanka|the Netherlands|the UK|Egypt|Nepal|Estonia|Morocco|Iceland|Jordan"
)
_STREET_ENDS: Final = words("Street|Road|Lane|Avenue|Close|Square|Way|Drive|Terrace|Gardens")
_STREETS: Final = words("Mill|Church|Station|Oak|Harbour|King|Elm|Bridge|Park|Hill|Juniper|Market|Chapel|Orchard")


def street(rng: Random) -> str:
    """A street address."""
    number = rng.randint(1, 399)
    name = syllables(rng) if rng.random() < 0.5 else rng.choice(_STREETS)
    if rng.random() < 0.15:
        return f"{name}{rng.choice(('gata', 'straat', 'weg', 'gade'))} {number}"
    place = f", {city_name(rng)}" if rng.random() < 0.2 else ""
    return f"{number}{rng.choice(('', '', '', 'B'))} {name} {rng.choice(_STREET_ENDS)}{place}"


_COMPANY_ENDS: Final = words(
    "Labs|Systems|Foods|Logistics|Bank|& Sons|Group|Energy|Studio|Media|Health|Robotics|Partners"
)
_COMPANIES: Final = words(
    "the city council|Northwind|Acme|Initech|the post office|a bakery|the university|Globex|Bluebird Air"
)


def company_name(rng: Random) -> str:
    """An employer or a brand, mostly invented."""
    if rng.random() < 0.2:
        return rng.choice(_COMPANIES)
    name = syllables(rng)
    return name if rng.random() < 0.4 else f"{name} {rng.choice(_COMPANY_ENDS)}"


def brand_name(rng: Random) -> str:
    """A product with a make and a model, invented."""
    model = rng.choice((f"{rng.choice('ABCEGKMQRSTXZ')}{rng.randint(1, 99)}", str(rng.randint(2, 900)), "Pro", "Mini"))
    return f"{syllables(rng)} {model}"


_TEAM_ENDS: Final = words("United|Rovers|FC|City|Athletic|Wolves|Hawks|Tigers|Comets|Giants|Sharks|Wanderers")


def team_name(rng: Random) -> str:
    """A team, half of them with an animal or the like."""
    return f"{city_name(rng)} {rng.choice(_TEAM_ENDS)}" if rng.random() < 0.8 else f"the {rng.choice(_TEAM_ENDS)}"


_TITLE_A: Final = words("The Silent|Blue|A Long|Seven|Under the|The Last|Paper|Winter|Broken|The Glass|Night|Small")
_TITLE_B: Final = words("River|Harbour|Garden|Letters|Moon|Winters|Country|Machine|Gods|Mountain|Summer|Orchard|Road")


def title(rng: Random) -> str:
    """The title of a book, a film or a song."""
    return f"{rng.choice(_TITLE_A)} {rng.choice(_TITLE_B)}"


def email(rng: Random) -> str:
    """An email address at an example domain."""
    user = syllables(rng).lower() + rng.choice(("", ".", "_")) + rng.choice(("x", "k", "post", "mail", "79", "b"))
    return f"{user}@{rng.choice(('example.com', 'example.org', 'mail.example', 'example.net'))}"


def phone(rng: Random) -> str:
    """A telephone number."""
    shape = rng.choice(("555-0###", "+44 20 7946 0###", "0## 555 ####", "(0##) ### ###", "01632 960###"))
    return "".join(str(rng.randint(1, 9)) if c == "#" else c for c in shape)


def code(rng: Random) -> str:
    """A booking code, a plate or a seat: letters and digits."""
    shape = rng.choice(("##A", "A-###", "AA##", "AAA###", "A#A#A#", "####-AA", "#A"))
    letters = "ABCDEFGHJKLMNPQRSTUVWXYZ"
    swap = {"#": lambda: str(rng.randint(0, 9)), "A": lambda: rng.choice(letters)}
    return "".join(swap[c]() if c in swap else c for c in shape)


# Lists ------------------------------------------------------------------------------------------------------------

FOODS: Final = (
    "sushi|pizza|okra|lentil soup|tofu|haggis|kimchi|pad thai|ramen|olives|blue cheese|coriander|mushrooms|liver|jollof"
    "|injera|dal|gnocchi|anchovies|aubergine|tacos|pancakes|falafel|pho|dumplings|brussels sprouts|liquorice|grits"
)
ALLERGENS: Final = (
    "peanuts|nuts|shellfish|gluten|dairy|eggs|soy|sesame|strawberries|kiwi|latex|pollen|penicillin|cat hair|dust mites"
    "|celery|mustard|bee stings|lupin|aspirin|sulphites|mango|shrimp|wheat|almonds"
)
HOBBIES: Final = (
    "climbing|chess|pottery|birdwatching|knitting|salsa dancing|fencing|gardening|surfing|origami|cycling|beekeeping"
    "|archery|calligraphy|trail running|karaoke|judo|baking|sailing|the ukulele|board games|yoga|ice skating|foraging"
)
JOBS: Final = (
    "nurse|plumber|data analyst|teacher|welder|translator|midwife|barista|architect|bus driver|florist|surveyor|chef"
    "|product manager|tax adviser|sound engineer|carpenter|vet|paralegal|geologist|backend developer|librarian|tailor"
)
LANGUAGES: Final = (
    "Spanish|Japanese|Swahili|Polish|Arabic|Korean|Welsh|Portuguese|Hindi|Turkish|Mandarin|French|Icelandic|Tamil"
    "|Yoruba|German|Catalan|Finnish|Italian|Greek|Zulu|Farsi|Danish|Ukrainian|sign language"
)
COLOURS: Final = "teal|mustard yellow|navy|forest green|burgundy|lilac|black|off-white|coral|turquoise|grey|crimson"
ANIMALS: Final = "dog|cat|hamster|parrot|rabbit|gecko|pony|tortoise|ferret|goldfish|greyhound|canary"
DRINKS: Final = (
    "flat white|green tea|oat latte|espresso|chai|black coffee|cold brew|mint tea|kombucha|hot chocolate|rooibos"
    "|cappuccino|sparkling water|earl grey|yerba mate|lemonade"
)
GENRES: Final = "jazz|techno|baroque|afrobeat|folk|hip hop|bossa nova|metal|country|K-pop|blues|reggae|ambient|opera"
SKILLS: Final = (
    "Python|welding|Excel|photo editing|public speaking|SQL|negotiation|sewing|Rust|first aid|sketching|React"
)
GADGETS: Final = "laptop|phone|headphones|camera|monitor|keyboard|e-reader|smartwatch|drone|tablet|printer|router"
CHORES: Final = (
    "water the plants|call the dentist|renew the car insurance|buy stamps|fix the gate|return the library books"
    "|book the vet|clean the gutters|send the invoice|pick up the dry cleaning|order a birthday cake|pay the rent"
    "|sharpen the knives|email the landlord|back up the laptop|defrost the freezer|print the tickets"
)
MEDICINES: Final = "ibuprofen|metformin|vitamin D|iron tablets|an antihistamine|insulin|magnesium|an inhaler|melatonin"
SIZES: Final = "S|M|L|XL|XS|38|40|42|44|36|10|12|14|medium|large|small"
PETS_SAID: Final = "Biscuit|Rex|Luna|Professor Paws|Pickle|Mochi|Sir Barks|Nugget|Ziggy|Kiki|Bruno|Tofu|Pepper|Waffles"
ROOMS: Final = "kitchen|hallway|bedroom|office|bathroom|living room|garage|attic|nursery|balcony|guest room|cellar"
AIRPORTS: Final = "Heathrow|Gatwick|JFK|Narita|Schiphol|Arlanda|Changi|O'Hare|Barajas|Keflavik|Haneda|Tegel|Logan"
MODELS: Final = "a window seat|an aisle seat|extra legroom|a middle seat|a seat near the exit|a seat at the front"
SYMPTOMS: Final = "migraines|hay fever|asthma|back pain|insomnia|eczema|tinnitus|vertigo|heartburn|anaemia|sciatica"
SUBJECTS: Final = "maths|biology|art history|law|economics|nursing|physics|linguistics|music|philosophy|geography"
INSTRUMENTS: Final = "cello|trumpet|sitar|piano|drums|flute|banjo|violin|harp|accordion|oud|bass guitar|clarinet"

city = texts(city_name)
country = listed(_COUNTRIES)
person = texts(first_name)
whole_name = texts(full_name)
address = texts(street)
company = texts(company_name)
brand = texts(brand_name)
team = texts(team_name)
work_title = texts(title)
mail = texts(email)
telephone = texts(phone)
codes = texts(code)
pet = texts(lambda rng: syllables(rng) if rng.random() < 0.4 else rng.choice(words(PETS_SAID)))
things = texts(lambda rng: rng.choice((brand_name, company_name, title, city_name))(rng))


def mixed(*pools: Pool) -> Pool:
    """A pool that draws from several."""
    return lambda rng, scene: rng.choice(pools)(rng, scene)


def draw(rng: Random, options: Sequence[str]) -> str:
    """One of the options; the empty text where there are none."""
    return rng.choice(options) if options else ""
