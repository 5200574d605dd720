"""Attributes with closed values: enums and booleans."""

from __future__ import annotations

from typing import Final

from .catalogue import Spec, flag, member, spec

ENUMS: Final[tuple[Spec, ...]] = (
    spec(
        "answer_style|reply_style|verbosity",
        "How long answers should be|Style of the answers that the person wants",
        "answer style|reply style",
        "enum",
        near="style",
        members=(
            member(
                "concise|short|brief",
                *("keep it short", "no long answers please", "{S} want{s} the short version", "less text, please"),
                *("get to the point when you write to {O}", "one line is enough for {O}", "skip the lectures"),
            ),
            member(
                "detailed|long|thorough",
                *("tell {O} everything, step by step", "{S} want{s} all the details", "explain things fully to {O}"),
                *(
                    "don't leave anything out when you answer {O}",
                    "give {O} the long version",
                    "go deep, {S} like{s} depth",
                ),
            ),
            member(
                "bullet_points|list", "just give {O} a list", "{S} like{s} things as a list", "use dots, not paragraphs"
            ),
        ),
    ),
    spec(
        "tone|register|formality",
        "Tone in which to speak to the person",
        "tone",
        "enum",
        near="style",
        members=(
            member(
                "formal|polite", "be polite with {O}", "no slang with {O}", "address {O} properly, with title and all"
            ),
            member("casual|informal", "talk to {O} like a mate", "loosen up a bit with {O}", "drop the stiff talk"),
            member("playful|humorous", "crack a joke now and then", "{S} like{s} it when you are funny"),
        ),
    ),
    spec(
        "price_range|price_level|budget_class",
        "How expensive things may be",
        "price range|price level",
        "enum",
        near="money",
        members=(
            member(
                "cheap|low|budget",
                "nothing fancy, {Sm} broke",
                "{S} {have} to watch every penny",
                "as little money as possible",
            ),
            member("moderate|medium|mid", "not too dear, not too cheap", "something in between is fine on price"),
            member(
                "very expensive|high|luxury",
                "money is no object",
                "only the best will do for {O}",
                "price doesn't matter to {O}",
            ),
        ),
    ),
    spec(
        "transport_mode|commute_mode|gets_around_by",
        "How the person gets to work",
        "means of transport|commute",
        "enum",
        clash="commute",
        members=(
            member("car", "{S} drive{s} to work{t}", "{S} sit{s} in traffic every morning", said="by car|car"),
            member("bike|bicycle", "{S} pedal{s} to the office{t}", "{S} cycle{s} to work{t}", said="by bike|bike"),
            member(
                "train|rail", "{S} take{s} the 7:40 to work", "{S} go{es} to work by rail{t}", said="by train|train"
            ),
            member("on_foot|walking", "{S} walk{s} to the office{t}", "{P} legs carry {O} to work", said="on foot"),
        ),
    ),
    spec(
        "diet|eating_style|nutrition",
        "What kind of food the person eats",
        "diet",
        "enum",
        clash="diet",
        members=(
            member(
                "vegan",
                "{S} {dont} touch anything from animals{t}",
                "no eggs, no milk, no meat for {O}",
                "{S} went vegan{t}",
            ),
            member("vegetarian|veggie", "{S} {dont} eat meat or fish{t}", "{S} gave up meat{t}", "{Sm} a veggie{t}"),
            member("pescatarian", "fish is fine but {S} {dont} eat meat", "{S} eat{s} fish but no other animals"),
            member(
                "omnivore|everything",
                "{S} eat{s} everything",
                "{S} eat{s} meat again{t}",
                "{S} will eat whatever there is",
            ),
        ),
    ),
    spec(
        "marital_status|relationship_status",
        "Whether the person is single, married or divorced",
        "marital status",
        "enum",
        near="kin",
        clash="marriage",
        members=(
            member("single", "{Sm} not seeing anyone", "{Sm} on {P} own{t}", "{Sm} single{t}"),
            member("married", "{S} tied the knot{t}", "{S} {have} a ring on {P} finger", "{Sm} somebody's spouse{t}"),
            member("divorced", "{P} marriage ended{t}", "the divorce papers came through for {O}"),
        ),
    ),
    spec(
        "notification_channel|contact_channel|notify_by",
        "How the person wants to be notified",
        "notification channel|contact channel",
        "enum",
        near="contact",
        members=(
            member("email|mail", "drop {O} a mail when it's ready", "send news to {P} inbox", said="email|by mail"),
            member("sms|text", "text {O} when it's done", "a short text to {P} phone will do", said="text|SMS"),
            member("phone|call", "just ring {O}", "give {O} a call about news", said="phone|a call"),
            member("none|off", "don't notify {O} at all", "leave {O} alone with alerts", said="none|nothing at all"),
        ),
    ),
    spec(
        "experience_level|skill_level|proficiency",
        "How experienced the person is with computers",
        "experience level",
        "enum",
        members=(
            member("beginner|novice", "{Sm} new to all this", "{S} know{s} next to nothing about computers"),
            member("intermediate|average", "{S} know{s} {P} way around a bit", "{Sm} neither new nor an old hand"),
            member("expert|advanced", "{Sve} done this for ages", "{S} could teach this stuff", "{Sm} a pro at this"),
        ),
    ),
    spec(
        "meeting_day|weekly_meeting|standup_day",
        "Weekday of the weekly meeting",
        "meeting day",
        "enum",
        say="""we meet on {v}|the team meets every {v}{t}|{P} weekly call is on {v}|{v} is when {P} group meets""",
        update="we meet on {v} {from}|the weekly call moved to {v}|the team now meets on {v}",
        drop="the weekly meeting was scrapped|we don't meet any more",
        members=tuple(
            member(day.lower(), said=day) for day in ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
        ),
    ),
    spec(
        "theme|display_mode|appearance",
        "Look of the screen",
        "theme|display mode",
        "enum",
        near="style",
        members=(
            member(
                "dark|night",
                "the white screen hurts {P} eyes",
                "make the background black for {O}",
                said="dark|dark mode",
            ),
            member(
                "light|bright", "{S} like{s} a white background", "black screens depress {O}", said="light|light mode"
            ),
            member("auto|system", "let it follow the sun", "same look as the rest of the machine", said="automatic"),
        ),
    ),
    spec(
        "smoking|smoker_status",
        "Whether the person smokes",
        "smoking status",
        "enum",
        members=(
            member(
                "smoker|yes",
                "{S} smoke{s} a pack a day",
                "{S} need{s} a cigarette every hour",
                "{S} light{s} up after meals",
            ),
            member("non_smoker|never", "{S} never touched a cigarette", "tobacco is not for {O}"),
            member("quit|former", "{S} quit smoking{t}", "{P} last cigarette was a while ago"),
        ),
    ),
)

FLAGS: Final[tuple[Spec, ...]] = (
    flag(
        "is_vegetarian|vegetarian|no_meat",
        "Whether the person eats no meat",
        "vegetarian meals",
        """{S} {dont} eat meat{t}|{Sm} vegetarian{t}|meat is not for {O}|no steak for {O}, only plants
        {S} gave up meat{t}|{S} stopped eating animals{t}""",
        "{S} eat{s} meat again{t}|{S} love{s} a good steak|{Smnot} vegetarian|bacon is part of {P} breakfast",
        clash="diet",
    ),
    flag(
        "has_car|owns_car|car_owner",
        "Whether the person has a car",
        "car ownership",
        "{S} {have} a car{t}|{S} bought a car{t}|there's a car in {P} garage|{S} can drive {P} own car there",
        "{S} sold the car{t}|{S} {dont} own a car|{S} {have} no car{t}|without a car {Sm} stuck",
        clash="commute|car",
    ),
    flag(
        "drinks_alcohol|alcohol",
        "Whether the person drinks alcohol",
        "alcohol",
        "a glass of wine is always fine for {O}|{S} drink{s} beer|{S} enjoy{s} a whisky at night|{S} drink{s} again{t}",
        "{S} {dont} drink{t}|no booze for {O}|{Sm} sober{t}|{S} quit drinking{t}|only soft drinks for {O}",
    ),
    flag(
        "remote_work|works_remotely|home_office",
        "Whether the person works from home",
        "remote work",
        """{S} work{s} from home{t}|{S} work{s} from {P} kitchen table{t}|{P} job is remote{t}
        {S} never {have} to go in{t}""",
        "{Sm} back in the office{t}|{S} {have} to go in every day{t}|{P} boss wants {O} at the office{t}",
    ),
    flag(
        "newsletter|wants_newsletter|marketing_opt_in",
        "Whether the person wants the newsletter",
        "newsletter",
        "sign {O} up for the newsletter|{S}'d love to get your newsletter|put {O} on the mailing list",
        "stop sending {O} the newsletter|take {O} off the mailing list|unsubscribe {O}|no more newsletters for {O}",
    ),
    flag(
        "has_children|is_parent",
        "Whether the person has children",
        "children",
        """{P} kids are at school|{Sm} a parent{t}|{S} {have} a little girl|{S} bring{s} {P} son along
        {S} {have} a toddler""",
        "{S} {have} no kids|{S} {dont} have children",
        clash="kids",
    ),
    flag(
        "wheelchair_access|needs_step_free",
        "Whether the person needs step-free access",
        "step-free access",
        "{S} use{s} a wheelchair{t}|{S} can't manage stairs{t}|stairs are impossible for {O}|{S} need{s} a ramp",
        "{S} can walk stairs again{t}|{S} no longer need{s} the ramp|stairs are no problem for {O}",
    ),
    flag(
        "early_riser|morning_person",
        "Whether the person likes mornings",
        "morning person",
        "{Sm} up with the birds|{S} love{s} early mornings|{S} get{s} most done before eight",
        "don't talk to {O} before ten|{Sm} a night owl|mornings are torture for {O}",
    ),
    flag(
        "is_student|student|enrolled",
        "Whether the person is a student",
        "student status",
        "{Sm} at university{t}|{S} {have} a student card|{S} enrolled{t}|{Sm} still at college",
        "{S} graduated{t}|{S} left university{t}|{Smnot} a student any more|{P} student days are over",
        clash="student",
    ),
)

CLOSED: Final = (*ENUMS, *FLAGS)
