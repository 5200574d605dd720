-- Times are text in UTC with microseconds, YYYY-MM-DDTHH:MM:SS.ffffffZ, so they sort as they are.
-- Every key begins with the tenant.  Columns after `tenant` stand in the order of the row classes in records.py.

create table tenants (
    tenant text not null primary key,
    last_known text,
    last_id integer not null
) strict, without rowid;

create table schemas (
    schema_no integer primary key,
    name text not null,
    version integer not null,
    text text not null,
    unique (name, version)
) strict;

create table episodes (
    tenant text not null references tenants (tenant),
    episode_no integer not null,
    episode_id text,
    text text,
    observed_at text not null,
    source text not null,
    speaker text,
    speaker_id text,
    session_id text,
    zone text not null,
    retention text,
    content_hash text,
    captured_at text not null,
    status text not null check (status in ('captured', 'complete', 'partial', 'failed', 'context')),
    fingerprint text,
    extractor text not null,
    prompt_hash text,
    known_at text,
    error text,
    usage text not null,
    primary key (tenant, episode_no)
) strict;

create unique index episodes_by_id on episodes (tenant, episode_id) where episode_id is not null;
create index episodes_by_session on episodes (tenant, session_id, observed_at) where session_id is not null;
create index episodes_by_speaker on episodes (tenant, speaker_id) where speaker_id is not null;

create table candidates (
    tenant text not null,
    candidate_id integer not null,
    episode_no integer not null,
    memory_type text not null,
    subject text not null,
    attribute text not null,
    item text not null,
    item_text text,
    value text,
    identity text,
    valid_from text not null,
    valid_from_end text,
    precision text not null,
    valid_until text,
    source text not null,
    observed_at text not null,
    change text,
    time_rule text not null,
    from_memory integer not null,
    confidence real,
    schema_name text not null,
    schema_version integer not null,
    known_at text not null,
    extractor text not null,
    prompt_hash text,
    primary key (tenant, candidate_id),
    foreign key (tenant, episode_no) references episodes (tenant, episode_no),
    foreign key (schema_name, schema_version) references schemas (name, version),
    check ((value is null) = (identity is null)),
    check (valid_until is null or valid_from < valid_until)
) strict, without rowid;

create index candidates_by_key on candidates (tenant, subject, memory_type, attribute, item, valid_from);
create index candidates_bounded on candidates (tenant, subject, memory_type, attribute, item, valid_until)
where valid_until is not null;
create index candidates_by_episode on candidates (tenant, episode_no);

create table evidence (
    tenant text not null,
    candidate_id integer not null,
    ordinal integer not null,
    episode_no integer not null,
    start integer not null,
    "end" integer not null,
    quote text,
    role text not null,
    "match" text not null,
    occurrences integer not null,
    primary key (tenant, candidate_id, ordinal),
    foreign key (tenant, candidate_id) references candidates (tenant, candidate_id),
    foreign key (tenant, episode_no) references episodes (tenant, episode_no)
) strict, without rowid;

create index evidence_by_episode on evidence (tenant, episode_no);

create table decisions (
    tenant text not null,
    decision_id integer not null,
    candidate_id integer not null,
    known_at text not null,
    decision text not null check (decision in ('new', 'supersede', 'no_change', 'hold', 'reject')),
    reason text not null,
    current_value text,
    agreed integer,
    policy_version integer not null,
    by text,
    primary key (tenant, candidate_id, decision_id),
    foreign key (tenant, candidate_id) references candidates (tenant, candidate_id)
) strict, without rowid;

create table assertions (
    tenant text not null,
    assertion_id integer not null,
    known_from text not null,
    known_to text,
    precedence integer not null,
    primary key (tenant, assertion_id, known_from),
    foreign key (tenant, assertion_id) references candidates (tenant, candidate_id),
    check (known_to is null or known_from < known_to)
) strict, without rowid;

create table holds (
    tenant text not null,
    hold_id integer not null,
    known_from text not null,
    known_to text,
    reason text not null,
    precedence integer not null,
    primary key (tenant, hold_id, known_from),
    foreign key (tenant, hold_id) references candidates (tenant, candidate_id),
    check (known_to is null or known_from < known_to)
) strict, without rowid;

create index holds_pending on holds (tenant, hold_id) where known_to is null;

create table settlements (
    tenant text not null,
    settlement_id integer not null,
    candidate_id integer not null,
    kind text not null check (kind in ('confirm', 'dismiss', 'retract')),
    known_at text not null,
    by text,
    primary key (tenant, candidate_id, settlement_id),
    foreign key (tenant, candidate_id) references candidates (tenant, candidate_id)
) strict, without rowid;

create table facts (
    tenant text not null,
    fact_id integer not null,
    memory_type text not null,
    subject text not null,
    attribute text not null,
    item text not null,
    value text not null,
    identity text not null,
    valid_from text not null,
    valid_to text,
    known_from text not null,
    known_to text,
    expires_at text,
    assertion_id integer not null,
    primary key (tenant, fact_id),
    foreign key (tenant, assertion_id) references candidates (tenant, candidate_id),
    check (valid_to is null or valid_from < valid_to),
    check (known_to is null or known_from < known_to)
) strict, without rowid;

create unique index one_open_fact on facts (tenant, subject, memory_type, attribute, item)
where known_to is null and valid_to is null;
create unique index facts_now on facts (tenant, subject, memory_type, attribute, item, valid_from)
where known_to is null;
create index facts_by_key on facts (tenant, subject, memory_type, attribute, item, valid_from);
create index facts_by_end on facts (tenant, subject, memory_type, attribute, item, valid_to)
where valid_to is not null;
create index facts_by_assertion on facts (tenant, assertion_id);

-- The indexes cannot see that two intervals overlap.  Only the neighbours need to be looked at: the facts that are
-- there do not overlap.
create trigger facts_do_not_overlap before insert on facts
when new.known_to is null
begin
    select raise(abort, 'facts of one key overlap')
    from facts
    where tenant = new.tenant
        and subject = new.subject
        and memory_type = new.memory_type
        and attribute = new.attribute
        and item = new.item
        and known_to is null
        and valid_from = (
            select max(valid_from) from facts
            where tenant = new.tenant
                and subject = new.subject
                and memory_type = new.memory_type
                and attribute = new.attribute
                and item = new.item
                and known_to is null
                and valid_from < coalesce(new.valid_to, '~')
        )
        and (valid_to is null or valid_to > new.valid_from);
end;

create table quarantine (
    tenant text not null,
    quarantine_id integer not null,
    episode_no integer not null,
    reason text not null,
    message text not null,
    raw text not null,
    known_at text not null,
    primary key (tenant, quarantine_id),
    foreign key (tenant, episode_no) references episodes (tenant, episode_no)
) strict;

create index quarantine_by_episode on quarantine (tenant, episode_no);

create table erasures (
    tenant text not null references tenants (tenant),
    erasure_id integer not null,
    known_at text not null,
    hmac_key blob not null,
    removed text not null,
    primary key (tenant, erasure_id)
) strict, without rowid;

create table tombstones (
    tenant text not null,
    erasure_id integer not null,
    digest blob not null,
    primary key (tenant, erasure_id, digest),
    foreign key (tenant, erasure_id) references erasures (tenant, erasure_id)
) strict, without rowid;

create view fact_records as
select
    f.*,
    c.schema_name,
    c.schema_version,
    c.item_text,
    c.source,
    e.episode_id,
    e.speaker,
    v.quote
from facts as f
inner join candidates as c on c.tenant = f.tenant and c.candidate_id = f.assertion_id
inner join episodes as e on e.tenant = c.tenant and e.episode_no = c.episode_no
left join evidence as v on v.tenant = f.tenant and v.candidate_id = f.assertion_id and v.ordinal = 0;

create view candidate_status as
select
    c.*,
    a.precedence as live_precedence,
    h.hold_id,
    h.known_from as hold_known_from,
    h.known_to as hold_known_to,
    h.reason as hold_reason,
    h.precedence as hold_precedence
from candidates as c
left join assertions as a on a.tenant = c.tenant and a.assertion_id = c.candidate_id and a.known_to is null
left join holds as h on h.tenant = c.tenant and h.hold_id = c.candidate_id and h.known_to is null;

-- What the planner is to expect: without figures it takes a tenant for selective and reads all of it.
analyze sqlite_master;

insert into sqlite_stat1 (tbl, idx, stat) values
('episodes', 'sqlite_autoindex_episodes_1', '100000 50000 1'),
('episodes', 'episodes_by_id', '100000 50000 1'),
('episodes', 'episodes_by_session', '100000 50000 20 1'),
('episodes', 'episodes_by_speaker', '100000 50000 1000'),
('candidates', 'candidates', '200000 100000 1'),
('candidates', 'candidates_by_key', '200000 100000 200 100 20 10 2'),
('candidates', 'candidates_bounded', '2000 1000 20 20 10 5 2'),
('candidates', 'candidates_by_episode', '200000 100000 2'),
('evidence', 'evidence', '300000 150000 2 1'),
('evidence', 'evidence_by_episode', '300000 150000 3'),
('decisions', 'decisions', '200000 100000 2 1'),
('assertions', 'assertions', '200000 100000 2 1'),
('holds', 'holds', '10000 5000 2 1'),
('holds', 'holds_pending', '1000 500 1'),
('settlements', 'settlements', '10000 5000 2 1'),
('facts', 'facts', '200000 100000 1'),
('facts', 'one_open_fact', '50000 25000 20 20 2 1'),
('facts', 'facts_now', '100000 50000 100 50 10 5 1'),
('facts', 'facts_by_key', '200000 100000 200 100 20 10 2'),
('facts', 'facts_by_end', '150000 75000 200 100 20 10 2'),
('facts', 'facts_by_assertion', '200000 100000 2'),
('quarantine', 'sqlite_autoindex_quarantine_1', '10000 5000 1'),
('quarantine', 'quarantine_by_episode', '10000 5000 2'),
('tombstones', 'tombstones', '10000 5000 100 1');

analyze sqlite_master;
