"""Attributes that hold many values, as a set or by item, and those of projects."""

from __future__ import annotations

from typing import Final

from . import pools
from .catalogue import Spec, member, spec
from .pools import listed, mixed
from .spoken_values import birth_day, clock, day_ahead, fraction, money, whole

SETS: Final[tuple[Spec, ...]] = (
    spec(
        "allergies|food_allergies|allergic_to",
        "Things the person is allergic to|Allergies",
        "allergies",
        pool=listed(pools.ALLERGENS),
        many="set",
        near="health",
        say="""{Sm} allergic to {v}|{v} make {O} ill, {Sm} allergic|{S} can't have {v}, allergy
        {P} throat swells up from {v}|{S} react{s} badly to {v}|{S} turned out to be allergic to {v}
        no {v} for {O}, {Sm} allergic""",
        drop="""{Smnot} allergic to {v} any more|{v} never bother {O} any more, the allergy is gone
        {S} can have {v} again, no allergy left|{P} allergy to {v} went away|it turned out {Smnot} allergic to {v}""",
    ),
    spec(
        "health_conditions|ailments|medical_conditions",
        "Lasting health problems",
        "conditions|health conditions",
        pool=listed(pools.SYMPTOMS),
        many="set",
        near="health",
        say="{S} {have} {v}{t}|{S} suffer{s} from {v}{t}|{S} got diagnosed with {v}|{v} plagues {O}{t}",
        drop="{P} {v} is cured|{S} no longer {have} {v}|{S} got over {P} {v}",
    ),
    spec(
        "hobbies|pastimes|free_time_activities",
        "What the person does in spare time",
        "hobbies",
        pool=listed(pools.HOBBIES),
        many="set",
        clash="hobbies",
        say="""{S} do{es} {v} in {P} spare time{t}|{Sm} into {v}{t}|{S} took up {v}{t}
        on weekends {S} go{es} for {v}|{v} keeps {O} sane|{S} spend{s} {P} evenings on {v}|{S} got hooked on {v}""",
        drop="{S} gave up {v}{t}|{S} {dont} do {v} any more|{S} quit {v}|{S} lost interest in {v}|forget the {v}",
    ),
    spec(
        "languages|languages_spoken|speaks",
        "Languages the person speaks",
        "languages",
        pool=listed(pools.LANGUAGES),
        many="set",
        clash="languages",
        say="{S} speak{s} {v}|{S} grew up speaking {v}|{P} {v} is fluent|you can talk {v} to {O}|{S} picked up {v}{t}",
        drop="{S} {dont} speak {v} any more|{S} forgot all {P} {v}",
    ),
    spec(
        "skills|abilities|competences",
        "Skills the person has",
        "skills",
        pool=listed(pools.SKILLS),
        many="set",
        say="{S} know{s} {v}|{Sm} good at {v}|{S} learned {v}{t}|{S} can do {v}|{S} got certified in {v}",
        drop="{Smnot} up to date in {v} any more|{S} unlearned {v}",
    ),
    spec(
        "disliked_foods|foods_to_avoid|food_dislikes",
        "Foods the person does not like",
        "disliked foods",
        pool=listed(pools.FOODS),
        many="set",
        clash="likes",
        say="""{S} can't stand {v}|{S} hate{s} {v}|no {v} on {P} plate please|{v} makes {O} gag
        {S} find{s} {v} disgusting""",
        drop="{S} {have} nothing against {v} any more|{S} came round to {v}|{v} is fine for {O} after all",
    ),
    spec(
        "favourite_genres|music_taste|music_genres",
        "Kinds of music the person likes",
        "music taste|genres",
        pool=listed(pools.GENRES),
        many="set",
        clash="genres",
        say="""{S} listen{s} to {v}{t}|{S} love{s} {v}|{v} is {P} kind of music|{S} can't live without {v}
        {P} playlist is full of {v}""",
        drop="{S} went off {v}|{S} {dont} listen to {v} any more|{S} got tired of {v}|no more {v} for {O}",
    ),
    spec(
        "todo|tasks|to_do_list|chores",
        "Things the person has to do",
        "to-do list|tasks",
        pool=listed(pools.CHORES),
        many="set",
        clash="shopping",
        say="""{S} {have} to {v}|remind {O} to {v}|{S} still need{s} to {v}|don't let {O} forget to {v}
        put {v} on {P} list|{S} must {v}|{S} promised to {v}""",
        drop="{S} {dont} have to {v} any more|no need to {v} now|cross off {v}|{v} is done|forget about {v}, it's done",
    ),
    spec(
        "shopping_list|groceries",
        "What the person has to buy",
        "shopping list",
        pool=listed(pools.FOODS, pools.DRINKS),
        many="set",
        clash="likes|shopping",
        say="""{S} need{s} to buy {v}|we're out of {v}|add {v} to the shopping|get {O} some {v} at the shop
        {S} ran out of {v}""",
        drop="{S} already got {v}|no need to buy {v}|skip the {v}, {S} {have} enough|strike {v} from the shopping",
    ),
    spec(
        "gadgets|devices|owned_devices",
        "Devices the person owns",
        "devices",
        pool=mixed(listed(pools.GADGETS), pools.brand),
        many="set",
        say="{S} own{s} a {v}|{S} bought a {v}|{S} got a {v} for {P} birthday|{P} new {v} arrived|{S} use{s} a {v}{t}",
        drop="{S} sold {P} {v}|{P} {v} broke, it's gone|{S} lost {P} {v}|{S} gave away {P} {v}",
    ),
    spec(
        "medication|medicines|takes_medicine",
        "Medicines the person takes",
        "medication",
        pool=listed(pools.MEDICINES),
        many="set",
        clash="medicine",
        near="health",
        say="{S} take{s} {v} every day{t}|the doctor put {O} on {v}{t}|{Sm} on {v}{t}|{S} need{s} {v} in the morning",
        drop="{Sm} off {v}|{S} stopped taking {v}|the doctor took {O} off {v}|{S} {dont} need {v} any more",
    ),
    spec(
        "gym_days|training_days|workout_days",
        "Weekdays on which the person trains",
        "training days",
        "enum",
        many="set",
        say="{S} train{s} on {v}|{S} go{es} to the gym on {v}|{v} is gym day for {O}|{S} work{s} out every {v}",
        drop="{S} {dont} train on {v} any more|no gym on {v} any more|{S} skip{s} the gym on {v} from now on",
        members=tuple(member(d.lower(), said=d) for d in ("Monday", "Tuesday", "Wednesday", "Thursday", "Saturday")),
    ),
    spec(
        "days_off|holidays|leave_days",
        "Days on which the person does not work",
        "days off",
        "date",
        day_ahead,
        many="set",
        near="trip_day",
        say="{S} {have} {v} off|{Sm} off on {v}|{S} took leave on {v}|{Sm} not working on {v}",
    ),
    spec(
        "siblings|sibling_names|brothers_and_sisters",
        "Names of brothers and sisters",
        "siblings",
        pool=pools.person,
        many="set",
        near="kin",
        say="{v} is {P} brother|{P} sister is called {v}|{P} little brother {v} says hi|{S} {have} a sister called {v}",
    ),
    spec(
        "visited_countries|countries_visited|been_to",
        "Countries the person has visited",
        "visited countries",
        pool=pools.country,
        many="set",
        say="{Sve} been to {v}|{S} visited {v} once|{v} was {P} first trip abroad|{S} went to {v} last year",
    ),
    spec(
        "subscriptions|memberships|subscribed_to",
        "Services the person pays for regularly",
        "subscriptions",
        pool=mixed(pools.company, listed("the gym|the climbing hall|the library|the wine club|the film club")),
        many="set",
        say="{S} signed up for {v}{t}|{Sm} a member of {v}{t}|{S} subscribe{s} to {v}|{S} joined {v}{t}",
        drop="{S} cancelled {v}|forget {v}, {S} quit|{S} left {v}{t}|{Smnot} a member of {v} any more",
    ),
)

_LIKES: Final = (
    member(
        "like|likes|positive",
        *(
            "{S} love{s} {i}",
            "{S} adore{s} {i}",
            "{S} can't get enough of {i}",
            "{i} is {P} thing",
            "{S} enjoy{s} {i} a lot",
        ),
        *("{Sm} a big fan of {i}", "{S} really like{s} {i}", "{S} came to like {i}", "{i} makes {O} happy"),
        said="like|good",
    ),
    member(
        "dislike|dislikes|negative",
        *("{S} can't stand {i}", "{S} went off {i}", "{S} hate{s} {i}", "{i} is not for {O}", "{Sm} sick of {i}"),
        *("{S} {dont} like {i}", "{S} {dont} care for {i}", "keep {i} away from {O}", "{i} bores {O}"),
        said="dislike|bad",
    ),
)
_ALL_SORTS: Final = mixed(
    listed(pools.FOODS), listed(pools.HOBBIES), listed(pools.GENRES), pools.brand, pools.work_title
)

MAPS: Final[tuple[Spec, ...]] = (
    spec(
        "rating|opinions|likes_and_dislikes|preferences",
        "Opinion of a thing|What the person likes and dislikes",
        "opinion",
        "enum",
        many="map",
        items=_ALL_SORTS,
        members=_LIKES,
        clash="likes|hobbies|genres",
        drop="""forget what {S} said about {i}|{S} {have} no opinion on {i} any more
        {i} leaves {O} cold, neither good nor bad""",
    ),
    spec(
        "food_opinions|taste_in_food|dish_ratings",
        "What the person thinks of a dish",
        "opinion",
        "enum",
        many="map",
        items=listed(pools.FOODS, pools.DRINKS),
        members=_LIKES,
        clash="likes",
        drop="forget what {S} said about {i}|strike {i} from {P} tastes",
    ),
    spec(
        "skill_levels|proficiencies|how_good_at",
        "How good the person is at something",
        "level",
        "enum",
        many="map",
        items=listed(pools.LANGUAGES, pools.INSTRUMENTS, pools.HOBBIES),
        clash="languages|hobbies|instrument",
        members=(
            member(
                "beginner|low", "{S} just started with {i}", "{Sm} new to {i}", "{S} only know{s} the basics of {i}"
            ),
            member("intermediate|medium", "{Sm} so-so at {i}", "{S} get{s} by in {i}", "{P} {i} is decent"),
            member("advanced|high", "{Sm} really good at {i}", "{Sve} mastered {i}", "{S} could teach {i}"),
        ),
        drop="{S} {dont} do {i} any more|forget {i}, {S} gave it up",
    ),
    spec(
        "birthdays|birthdays_of_others|family_birthdays",
        "Birthdays of people the person knows",
        "birthday",
        "date",
        birth_day,
        many="map",
        items=pools.person,
        generic=False,
        near="kin",
        say="{i} was born on {v}|{i}'s birthday is {v}|{P} friend {i} was born {v}",
    ),
    spec(
        "prices|price_list|item_prices",
        "Price of a thing that the person sells",
        "price",
        "decimal",
        money(1, 400),
        many="map",
        items=listed(pools.GADGETS),
        near="money",
        say="{S} sell{s} the {i} for {v}|the {i} goes for {v}|{S} want{s} {v} for the {i}|{P} {i} costs {v}",
        update="{S} lowered the {i} to {v}|the {i} is {v} now|{S} now want{s} {v} for the {i}",
        drop="the {i} is sold|the {i} isn't for sale any more",
    ),
    spec(
        "contact_numbers|phone_book|numbers_of_people",
        "Telephone numbers of people the person knows",
        "number",
        pool=pools.telephone,
        many="map",
        items=pools.person,
        near="contact",
        say="{i}'s number is {v}|you reach {i} on {v}|{i} can be called at {v}|{P} friend {i} has the number {v}",
        update="{i} has a new number, {v}|{i}'s number changed to {v}",
        drop="delete {i}'s number|{i}'s number doesn't work any more",
    ),
    spec(
        "due_dates|deadlines|task_deadlines",
        "Day by which a task is due",
        "deadline",
        "date",
        day_ahead,
        many="map",
        items=listed(
            "the report|the tax return|the thesis|the slides|the grant proposal|the survey|the audit|the essay"
        ),
        near="deadline",
        say="{i} is due {v}|{S} {have} to hand in {i} by {v}|{i} must be ready on {v}|they want {i} by {v}",
        update="{i} moved to {v}|they pushed {i} back to {v}|{i} is due {v} now",
        drop="{i} is handed in|{S} {dont} need to do {i} any more",
    ),
    spec(
        "room_temperatures|heating_by_room|room_settings",
        "Temperature wanted in a room",
        "temperature",
        "number",
        fraction(15, 25),
        many="map",
        items=listed(pools.ROOMS),
        say="keep the {i} at {v} degrees|the {i} should be {v} degrees|{S} like{s} the {i} at {v}|heat the {i} to {v}",
        update="turn the {i} to {v}|the {i} should be {v} now|make it {v} in the {i}",
        drop="leave the {i} as it is, no setting|stop heating the {i}",
    ),
    spec(
        "doses|medication_times|pill_times",
        "Time at which a medicine is taken",
        "time",
        "time",
        clock(6, 22),
        many="map",
        items=listed(pools.MEDICINES),
        near="health",
        clash="medicine",
        say="{S} take{s} {i} at {v}|{i} is due at {v} for {O}|remind {O} of {i} at {v}|at {v} {S} need{s} {i}",
        update="{S} take{s} {i} at {v} now|move {i} to {v}",
        drop="{Sm} off {i}|{S} stopped taking {i}",
    ),
    spec(
        "stock|inventory|supplies",
        "How many of a thing the person has",
        "stock",
        "integer",
        whole(2, 60),
        many="map",
        items=listed("bottles|candles|chairs|towels|batteries|notebooks|lamps|plates|tickets|seedlings|light bulbs"),
        near="count",
        say="{S} {have} {v} {i}|there are {v} {i} in {P} cupboard|{S} counted {v} {i}|we've got {v} {i}",
        update="{S} {have} {v} {i} left|only {v} {i} are left|there are {v} {i} now",
        drop="{S} threw all the {i} out|the {i} are all gone",
    ),
)

_PHASES: Final = (
    member("planning|draft", "we're still drawing up plans for {O}", "{Sm} only on paper so far"),
    member("active|running", "work on {O} is in full swing", "{Sm} under way{t}", "we kicked {O} off{t}"),
    member("paused|on_hold", "{Sm} on ice{t}", "we put {O} aside for now", "nobody works on {O} at the moment"),
    member("done|finished", "we shipped {O}{t}", "{O} is wrapped up{t}", "{O} is over and out of the door"),
)
PROJECTS: Final[tuple[Spec, ...]] = (
    spec(
        *(
            "launch_date|go_live|release_date",
            "Day on which the project goes live",
            "launch date|release date",
            "date",
            day_ahead,
        ),
        of="project",
        say="{S} launch{es} on {v}|{S} go{es} live {v}|we release {O} on {v}|{P} launch is on {v}",
        update="{P} launch moved to {v}|{P} launch slipped to {v}|we now ship {O} on {v}",
        drop="{S} {have} no launch date any more|we called off {P} launch",
    ),
    spec(
        *("lead|owner|project_lead", "Who leads the project", "lead|owner"),
        pool=pools.whole_name,
        of="project",
        say="{v} runs {O}{t}|{v} is in charge of {O}|{v} leads {O}{t}|{P} boss is {v}",
        update="{v} took over {O}{t}|{O} went to {v}|{v} runs {O} {from}",
        drop="nobody leads {O} any more|{o} stepped down from {O}",
    ),
    spec(*("status|phase|stage", "Where the project stands", "status|phase", "enum"), of="project", members=_PHASES),
    spec(
        *(
            "cost_limit|funding|project_budget",
            "Money the project may cost",
            "budget|funding",
            "integer",
            whole(1000, 90000, 500),
        ),
        of="project",
        say="{S} got {v} euros|we may spend {v} on {O}|{S} run{s} on {v} euros|{v} euros went into {O}",
        update="{P} money was cut to {v} euros|{S} may cost {v} now",
        drop="{P} money is gone, no budget any more",
    ),
    spec(
        *("tools|tech_stack|technologies", "Tools that the project uses", "tools"),
        pool=mixed(listed(pools.SKILLS), pools.brand),
        many="set",
        of="project",
        say="{S} use{s} {v}{t}|we build {O} with {v}|{S} depend{s} on {v}|we brought {v} into {O}",
        drop="{S} {dont} use {v} any more|we threw {v} out of {O}|{S} moved away from {v}",
    ),
    spec(
        *("is_public|open_source", "Whether the project is public", "public access", "boolean"),
        of="project",
        members=(
            member(
                "true",
                "everybody can see {O} now",
                "we opened {O} to the public",
                "{Sm} out in the open",
                said="yes|true",
            ),
            member("false", "{Sm} still secret", "nobody outside may see {O}", "we took {O} private", said="no|false"),
        ),
    ),
)

MANY: Final = (*SETS, *MAPS, *PROJECTS)
